// SPDX-License-Identifier: Apache-2.0

#include "memo.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/reader/tree.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::reader_bench {
namespace {

// How many rows the filters hold does not matter, only their rate.
const std::vector<uint64_t> kLevelKeys = {100, 1000, 10000, 100000};
constexpr uint64_t kProgressGets = 100000;

// Row i is asked for in proportion to 1/(i+1)^theta.
class Popularity {
 public:
  Popularity(uint64_t row_count, double theta) {
    sums_.reserve(row_count);
    double sum = 0;
    for (uint64_t i = 0; i < row_count; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -theta);
      sums_.push_back(sum);
    }
  }
  uint64_t RowAt(double place) const {
    const auto it =
        std::upper_bound(sums_.begin(), sums_.end() - 1, place * sums_.back());
    return static_cast<uint64_t>(it - sums_.begin());
  }
  double ShareOf(uint64_t i) const {
    return (sums_[i] - (i == 0 ? 0 : sums_[i - 1])) / sums_.back();
  }

 private:
  std::vector<double> sums_;
};

// Bytes of the tree's own rows are others, but for a chance of 10^-6.
uint64_t RowOf(uint64_t i, uint64_t seed) {
  return Random(seed ^ (i * 0x9e3779b97f4a7c15)).Next();
}

std::unique_ptr<FilterCache> NewCache(size_t capacity_bytes) {
  ShardedLruCacheOptions options;
  options.capacity_bytes = capacity_bytes;
  options.shard_bits = 0;
  return NewShardedLruCache(options);
}

FilterReaderOptions AllInMemory(FilterCache* cache) {
  FilterReaderOptions options;
  options.cache = cache;
  options.prefetch = true;
  return options;
}

// Of an entry of the memo, as the cache counts them.
size_t EntryBytes(const Tree& tree) {
  constexpr uint64_t kEntries = 100;
  const auto cache = NewCache(64 << 20);
  const auto memo = NewCache(1 << 20);
  FilterReaderOptions options = AllInMemory(cache.get());
  options.false_positive_memo = memo.get();
  const OpenTree open(&tree, options);
  for (uint64_t i = 0; i < kEntries; ++i) {
    const auto row = RowBytes(i);
    open.reader(0).TellOutcome(FilterKey::Row({row.data(), row.size()}), false);
  }
  const FilterCache::Usage usage = memo->GetUsage();
  return usage.usage_bytes / usage.entry_count;
}

// Of each row, in how many levels it is a false positive.
std::vector<uint8_t> FalsePositives(const Tree& tree, uint64_t row_count,
                                    uint64_t seed,
                                    point_get::Progress* progress) {
  const auto cache = NewCache(64 << 20);
  OpenTree open(&tree, AllInMemory(cache.get()));
  std::vector<uint8_t> counts(row_count);
  uint64_t before = 0;
  for (uint64_t i = 0; i < row_count; ++i) {
    open.Get(RowOf(i, seed), tree.level_count());
    const uint64_t now = open.wasted_blocks();
    counts[i] = static_cast<uint8_t>(now - before);
    before = now;
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
  }
  return counts;
}

// Wasted reads of a get, if the memo has the most popular false positives.
double LeastWasted(const Popularity& popularity,
                   const std::vector<uint8_t>& false_positives,
                   uint64_t entries) {
  double wasted = 0;
  for (size_t i = 0; i < false_positives.size(); ++i) {
    const uint64_t remembered = std::min<uint64_t>(entries, false_positives[i]);
    entries -= remembered;
    wasted += popularity.ShareOf(i) *
              static_cast<double>(false_positives[i] - remembered);
  }
  return wasted;
}

double Wasted(const Tree& tree, const Popularity& popularity,
              const MemoOptions& options, size_t memo_bytes,
              point_get::Progress* progress) {
  const auto cache = NewCache(64 << 20);
  const auto memo = NewCache(memo_bytes);
  FilterReaderOptions reader_options = AllInMemory(cache.get());
  if (memo_bytes > 0) reader_options.false_positive_memo = memo.get();
  OpenTree open(&tree, reader_options);
  Random random(options.seed);
  const uint64_t half = options.gets / 2;
  Reads warm;
  for (uint64_t i = 0; i < 2 * half; ++i) {
    if (i == half) warm = open.reads();
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
    const uint64_t row = popularity.RowAt(random.NextUnit());
    open.Get(RowOf(row, options.seed), tree.level_count());
  }
  return static_cast<double>((open.reads() - warm).wasted_blocks) /
         static_cast<double>(half);
}

}  // namespace

nlohmann::ordered_json MeasureMemo(const MemoOptions& options,
                                   point_get::Progress* progress) {
  TreeShape shape;
  shape.level_keys = kLevelKeys;
  const auto policy = FilterPolicy::Parse(options.policy);
  if (!policy.ok()) throw std::invalid_argument(policy.status().ToString());
  shape.policy = *policy;
  const Tree tree(shape);
  const size_t entry_bytes = EntryBytes(tree);
  progress->Begin("memo: find the false positives", options.rows);
  const std::vector<uint8_t> false_positives =
      FalsePositives(tree, options.rows, options.seed, progress);
  progress->End();
  uint64_t false_positive_count = 0;
  for (const uint8_t count : false_positives) false_positive_count += count;

  std::printf(
      "\nMemo: %llu absent rows, %llu false positives in %zu levels of %s, %zu "
      "bytes\nan entry. Wasted reads for each 1000 gets; `least`: with the "
      "most popular false\npositives in the memo from the start.\n\n"
      "| rows | entries | wasted | times fewer | least, times fewer |\n"
      "|---|---|---|---|---|\n",
      static_cast<unsigned long long>(options.rows),
      static_cast<unsigned long long>(false_positive_count), tree.level_count(),
      options.policy.c_str(), entry_bytes);
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const double theta : options.zipf) {
    char name[32] = "uniform";
    if (theta > 0) std::snprintf(name, sizeof(name), "Zipf %g", theta);
    const Popularity popularity(options.rows, theta);
    const double none = LeastWasted(popularity, false_positives, 0);
    progress->Begin(std::string("memo: ") + name,
                    options.gets * options.entries.size());
    std::string rows;
    double wasted_without = 0;
    for (const uint64_t entries : options.entries) {
      const double wasted =
          Wasted(tree, popularity, options, entries * entry_bytes, progress);
      if (entries == options.entries.front()) wasted_without = wasted;
      const double fewer = wasted_without / wasted;
      const double least = LeastWasted(popularity, false_positives, entries);
      char row[128];
      std::snprintf(row, sizeof(row), "| %s | %llu | %.4f | %.1f | %.1f |\n",
                    name, static_cast<unsigned long long>(entries),
                    1000 * wasted, fewer, none / least);
      rows += row;
      runs.push_back({{"zipf", theta},
                      {"entries", entries},
                      {"memo_bytes", entries * entry_bytes},
                      {"wasted_reads_per_1000_gets", 1000 * wasted},
                      {"times_fewer", fewer},
                      {"least_wasted_reads_per_1000_gets", 1000 * least},
                      {"most_times_fewer", none / least}});
    }
    progress->End();
    std::printf("%s", rows.c_str());
    std::fflush(stdout);
  }
  return {{"seed", options.seed},
          {"policy", options.policy},
          {"rows", options.rows},
          {"false_positives", false_positive_count},
          {"entry_bytes", entry_bytes},
          {"gets", options.gets},
          {"runs", runs}};
}

}  // namespace rowbloom::reader_bench
