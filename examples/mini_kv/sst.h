// SPDX-License-Identifier: Apache-2.0
//
// An SST: a sorted and immutable file of cells, with their filter in it.
//
//   data block     cells (cell.h) | checksum (8)
//   ...            contiguous from offset 0
//   filter block   as rowbloom wrote it, or nothing
//   tail           number of cells (8) | size of the filter's own tail (8) |
//                  first key | for each data block its size (8) and its last
//                  key | checksum (8)
//   tail size (8)
//
// Checksums are seeded with the offset of the bytes that they cover.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_SST_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_SST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"

namespace mini_kv {

struct SstTail {
  struct Block {
    OwnedCellKey last_key;
    uint64_t offset = 0;
    uint64_t size_bytes = 0;  // With its checksum.
  };

  uint64_t cell_count = 0;
  uint64_t filter_size = 0;       // 0: no filter.
  uint64_t filter_tail_size = 0;  // FilterBlockInfo::tail_size_bytes.
  OwnedCellKey first_key;
  std::vector<Block> blocks;

  uint64_t filter_offset() const {
    return blocks.empty() ? 0 : blocks.back().offset + blocks.back().size_bytes;
  }
};

// The id of an SST's filter in the cache, which many stores may share.
inline uint64_t FilterIdOf(std::string_view path) {
  return rowbloom::DigestBytes(path).value >> 1 | 1;
}

// Writes an SST and, within it, the filter of its cells.
//
//   SstWriter writer(path, filter_options, 4096, cache);
//   for (...) writer.Add(cell);                  // in order
//   absl::Status status = writer.Finish();       // complete and synced
//
// Calls match  Add+ Finish . The first error stays. Until Finish() returns OK
// the file may end anywhere: nothing may name it.
class SstWriter {
 public:
  // Bloom type NONE writes no filter block. The filter's chunks go into `cache`
  // while they are written, so that the first gets of the new file read none.
  SstWriter(const std::string& path,
            const rowbloom::FilterOptions& filter_options,
            size_t block_size_bytes, rowbloom::FilterCache* cache);

  // Each key must be greater than the one before.
  absl::Status Add(const Cell& cell);
  absl::Status Finish();

  uint64_t cell_count() const { return tail_.cell_count; }
  // After Finish() these are the bytes that SstReader::Open() would read.
  const SstTail& tail() const { return tail_; }
  std::string_view filter_tail() const { return filter_writer_.tail(); }

 private:
  void CloseBlock();
  void Append(std::string_view bytes);

  const absl::StatusOr<std::unique_ptr<rowbloom::FileSink>> sink_;
  absl::Status status_;
  const bool has_filter_;
  const size_t block_size_bytes_;
  // The filter is collected in memory while data blocks go to the file, because
  // it is contiguous and follows them.
  std::string filter_;
  const std::unique_ptr<rowbloom::ByteSink> filter_sink_;
  const std::unique_ptr<rowbloom::FilterChunkObserver> warmer_;
  rowbloom::FilterBlockWriter filter_writer_;

  std::string block_;  // Cells of the open data block.
  OwnedCellKey last_key_;
  SstTail tail_;
};

// Counts the data blocks that were read.
struct ReadStats {
  uint64_t data_blocks = 0;
  uint64_t data_bytes = 0;
};

// Reads an SST: asks its filter first, then reads one data block.
//
//   auto sst = SstReader::Open(path, number, filter_reader_options);
//   if (!sst.ok()) return sst.status();
//   const auto key = rowbloom::FilterKey::RowCol(row, qualifier);
//   const rowbloom::FilterReader* filter = (*sst)->filter();
//   if ((*sst)->Covers(row) && (filter == nullptr || filter->MayContain(key)))
//   {
//     const auto cells = (*sst)->NewIterator({row, qualifier}, &read_stats);
//     (*sst)->TellOutcome(found);                // It was there, or was not.
//   }
//
// The tail is in memory; data blocks are read each time. Immutable after
// Open(). Open() and iterators are strict: DataLoss for damaged cells. A
// damaged filter is not an error: the file is then read without it.
class SstReader {
 public:
  // The store sets the SST's level, and the cache and the statistics, which all
  // SSTs share and which must outlive them.
  static absl::StatusOr<std::shared_ptr<const SstReader>> Open(
      const std::string& path, uint64_t number,
      const rowbloom::FilterReaderOptions& options);
  // Opens the SST that was just written, without a read.
  static absl::StatusOr<std::shared_ptr<const SstReader>> Open(
      const std::string& path, uint64_t number,
      const rowbloom::FilterReaderOptions& options, const SstWriter& writer);
  ~SstReader();
  SstReader(const SstReader&) = delete;
  SstReader& operator=(const SstReader&) = delete;

  uint64_t number() const { return number_; }
  int level() const { return filter_options_.level; }
  CellKey first_key() const { return tail_.first_key; }
  CellKey last_key() const { return tail_.blocks.back().last_key; }
  uint64_t cell_count() const { return tail_.cell_count; }
  uint64_t block_count() const { return tail_.blocks.size(); }
  uint64_t data_bytes() const { return tail_.filter_offset(); }
  uint64_t filter_bytes() const { return tail_.filter_size; }
  // Without a filter, the number of cells: a filter has at least that many
  // keys.
  uint64_t filter_keys() const {
    return filter_ == nullptr ? cell_count() : filter_->properties().key_count;
  }

  // True if the file's key range may include the row.
  bool Covers(std::string_view row) const {
    return first_key().row <= row && row <= last_key().row;
  }

  // nullptr if the file has none that can be used: it is then read.
  const rowbloom::FilterReader* filter() const { return filter_.get(); }
  // Reports what the file had after a "maybe": statistics count false positives
  // with it, and filters learn what they are worth.
  void TellOutcome(bool key_was_there) const {
    if (filter_ != nullptr) filter_->TellOutcome(key_was_there);
  }

  // Starts at the first cell that is not less than `from`, and reads its block.
  // The reader and `stats` must outlive it.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from,
                                            ReadStats* stats) const;

  // The reason why the file's filter block cannot be used.
  const absl::Status& filter_status() const { return filter_status_; }

 private:
  class Iterator;

  SstReader(const std::string& path, uint64_t number,
            std::unique_ptr<rowbloom::RandomAccessSource> source, SstTail tail,
            const rowbloom::FilterReaderOptions& options);
  rowbloom::FilterBlockRange filter_range() const {
    return {tail_.filter_offset(), tail_.filter_size};
  }
  void TakeFilter(
      absl::StatusOr<std::unique_ptr<rowbloom::FilterReader>> filter);

  const uint64_t number_;
  std::unique_ptr<rowbloom::RandomAccessSource> source_;
  SstTail tail_;
  rowbloom::FilterReaderOptions filter_options_;
  absl::Status filter_status_;
  std::unique_ptr<rowbloom::FilterReader> filter_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_SST_H_
