// SPDX-License-Identifier: Apache-2.0

#include "policies.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/program.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::bench {
namespace {

using PolicyPointer = std::shared_ptr<const rocksdb::FilterPolicy>;

// How the bits of filters are spread over the levels of a tree.
enum class Spread {
  kSame,      // The same bits per key everywhere.
  kByLevel,   // Bits by hand for each level of this very tree.
  kBudget,    // rowbloom's native mode.
  kHitsOnly,  // The native mode for gets that never miss.
  kComposed,  // rowbloom's composed mode.
  kAuto,      // Native mode by what gets do.
  kComposedAuto,
};

struct Entry {
  const char* name;
  const char* filter;  // RocksDB's or a family; "" for none.
  unsigned commands;
  Spread spread = Spread::kSame;
  BloomType bloom_type = BloomType::kRow;
};
constexpr BloomType kRow = BloomType::kRow;
constexpr BloomType kRowCol = BloomType::kRowCol;
constexpr Entry kEntries[] = {
    {kNone, "", kRows | kKeys | kCpu | kTime | kPhases},
    {kBloom, kBloom, kRows | kKeys | kMemory | kGrow | kCpu | kTime | kPhases},
    {kRibbon, kRibbon, kRows | kKeys | kMemory | kCpu | kTime | kPhases},
    {"rowbloom_row", "blocked_bloom", kRows},
    {"rowbloom_rowcol", "blocked_bloom", kRows, Spread::kSame, kRowCol},
    {"rowbloom_rowcol_fast", "fast", kRows, Spread::kSame, kRowCol},
    {"rowbloom_rowcol_compact", "compact", kRows, Spread::kSame, kRowCol},
    {"rocksdb_bloom_by_level", kBloom, kKeys | kMemory, Spread::kByLevel},
    {"rocksdb_ribbon_by_level", kRibbon, kKeys, Spread::kByLevel},
    {"composed_budget", kRibbon,
     kKeys | kMemory | kGrow | kCpu | kTime | kPhases, Spread::kComposed},
    {"blocked_bloom", "blocked_bloom", kKeys | kCpu | kTime},
    {"fast", "fast", kKeys | kCpu | kTime},
    {"compact", "compact", kKeys | kMemory | kGrow | kCpu | kTime},
    {"blocked_bloom_budget", "blocked_bloom", kKeys, Spread::kBudget},
    {"fast_budget", "fast", kKeys | kCpu, Spread::kBudget},
    {"compact_budget", "compact",
     kKeys | kMemory | kGrow | kCpu | kTime | kPhases, Spread::kBudget},
    {"compact_auto", "compact", kTime | kPhases, Spread::kAuto},
    {"composed_auto", kRibbon, kTime | kPhases, Spread::kComposedAuto},
    {kHitsOnly, "compact", kMemory, Spread::kHitsOnly},
};

const Entry& Find(const std::string& name) {
  for (const Entry& entry : kEntries) {
    if (name == entry.name) return entry;
  }
  throw std::runtime_error("unknown policy " + name);
}

bool IsRowbloom(const std::string& filter) {
  return !filter.empty() && filter != kBloom && filter != kRibbon;
}

// Calls NewRocksDbFilterPolicy() or NewRocksDbComposedPolicy().
template <typename New, typename Options>
PolicyPointer Checked(New new_policy, const Options& options) {
  rocksdb::Status error;
  PolicyPointer policy = new_policy(options, &error);
  if (policy == nullptr) throw std::runtime_error(error.ToString());
  return policy;
}

// Uses another policy for each level.
class PolicyByLevel : public rocksdb::FilterPolicy {
 public:
  // `levels` begins with level 1; null means no filter. Level 0 has the filters
  // of level 1.
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

FilterBudgetPlan Plan(const char* filter, const TreeShape& shape,
                      double bits_per_key, double missing_share) {
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  options.missing_share = missing_share;
  options.mode =
      missing_share == 0 ? BudgetMode::kHitsOnly : BudgetMode::kBalanced;
  return OrThrow(PlanFilterBudget(OrThrow(FilterCost::OfName(filter)),
                                  OrThrow(RunsOf(shape)), options));
}

// RocksDB's filters of the same bits everywhere. `builder_bits` is in the unit
// of the RocksDB function.
PolicyPointer NewRocksDbFilter(const std::string& filter, double builder_bits) {
  if (filter == kBloom) {
    return PolicyPointer(rocksdb::NewBloomFilterPolicy(builder_bits));
  }
  return PolicyPointer(
      rocksdb::NewRibbonFilterPolicy(builder_bits, /*bloom_before_level=*/-1));
}

PolicyPointer NewPolicyByLevel(const char* filter, double bits_per_key,
                               const TreeShape& shape) {
  constexpr double kMissingShare = 0.5;
  constexpr double kAnyBits = 10;
  std::vector<PolicyPointer> levels;
  for (const RunBudget& run :
       Plan(filter, shape, bits_per_key, kMissingShare).runs) {
    const double bits = run.setting.builder_bits;
    levels.push_back(bits == 0 ? nullptr : NewRocksDbFilter(filter, bits));
  }
  return std::make_shared<PolicyByLevel>(NewRocksDbFilter(filter, kAnyBits),
                                         std::move(levels));
}

RocksDbOptions RowbloomKeyOptions(const Entry& entry, double bits_per_key) {
  RocksDbOptions options;  // For whole keys.
  if (entry.spread == Spread::kSame) {
    options.filter_spec = FilterSpec::BitsPerKey(entry.filter, bits_per_key);
    return options;
  }
  constexpr double kAnyBits = 10;
  options.filter_spec = FilterSpec::BitsPerKey(entry.filter, kAnyBits);
  if (entry.spread == Spread::kAuto) {
    options.auto_bits = true;
    return options;
  }
  options.budget = entry.spread == Spread::kHitsOnly ? BudgetMode::kHitsOnly
                                                     : BudgetMode::kBalanced;
  options.budget_bits_per_key = bits_per_key;
  return options;
}

PolicyPointer NewKeyFilter(const Entry& entry, double bits_per_key,
                           const TreeShape& shape) {
  if (IsRowbloom(entry.filter)) {
    return Checked(NewRocksDbFilterPolicy,
                   RowbloomKeyOptions(entry, bits_per_key));
  }
  if (entry.spread == Spread::kComposed ||
      entry.spread == Spread::kComposedAuto) {
    RocksDbComposedOptions options;
    options.auto_bits = entry.spread == Spread::kComposedAuto;
    if (!options.auto_bits) options.bits_per_key = bits_per_key;
    return Checked(NewRocksDbComposedPolicy, options);
  }
  if (entry.spread == Spread::kByLevel) {
    return NewPolicyByLevel(entry.filter, bits_per_key, shape);
  }
  if (entry.filter == std::string(kBloom)) {
    return NewRocksDbFilter(kBloom, bits_per_key);
  }
  return NewRocksDbFilter(
      kRibbon,
      OrThrow(FilterCost::OfName(kRibbon)).ForBits(bits_per_key).builder_bits);
}

}  // namespace

std::vector<std::string> PolicyNames(Command command,
                                     const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    const bool is_wanted =
        only.empty() || std::count(only.begin(), only.end(), entry.name) != 0;
    if ((entry.commands & command) != 0 && is_wanted) {
      names.emplace_back(entry.name);
    }
  }
  return names;
}

std::pair<std::string, double> ParseFilter(const std::string& text,
                                           Command command) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto names = PolicyNames(command);
  if (std::count(names.begin(), names.end(), name) == 0) {
    throw UsageError("--filters: unknown policy " + name);
  }
  double bits = 0;
  if (colon != std::string::npos) {
    try {
      bits = std::stod(text.substr(colon + 1));
    } catch (const std::logic_error&) {
      throw UsageError("--filters: " + text + " has no number of bits");
    }
  }
  return {name, bits};
}

Policy MakePolicy(const std::string& name, const std::string& filter,
                  double bits_per_key, RocksDbOptions options,
                  bool finds_rows) {
  Policy policy;
  policy.name = name;
  policy.is_rowbloom = IsRowbloom(filter);
  policy.has_filter_in_each_file = !filter.empty();
  if (policy.is_rowbloom) {
    options.filter_spec = FilterSpec::BitsPerKey(filter, bits_per_key);
    policy.filter = Checked(NewRocksDbFilterPolicy, options);
  } else if (!filter.empty()) {
    policy.filter = NewRocksDbFilter(filter, bits_per_key);
  }
  if (finds_rows) policy.prefix_extractor = NewRowPrefixExtractor(options);
  return policy;
}

Policy MakeRowPolicy(const std::string& name, double bits_per_key) {
  const Entry& entry = Find(name);
  RocksDbOptions options;
  options.bloom_type = entry.bloom_type;
  options.key_codec = KeyCodec::Ordered();
  // RocksDB's own filters answer row scans by the prefix that is the row, and
  // Gets by the whole key. RocksDB has no extractor for rows of varying
  // length; ours for ROW is what a user would write.
  return MakePolicy(name, entry.filter, bits_per_key, options,
                    /*finds_rows=*/true);
}

Policy MakeKeyPolicy(const std::string& name, double bits_per_key,
                     const TreeShape& shape) {
  const Entry& entry = Find(name);
  Policy policy;
  policy.name = name;
  policy.is_rowbloom = IsRowbloom(entry.filter);
  if (name != kNone) policy.filter = NewKeyFilter(entry, bits_per_key, shape);
  if (entry.spread != Spread::kSame && entry.spread != Spread::kByLevel) {
    policy.listeners.push_back(NewRocksDbBudgetListener());
  }
  if (entry.spread == Spread::kAuto || entry.spread == Spread::kComposedAuto) {
    policy.statistics = rocksdb::CreateDBStatistics();
  }
  return policy;
}

}  // namespace rowbloom::bench
