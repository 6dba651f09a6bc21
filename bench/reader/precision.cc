// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bench/reader/tree.h"
#include "measures.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom::reader_bench {
namespace {

constexpr double kLevelRatio = 10;
constexpr uint64_t kWindows = 40;
// Within this of the last rate counts as there.
constexpr double kConverged = 1.1;

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
    std::vector<std::string_view> units;
    std::string_view rest = std::string_view(block).substr(chunk.offset);
    for (size_t i = 0; i < descriptor.unit_count; ++i) {
      units.push_back(rest.substr(0, descriptor.unit_size_bytes[i]));
      rest.remove_prefix(descriptor.unit_size_bytes[i]);
    }
    const auto view = FilterView::Parse(descriptor, units);
    if (!view.ok()) throw std::runtime_error(view.status().ToString());
    const auto chunk_keys = static_cast<double>(descriptor.key_count);
    bits += 8 * static_cast<double>(descriptor.total_size_bytes());
    keys += chunk_keys;
    false_keys += chunk_keys * view->expected_fpr();
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
  const auto cost = FilterCost::OfFamily(shape.filter_spec.family());
  if (!cost.ok()) throw std::runtime_error(cost.status().ToString());
  std::vector<TreeRun> runs;
  for (const uint64_t keys : shape.level_keys) runs.push_back({keys});
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  options.missing_share = 1;
  const auto plan = PlanFilterBudget(*cost, runs, options);
  if (!plan.ok()) throw std::runtime_error(plan.status().ToString());
  for (const RunBudget& run : plan->runs) {
    shape.level_bits_per_key.push_back(run.setting.policy_bits);
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

struct Result {
  double wasted_per_get = 0;
  double filter_reads_per_get = 0;
  double bytes_per_get = 0;
  double chunk_bytes = 0;
  uint64_t gets = 0;
  uint64_t gets_to_converge = 0;
};

// Over the last quarter of the gets.
Result Measure(const Tree& tree, Keeping keeping, size_t cache_bytes,
               uint64_t gets, uint64_t seed, bench::Progress* progress) {
  ShardedLruCacheOptions cache_options;
  cache_options.capacity_bytes =
      keeping == Keeping::kAllChunks ? size_t{1} << 40 : cache_bytes;
  cache_options.shard_bits = 0;
  const std::unique_ptr<FilterCache> cache = NewShardedLruCache(cache_options);
  FilterReaderOptions options;
  options.cache = cache.get();
  if (keeping == Keeping::kLoadedAlways) {
    options.loading = FilterLoading::kAlways;
  } else if (keeping != Keeping::kLateBound) {
    options.prefetch = true;  // From the top level on.
    options.priority = FilterCachePriority::kPinned;
  }
  OpenTree open(&tree, options);

  Random random(seed);
  std::vector<Reads> ends;
  for (uint64_t window = 0; window < kWindows; ++window) {
    const uint64_t end = gets * (window + 1) / kWindows;
    for (uint64_t i = gets * window / kWindows; i < end; ++i) {
      open.Get(random.Next(), tree.level_count());
    }
    progress->Add(end - gets * window / kWindows);
    ends.push_back(open.reads());
  }
  const Reads last = ends.back() - ends[kWindows * 3 / 4 - 1];
  const auto per_get = [](uint64_t count, const Reads& reads) {
    return static_cast<double>(count) / static_cast<double>(reads.gets);
  };
  Result result;
  result.gets = last.gets;
  result.wasted_per_get = per_get(last.wasted_blocks, last);
  result.filter_reads_per_get = per_get(last.filter_reads, last);
  result.bytes_per_get = per_get(last.bytes(), last);
  result.chunk_bytes = static_cast<double>(
      cache->GetUsage()
          .role_bytes[static_cast<size_t>(FilterCacheRole::kChunk)]);
  Reads before;
  for (const Reads& end : ends) {
    const Reads window = end - before;
    before = end;
    if (per_get(window.wasted_blocks, window) <=
        kConverged * result.wasted_per_get) {
      result.gets_to_converge = end.gets;
      break;
    }
  }
  return result;
}

}  // namespace

nlohmann::ordered_json MeasurePrecision(const PrecisionOptions& options,
                                        bench::Progress* progress) {
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
  double bits_per_plane = 0;
  double stored_bits = 0;
  {
    const OpenTree open(&tree, {});
    for (size_t i = 0; i < tree.level_count(); ++i) {
      levels.push_back(FiltersOf(tree.block(i), open.reader(i)));
      bits_per_plane += levels.back().bits_per_plane;
      stored_bits += levels.back().bits_per_plane * levels.back().planes;
    }
  }
  const bool prints = !options.late_bound_only;
  if (prints) {
    std::printf(
        "\nPrecision: %zu levels, %.4g keys, %.2f bits per key stored, %.3f "
        "for each plane.\nWasted reads for each 1000 gets of absent rows, and "
        "loads of chunks;\nbytes read for each get.\n\n"
        "| cache, bits/key | optimum | late_bound | ratio | loads | bytes | "
        "settled after gets | whole_always | loads | bytes | whole_kept | "
        "bytes | written_by_budget | budget_then_less |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        tree.level_count(), keys, stored_bits / keys, bits_per_plane / keys);
    std::fflush(stdout);
  }

  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const double bits : options.resident_bits_per_key) {
    const double optimum = LeastWastedReads(levels, bits * keys);
    std::string row;
    char cell[160];
    std::snprintf(cell, sizeof(cell), "| %g | %.2f |", bits, 1000 * optimum);
    row = cell;
    for (const Policy& policy : kPolicies) {
      if (options.late_bound_only && policy.keeping != Keeping::kLateBound) {
        continue;
      }
      const uint64_t gets = policy.keeping == Keeping::kLoadedAlways
                                ? options.always_gets
                                : options.gets;
      std::snprintf(cell, sizeof(cell), "precision: %s, %g bits", policy.name,
                    bits);
      progress->Begin(cell, gets);
      std::optional<Tree> memory_tree;
      if (policy.written == Written::kForTheMemory) {
        memory_tree.emplace(WrittenByBudget(shape, bits));
      }
      const Tree& asked = memory_tree.has_value() ? *memory_tree
                          : policy.written == Written::kForTheBudget
                              ? *budget_tree
                              : tree;
      const Result r =
          Measure(asked, policy.keeping, static_cast<size_t>(bits * keys / 8),
                  gets, options.seed, progress);
      progress->End();
      const double ratio = r.wasted_per_get / optimum;
      const double wasted = 1000 * r.wasted_per_get;
      const double loads = 1000 * r.filter_reads_per_get;
      if (policy.keeping == Keeping::kLateBound) {
        std::snprintf(cell, sizeof(cell), " %.2f | %.3f | %.3f | %.1f | %.3g |",
                      wasted, ratio, loads, r.bytes_per_get,
                      static_cast<double>(r.gets_to_converge));
      } else if (policy.keeping == Keeping::kLoadedAlways) {
        std::snprintf(cell, sizeof(cell), " %.2f | %.0f | %.0f |", wasted,
                      loads, r.bytes_per_get);
      } else if (policy.written == Written::kStored) {
        std::snprintf(cell, sizeof(cell), " %.2f | %.0f |", wasted,
                      r.bytes_per_get);
      } else {
        std::snprintf(cell, sizeof(cell), " %.2f |", wasted);
      }
      row += cell;
      runs.push_back({{"policy", policy.name},
                      {"resident_bits_per_key", bits},
                      {"chunk_bits_per_key", 8 * r.chunk_bytes / keys},
                      {"gets", r.gets},
                      {"wasted_reads_per_1000_gets", wasted},
                      {"filter_reads_per_1000_gets", loads},
                      {"bytes_read_per_get", r.bytes_per_get},
                      {"times_optimum", ratio},
                      {"gets_to_converge", r.gets_to_converge}});
    }
    runs.push_back({{"policy", "optimum"},
                    {"resident_bits_per_key", bits},
                    {"wasted_reads_per_1000_gets", 1000 * optimum}});
    if (!prints) continue;
    std::printf("%s\n", row.c_str());
    std::fflush(stdout);
  }
  return {{"seed", options.seed},
          {"level_keys", shape.level_keys},
          {"chunk_size_bytes", shape.chunk_size_bytes},
          {"stored_bits_per_key", stored_bits / keys},
          {"bits_per_key_and_plane", bits_per_plane / keys},
          {"runs", runs}};
}

}  // namespace rowbloom::reader_bench
