// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/reader/tree.h"
#include "bench/split_mix.h"
#include "measures.h"
#include "rowbloom/false_positive_memo.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::reader_bench {
namespace {

// How many rows the filters hold does not matter, only their rate.
const std::vector<uint64_t> kLevelKeys = {100, 1000, 10000, 100000};
constexpr uint64_t kProgressGets = 100000;

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
  return Random(seed ^ (i * bench::kSplitMixStep)).Next();
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

struct FalsePositive {
  uint64_t row = 0;     // From the most popular one on.
  uint64_t levels = 0;  // In so many.
};

std::vector<FalsePositive> FindFalsePositives(const Tree& tree,
                                              uint64_t row_count, uint64_t seed,
                                              bench::Progress* progress) {
  OpenTree open(&tree, AllInMemory());
  std::vector<FalsePositive> found;
  uint64_t before = 0;
  for (uint64_t i = 0; i < row_count; ++i) {
    open.Get(RowOf(i, seed), tree.level_count());
    const uint64_t levels = open.wasted_blocks() - before;
    before += levels;
    if (levels > 0) found.push_back({i, levels});
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
  }
  return found;
}

// Wasted reads of a get, if the memo has the most popular false positives.
double LeastWasted(const std::vector<FalsePositive>& false_positives,
                   double theta, double sum_of_weights, uint64_t entries) {
  double wasted = 0;
  for (const FalsePositive& f : false_positives) {
    const uint64_t remembered = std::min(entries, f.levels);
    entries -= remembered;
    wasted += Weight(f.row, theta) * static_cast<double>(f.levels - remembered);
  }
  return wasted / sum_of_weights;
}

// Wasted reads of a get. Asks the false positives only: the filters deny all
// other rows, and no memo is asked for them.
double Wasted(const Tree& tree, const MemoOptions& options,
              const std::vector<FalsePositive>& false_positives, double theta,
              double sum_of_weights, size_t memo_bytes, uint64_t seed) {
  FalsePositiveMemo memo(memo_bytes);
  OpenTree open(&tree, AllInMemory(), memo_bytes > 0 ? &memo : nullptr);

  std::vector<double> sums;
  double sum = 0;
  for (const FalsePositive& f : false_positives) {
    sums.push_back(sum += Weight(f.row, theta));
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
    const FalsePositive& f =
        false_positives[static_cast<size_t>(at - sums.begin())];
    open.Get(RowOf(f.row, seed), tree.level_count());
  }
  const Reads counted = open.reads() - warm;
  return share * static_cast<double>(counted.wasted_blocks) /
         static_cast<double>(counted.gets);
}

}  // namespace

nlohmann::ordered_json MeasureMemo(const MemoOptions& options,
                                   bench::Progress* progress) {
  TreeShape shape;
  shape.level_keys = kLevelKeys;
  const auto policy = FilterSpec::Parse(options.policy);
  if (!policy.ok()) throw std::invalid_argument(policy.status().ToString());
  shape.filter_spec = *policy;
  const Tree tree(shape);
  const size_t entry_bytes = EntryBytes();
  // By exponent, then by entries: wasted reads of a get in all rounds.
  struct Sum {
    double wasted = 0;
    double least = 0;
  };
  std::vector<std::vector<Sum>> sums(options.zipf.size(),
                                     std::vector<Sum>(options.entries.size()));
  std::vector<double> sums_of_weights;
  for (const double theta : options.zipf) {
    sums_of_weights.push_back(SumOfWeights(options.rows, theta));
  }
  double false_positive_count = 0;
  progress->Begin("memo", options.rows * static_cast<uint64_t>(options.rounds));
  for (int round = 0; round < options.rounds; ++round) {
    const uint64_t seed =
        Random(options.seed * 1000000007 + static_cast<uint64_t>(round)).Next();
    const std::vector<FalsePositive> found =
        FindFalsePositives(tree, options.rows, seed, progress);
    for (const FalsePositive& f : found) {
      false_positive_count += static_cast<double>(f.levels);
    }
    for (size_t i = 0; i < options.zipf.size(); ++i) {
      for (size_t j = 0; j < options.entries.size(); ++j) {
        const uint64_t entries = options.entries[j];
        sums[i][j].wasted +=
            Wasted(tree, options, found, options.zipf[i], sums_of_weights[i],
                   entries * entry_bytes, seed);
        sums[i][j].least +=
            LeastWasted(found, options.zipf[i], sums_of_weights[i], entries);
        progress->Add(0);
      }
    }
  }
  progress->End();
  false_positive_count /= options.rounds;

  std::printf(
      "\nMemo: %llu absent rows, %.0f false positives in %zu levels of %s, %zu "
      "bytes\nan entry. Wasted reads for each 1000 gets; `most`: with the "
      "most popular false\npositives in the memo from the start.\n\n"
      "| rows | entries | bytes | wasted | times fewer | most times fewer |\n"
      "|---|---|---|---|---|---|\n",
      static_cast<unsigned long long>(options.rows), false_positive_count,
      tree.level_count(), options.policy.c_str(), entry_bytes);
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (size_t i = 0; i < options.zipf.size(); ++i) {
    const double theta = options.zipf[i];
    char name[32] = "uniform";
    if (theta > 0) std::snprintf(name, sizeof(name), "Zipf %g", theta);
    for (size_t j = 0; j < options.entries.size(); ++j) {
      const uint64_t entries = options.entries[j];
      const Sum& none = sums[i].front();
      const Sum& sum = sums[i][j];
      const double wasted = 1000 * sum.wasted / options.rounds;
      std::printf("| %s | %llu | %llu | %.4f | %.1f | %.1f |\n", name,
                  static_cast<unsigned long long>(entries),
                  static_cast<unsigned long long>(entries * entry_bytes),
                  wasted, none.wasted / sum.wasted, none.least / sum.least);
      runs.push_back({{"zipf", theta},
                      {"entries", entries},
                      {"memo_bytes", entries * entry_bytes},
                      {"wasted_reads_per_1000_gets", wasted},
                      {"times_fewer", none.wasted / sum.wasted},
                      {"most_times_fewer", none.least / sum.least}});
    }
  }
  return {
      {"seed", options.seed},       {"policy", options.policy},
      {"rows", options.rows},       {"false_positives", false_positive_count},
      {"entry_bytes", entry_bytes}, {"gets", options.gets},
      {"rounds", options.rounds},   {"runs", runs}};
}

}  // namespace rowbloom::reader_bench
