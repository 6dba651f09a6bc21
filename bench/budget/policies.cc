// SPDX-License-Identifier: Apache-2.0

#include "policies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "rocksdb/filter_policy.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::budget_bench {
namespace {

using RocksDbFilterPolicy = rocksdb::FilterPolicy;
using PolicyPointer = std::shared_ptr<const RocksDbFilterPolicy>;

constexpr std::string_view kByLevel = "_by_level";
constexpr std::string_view kBudget = "_budget";
constexpr std::string_view kListener = "_listener";
constexpr double kAnyBits = 10;

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

// Another policy for each level.
class PolicyByLevel : public RocksDbFilterPolicy {
 public:
  // From level 1 on; null: no filter. Level 0 has the filters of level 1.
  PolicyByLevel(PolicyPointer any, std::vector<PolicyPointer> levels)
      : any_(std::move(any)), levels_(std::move(levels)) {}

  const char* Name() const override { return "PolicyByLevel"; }
  const char* CompatibilityName() const override {
    return any_->CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    const int deepest = static_cast<int>(levels_.size());
    const int level = std::clamp(context.level_at_creation, 1, deepest);
    const PolicyPointer& policy = levels_[level - 1];
    return policy == nullptr ? nullptr : policy->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    return any_->GetFilterBitsReader(contents);
  }

 private:
  const PolicyPointer any_;  // Reads what the others build.
  const std::vector<PolicyPointer> levels_;
};

std::vector<TreeRun> Runs(const TreeShape& shape) {
  absl::StatusOr<std::vector<TreeRun>> runs = RunsOf(shape);
  if (!runs.ok()) throw std::runtime_error(runs.status().ToString());
  return *std::move(runs);
}

FilterBudgetPlan Plan(const FilterCost& cost, const TreeShape& shape,
                      double bits_per_key, double missing_share) {
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  options.missing_share = missing_share;
  options.mode =
      missing_share == 0 ? BudgetMode::kHitsOnly : BudgetMode::kBalanced;
  auto plan = PlanFilterBudget(cost, Runs(shape), options);
  if (!plan.ok()) throw std::runtime_error(plan.status().ToString());
  return *std::move(plan);
}

RocksDbOptions RowbloomOptions(const std::string& family, double bits) {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRow;  // Each key is a row.
  options.key_codec = KeyCodec::FixedRow(sizeof(uint64_t));
  options.policy = FilterPolicy::BitsPerKey(family, bits);
  return options;
}

PolicyPointer NewRowbloom(const RocksDbOptions& options) {
  rocksdb::Status error;
  PolicyPointer policy = NewRocksDbFilterPolicy(options, &error);
  if (policy == nullptr) throw std::runtime_error(error.ToString());
  return policy;
}

// `policy_bits` as FilterSetting has them.
PolicyPointer NewPolicy(const std::string& filter, double policy_bits) {
  if (filter == "rocksdb_bloom") {
    return PolicyPointer(rocksdb::NewBloomFilterPolicy(policy_bits));
  }
  if (filter == "rocksdb_ribbon") {
    return PolicyPointer(rocksdb::NewRibbonFilterPolicy(policy_bits, -1));
  }
  return NewRowbloom(RowbloomOptions(filter, policy_bits));
}

PolicyPointer NewPolicyByLevel(const std::string& filter, double bits_per_key,
                               const TreeShape& shape) {
  constexpr double kMissingShare = 0.5;
  const FilterBudgetPlan plan =
      Plan(*CostOf(filter), shape, bits_per_key, kMissingShare);
  std::vector<PolicyPointer> levels;
  for (const RunBudget& run : plan.runs) {
    const double bits = run.setting.policy_bits;
    levels.push_back(bits == 0 ? nullptr : NewPolicy(filter, bits));
  }
  return std::make_shared<PolicyByLevel>(NewPolicy(filter, kAnyBits),
                                         std::move(levels));
}

// One budget for the tree, by rowbloom's native mode.
PolicyPointer NewBudget(const std::string& family, BudgetMode mode,
                        double bits_per_key, const TreeShape& shape) {
  RocksDbOptions options = RowbloomOptions(family, kAnyBits);
  options.budget = mode;
  options.budget_bits_per_key = bits_per_key;
  options.size_ratio = shape.size_ratio;
  return NewRowbloom(options);
}

PolicyPointer NewComposed(double bits_per_key, const TreeShape& shape) {
  RocksDbComposedOptions options;
  options.bits_per_key = bits_per_key;
  options.size_ratio = shape.size_ratio;
  rocksdb::Status error;
  PolicyPointer policy = NewRocksDbComposedPolicy(options, &error);
  if (policy == nullptr) {
    throw std::runtime_error("composed: " + error.ToString());
  }
  return policy;
}

// "compact" of "compact_budget"; empty for "none".
std::string FilterOf(const std::string& name) {
  static constexpr const char* kFilters[] = {
      "rocksdb_bloom", "rocksdb_ribbon", "blocked_bloom", "fast", "compact"};
  if (name.compare(0, 8, "composed") == 0) return "rocksdb_ribbon";
  for (const std::string filter : kFilters) {
    if (name.compare(0, filter.size(), filter) == 0) return filter;
  }
  return "";
}

}  // namespace

const std::vector<std::string>& PolicyNames() {
  static const std::vector<std::string> names = {
      kNone,
      kBaseline,
      "rocksdb_ribbon",
      "rocksdb_bloom_by_level",
      "rocksdb_ribbon_by_level",
      "composed_ribbon",
      "composed_listener",
      "blocked_bloom",
      "fast",
      "compact",
      "blocked_bloom_budget",
      "fast_budget",
      "compact_budget",
      "compact_listener",
      kHitsOnly,
  };
  return names;
}

bool HasListener(const std::string& name) { return EndsWith(name, kListener); }

std::optional<FilterCost> CostOf(const std::string& name) {
  const std::string filter = FilterOf(name);
  if (filter.empty()) return std::nullopt;
  // Making one takes milliseconds.
  static std::map<std::string, FilterCost> costs;
  const auto known = costs.find(filter);
  if (known != costs.end()) return known->second;
  absl::StatusOr<FilterCost> cost = FilterCost::OfName(filter);
  if (!cost.ok()) throw std::runtime_error(cost.status().ToString());
  return costs.emplace(filter, *std::move(cost)).first->second;
}

point_get::Policy MakePolicy(const std::string& name, double bits_per_key,
                             const TreeShape& shape) {
  point_get::Policy policy;
  policy.name = name;
  if (name == kNone) return policy;
  policy.bits_per_key = bits_per_key;
  const std::string filter = FilterOf(name);
  policy.is_rowbloom = filter.compare(0, 7, "rocksdb") != 0;
  if (HasListener(name)) {
    policy.listeners.push_back(NewRocksDbBudgetListener());
  }
  if (name.compare(0, 8, "composed") == 0) {
    policy.filter = NewComposed(bits_per_key, shape);
  } else if (EndsWith(name, kByLevel)) {
    policy.filter = NewPolicyByLevel(filter, bits_per_key, shape);
  } else if (name == kHitsOnly) {
    policy.filter =
        NewBudget(filter, BudgetMode::kHitsOnly, bits_per_key, shape);
  } else if (EndsWith(name, kBudget) || HasListener(name)) {
    policy.filter =
        NewBudget(filter, BudgetMode::kBalanced, bits_per_key, shape);
  } else if (name == "rocksdb_ribbon") {
    policy.filter =
        NewPolicy(filter, CostOf(name)->ForBits(bits_per_key).policy_bits);
  } else {
    policy.filter = NewPolicy(filter, bits_per_key);
  }
  return policy;
}

double LeastWastedReads(const std::string& name, const TreeShape& shape,
                        double bits_per_key, double missing_share) {
  return Plan(*CostOf(name), shape, bits_per_key, missing_share).wasted_reads;
}

}  // namespace rowbloom::budget_bench
