// SPDX-License-Identifier: Apache-2.0

#include "refresh/planned_filters.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "budget/database_id.h"
#include "policy/builtin_filter.h"
#include "policy/composed_policy.h"
#include "policy/native_policy.h"
#include "rocksdb/comparator.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_spec.h"

namespace rowbloom::plugin {

namespace {

// True if RocksDB would call the SST bottommost when it compacts it alone into
// its own level.
bool IsBottommost(const rdb::Comparator& comparator,
                  const rdb::ColumnFamilyMetaData& listed, size_t level,
                  const rdb::SstFileMetaData& file) {
  const auto compare = [&](const std::string& a, const std::string& b) {
    return comparator.CompareWithoutTimestamp(a, b);
  };
  if (level == 0 &&
      file.file_number != listed.levels[0].files.back().file_number) {
    return false;
  }
  for (size_t below = level + 1; below < listed.levels.size(); ++below) {
    const std::vector<rdb::SstFileMetaData>& files = listed.levels[below].files;
    if (level == 0 && !files.empty()) return false;
    const auto first = std::partition_point(
        files.begin(), files.end(), [&](const rdb::SstFileMetaData& other) {
          return compare(other.largestkey, file.smallestkey) < 0;
        });
    if (first != files.end() &&
        compare(first->smallestkey, file.largestkey) <= 0) {
      return false;
    }
  }
  return true;
}

FilterSetting SettingOfRocksDb(const rdb::FilterPolicy& policy,
                               const FilterCost& cost) {
  double bits = BitsInId(policy);
  if (bits <= 0) bits = FilterSpec::kDefaultBitsPerKey;
  // Ribbon takes the bits of a Bloom filter of the same rate.
  return cost.ForFpr(FilterCost::OfRocksDbBloom().ForBits(bits).fpr);
}

class Planner {
 public:
  Planner(const TreeToPlan& tree, BudgetTeller* teller)
      : tree_(tree),
        teller_(*teller),
        table_(*tree.options.table_factory
                    ->GetOptions<rdb::BlockBasedTableOptions>()),
        database_name_(tree.db.GetName()) {}

  std::map<uint64_t, FilterSetting> Plan() {
    std::map<uint64_t, FilterSetting> planned;
    const auto& levels = tree_.listed.levels;
    for (size_t level = 0; level < levels.size(); ++level) {
      std::map<bool, FilterSetting> of_level;  // By whether it is bottommost.
      for (const rdb::SstFileMetaData& file : levels[level].files) {
        const bool is_bottommost =
            IsBottommost(*tree_.options.comparator, tree_.listed, level, file);
        const auto known = of_level.find(is_bottommost);
        planned[file.file_number] =
            level > 0 && known != of_level.end()
                ? known->second
                : SettingFor(file.file_number, is_bottommost);
        of_level[is_bottommost] = planned[file.file_number];
      }
    }
    return planned;
  }

  std::map<uint64_t, uint64_t> BytesOf(
      const std::map<uint64_t, FilterSetting>& planned) const {
    std::map<uint64_t, uint64_t> bytes;
    for (const auto& [number, setting] : planned) {
      const auto keys = tree_.keys.find(number);
      if (keys == tree_.keys.end()) continue;
      bytes[number] = static_cast<uint64_t>(FilterBytes(setting, keys->second));
    }
    return bytes;
  }

 private:
  FilterSetting SettingFor(uint64_t number, bool is_bottommost) {
    const rdb::Options& options = tree_.options;
    if ((options.optimize_filters_for_hits && is_bottommost) ||
        (!table_.whole_key_filtering && options.prefix_extractor == nullptr)) {
      return {};
    }
    const rdb::FilterPolicy& policy = *table_.filter_policy;
    const auto* native = policy.CheckedCast<NativePolicy>();
    const auto* composed = policy.CheckedCast<ComposedPolicy>();
    if (native == nullptr && composed == nullptr) {
      return SettingOfRocksDb(policy, tree_.cost);
    }
    if (native != nullptr &&
        !native->options().effective_budget().has_value()) {
      const FilterSpec& spec = native->options().filter_spec;
      return {spec.bits_per_key(), spec.bits_per_key(), spec.expected_fpr()};
    }
    const LiveFile& file = tree_.files.at(number);
    rdb::FilterBuildingContext context(table_);
    context.compaction_style = options.compaction_style;
    context.num_levels = options.num_levels;
    context.info_log = options.info_log.get();
    context.column_family_name = tree_.listed.name;
    context.level_at_creation = file.level;
    context.is_bottommost = is_bottommost;
    context.reason = rdb::TableFileCreationReason::kCompaction;
    SetDatabaseName(database_name_, &context);
    const int job = teller_.Begin(number, file);
    // The first compaction that it is told of makes the listener list SSTs.
    if (!std::exchange(has_learned_, true)) teller_.LearnFilters(tree_.files);
    const FilterSetting setting = native != nullptr
                                      ? native->SettingFor(context)
                                      : composed->SettingFor(context);
    teller_.End(job, rdb::Status::Aborted(), {});
    return setting;
  }

  const TreeToPlan& tree_;
  BudgetTeller& teller_;
  const rdb::BlockBasedTableOptions& table_;
  const std::string database_name_;
  bool has_learned_ = false;
};

double GreatestChange(const std::map<uint64_t, FilterSetting>& a,
                      const std::map<uint64_t, FilterSetting>& b) {
  double change = 0;
  for (const auto& [number, setting] : a) {
    change = std::max(
        change, std::abs(setting.bits_per_key - b.at(number).bits_per_key));
  }
  return change;
}

}  // namespace

double FilterBytes(const FilterSetting& setting, uint64_t key_count) {
  return setting.bits_per_key * static_cast<double>(key_count) / 8;
}

std::map<uint64_t, FilterSetting> PlanFilters(const TreeToPlan& tree,
                                              BudgetTeller* teller) {
  Planner planner(tree, teller);
  std::map<uint64_t, FilterSetting> planned = planner.Plan();
  // A budget corrects new filters for what the others exceed it by. Plans as if
  // all filters were written by the same plan; each round halves the error.
  constexpr int kMostRounds = 10;
  constexpr double kSmallChange = 0.02;
  for (int i = 0; i < kMostRounds && teller->has_listener(); ++i) {
    teller->PlanFilters(planner.BytesOf(planned));
    const auto before = std::exchange(planned, planner.Plan());
    if (GreatestChange(before, planned) < kSmallChange) break;
  }
  return planned;
}

}  // namespace rowbloom::plugin
