// SPDX-License-Identifier: Apache-2.0

#include "compaction.h"

namespace mini_kv {
namespace {

// The number of SSTs of level 0 to `level`, which come first.
ptrdiff_t EndOfLevel(const Tree& tree, int level) {
  return std::partition_point(
             tree.begin(), tree.end(),
             [&](const auto& sst) { return sst->level() <= level; }) -
         tree.begin();
}

}  // namespace

std::optional<Compaction> PickCompaction(const Tree& tree,
                                         uint64_t level1_size_bytes,
                                         uint64_t level_ratio) {
  if (EndOfLevel(tree, 0) >= kLevel0Limit) {
    return Compaction{0, EndOfLevel(tree, 1), 1};
  }
  auto limit = static_cast<double>(level1_size_bytes);
  for (int level = 1; level < kLastLevel; ++level) {
    const ptrdiff_t begin = EndOfLevel(tree, level - 1);
    if (begin != EndOfLevel(tree, level) &&
        static_cast<double>(tree.begin()[begin]->data_bytes()) > limit) {
      return Compaction{begin, EndOfLevel(tree, level + 1), level + 1};
    }
    limit *= static_cast<double>(level_ratio);
  }
  return std::nullopt;
}

rowbloom::FileFacts FactsOf(const Tree& tree, const Compaction& compaction) {
  rowbloom::FileFacts facts;
  facts.is_flush = compaction.begin == compaction.end;
  if (facts.is_flush) return facts;
  const Tree merged(tree.begin() + compaction.begin,
                    tree.begin() + compaction.end);
  facts.is_bottommost = compaction.end == tree.end() - tree.begin();
  facts.run_share = static_cast<double>(LiveFiltersOf(merged).key_count) /
                    static_cast<double>(LiveFiltersOf(tree).key_count);
  return facts;
}

rowbloom::LiveFilters LiveFiltersOf(const Tree& tree) {
  rowbloom::LiveFilters live;
  live.moved_share = 0;           // Each compaction rewrites its SSTs.
  for (const auto& sst : tree) {  // A get may read each of them.
    live.runs.push_back({sst->filter_keys()});
    live.key_count += sst->filter_keys();
    live.filter_bytes += sst->filter_bytes();
  }
  return live;
}

}  // namespace mini_kv
