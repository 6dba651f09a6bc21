// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/point_get/workload.h"

namespace rowbloom::budget_bench {
namespace {

using Json = nlohmann::ordered_json;
using point_get::Mix;

constexpr double kBaselineBits = 10;
constexpr double kMissingShares[] = {1, 0.5, 0};

// The baseline whose filters take about 10 bits per key.
const PolicyResult* Baseline(const TreeResults& tree) {
  for (const PolicyResult& result : tree.results) {
    if (result.policy == kBaseline &&
        std::abs(result.bits_per_key - kBaselineBits) < 0.5) {
      return &result;
    }
  }
  return nullptr;
}

// How many times fewer reads it wastes than the baseline does on the same
// condition. Nothing if it wastes none, or there is no baseline.
std::optional<double> TimesFewer(const TreeResults& tree, const Run& run) {
  const PolicyResult* baseline = Baseline(tree);
  if (baseline == nullptr) return std::nullopt;
  const Run* other = FindRun(*baseline, run.condition);
  if (other == nullptr || run.WastedPerThousand() == 0) return std::nullopt;
  return other->WastedPerThousand() / run.WastedPerThousand();
}

// The least that filters of its kind and memory can waste, for 1,000 gets. What
// a cache of data blocks takes from it is not known.
std::optional<double> Optimum(const TreeResults& tree,
                              const PolicyResult& result, const Run& run) {
  // Where no get misses, the optimum is that of hits-only mode.
  const bool all_hit = run.condition.mix.missing_share == 0;
  if (result.bits_per_key == 0 || run.condition.cache_share != 0 ||
      all_hit != (result.policy == kHitsOnly)) {
    return std::nullopt;
  }
  return 1000 * LeastWastedReads(result.policy, tree.shape, result.bits_per_key,
                                 run.condition.mix.missing_share);
}

std::optional<double> PercentOfOptimum(const TreeResults& tree,
                                       const PolicyResult& result,
                                       const Run& run) {
  const std::optional<double> optimum = Optimum(tree, result, run);
  if (!optimum.has_value() || run.WastedPerThousand() == 0) return std::nullopt;
  return 100 * *optimum / run.WastedPerThousand();
}

std::string ConditionName(const Condition& condition) {
  char text[80];
  std::snprintf(
      text, sizeof(text), "%g%% of gets absent, %s",
      100 * condition.mix.missing_share,
      std::string(point_get::MixName(condition.mix.popularity)).c_str());
  std::string name = text;
  if (condition.cache_share == 0) return name + ", no data cached";
  std::snprintf(text, sizeof(text), ", %g%% of data cached",
                100 * condition.cache_share);
  return name + text;
}

std::string Number(std::optional<double> value, const char* format) {
  if (!value.has_value()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), format, *value);
  return text;
}

std::string Times(std::optional<double> times) {
  return Number(times, times.value_or(0) < 9.95 ? "%.1fx" : "%.0fx");
}

Json JsonOf(std::optional<double> value) {
  return value.has_value() ? Json(*value) : Json();
}

Json GrowJson(const GrowResult& r) {
  return {{"policy", r.policy},
          {"inserts", InsertsName(r.tree.inserts)},
          {"dynamic_level_bytes", r.tree.dynamic_level_bytes},
          {"keys", r.keys},
          {"files_by_level", r.files_by_level},
          {"moved_bytes", r.moved_bytes},
          {"ingested_files", r.ingested_files},
          {"last_bits_per_key", r.last_bits_per_key},
          {"most_bits_per_key", r.most_bits_per_key},
          {"wasted_reads_per_1000_absent", r.wasted_absent},
          {"wasted_reads_per_1000_present", r.wasted_present},
          {"wrong_answers", r.wrong_answers}};
}

void PrintCondition(const TreeResults& tree, const Condition& condition) {
  std::printf("\n%s\n", ConditionName(condition).c_str());
  std::printf(
      "| policy | bits per key | wasted / 1000 | least, most | "
      "times fewer | of the optimum | by level |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const PolicyResult& result : tree.results) {
    const Run* run = FindRun(result, condition);
    if (run == nullptr) continue;
    std::string levels;
    for (const auto& [level, bits] : result.bits_per_key_by_level) {
      levels += (levels.empty() ? "" : ", ") +
                Number(run->PerThousandOfLevel(level), "%.3g");
    }
    std::printf("| %s | %.2f | %.3g | %.3g, %.3g | %s | %s | %s |\n",
                result.policy.c_str(), result.bits_per_key,
                run->WastedPerThousand(), run->Least(), run->Most(),
                Times(TimesFewer(tree, *run)).c_str(),
                Number(PercentOfOptimum(tree, result, *run), "%.0f%%").c_str(),
                levels.c_str());
  }
}

void PrintBits(const TreeResults& tree) {
  std::printf("\nBits per key, by level\n| policy | all |");
  for (const point_get::LevelShape& level : tree.levels) {
    std::printf(" L%d |", level.level);
  }
  std::printf("\n|---|---|");
  for (size_t i = 0; i < tree.levels.size(); ++i) std::printf("---|");
  std::printf("\n");
  for (const PolicyResult& result : tree.results) {
    std::printf("| %s | %.2f |", result.policy.c_str(), result.bits_per_key);
    for (const auto& [level, bits] : result.bits_per_key_by_level) {
      std::printf(" %.1f |", bits);
    }
    std::printf("\n");
  }
}

void PrintTimes(const TreeResults& tree) {
  if (tree.results.empty() || tree.results.front().timed.empty()) return;
  std::printf("\nMicroseconds of a get: mean, p50, p99\n| policy |");
  for (const TimedGets& timed : tree.results.front().timed) {
    std::printf(" %g%% absent |", 100 * timed.missing_share);
  }
  std::printf("\n|---|");
  for (size_t i = 0; i < tree.results.front().timed.size(); ++i) {
    std::printf("---|");
  }
  std::printf("\n");
  for (const PolicyResult& result : tree.results) {
    std::printf("| %s |", result.policy.c_str());
    for (const TimedGets& timed : result.timed) {
      std::printf(" %.1f, %.1f, %.1f |", timed.latency.mean_us,
                  timed.latency.p50_us, timed.latency.p99_us);
    }
    std::printf("\n");
  }
}

// A line through the logarithms of wasted reads between the two measured sizes
// that surround it. Nothing if none do.
std::optional<double> BitsFor(const TreeResults& tree,
                              const std::string& policy,
                              const Condition& condition, double wasted) {
  std::vector<std::pair<double, double>> points;  // Bits, wasted.
  for (const PolicyResult& result : tree.results) {
    const Run* run = FindRun(result, condition);
    if (result.policy != policy || run == nullptr) continue;
    points.emplace_back(result.bits_per_key, run->WastedPerThousand());
  }
  std::sort(points.begin(), points.end());
  for (size_t i = 1; i < points.size(); ++i) {
    const auto& [bits, more] = points[i - 1];
    const auto& [next_bits, less] = points[i];
    if (more < wasted || less > wasted || less == more) continue;
    if (less == 0) return next_bits;
    const double share = std::log(more / wasted) / std::log(more / less);
    return bits + share * (next_bits - bits);
  }
  return std::nullopt;
}

std::vector<std::string> PoliciesOf(const TreeResults& tree) {
  std::vector<std::string> names;
  for (const PolicyResult& result : tree.results) {
    if (names.empty() || names.back() != result.policy) {
      names.push_back(result.policy);
    }
  }
  return names;
}

Json RunJson(const TreeResults& tree, const PolicyResult& result,
             const Run& run) {
  Json repetitions = Json::array();
  uint64_t gets = 0;
  uint64_t wrong = 0;
  double bytes = 0;
  uint64_t metadata_reads = 0;
  for (const Wasted& wasted : run.repetitions) {
    repetitions.push_back(
        {{"gets", wasted.gets}, {"wasted_reads", wasted.reads()}});
    gets += wasted.gets;
    wrong += wasted.wrong_answers;
    bytes += static_cast<double>(wasted.counts.bytes_read);
    metadata_reads += wasted.counts.metadata_reads;
  }
  Json by_level = Json::object();
  for (const auto& [level, bits] : result.bits_per_key_by_level) {
    by_level[std::to_string(level)] = run.PerThousandOfLevel(level);
  }
  return {
      {"policy", result.policy},
      {"bits_asked", result.bits_asked},
      {"bits_per_key", result.bits_per_key},
      {"missing_share", run.condition.mix.missing_share},
      {"mix", point_get::MixName(run.condition.mix.popularity)},
      {"cache_share", run.condition.cache_share},
      {"repetitions", std::move(repetitions)},
      {"wrong_answers", wrong},
      {"wasted_reads_per_1000_gets", run.WastedPerThousand()},
      {"least", run.Least()},
      {"most", run.Most()},
      {"wasted_reads_per_1000_gets_by_level", std::move(by_level)},
      {"bytes_read_per_get", bytes / static_cast<double>(gets)},
      {"index_and_filter_reads", metadata_reads},
      {"times_fewer_than_baseline", JsonOf(TimesFewer(tree, run))},
      {"optimum", JsonOf(Optimum(tree, result, run))},
      {"percent_of_optimum", JsonOf(PercentOfOptimum(tree, result, run))},
  };
}

Json PolicyJson(const PolicyResult& result) {
  Json bits = Json::object();
  for (const auto& [level, of_level] : result.bits_per_key_by_level) {
    bits[std::to_string(level)] = of_level;
  }
  Json timed = Json::array();
  for (const TimedGets& gets : result.timed) {
    timed.push_back({{"missing_share", gets.missing_share},
                     {"mean_us", gets.latency.mean_us},
                     {"p50_us", gets.latency.p50_us},
                     {"p99_us", gets.latency.p99_us}});
  }
  return {{"policy", result.policy},
          {"bits_asked", result.bits_asked},
          {"bits_per_key", result.bits_per_key},
          {"bits_per_key_by_level", std::move(bits)},
          {"timed", std::move(timed)}};
}

std::string Join(const std::vector<uint64_t>& numbers) {
  std::string text;
  for (const uint64_t number : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

}  // namespace

void PrintTree(const TreeResults& tree) {
  std::printf("\n%s tree, the same for every policy\n",
              std::string(TreeKindName(tree.shape.kind)).c_str());
  std::printf(
      "| level | files | keys | data blocks | data MB |\n"
      "|---|---|---|---|---|\n");
  for (const point_get::LevelShape& level : tree.levels) {
    std::printf("| L%d | %zu | %zu | %zu | %.2f |\n", level.level,
                static_cast<size_t>(level.file_count),
                static_cast<size_t>(level.cell_count),
                static_cast<size_t>(level.data_block_count),
                static_cast<double>(level.data_bytes) / 1e6);
  }
}

void PrintReads(const TreeResults& tree) {
  PrintTree(tree);
  PrintBits(tree);
  if (tree.results.empty()) return;
  for (const Run& run : tree.results.front().runs) {
    PrintCondition(tree, run.condition);
  }
  PrintTimes(tree);
}

void PrintMemory(const TreeResults& tree) {
  PrintTree(tree);
  for (const double missing : kMissingShares) {
    PrintCondition(tree, {{missing, Mix::kUniform}, 0});
  }
  std::printf(
      "\nBits per key to waste as few reads as %s of %g\n"
      "| policy | absent | half absent | present |\n|---|---|---|---|\n",
      kBaseline, kBaselineBits);
  const Json equal = EqualReadsJson(tree);
  for (const Json& row : equal) {
    std::printf("| %s |", row["policy"].get<std::string>().c_str());
    for (const Json& bits : row["bits_per_key"]) {
      if (bits.is_null()) {
        std::printf(" - |");
      } else {
        std::printf(" %.2f |", bits.get<double>());
      }
    }
    std::printf("\n");
  }
}

void PrintGrown(const std::vector<GrowResult>& grown) {
  std::printf(
      "\nTrees that grew\n"
      "| inserts | level bytes | policy | bits per key | most | "
      "wasted / 1000 absent | present | files by level | MB moved |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const GrowResult& r : grown) {
    std::printf("| %s | %s | %s | %.2f | %.2f | %.3g | %.3g | %s | %.1f |\n",
                InsertsName(r.tree.inserts).c_str(),
                r.tree.dynamic_level_bytes ? "dynamic" : "static",
                r.policy.c_str(), r.last_bits_per_key, r.most_bits_per_key,
                r.wasted_absent, r.wasted_present,
                Join(r.files_by_level).c_str(),
                static_cast<double>(r.moved_bytes) / 1e6);
  }
}

Json ToJson(const std::vector<GrowResult>& grown) {
  Json rows = Json::array();
  for (const GrowResult& result : grown) rows.push_back(GrowJson(result));
  return rows;
}

Json ToJson(const TreeResults& tree) {
  Json levels = Json::array();
  for (const point_get::LevelShape& level : tree.levels) {
    levels.push_back({{"level", level.level},
                      {"files", level.file_count},
                      {"keys", level.cell_count},
                      {"data_blocks", level.data_block_count},
                      {"data_bytes", level.data_bytes}});
  }
  Json policies = Json::array();
  Json runs = Json::array();
  for (const PolicyResult& result : tree.results) {
    policies.push_back(PolicyJson(result));
    for (const Run& run : result.runs) {
      runs.push_back(RunJson(tree, result, run));
    }
  }
  return {{"tree", TreeKindName(tree.shape.kind)},
          {"levels", std::move(levels)},
          {"policies", std::move(policies)},
          {"runs", std::move(runs)}};
}

Json EqualReadsJson(const TreeResults& tree) {
  Json rows = Json::array();
  const PolicyResult* baseline = Baseline(tree);
  if (baseline == nullptr) return rows;
  for (const std::string& policy : PoliciesOf(tree)) {
    Json bits = Json::array();
    for (const double missing : kMissingShares) {
      const Condition condition{{missing, Mix::kUniform}, 0};
      const Run* run = FindRun(*baseline, condition);
      bits.push_back(
          JsonOf(BitsFor(tree, policy, condition, run->WastedPerThousand())));
    }
    rows.push_back({{"policy", policy},
                    {"missing_shares", kMissingShares},
                    {"bits_per_key", std::move(bits)}});
  }
  return rows;
}

}  // namespace rowbloom::budget_bench
