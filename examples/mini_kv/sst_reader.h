// SPDX-License-Identifier: Apache-2.0
//
// Reads an SST: asks its filter first, then reads one data block.
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
// cells. A damaged filter is not an error: the file is then read without it.

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

// The id of an SST's filter in the cache, which many stores may share.
inline uint64_t FilterIdOf(std::string_view path) {
  return rowbloom::DigestBytes(path).value >> 1 | 1;
}

// Counts the data blocks that were read.
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
    int level = 0;  // This SST's level.
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
  // Without a filter, the number of cells: a filter has at least that many
  // keys.
  uint64_t filter_keys() const {
    return filter_ == nullptr ? cell_count() : filter_->properties().key_count;
  }

  // True if the file's key range includes the cell, or may include the row, or
  // a row with the prefix.
  bool Covers(const CellKey& key) const;
  bool CoversRows(const rowbloom::FilterKey& rows) const;

  // False only if the file has no cell of that key, or row. True without a
  // filter.
  bool MayContain(const rowbloom::FilterKey& key) const {
    return filter_ == nullptr || filter_->MayContain(key);
  }
  // Reports what the file had after a "maybe": statistics count false positives
  // with it, and filters learn what they are worth.
  void TellOutcome(const rowbloom::FilterKey& key, bool key_was_there) const {
    if (filter_ != nullptr) filter_->TellOutcome(key, key_was_there);
  }

  // Sets *value, to nullopt for a tombstone, if the file has the cell.
  absl::StatusOr<bool> Get(const CellKey& key,
                           std::optional<std::string>* value,
                           ReadStats* stats) const;
  // Starts at the first cell that is not less than `from`. The reader and
  // `stats` must outlive it.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from,
                                            ReadStats* stats) const;

  // The reason why the file's filter block cannot be used.
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
