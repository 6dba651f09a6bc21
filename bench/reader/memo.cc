// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bench/reader/tree.h"
#include "bench/split_mix.h"
#include "measures.h"
#include "rowbloom/false_positive_memo.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::bench {
namespace {

// How many rows the filters hold does not matter, only their rate.
const std::vector<uint64_t> kLevelKeys = {100, 1000, 10000, 100000};

// Row i is asked for in proportion to it.
double Weight(uint64_t i, double theta) {
  return std::pow(static_cast<double>(i + 1), -theta);
}

double SumOfWeights(uint64_t row_count, double theta) {
  double sum = 0;
  for (uint64_t i = 0; i < row_count; ++i) sum += Weight(i, theta);
  return sum;
}

// Bytes of the tree's own rows are others, but for a chance of 10^-6.
uint64_t RowOf(uint64_t i, uint64_t seed) {
  return Random(seed ^ (i * kSplitMixStep)).Next();
}

// Each reader has a cache of its own, which has room for all its chunks.
FilterReaderOptions AllInMemory() {
  FilterReaderOptions options;
  options.prefetch = true;
  return options;
}

// The bytes that the memo counts for an entry.
size_t EntryBytes() {
  constexpr uint64_t kEntries = 100;
  FalsePositiveMemo memo(1 << 20);
  for (uint64_t i = 0; i < kEntries; ++i) {
    const auto row = RowBytes(i);
    memo.Remember(1, FilterKey::Row({row.data(), row.size()}));
  }
  const FilterCache::Usage usage = memo.GetUsage();
  return usage.usage_bytes / usage.entry_count;
}

// The rows that are false positives in some level, the most popular one first.
std::vector<uint64_t> FindFalsePositives(const Tree& tree, uint64_t row_count,
                                         uint64_t seed, Progress* progress) {
  OpenTree open(&tree, AllInMemory());
  std::vector<uint64_t> found;
  uint64_t before = 0;
  for (uint64_t i = 0; i < row_count; ++i) {
    open.Get(RowOf(i, seed), tree.level_count());
    if (open.wasted_blocks() > before) found.push_back(i);
    before = open.wasted_blocks();
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
  }
  return found;
}

// Wasted reads of a get. Asks the false positives only: the filters deny all
// other rows, and no memo is asked for them.
double Wasted(const Tree& tree, const MemoOptions& options,
              const std::vector<uint64_t>& false_positives, double theta,
              double sum_of_weights, size_t memo_bytes, uint64_t seed) {
  FalsePositiveMemo memo(memo_bytes);
  OpenTree open(&tree, AllInMemory(), memo_bytes > 0 ? &memo : nullptr);

  std::vector<double> sums;
  double sum = 0;
  for (const uint64_t row : false_positives) {
    sums.push_back(sum += Weight(row, theta));
  }
  if (sums.empty()) return 0;
  const double share = sum / sum_of_weights;
  const auto half = static_cast<uint64_t>(
      std::ceil(share * static_cast<double>(options.gets) / 2));
  Random random(seed);
  Reads warm;
  for (uint64_t i = 0; i < 2 * half; ++i) {
    if (i == half) warm = open.reads();
    const auto at =
        std::upper_bound(sums.begin(), sums.end() - 1, random.NextUnit() * sum);
    const uint64_t row =
        false_positives[static_cast<size_t>(at - sums.begin())];
    open.Get(RowOf(row, seed), tree.level_count());
  }
  const Reads counted = open.reads() - warm;
  return share * static_cast<double>(counted.wasted_blocks) /
         static_cast<double>(counted.gets);
}

}  // namespace

Json MeasureMemo(const MemoOptions& options, Progress* progress) {
  TreeShape shape;
  shape.level_keys = kLevelKeys;
  const auto policy = FilterSpec::Parse(options.policy);
  if (!policy.ok()) throw std::invalid_argument(policy.status().ToString());
  shape.filter_spec = *policy;
  const Tree tree(shape);
  const size_t entry_bytes = EntryBytes();
  // By exponent, then by entries: wasted reads of a get in all rounds.
  std::vector<std::vector<double>> sums(
      options.zipf.size(), std::vector<double>(options.entries.size()));
  std::vector<double> sums_of_weights;
  for (const double theta : options.zipf) {
    sums_of_weights.push_back(SumOfWeights(options.rows, theta));
  }
  progress->Begin("memo", options.rows * static_cast<uint64_t>(options.rounds));
  for (int round = 0; round < options.rounds; ++round) {
    const uint64_t seed =
        Random(kSeed * 1000000007 + static_cast<uint64_t>(round)).Next();
    const std::vector<uint64_t> found =
        FindFalsePositives(tree, options.rows, seed, progress);
    for (size_t i = 0; i < options.zipf.size(); ++i) {
      for (size_t j = 0; j < options.entries.size(); ++j) {
        sums[i][j] +=
            Wasted(tree, options, found, options.zipf[i], sums_of_weights[i],
                   options.entries[j] * entry_bytes, seed);
        progress->Add(0);
      }
    }
  }
  progress->End();

  Json runs = Json::array();
  for (size_t i = 0; i < options.zipf.size(); ++i) {
    for (size_t j = 0; j < options.entries.size(); ++j) {
      runs.push_back(
          {{"zipf", options.zipf[i]},
           {"entries", options.entries[j]},
           {"memo_bytes", options.entries[j] * entry_bytes},
           {"wasted_reads_per_1000_gets", 1000 * sums[i][j] / options.rounds},
           {"times_fewer", sums[i].front() / sums[i][j]}});
    }
  }
  return {{"policy", options.policy},
          {"rows", options.rows},
          {"gets", options.gets},
          {"rounds", options.rounds},
          {"runs", runs}};
}

}  // namespace rowbloom::bench
