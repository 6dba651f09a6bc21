// SPDX-License-Identifier: Apache-2.0
//
// The blocks of an HFile: a header, a payload that may be compressed, and
// checksums over both.

#ifndef ROWBLOOM_HFILE_BLOCK_H_
#define ROWBLOOM_HFILE_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/hfile_types.h"
#include "rowbloom/io.h"

namespace rowbloom::hfile {

inline constexpr std::string_view kDataMagic = "DATABLK*";
inline constexpr std::string_view kEncodedDataMagic = "DATABLKE";
inline constexpr std::string_view kLeafIndexMagic = "IDXLEAF2";
inline constexpr std::string_view kIntermediateIndexMagic = "IDXINTE2";
inline constexpr std::string_view kRootIndexMagic = "IDXROOT2";
inline constexpr std::string_view kBloomChunkMagic = "BLMFBLK2";
inline constexpr std::string_view kGeneralBloomMagic = "BLMFMET2";
inline constexpr std::string_view kDeleteFamilyBloomMagic = "DFBLMET2";
inline constexpr std::string_view kMetaMagic = "METABLKc";
inline constexpr std::string_view kFileInfoMagic = "FILEINF2";

// True if `magic` is any of these.
bool IsKnownMagic(std::string_view magic);
inline bool IsDataMagic(std::string_view magic) {
  return magic == kDataMagic || magic == kEncodedDataMagic;
}

inline constexpr size_t kMagicSize = 8;
inline constexpr size_t kHeaderSize = 33;
inline constexpr size_t kHeaderSizeWithoutChecksums = 24;  // Version 2.0.

// No block that rowbloom reads is larger, in the file or decompressed.
inline constexpr uint32_t kMaxBlockSize = 1u << 28;

// The properties that all blocks of a file share.
struct BlockFormat {
  const RandomAccessSource* source = nullptr;
  bool has_checksums = true;
  bool verify_checksums = true;
  HFileCompression compression = HFileCompression::kNone;
  // True if the file's writer stores the offset of the previous block of the
  // same type in each header. If false, -1 says nothing.
  bool states_previous = false;
  // The offset at which blocks end and the trailer begins.
  uint64_t end = 0;

  size_t header_size() const {
    return has_checksums ? kHeaderSize : kHeaderSizeWithoutChecksums;
  }
};

// HBase reads it as a signed integer.
inline constexpr uint32_t kMaxBytesPerChecksum =
    std::numeric_limits<int32_t>::max();

struct BlockHeader {
  std::string magic;
  uint64_t offset = 0;        // In the file.
  uint64_t size = 0;          // In the file, header and checksums included.
  uint32_t payload_size = 0;  // As compressed.
  uint32_t uncompressed_size = 0;
  int64_t previous_offset = -1;  // The previous block of this type.
  HFileChecksum checksum = HFileChecksum::kNull;
  uint32_t bytes_per_checksum = 0;
};

struct Block {
  BlockHeader header;
  std::string payload;  // Decompressed.
};

// Checks each field, and that the block lies within the file. `bytes` begin at
// `offset` and contain at least the header.
absl::StatusOr<BlockHeader> ParseBlockHeader(const BlockFormat& format,
                                             uint64_t offset,
                                             std::string_view bytes);
// Verifies and decompresses a block. `bytes` are header.size bytes.
absl::StatusOr<Block> ParseBlock(const BlockFormat& format, BlockHeader header,
                                 std::string_view bytes);

absl::StatusOr<BlockHeader> ReadBlockHeader(const BlockFormat& format,
                                            uint64_t offset);
// Also checks that the block is of this type, unless that is empty, and has
// the size that an index states, unless that is 0.
absl::StatusOr<Block> ReadBlock(const BlockFormat& format, uint64_t offset,
                                std::string_view magic, uint64_t size);
// Verifies only the checksums of a block that is in memory.
absl::Status VerifyBlock(const BlockFormat& format, const BlockHeader& header,
                         std::string_view bytes);

struct BlockStyle {
  HFileCompression compression = HFileCompression::kNone;
  HFileChecksum checksum = HFileChecksum::kCrc32c;
  uint32_t bytes_per_checksum = 16384;
};
// Serializes a block of version 2.1 and later.
absl::StatusOr<std::string> SerializeBlock(const BlockStyle& style,
                                           std::string_view magic,
                                           int64_t previous_offset,
                                           std::string_view payload);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOCK_H_
