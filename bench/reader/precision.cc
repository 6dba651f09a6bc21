// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/or_throw.h"
#include "bench/reader/tree.h"
#include "measures.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom::bench {
namespace {

constexpr double kLevelRatio = 10;

// The filters of a level as if their planes could be cut anywhere.
struct LevelFilters {
  double bits_per_plane = 0;  // Over all chunks.
  double planes = 0;          // x planes have the rate 2^-x.
};

LevelFilters FiltersOf(const std::string& block, const FilterReader& reader) {
  double bits = 0;
  double keys = 0;
  double false_keys = 0;
  for (const FilterChunkInfo& chunk : reader.Chunks()) {
    const FilterDescriptor& descriptor = chunk.descriptor;
    const EncodedFilter filter = {
        descriptor, block.substr(chunk.offset, descriptor.total_size_bytes())};
    const FilterView view =
        OrThrow(FilterView::Parse(descriptor, filter.UnitViews()));
    const auto chunk_keys = static_cast<double>(descriptor.key_count);
    bits += 8 * static_cast<double>(descriptor.total_size_bytes());
    keys += chunk_keys;
    false_keys += chunk_keys * view.expected_fpr();
  }
  const double planes = std::log2(keys / false_keys);
  return {bits / planes, planes};
}

// Planes that the optimum keeps of a level: the saving of a little more,
// ln(2) 2^-x, is for each bit the same for all levels between none and all.
double PlanesAt(const LevelFilters& level, double log2_price) {
  return std::clamp(log2_price - std::log2(level.bits_per_plane), 0.0,
                    level.planes);
}

// The least wasted reads of a get that filters of so many bits can have.
double LeastWastedReads(const std::vector<LevelFilters>& levels, double bits) {
  double low = 0;  // log2 of the price, by bisection.
  double high = 128;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    double used = 0;
    for (const LevelFilters& level : levels) {
      used += level.bits_per_plane * PlanesAt(level, middle);
    }
    (used > bits ? high : low) = middle;
  }
  double wasted = 0;
  for (const LevelFilters& level : levels) {
    wasted += std::exp2(-PlanesAt(level, low));
  }
  return wasted;
}

// The same levels, written by PlanFilterBudget() for so many bits per key.
TreeShape WrittenByBudget(TreeShape shape, double bits_per_key) {
  const FilterCost cost =
      OrThrow(FilterCost::OfFamily(shape.filter_spec.family()));
  std::vector<TreeRun> runs;
  for (const uint64_t keys : shape.level_keys) runs.push_back({keys});
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  options.missing_share = 1;
  const auto plan = OrThrow(PlanFilterBudget(cost, runs, options));
  for (const RunBudget& run : plan.runs) {
    shape.level_bits_per_key.push_back(run.setting.builder_bits);
  }
  return shape;
}

enum class Keeping { kLateBound, kLoadedAlways, kFirstChunks, kAllChunks };
enum class Written { kStored, kForTheMemory, kForTheBudget };
struct Policy {
  const char* name;
  Keeping keeping;
  Written written = Written::kStored;
};
constexpr Policy kPolicies[] = {
    {"late_bound", Keeping::kLateBound},
    {"whole_always", Keeping::kLoadedAlways},
    {"whole_kept", Keeping::kFirstChunks},
    {"written_by_budget", Keeping::kAllChunks, Written::kForTheMemory},
    {"budget_then_less", Keeping::kFirstChunks, Written::kForTheBudget},
};

// The reads of the last quarter of the gets.
Reads Measure(const Tree& tree, Keeping keeping, size_t cache_bytes,
              uint64_t gets, const PrecisionOptions& o, Progress* progress) {
  ShardedLruCacheOptions cache_options;
  cache_options.capacity_bytes =
      keeping == Keeping::kAllChunks ? size_t{1} << 40 : cache_bytes;
  cache_options.shard_bits = 0;
  const std::unique_ptr<FilterCache> cache = NewShardedLruCache(cache_options);
  internal::cache::SetLoadRules(o.load_rules, cache.get());
  FilterReaderOptions options;
  options.cache = cache.get();
  if (keeping == Keeping::kLoadedAlways) {
    options.loading = FilterLoading::kAlways;
  } else if (keeping != Keeping::kLateBound) {
    options.prefetch = true;  // From the top level on.
    options.priority = FilterCachePriority::kPinned;
  }
  OpenTree open(&tree, options);

  Random random(kSeed);
  Reads warm;
  for (uint64_t i = 0; i < gets; ++i) {
    if (i == gets * 3 / 4) warm = open.reads();
    open.Get(random.Next(), tree.level_count());
    if (i % kProgressGets == 0) progress->Add(kProgressGets);
  }
  return open.reads() - warm;
}

}  // namespace

Json MeasurePrecision(const PrecisionOptions& options, Progress* progress) {
  TreeShape shape;
  for (int level = options.level_count - 1; level >= 0; --level) {
    shape.level_keys.push_back(std::max<uint64_t>(
        1, static_cast<uint64_t>(static_cast<double>(options.last_level_keys) /
                                 std::pow(kLevelRatio, level))));
  }
  shape.filter_spec =
      FilterSpec::BitsPerKey("compact", options.stored_bits_per_key);
  shape.chunk_size_bytes = options.chunk_size_bytes;
  progress->Begin("precision: write filters", 0);
  const Tree tree(shape);
  std::optional<Tree> budget_tree;
  if (!options.late_bound_only) {
    budget_tree.emplace(WrittenByBudget(shape, options.budget_bits_per_key));
  }
  progress->End();
  const auto keys = static_cast<double>(tree.key_count());

  std::vector<LevelFilters> levels;
  double stored_bits = 0;
  {
    const OpenTree open(&tree, {});
    for (size_t i = 0; i < tree.level_count(); ++i) {
      levels.push_back(FiltersOf(tree.block(i), open.reader(i)));
      stored_bits += levels.back().bits_per_plane * levels.back().planes;
    }
  }
  Json runs = Json::array();
  for (const double bits : options.resident_bits_per_key) {
    const double optimum = LeastWastedReads(levels, bits * keys);
    for (const Policy& policy : kPolicies) {
      if (options.late_bound_only && policy.keeping != Keeping::kLateBound) {
        continue;
      }
      const uint64_t gets = policy.keeping == Keeping::kLoadedAlways
                                ? options.always_gets
                                : options.gets;
      if (gets == 0) continue;
      progress->Begin(
          absl::StrCat("precision: ", policy.name, ", ", bits, " bits"), gets);
      std::optional<Tree> memory_tree;
      if (policy.written == Written::kForTheMemory) {
        memory_tree.emplace(WrittenByBudget(shape, bits));
      }
      const Tree& asked = memory_tree.has_value() ? *memory_tree
                          : policy.written == Written::kForTheBudget
                              ? *budget_tree
                              : tree;
      const Reads reads =
          Measure(asked, policy.keeping, static_cast<size_t>(bits * keys / 8),
                  gets, options, progress);
      progress->End();
      const auto get_count = static_cast<double>(reads.gets);
      runs.push_back(
          {{"policy", policy.name},
           {"resident_bits_per_key", bits},
           {"gets", reads.gets},
           {"wasted_reads_per_1000_gets",
            1000 * static_cast<double>(reads.wasted_blocks) / get_count},
           {"filter_reads_per_1000_gets",
            1000 * static_cast<double>(reads.filter_reads) / get_count},
           {"bytes_read_per_get",
            static_cast<double>(reads.bytes()) / get_count}});
    }
    runs.push_back({{"policy", "optimum"},
                    {"resident_bits_per_key", bits},
                    {"wasted_reads_per_1000_gets", 1000 * optimum}});
  }
  return {{"level_keys", shape.level_keys},
          {"chunk_size_bytes", shape.chunk_size_bytes},
          {"stored_bits_per_key", stored_bits / keys},
          {"runs", runs}};
}

}  // namespace rowbloom::bench
