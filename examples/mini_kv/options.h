// SPDX-License-Identifier: Apache-2.0
//
// What a store is opened with. None of it is persisted: a store may be opened
// with other options each time.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "files.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"

namespace mini_kv {

struct Options {
  bool create_if_missing = true;

  // Of the SSTs to be written. Bloom type NONE writes no filters; those of
  // SSTs that have one are used all the same.
  rowbloom::FilterOptions filter = RowColFilter();
  // How many bits the filter of each SST has, from one budget for all of them
  // (of the family of `filter`). None: as many as `filter` says.
  std::optional<rowbloom::FileBudgetOptions> filter_budget;
  // May be shared by many stores, and must outlive them. nullptr: the store
  // has one of its own, of 32 MiB.
  rowbloom::FilterCache* filter_cache = nullptr;

  // Whether each write is synced to the device before it returns. If not, a
  // write survives the end of the process, but not that of the machine.
  bool sync_wal = false;

  size_t memtable_size_bytes = 1 << 20;  // Flushed when it has reached this.
  size_t block_size_bytes = 4096;        // Data blocks; the last cell may pass.
  // Data blocks of a file that a compaction writes.
  uint64_t file_size_bytes = 2 << 20;
  // Level 0 is compacted when it has so many files, level i >= 1 when its data
  // blocks exceed level1_size_bytes * level_ratio^(i-1).
  size_t level0_file_limit = 4;
  uint64_t level1_size_bytes = 8 << 20;
  uint64_t level_ratio = 10;

  Files* files = nullptr;  // nullptr: those of the system.

  // One filter for rows and for cells.
  static rowbloom::FilterOptions RowColFilter() {
    rowbloom::FilterOptions filter;
    filter.bloom_type = rowbloom::BloomType::kRowCol;
    return filter;
  }
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_
