// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "budget/live_tree.h"
#include "budget/tree_budget.h"
#include "policy/builtin_filter.h"
#include "policy/composed_policy.h"
#include "policy/filter_info.h"
#include "policy/native_policy.h"
#include "release.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/rocksdb_budget.h"
#include "sst_path.h"
#include "sst_properties.h"
#include "status.h"

namespace rowbloom {

using plugin::BloomLevels;
using plugin::BudgetBitsPerKey;
using plugin::CheckRocksDbRelease;
using plugin::ComposedPolicy;
using plugin::FileFilter;
using plugin::FilesOf;
using plugin::FilterEstimator;
using plugin::kMetadataSize;
using plugin::LiveFile;
using plugin::LiveFiles;
using plugin::LiveTree;
using plugin::LiveTrees;
using plugin::NativePolicy;
using plugin::ReadListedProperties;
using plugin::ReadSstProperties;
using plugin::ReportBudgetOf;
using plugin::SstPath;
using plugin::TreePlan;

namespace {

constexpr char kBloom[] = "rocksdb_bloom";
constexpr char kRibbon[] = "rocksdb_ribbon";

// The filters that a policy writes, and the share of gets that miss.
struct Asked {
  std::string filter;
  double bits_per_key = rowbloom::FilterSpec::kDefaultBitsPerKey;  // Ours.
  double missing_share = 0.5;
  int bloom_levels = 0;  // So many levels, from 0 on, have Bloom filters.
};

// Expected rates of filters by their size.
class Rates {
 public:
  // `partition_bytes`: 0 without partitions.
  Rates(const Asked& asked, FilterCost cost, uint64_t partition_bytes)
      : asked_(asked),
        large_(std::move(cost)),
        partition_bytes_(partition_bytes) {
    if (IsRocksDbs()) return;
    // A blob's bytes besides its units, which are more for more bits.
    for (int bits = 1; bits <= rowbloom::FilterSpec::kMaxBitsPerKey; ++bits) {
      const auto builder = NewFilterBuilder(PolicyOf(bits));
      builder->Add(KeyDigest{});
      const EncodedFilter filter = builder->Finish();
      overhead_bytes_.push_back(
          EncodeFilterBlob(filter, std::string(kMetadataSize, '\0')).size() -
          filter.units.size());
    }
  }

  double Of(const RocksDbBudgetFile& file) const {
    if (file.key_count == 0 || file.filter_bytes == 0) return 1;
    const double filters =
        partition_bytes_ == 0
            ? 1
            : std::max(1.0, static_cast<double>(file.filter_bytes) /
                                static_cast<double>(partition_bytes_));
    const double keys = static_cast<double>(file.key_count) / filters;
    constexpr double kManyKeys = 1 << 20;
    if (IsRocksDbs() || keys >= kManyKeys) {
      return large_.ForBits(file.bits_per_key()).fpr;
    }
    return OfSmall(static_cast<uint64_t>(std::ceil(keys)),
                   static_cast<double>(file.filter_bytes) / filters);
  }

 private:
  bool IsRocksDbs() const {
    return asked_.filter == kBloom || asked_.filter == kRibbon;
  }
  rowbloom::FilterSpec PolicyOf(double bits) const {
    return rowbloom::FilterSpec::BitsPerKey(asked_.filter, bits);
  }

  // A range around the point where `holds` ends: the most bits per key for
  // which it is true, and the least for which it is false.
  template <typename Holds>
  static std::pair<double, double> WhereEnds(const Holds& holds) {
    double low = rowbloom::FilterSpec::kMinBitsPerKey;
    double high = rowbloom::FilterSpec::kMaxBitsPerKey;
    constexpr int kHalvings = 20;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (holds(middle) ? low : high) = middle;
    }
    return {low, high};
  }

  // Few keys take the same bytes for many bits per key: uses those nearest to
  // the policy's average.
  double OfSmall(uint64_t keys, double bytes) const {
    const auto size = [&](double bits) {
      return FilterSizeBytes(PolicyOf(bits), keys);
    };
    const double most =
        WhereEnds([&](double bits) {
          const auto step = static_cast<size_t>(bits - 1);
          return static_cast<double>(size(bits) + overhead_bytes_[step]) <=
                 bytes;
        }).first;
    const double least =
        WhereEnds([&](double bits) { return size(bits) < size(most); }).second;
    return PolicyOf(
               std::clamp(asked_.bits_per_key, std::min(least, most), most))
        .expected_fpr();
  }

  const Asked asked_;
  const FilterCost large_;
  const uint64_t partition_bytes_;
  std::vector<size_t> overhead_bytes_;  // For 1 bit per key, for 2, ...
};

// With budget=hits_only no get misses.
template <typename Options>
double MissingShare(const Options& options) {
  return options.budget == BudgetMode::kHitsOnly ? 0 : options.missing_share;
}

// True if the policy reads the filters of the policy named `written_with`.
bool Reads(const rdb::FilterPolicy& policy, const std::string& written_with) {
  const bool is_ours = written_with == NativePolicy::kClassName();
  return policy.IsInstanceOf(NativePolicy::kClassName()) == is_ours;
}

absl::StatusOr<Asked> AskedBy(const rdb::FilterPolicy* policy) {
  if (policy == nullptr) {
    return absl::FailedPreconditionError(
        "there is no filter_policy: nothing to compare filters with");
  }
  if (const auto* native = policy->CheckedCast<NativePolicy>()) {
    const RocksDbOptions& options = native->options();
    return Asked{options.filter_spec.family(), BudgetBitsPerKey(options),
                 MissingShare(options)};
  }
  if (const auto* composed = policy->CheckedCast<ComposedPolicy>()) {
    return Asked{
        composed->options().filter == RocksDbFilter::kBloom ? kBloom : kRibbon,
        composed->options().bits_per_key, MissingShare(composed->options())};
  }
  const std::string_view name = policy->Name();
  for (const auto& [prefix, filter] :
       {std::pair(std::string_view("bloom"), kBloom),
        std::pair(std::string_view("rocksdb.BuiltinBloom"), kBloom),
        std::pair(std::string_view("ribbon"), kRibbon)}) {
    if (name.substr(0, prefix.size()) != prefix) continue;
    Asked asked{filter};
    asked.bloom_levels = BloomLevels(*policy);
    return asked;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("filter_policy ", policy->Name(),
                   ": what its filters cost is known neither to rowbloom nor "
                   "from RocksDB"));
}

// Returns nullptr if the column family has no filter policy.
const rdb::FilterPolicy* PolicyOf(const rdb::Options& options) {
  const auto* table =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  return table == nullptr ? nullptr : table->filter_policy.get();
}

// nullopt without a plan, also if the policy makes none.
std::optional<RocksDbBitsPlan> PlanOf(
    const rdb::FilterPolicy& policy,
    const std::shared_ptr<const LiveTree>& tree) {
  std::optional<TreePlan> plan;
  if (const auto* native = policy.CheckedCast<NativePolicy>()) {
    plan = native->PlanOf(tree);
  } else if (const auto* composed = policy.CheckedCast<ComposedPolicy>()) {
    plan = composed->PlanOf(tree);
  }
  if (!plan.has_value()) return std::nullopt;
  return RocksDbBitsPlan{plan->bits_per_key,     plan->reads,
                         plan->gets.has_value(), plan->missing_share,
                         plan->popularity,       plan->cheapest_place,
                         plan->cheapest_share};
}

double BitsPerKey(uint64_t bytes, uint64_t keys) {
  return keys == 0 ? 0
                   : 8 * static_cast<double>(bytes) / static_cast<double>(keys);
}

// Sums up the files, which are in order.
absl::Status SumUp(const FilterCost& cost, const FilterStats* stats,
                   RocksDbBudgetReport* report) {
  std::map<int, FilterStatsSnapshot> observed;
  if (stats != nullptr) observed = stats->Levels();
  std::vector<RunFilters> runs;
  std::vector<size_t> level_of_run;
  std::vector<size_t> run_of_file;
  std::optional<int> last_level;
  for (const RocksDbBudgetFile& file : report->files) {
    if (last_level != file.level) {
      RocksDbBudgetLevel& added = report->levels.emplace_back();
      added.level = file.level;
      added.expected_fpr = 0;
      added.observed = observed[file.level];
    }
    RocksDbBudgetLevel& level = report->levels.back();
    if (last_level != file.level || file.level == 0) {
      ++level.run_count;
      runs.push_back({{0}, 0, 0});
      level_of_run.push_back(report->levels.size() - 1);
    }
    run_of_file.push_back(runs.size() - 1);
    last_level = file.level;
    ++level.file_count;
    level.key_count += file.key_count;
    level.filter_bytes += file.filter_bytes;
    report->key_count += file.key_count;
    report->filter_bytes += file.filter_bytes;
    // Holds sums until the division below.
    const auto keys = static_cast<double>(file.key_count);
    level.expected_fpr += keys * file.expected_fpr;
    runs.back().run.key_count += file.key_count;
    runs.back().bits_per_key += 8 * static_cast<double>(file.filter_bytes);
    runs.back().fpr += keys * file.expected_fpr;
  }
  for (RunFilters& run : runs) {
    const auto keys = static_cast<double>(run.run.key_count);
    run.bits_per_key = keys > 0 ? run.bits_per_key / keys : 0;
    run.fpr = keys > 0 ? std::min(1.0, run.fpr / keys) : 1;
  }
  absl::StatusOr<TreeWaste> waste =
      MeasureWaste(cost, runs, report->missing_share);
  if (!waste.ok()) return waste.status();
  report->waste = *std::move(waste);
  for (RocksDbBudgetLevel& level : report->levels) {
    level.bits_per_key = BitsPerKey(level.filter_bytes, level.key_count);
    level.expected_fpr =
        level.key_count == 0
            ? 1
            : level.expected_fpr / static_cast<double>(level.key_count);
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    report->levels[level_of_run[i]].expected_wasted_reads +=
        report->waste.runs[i].wasted_reads;
  }
  // A get asks one SST of a run, each in proportion to its keys.
  for (size_t i = 0; i < report->files.size(); ++i) {
    RocksDbBudgetFile& file = report->files[i];
    const auto keys = static_cast<double>(file.key_count);
    const RunFilters& run = runs[run_of_file[i]];
    if (run.run.key_count == 0) continue;
    file.absent_asks = report->waste.runs[run_of_file[i]].absent_asks * keys /
                       static_cast<double>(run.run.key_count);
    file.expected_wasted_reads = file.absent_asks * file.expected_fpr;
  }
  return absl::OkStatus();
}

}  // namespace

double RocksDbBudgetFile::bits_per_key() const {
  return BitsPerKey(filter_bytes, key_count);
}

namespace plugin {

absl::StatusOr<std::set<std::string>> ReadListedProperties(
    rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
    const rdb::ColumnFamilyMetaData& listed,
    rdb::TablePropertiesCollection* properties) {
  if (properties->empty()) {
    if (db->GetPropertiesOfAllTables(column_family, properties).ok()) {
      return std::set<std::string>();
    }
    // It fails for all SSTs if one cannot be read, or has LevelDB's name and is
    // not in the table cache.
    properties->clear();
  }
  const rdb::Options options = db->GetOptions(column_family);
  std::set<std::string> missing;
  for (const auto& [number, file] : FilesOf(listed)) {
    if (properties->count(file.path) > 0) continue;
    auto read = ReadSstProperties(file.path, options);
    if (read.ok()) {
      (*properties)[file.path] = *std::move(read);
    } else if (absl::IsNotFound(read.status())) {
      missing.insert(file.path);
    } else {
      return read.status();
    }
  }
  return missing;
}

}  // namespace plugin

absl::StatusOr<RocksDbBudgetReport> ReportRocksDbBudget(
    rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
    const FilterStats* stats) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  const rdb::Options options = db->GetOptions(column_family);
  const absl::StatusOr<Asked> asked = AskedBy(PolicyOf(options));
  if (!asked.ok()) return asked.status();
  rdb::ColumnFamilyMetaData listed;
  db->GetColumnFamilyMetaData(column_family, &listed);
  rdb::TablePropertiesCollection properties;
  const auto missing =
      ReadListedProperties(db, column_family, listed, &properties);
  if (!missing.ok()) return missing.status();
  if (!missing->empty()) {
    rdb::ColumnFamilyMetaData now;
    db->GetColumnFamilyMetaData(column_family, &now);
    for (const auto& [number, file] : FilesOf(now)) {
      if (missing->count(file.path) == 0) continue;
      return absl::UnavailableError(absl::StrCat(
          file.path,
          ": missing, and the database lists it; if it is open for reading "
          "only, open it again, as the writer may have deleted the file"));
    }
  }
  absl::StatusOr<RocksDbBudgetReport> report =
      ReportBudgetOf(options, listed, properties, stats);
  if (!report.ok()) return report;
  for (RocksDbBudgetFile& file : report->files) {
    file.path = SstPath(options.env, file.path);
  }
  if (const auto tree = LiveTrees::Find(*db, *column_family)) {
    report->plan = PlanOf(*PolicyOf(options), tree);
  }
  return report;
}

namespace plugin {

absl::StatusOr<RocksDbBudgetReport> ReportBudgetOf(
    const rdb::Options& options, const rdb::ColumnFamilyMetaData& listed,
    const rdb::TablePropertiesCollection& properties,
    const FilterStats* stats) {
  const rdb::FilterPolicy* policy = PolicyOf(options);
  const absl::StatusOr<Asked> asked = AskedBy(policy);
  if (!asked.ok()) return asked.status();
  const absl::StatusOr<FilterCost> cost = FilterCost::OfName(asked->filter);
  if (!cost.ok()) return cost.status();
  const auto* table_options =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  LiveFiles live = FilesOf(listed);
  std::vector<const LiveFile*> in_order;
  std::set<std::string> unread;
  for (auto& [number, file] : live) {
    // An SST that was made or deleted in between stays unknown, or out.
    const auto of_file = properties.find(file.path);
    if (of_file != properties.end() && of_file->second != nullptr) {
      file.filter = FileFilter::Of(*of_file->second);
      if (!Reads(*policy, of_file->second->filter_policy_name)) {
        unread.insert(file.path);
      }
    }
    in_order.push_back(&file);
  }
  std::sort(in_order.begin(), in_order.end(),
            [](const LiveFile* a, const LiveFile* b) {
              // The newest of level 0 first.
              const uint64_t a_order = a->level == 0 ? ~a->order : 0;
              const uint64_t b_order = b->level == 0 ? ~b->order : 0;
              return std::tie(a->level, a_order, a->path) <
                     std::tie(b->level, b_order, b->path);
            });
  RocksDbBudgetReport report;
  report.column_family = listed.name;
  report.filter = cost->name();
  report.missing_share = asked->missing_share;
  const Rates rates(*asked, *cost,
                    table_options->partition_filters
                        ? table_options->metadata_block_size
                        : 0);
  const Rates bloom_rates({kBloom}, FilterCost::OfRocksDbBloom(), 0);
  const FilterEstimator estimator(live);
  for (const LiveFile* live_file : in_order) {
    const FilterEstimator::Estimate estimate = estimator.Of(*live_file);
    RocksDbBudgetFile& file = report.files.emplace_back();
    file.path = live_file->path;
    file.level = live_file->level;
    file.key_count = static_cast<uint64_t>(std::llround(estimate.keys));
    file.filter_bytes = static_cast<uint64_t>(std::llround(estimate.bytes));
    file.expected_fpr = unread.count(file.path) > 0 ? 1
                        : file.level < asked->bloom_levels
                            ? bloom_rates.Of(file)
                            : rates.Of(file);
  }
  if (absl::Status s = SumUp(*cost, stats, &report); !s.ok()) return s;
  return report;
}

}  // namespace plugin

absl::StatusOr<RocksDbBudgetReport> ReportRocksDbBudget(
    const RocksDbFilterReport& verified) {
  RocksDbBudgetReport report;
  report.column_family = verified.column_family;
  double entries = 0;
  double keys = 0;
  std::map<std::string, uint64_t> keys_of_family;
  for (const RocksDbFilterFile& file : verified.files) {
    if (file.filter_key_count == 0) continue;
    entries += static_cast<double>(file.entry_count);
    keys += static_cast<double>(file.filter_key_count);
    keys_of_family[file.family] += file.filter_key_count;
  }
  // Keeps families that have a cost, so neither "mixed" nor a foreign filter.
  std::map<std::string, FilterCost> costs;
  for (auto it = keys_of_family.begin(); it != keys_of_family.end();) {
    const absl::StatusOr<FilterCost> cost = FilterCost::OfName(it->first);
    if (cost.ok()) costs.emplace(it->first, *cost);
    it = cost.ok() ? std::next(it) : keys_of_family.erase(it);
  }
  const auto most = std::max_element(
      keys_of_family.begin(), keys_of_family.end(),
      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == keys_of_family.end()) {
    return absl::FailedPreconditionError(
        "no SST has a filter of a family with a known cost");
  }
  const FilterCost& cost = costs.at(most->first);
  report.filter = cost.name();
  if (verified.expected.rowbloom.has_value()) {
    report.missing_share = MissingShare(*verified.expected.rowbloom);
  } else if (verified.expected.composed.has_value()) {
    report.missing_share = MissingShare(*verified.expected.composed);
  }
  for (const RocksDbFilterFile& from : verified.files) {
    RocksDbBudgetFile& file = report.files.emplace_back();
    file.path = from.path;
    file.level = from.level;
    file.key_count = from.filter_key_count;
    if (file.key_count == 0 && entries > 0) {
      file.key_count = static_cast<uint64_t>(
          std::llround(static_cast<double>(from.entry_count) * keys / entries));
    }
    file.filter_bytes = from.filter_size_bytes;
    const bool is_asked = from.state == RocksDbFilterState::kExpected ||
                          from.state == RocksDbFilterState::kOtherOptions;
    if (!is_asked || from.filter_key_count == 0) continue;
    const auto own = costs.find(from.family);
    file.expected_fpr =
        from.expected_fpr.value_or((own == costs.end() ? cost : own->second)
                                       .ForBits(file.bits_per_key())
                                       .fpr);
  }
  std::stable_sort(report.files.begin(), report.files.end(),
                   [](const auto& a, const auto& b) {
                     // Sorts level 0 by number, which is the end of the path.
                     if (a.level != b.level) return a.level < b.level;
                     if (a.level != 0) return false;
                     return a.path.size() != b.path.size()
                                ? a.path.size() > b.path.size()
                                : a.path > b.path;
                   });
  if (absl::Status s = SumUp(cost, nullptr, &report); !s.ok()) return s;
  return report;
}

}  // namespace rowbloom
