// SPDX-License-Identifier: Apache-2.0
//
// The options of a store. None of them is persisted: a store may be opened with
// other options each time.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"

namespace mini_kv {

struct Options {
  // For new SSTs. Bloom type NONE writes no filters; existing filters are used
  // all the same.
  rowbloom::FilterOptions filter = RowColFilter();
  // If set, one budget for all SSTs decides the bits of each filter (of the
  // family of `filter`). nullopt: the bits of `filter`.
  std::optional<rowbloom::FileBudgetOptions> filter_budget;
  // Many stores may share it; it must outlive them. nullptr: the store has its
  // own of 32 MiB.
  rowbloom::FilterCache* filter_cache = nullptr;

  size_t memtable_size_bytes = 1 << 20;  // Flushed at this size.
  size_t block_size_bytes = 4096;        // Data blocks; the last cell may pass.
  // Level i >= 1 is compacted when its data blocks exceed
  // level1_size_bytes * level_ratio^(i-1).
  uint64_t level1_size_bytes = 8 << 20;
  uint64_t level_ratio = 10;

  // One filter for rows and for cells.
  static rowbloom::FilterOptions RowColFilter() {
    rowbloom::FilterOptions filter;
    filter.bloom_type = rowbloom::BloomType::kRowCol;
    return filter;
  }
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_OPTIONS_H_
