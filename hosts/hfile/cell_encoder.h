// SPDX-License-Identifier: Apache-2.0
//
// Writes the cells of data blocks in the encodings that cell_decoder.h
// describes, with the bytes that HBase writes.
//
//   CellEncoder encoder(HFileEncoding::kFastDiff, layout);
//   for (cell : block) status = encoder.Add(cell, key);
//   WriteBlock(encoder.magic(), encoder.Finish());

#ifndef ROWBLOOM_HFILE_CELL_ENCODER_H_
#define ROWBLOOM_HFILE_CELL_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hfile/cell_decoder.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

// ROW_INDEX_V1 has the place of each row, in so many bytes.
inline constexpr size_t kRowOffsetSize = 4;

// The encodings that rowbloom reads and writes.
bool IsKnownEncoding(HFileEncoding encoding);

// The bytes that a cell takes in an unencoded block.
size_t UnencodedSize(const DataLayout& layout, const HFileCell& cell);

class CellEncoder {
 public:
  // `encoding` is a known one.
  CellEncoder(HFileEncoding encoding, const DataLayout& layout);

  // The type of the blocks.
  std::string_view magic() const;
  // Calls match  (Add+ Finish)* . `key` is the cell's, serialized.
  // InvalidArgument if the encoding cannot hold the cell: a second column
  // family, or tags that are cut off.
  absl::Status Add(const HFileCell& cell, std::string_view key);
  bool is_empty() const { return unencoded_size_ == 0; }
  // The size of the cells so far by which HBase ends a block: as they are
  // encoded or as they would be unencoded, whichever is larger.
  size_t size() const;
  // The block's payload.
  std::string Finish();

 private:
  // The next cell's key, and how it compares with the previous one.
  struct Keys {
    std::string_view previous;
    std::string_view key;
    size_t front_size = 0;  // The key without timestamp and type.
    size_t row_end = 0;
    size_t common = 0;  // Leading bytes that both fronts share.
  };

  bool is_whole() const {
    return encoding_ == HFileEncoding::kNone ||
           encoding_ == HFileEncoding::kRowIndexV1;
  }
  Keys Compare(const HFileCell& cell, std::string_view key) const;
  void AddWhole(const HFileCell& cell, const Keys& keys);
  void AddPrefix(const HFileCell& cell, const Keys& keys);
  void AddDiff(const HFileCell& cell, const Keys& keys);
  void AddFastDiff(const HFileCell& cell, const Keys& keys);
  // Appends the sizes that are not the same, and the rest of the key's front
  // without its family.
  void AppendSizes(const HFileCell& cell, const Keys& keys, bool same_key_size,
                   bool same_value_size);
  void AppendRestOfFront(const HFileCell& cell, const Keys& keys);
  absl::Status AddTags(std::string_view tags);

  const HFileEncoding encoding_;
  const DataLayout layout_;
  std::string block_;
  size_t cells_begin_ = 0;
  size_t unencoded_size_ = 0;
  std::string row_offsets_;  // ROW_INDEX_V1
  // The previous cell of the block.
  std::string previous_key_;
  std::string previous_value_;
  std::string family_;
  TagDictionary dictionary_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_CELL_ENCODER_H_
