// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/reader/tree.h"
#include "measures.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/host_cache.h"

namespace rowbloom::bench {
namespace {

struct Rule {
  const char* name;
  const char* off;
  void (*switch_off)(LoadRules* rules);
};
constexpr Rule kRules[] = {
    {"ask_ledger", "false", [](LoadRules* r) { r->ask_ledger = false; }},
    {"fill_cache_at_once", "false",
     [](LoadRules* r) { r->fill_cache_at_once = false; }},
    {"wasted_share", "0", [](LoadRules* r) { r->wasted_share = 0; }},
    {"hysteresis", "1", [](LoadRules* r) { r->hysteresis = 1; }},
    {"payback_half_lives", "1e9",
     [](LoadRules* r) { r->payback_half_lives = 1e9; }},
    {"declined_pause", "0", [](LoadRules* r) { r->declined_pause = 0; }},
};

// An engine's own cache that has no room, and says so only in Insert().
class FullCache final : public HostCache {
 public:
  explicit FullCache(size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  Handle* Lookup(const FilterCacheKey&) override { return nullptr; }
  Handle* Insert(const FilterCacheKey&, std::unique_ptr<Value>*,
                 const EntryOptions&) override {
    return nullptr;
  }
  Value* ValueOf(Handle*) const override { return nullptr; }
  void Release(Handle*) override {}
  void Erase(const FilterCacheKey&) override {}
  void EraseFile(uint64_t) override {}
  FilterCache::Usage GetUsage() const override {
    FilterCache::Usage usage;
    usage.capacity_bytes = capacity_bytes_;
    return usage;
  }

 private:
  const size_t capacity_bytes_;
};

// Other programs may change the median of a time by so much.
constexpr double kTimeNoisePercent = 20;
constexpr char kTimeSuffix[] = ", ns of a lookup";

// By workload; less is better.
using Measures = std::map<std::string, double>;

Measures MeasureReads(AblationOptions options, const LoadRules& rules,
                      Progress* progress) {
  options.harm.load_rules = rules;
  options.precision.load_rules = rules;
  Measures measures;
  const Json harm = MeasureHarm(options.harm, progress);
  for (const auto& run : harm["runs"]) {
    const auto policy = run["policy"].get<std::string>();
    const std::string name = absl::StrFormat(
        "%s, %s, cache %g%%", policy.substr(0, policy.find(':')),
        run["workload"].get<std::string>(), run["cache_percent"].get<double>());
    measures[name] = run["ratio"];
  }
  const Json precision = MeasurePrecision(options.precision, progress);
  for (const auto& run : precision["runs"]) {
    if (run["policy"] != "late_bound") continue;
    const std::string name =
        absl::StrFormat("precision, %g bits per key, ",
                        run["resident_bits_per_key"].get<double>());
    measures[name + "wasted reads"] = run["wasted_reads_per_1000_gets"];
    measures[name + "bytes"] = run["bytes_read_per_get"];
  }
  return measures;
}

// Lookups of absent rows through a cache that never has a chunk.
struct Lookups {
  double ns = 0;
  double ratio = 0;  // Bytes read with filters / without.
};

Lookups AskAbsent(const Tree& tree, FilterCache* cache, uint64_t lookups) {
  FilterReaderOptions options;
  options.cache = cache;
  OpenTree open(&tree, options);
  Random random(kSeed);
  const uint64_t gets = lookups / tree.level_count();
  const double begin = ThreadCpuSeconds();
  for (uint64_t i = 0; i < gets; ++i) {
    open.Get(random.Next(), tree.level_count());
  }
  const double seconds = ThreadCpuSeconds() - begin;
  const Reads reads = open.reads();
  return {seconds * 1e9 / static_cast<double>(reads.unfiltered_blocks),
          static_cast<double>(reads.bytes()) /
              static_cast<double>(reads.unfiltered_bytes())};
}

constexpr const char* kCaches[] = {"cache of 0 bytes",
                                   "engine's cache that refuses all"};

// The rules take turns, so that each meets what else the machine does.
std::vector<Measures> MeasureLookups(const AblationOptions& options,
                                     const std::vector<LoadRules>& rules,
                                     Progress* progress) {
  TreeShape shape;
  shape.level_keys.assign(4, options.harm.last_level_keys / 4);
  const Tree tree(shape);
  std::vector<std::map<std::string, std::vector<double>>> all(rules.size());
  progress->Begin("ablation: lookups", static_cast<uint64_t>(options.rounds));
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < rules.size(); ++i) {
      for (const char* name : kCaches) {
        const std::unique_ptr<FilterCache> cache =
            name == kCaches[0] ? NewShardedLruCache({0})
                               : NewHostedCache(std::make_unique<FullCache>(
                                     tree.block(0).size()));
        internal::cache::SetLoadRules(rules[i], cache.get());
        const Lookups lookups = AskAbsent(tree, cache.get(), options.lookups);
        all[i][absl::StrCat(name, kTimeSuffix)].push_back(lookups.ns);
        all[i][absl::StrCat(name, ", bytes")].push_back(lookups.ratio);
      }
    }
    progress->Add(1);
  }
  progress->End();
  std::vector<Measures> medians(rules.size());
  for (size_t i = 0; i < rules.size(); ++i) {
    for (auto& [name, values] : all[i]) {
      std::sort(values.begin(), values.end());
      medians[i][name] = values[values.size() / 2];
    }
  }
  return medians;
}

}  // namespace

AblationOptions::AblationOptions() {
  harm.policies = {"blocked_bloom:bits_per_key=10", "compact:bits_per_key=14"};
  harm.cache_percent = {3, 10, 30, 100};
  harm.gets = 1000000;
  harm.always_gets = 0;
  precision.last_level_keys = 5000000;
  precision.resident_bits_per_key = {2, 5, 10};
  precision.gets = 2000000;
  precision.late_bound_only = true;
}

std::vector<std::string> RuleNames() {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) names.emplace_back(rule.name);
  return names;
}

LoadRules RulesWithout(const std::vector<std::string>& names) {
  LoadRules rules;
  for (const std::string& name : names) {
    const auto* const rule =
        std::find_if(std::begin(kRules), std::end(kRules),
                     [&](const Rule& r) { return name == r.name; });
    if (rule == std::end(kRules)) {
      throw std::invalid_argument("no rule is called " + name);
    }
    rule->switch_off(&rules);
  }
  return rules;
}

Json MeasureAblation(const AblationOptions& options, Progress* progress) {
  std::vector<LoadRules> rules = {LoadRules()};  // [0] is with all rules.
  for (const std::string& name : RuleNames()) {
    rules.push_back(RulesWithout({name}));
  }
  std::vector<Measures> measures = MeasureLookups(options, rules, progress);
  for (size_t i = 0; i < rules.size(); ++i) {
    measures[i].merge(MeasureReads(options, rules[i], progress));
  }

  Json runs = Json::array();
  for (size_t i = 1; i < rules.size(); ++i) {
    const Rule& rule = kRules[i - 1];
    for (const auto& [name, with] : measures[0]) {
      const double without = measures[i].at(name);
      const double noise =
          absl::EndsWith(name, kTimeSuffix) ? kTimeNoisePercent : 0;
      const bool is_worse =
          without > with * (1 + (options.worse_percent + noise) / 100);
      runs.push_back({{"rule", rule.name},
                      {"off", rule.off},
                      {"workload", name},
                      {"with", with},
                      {"without", without},
                      {"is_worse", is_worse}});
    }
  }
  return {{"chunk_size_bytes", options.harm.chunk_size_bytes}, {"runs", runs}};
}

}  // namespace rowbloom::bench
