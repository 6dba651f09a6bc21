// SPDX-License-Identifier: Apache-2.0
//
// The SSTs of a store, the choice of those to merge, and what a budget of
// filter memory is told of them.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rowbloom/filter_budget.h"
#include "sst.h"

namespace mini_kv {

inline constexpr int kLastLevel = 6;
inline constexpr ptrdiff_t kLevel0Limit = 4;  // SSTs.

// Newest first: if several SSTs have a cell, the first has its newest version.
// Level 0 has SSTs as they were flushed, each other level at most one.
using Tree = std::vector<std::shared_ptr<const SstReader>>;

// Replaces the SSTs from `begin` to `end` of a tree by one of `output_level`.
// A flush replaces none.
struct Compaction {
  ptrdiff_t begin = 0;
  ptrdiff_t end = 0;
  int output_level = 0;
};

// The next compaction that is due: of a level that is too large with the next.
// Level 1 is too large above `level1_size_bytes`, each further one above
// `level_ratio` times the size of the last.
std::optional<Compaction> PickCompaction(const Tree& tree,
                                         uint64_t level1_size_bytes,
                                         uint64_t level_ratio);

// The facts about the SST of a compaction before it is written.
rowbloom::FileFacts FactsOf(const Tree& tree, const Compaction& compaction);
// The size of all filters, and the runs that they belong to.
rowbloom::LiveFilters LiveFiltersOf(const Tree& tree);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_COMPACTION_H_
