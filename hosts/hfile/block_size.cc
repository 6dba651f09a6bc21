// SPDX-License-Identifier: Apache-2.0

#include "hfile/block_size.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hfile/block.h"
#include "hfile/cell_encoder.h"
#include "hfile/cell_key.h"

namespace rowbloom::hfile {

namespace {

constexpr uint64_t kUsual = 64 << 10;

// A family's size is most often the usual one, or another power of two, or a
// number of few digits.
uint64_t MostLikely(uint64_t min, uint64_t max) {
  uint64_t power = kUsual;
  while (power > max) power /= 2;
  while (power < min) power *= 2;
  if (power <= max) return power;
  uint64_t step = 1;
  while (10 * step <= max) step *= 10;
  for (; step > 1; step /= 10) {
    const uint64_t number = (min + step - 1) / step * step;
    if (number <= max) return number;
  }
  return max;
}

bool IsPowerOfTwo(uint64_t number) { return (number & (number - 1)) == 0; }

// Finds the size that fits the sizes of blocks, by one way to count them.
class Sizes {
 public:
  void BeginBlock() {
    whole_.push_back(size_);
    size_ = 0;
  }
  // A block does not end before a cell whose key repeats.
  void AddCell(size_t size, bool repeats) {
    if (!repeats) min_ = std::max(min_, size_ + 1);
    size_ += size;
  }
  size_t block_count() const { return whole_.size(); }

  HFileBlockSize Find() {
    uint64_t min = min_;
    uint64_t max = kMaxBlockSize / 2;  // Writers refuse larger ones.
    for (const uint64_t block : whole_) max = std::min(max, block);
    if (min > max) {
      // HBase can also end blocks by their size when encoded or compressed.
      std::sort(whole_.begin(), whole_.end());
      if (!whole_.empty()) max = whole_[whole_.size() / 2];
      max = std::min<uint64_t>(max, kMaxBlockSize / 2);
      min = max;
    }
    return {static_cast<uint32_t>(MostLikely(min, max)),
            static_cast<uint32_t>(min), static_cast<uint32_t>(max)};
  }

 private:
  std::vector<uint64_t> whole_;
  uint64_t min_ = 0;
  uint64_t size_ = 0;
};

}  // namespace

std::optional<HFileBlockSize> FindBlockSize(const DataLayout& layout,
                                            HFileEncoding encoding,
                                            BlockCellReader* cells) {
  constexpr size_t kBlocks = 32;
  // Since HBase 2.5 the places of rows in ROW_INDEX_V1 count, too.
  Sizes with_rows;
  Sizes without_rows;
  uint64_t cell_count = 0;
  uint64_t offset = 0;
  std::string row;
  std::string key;
  std::string previous_key;
  HFileCell cell;
  for (; cells->Next(&cell); ++cell_count) {
    const bool begins_block = cell_count > 0 && cells->block_offset() != offset;
    if (begins_block) {
      with_rows.BeginBlock();
      without_rows.BeginBlock();
      if (with_rows.block_count() == kBlocks) break;
    }
    offset = cells->block_offset();
    std::swap(key, previous_key);
    key.clear();
    AppendCellKey(
        {cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type},
        &key);
    const bool begins_row = begins_block || cell_count == 0 || cell.row != row;
    row = cell.row;
    const size_t size = UnencodedSize(layout, cell);
    without_rows.AddCell(size, key == previous_key);
    with_rows.AddCell(size + (begins_row ? kRowOffsetSize : 0),
                      key == previous_key);
  }
  if (cell_count == 0) return std::nullopt;
  const HFileBlockSize found = without_rows.Find();
  if (encoding != HFileEncoding::kRowIndexV1) return found;
  const HFileBlockSize found_with_rows = with_rows.Find();
  const bool is_older =
      IsPowerOfTwo(found.likely) && !IsPowerOfTwo(found_with_rows.likely);
  return is_older ? found : found_with_rows;
}

}  // namespace rowbloom::hfile
