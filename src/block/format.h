// SPDX-License-Identifier: Apache-2.0
//
// The only home of a filter block's layout; docs/filter_block_format.md is
// its specification, and tests/block/format_doc_test.cc reads a block by that
// document's tables.
//
//   chunk 0 | chunk 1 | ... | index | properties | footer

#ifndef ROWBLOOM_BLOCK_FORMAT_H_
#define ROWBLOOM_BLOCK_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace rowbloom::block {

// The last bytes of a block. Offsets from the footer's start; little-endian.
struct Footer {
  static constexpr size_t kBlockSize = 0;            // u64, footer included.
  static constexpr size_t kIndexOffset = 8;          // u64, from the block.
  static constexpr size_t kIndexSize = 16;           // u64
  static constexpr size_t kPropertiesSize = 24;      // u64
  static constexpr size_t kIndexChecksum = 32;       // u32
  static constexpr size_t kPropertiesChecksum = 36;  // u32
  static constexpr size_t kFormatVersion = 40;       // u8
  static constexpr size_t kIncompatibleFlags = 41;   // u8, as below.
  static constexpr size_t kReserved = 42;            // u16, zero.
  static constexpr size_t kChecksum = 44;            // u32, of what precedes.
  static constexpr size_t kMagic = 48;               // u64
  static constexpr size_t kSize = 56;
};
static_assert(Footer::kMagic + 8 == Footer::kSize);

// Incompatible flags. A secret was mixed into the digests: kSecretCheck.
inline constexpr uint8_t kSecretFlag = 1;
// The index may have keys of prefixes, although rows have none: a key codec in
// a ROWCOL block without row keys.
inline constexpr uint8_t kPrefixesWithoutRowsFlag = 2;
inline constexpr uint8_t kKnownFlags = kSecretFlag | kPrefixesWithoutRowsFlag;

// "rowbloom" as bytes in the file.
inline constexpr uint64_t kFooterMagic = 0x6d6f6f6c62776f72;

// Field numbers of the properties; never reused. Unknown ones are skipped.
enum class Property : uint64_t {
  kBloomType = 1,          // varint
  kPrefixLengthBytes = 2,  // varint
  kHasRowKeys = 3,         // varint, 0 or 1
  kCellCount = 4,          // varint
  kKeyCount = 5,           // varint
  kChunkCount = 6,         // varint
  kFilterSpec = 7,         // text of the writer's FilterSpec
  kWriter = 8,             // text
  kLastKey = 9,            // a key as in the index
  kSecretCheck = 10,       // varint, not 0; only with kSecretFlag
  kKeyCodec = 11,          // text of KeyCodec::ToString()
};

// The byte before a key's parts.
inline constexpr uint8_t kRowKey = 1;     // A row follows.
inline constexpr uint8_t kRowColKey = 2;  // A row and a qualifier follow.

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_FORMAT_H_
