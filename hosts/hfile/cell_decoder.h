// SPDX-License-Identifier: Apache-2.0
//
// The cells of one data block, in any of HBase's encodings but PREFIX_TREE.
//
// NONE and ROW_INDEX_V1 have whole cells: key size (4), value size (4), key,
// value, [tags size (2), tags], [mvcc (vlong)]. The others store the difference
// from the previous cell, sizes as varints, in this order:
//
//   PREFIX     size of the rest of the key, of the value, of the common prefix;
//              rest of the key, value
//   DIFF       flags, [key size], [value size], size of the common prefix; rest
//              of the row, if it differs, and of the qualifier; timestamp, or
//              by how much it is smaller (1 to 8 bytes, little-endian); [type];
//              value. The family is in front of the first cell only.
//   FAST_DIFF  the same, but the first cell is whole, a timestamp shares its
//              first bytes, and an equal value is left out

#ifndef ROWBLOOM_HFILE_CELL_DECODER_H_
#define ROWBLOOM_HFILE_CELL_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

// The parts of cells in data blocks, as file info states them.
struct DataLayout {
  bool has_tags = false;
  bool has_mvcc = false;
  bool has_compressed_tags = false;  // Where blocks are encoded.
};

// The bits of a cell's first byte.
struct DiffFlags {
  static constexpr unsigned kSameKeySize = 1;
  static constexpr unsigned kSameValueSize = 1 << 1;
  static constexpr unsigned kSameType = 1 << 2;
  static constexpr unsigned kTimestampIsDiff = 1 << 3;
  static constexpr unsigned kTimestampSizeShift = 4;  // The size less 1.
  static constexpr unsigned kTimestampSizeMask = 7;
  static constexpr unsigned kTimestampIsNegative = 1 << 7;
};
struct FastDiffFlags {
  static constexpr unsigned kTimestampPrefixMask = 7;
  static constexpr unsigned kSameKeySize = 1 << 3;
  static constexpr unsigned kSameValueSize = 1 << 4;
  static constexpr unsigned kSameType = 1 << 5;
  static constexpr unsigned kSameValue = 1 << 6;
};

// Compressed tags: each is this byte, its size (varint) and its bytes, or its
// index in the dictionary (2 bytes).
inline constexpr uint8_t kTagNotInDictionary = 0xff;

// The tags seen in a block; the least recently used make room for others.
class TagDictionary {
 public:
  static constexpr size_t kCapacity = 127;

  void Clear() { tags_.clear(); }
  // nullptr if there is no such tag.
  const std::string* Find(size_t index);
  std::optional<size_t> IndexOf(std::string_view tag);
  void Add(std::string_view tag);

 private:
  struct Tag {
    std::string bytes;
    uint64_t used = 0;
  };
  std::vector<Tag> tags_;
  uint64_t now_ = 0;
};

class CellDecoder {
 public:
  explicit CellDecoder(const DataLayout& layout) : layout_(layout) {}

  // `payload` belongs to a block of type `magic`, and outlives its cells.
  // Unimplemented for an encoding that is not known.
  absl::Status Start(std::string_view magic, std::string_view payload);
  bool AtEnd() const { return in_.empty(); }
  // DataLoss if the bytes are not a cell. Views live until the next call.
  absl::Status Next(HFileCell* cell);

 private:
  struct Sizes {
    uint32_t key = 0;
    uint32_t value = 0;
  };

  bool StartRowIndex();
  // Each decodes key_, value_ and the sizes.
  bool NextWhole();
  bool NextPrefix();
  bool NextDiff();
  bool NextFastDiff();
  // Reads the sizes that DIFF and FAST_DIFF leave out if they are the same.
  bool ReadSizes(bool same_key_size, bool same_value_size, uint32_t* common);
  // Reads the key without timestamp and type; its first `common` bytes are
  // those of the previous key.
  bool ReadKeyFront(uint32_t common, std::string_view family_part);
  // Reads the type, the key's last byte.
  bool ReadType(bool same_type);
  bool ReadTags();

  const DataLayout layout_;
  HFileEncoding encoding_ = HFileEncoding::kNone;
  std::string_view in_;
  bool is_first_ = true;
  std::string key_;
  std::string previous_key_;
  std::string family_part_;  // DIFF: size and family.
  std::string_view value_;
  Sizes sizes_;
  int64_t mvcc_ = 0;
  std::string tag_bytes_;
  std::string_view tags_;
  TagDictionary dictionary_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_CELL_DECODER_H_
