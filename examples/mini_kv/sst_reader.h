// SPDX-License-Identifier: Apache-2.0
//
// Reads an SST: its filter is asked first, then one data block is read.
//
//   auto sst = SstReader::Open(path, number, {&cache, &filter_stats});
//   if (!sst.ok()) return sst.status();
//   const auto key = rowbloom::FilterKey::RowCol(row, qualifier);
//   if ((*sst)->Covers(cell_key) && (*sst)->MayContain(key)) {
//     found = (*sst)->Get(cell_key, &value, &read_stats);
//   }
//
// Index and footer are in memory; data blocks are read each time. Immutable
// after Open(). Open(), Get() and iterators are strict: DataLoss for damaged
// cells. A damaged filter is no error: the file is then read without it.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_SST_READER_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_SST_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"
#include "sst_format.h"

namespace mini_kv {

// The id of an SST's filter in the cache: many stores may share one.
inline uint64_t FilterIdOf(std::string_view path) {
  return rowbloom::DigestBytes(path).value >> 1 | 1;
}

// What was read of data blocks, counted up.
struct ReadStats {
  uint64_t data_blocks = 0;
  uint64_t data_bytes = 0;
};

class SstReader {
 public:
  // Cache and stats are shared by all SSTs, and must outlive them.
  struct Filtering {
    rowbloom::FilterCache* cache = nullptr;
    rowbloom::FilterStats* stats = nullptr;
    int level = 0;  // Of this one.
  };
  static absl::StatusOr<std::shared_ptr<const SstReader>> Open(
      const std::string& path, uint64_t number, const Filtering& filtering);
  ~SstReader();
  SstReader(const SstReader&) = delete;
  SstReader& operator=(const SstReader&) = delete;

  uint64_t number() const { return number_; }
  CellKey first_key() const { return index_.first_key; }
  CellKey last_key() const { return index_.blocks.back().last_key; }
  uint64_t cell_count() const { return footer_.cell_count; }
  uint64_t block_count() const { return index_.blocks.size(); }
  uint64_t data_bytes() const { return footer_.filter_offset; }
  uint64_t filter_bytes() const { return footer_.filter_size; }
  // Without a filter its cells, which it would have at least.
  uint64_t filter_keys() const {
    return filter_ == nullptr ? cell_count() : filter_->properties().key_count;
  }

  // Whether the file's range of keys has a place for the cell, or the row.
  bool Covers(const CellKey& key) const;
  bool CoversRow(std::string_view row) const;

  // False only if no cell of that key, or row, is in the file. True without a
  // filter.
  bool MayContain(const rowbloom::FilterKey& key) const {
    return filter_ == nullptr || filter_->MayContain(key);
  }
  // What was there after MayContain() had said true: what makes false
  // positives a count and not a guess, and tells filters what they are worth.
  void TellOutcome(const rowbloom::FilterKey& key, bool key_was_there) const {
    if (filter_ != nullptr) filter_->TellOutcome(key, key_was_there);
  }

  // Sets *value, to none for a tombstone, if the file has the cell.
  absl::StatusOr<bool> Get(const CellKey& key,
                           std::optional<std::string>* value,
                           ReadStats* stats) const;
  // From the first cell that is not less than `from`. The reader and `stats`
  // must outlive it.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from,
                                            ReadStats* stats) const;

  // Why the filter block that the file has cannot be used.
  const absl::Status& filter_status() const { return filter_status_; }
  // Reads everything: checksums, order, and that the filter has each cell.
  absl::Status Verify() const;

 private:
  class Iterator;

  SstReader(uint64_t number,
            std::unique_ptr<rowbloom::RandomAccessSource> source,
            const SstFooter& footer, SstIndex index,
            const Filtering& filtering);
  void OpenFilter();
  size_t FindBlock(const CellKey& key) const;
  absl::Status ReadBlock(size_t block, ReadStats* stats, std::string* scratch,
                         std::string_view* cells) const;

  const uint64_t number_;
  const std::unique_ptr<rowbloom::RandomAccessSource> source_;
  const SstFooter footer_;
  const SstIndex index_;
  const Filtering filtering_;
  absl::Status filter_status_;
  std::unique_ptr<rowbloom::FilterReader> filter_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_SST_READER_H_
