// SPDX-License-Identifier: Apache-2.0

#include "compaction.h"

#include <algorithm>

namespace mini_kv {
namespace {

// The number of SSTs of level 0 to `level`, which come first.
size_t EndOfLevel(const Tree& tree, int level) {
  const auto end = std::partition_point(
      tree.begin(), tree.end(),
      [&](const auto& sst) { return sst->level() <= level; });
  return static_cast<size_t>(end - tree.begin());
}

uint64_t FilterKeys(const Tree& tree, size_t begin, size_t end) {
  uint64_t sum = 0;
  for (size_t i = begin; i < end; ++i) sum += tree[i]->filter_keys();
  return sum;
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
    const size_t begin = EndOfLevel(tree, level - 1);
    if (begin != EndOfLevel(tree, level) &&
        static_cast<double>(tree[begin]->data_bytes()) > limit) {
      return Compaction{begin, EndOfLevel(tree, level + 1), level + 1};
    }
    limit *= static_cast<double>(level_ratio);
  }
  return std::nullopt;
}

rowbloom::FileFacts FactsOf(const Tree& tree, const Compaction& compaction) {
  rowbloom::FileFacts facts;
  if (compaction.begin == compaction.end) {
    facts.is_flush = true;
    return facts;
  }
  facts.is_bottommost = compaction.end == tree.size();
  facts.run_share =
      static_cast<double>(FilterKeys(tree, compaction.begin, compaction.end)) /
      static_cast<double>(FilterKeys(tree, 0, tree.size()));
  return facts;
}

rowbloom::LiveFilters LiveFiltersOf(const Tree& tree) {
  rowbloom::LiveFilters live;
  for (const auto& sst : tree) {  // A get may read each of them.
    live.runs.push_back({sst->filter_keys()});
    live.key_count += sst->filter_keys();
    live.filter_bytes += sst->filter_bytes();
  }
  return live;
}

}  // namespace mini_kv
