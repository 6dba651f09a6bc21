// SPDX-License-Identifier: Apache-2.0

#include "refresh/refresh_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policy/builtin_filter.h"
#include "refresh/planned_filters.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/rocksdb_budget.h"
#include "sst_path.h"
#include "sst_properties.h"

namespace rowbloom::plugin {

namespace {

// With fewer keys, rounding decides about the size, too.
constexpr uint64_t kFewestKeysOfAFilter = 1000;

// True for filters of the policy that have few keys. Others are rewritten in
// any case, and say nothing of the bytes around those of the policy.
bool HasSmallFilters(const RocksDbFilterFile& file) {
  return file.state == RocksDbFilterState::kExpected &&
         file.filter_key_count > 0 &&
         file.filter_key_count < kFewestKeysOfAFilter * file.filter_count;
}

// RocksDB's own policies build filters of whole cache lines.
double RocksDbFilterBytes(const FilterSetting& setting, double key_count) {
  constexpr double kLine = 64;
  constexpr double kTrailer = 5;
  return kLine * std::ceil(setting.bits_per_key * key_count / 8 / kLine) +
         kTrailer;
}

// A policy gives small filters these bytes, up to a tolerance: sizes are
// rounded, and partitions differ in keys.
struct SmallFilterSize {
  double bytes = 0;
  double tolerance = 0;
};

// Assumes that the filters of `file`, which are small, keep their keys.
SmallFilterSize SizeOfSmallFilters(const RocksDbFilterFile& file,
                                   const RocksDbExpectedFilter& expected,
                                   const FilterSetting& planned) {
  const uint64_t keys = file.filter_key_count / file.filter_count;
  double bytes = RocksDbFilterBytes(planned, static_cast<double>(keys));
  double rounding = RocksDbFilterBytes(planned, 1);
  if (expected.rowbloom.has_value()) {
    const RocksDbOptions& options = *expected.rowbloom;
    const FilterSpec spec =
        options.effective_budget().has_value()
            ? FilterSpec::BitsPerKey(options.filter_spec.family(),
                                     planned.builder_bits)
            : options.filter_spec;
    // Every filter has the same bytes around it.
    const double around =
        static_cast<double>(file.filter_size_bytes - file.unit_size_bytes) /
        static_cast<double>(file.filter_count);
    bytes = static_cast<double>(FilterSizeBytes(spec, keys)) + around;
    rounding = static_cast<double>(FilterSizeBytes(spec, 1));
  }
  constexpr double kTolerance = 0.1;
  const auto filters = static_cast<double>(file.filter_count);
  return {bytes * filters, (kTolerance * bytes + rounding) * filters};
}

// An SST, its filter, and the one that the policy would write.
struct Candidate {
  uint64_t number = 0;
  const LiveFile* live = nullptr;
  RocksDbFilterFile filter;
  uint64_t key_count = 0;
  double absent_asks = 0;  // Asks of a get for a key that the SST lacks.
  FilterSetting planned;
  double planned_bytes = 0;
  double bytes_tolerance = 0;
  double fpr = 1;  // The present filter's.
  double gain = 0;
  // RocksDB's Ribbon policy writes such a filter at each flush.
  bool is_bloom_of_ribbon = false;
};

// A filter that the policy does not read, or that was built of other keys than
// gets ask for, denies nothing.
double FprOf(const RocksDbFilterFile& file,
             const RocksDbExpectedFilter& expected, const FilterCost& cost) {
  if (file.filter_count == 0 || file.filter_key_count == 0 ||
      (file.state != RocksDbFilterState::kExpected &&
       file.state != RocksDbFilterState::kOtherOptions)) {
    return 1;
  }
  if (expected.rowbloom.has_value() &&
      (!(file.key_codec == expected.rowbloom->key_codec) ||
       file.bloom_type != expected.rowbloom->effective_bloom_type())) {
    return 1;
  }
  if (file.family == cost.name()) return cost.ForBits(file.bits_per_key()).fpr;
  return FilterCost::OfName(file.family)
      .value_or(FilterCost::OfRocksDbBloom())
      .ForBits(file.bits_per_key())
      .fpr;
}

bool CanBeRead(RocksDbFilterState state) {
  return state != RocksDbFilterState::kUnreadable &&
         state != RocksDbFilterState::kNewer;
}

// Sets the gain of each candidate: the reads that a new filter saves, and those
// that the memory of the present one would save elsewhere. A bit for each key
// of an SST halves its wasted reads, so that the plan's last bits save ln 2 of
// these, per bit of each key. Where the plan has no filter, a bit is worth what
// it is elsewhere.
void SetGains(std::vector<Candidate>* candidates) {
  double bits = 0;
  double value = 0;
  const auto value_of = [](const Candidate& candidate) {
    return std::log(2.0) * candidate.absent_asks * candidate.planned.fpr;
  };
  for (const Candidate& candidate : *candidates) {
    if (candidate.planned_bytes == 0) continue;
    bits += static_cast<double>(candidate.key_count);
    value += value_of(candidate);
  }
  for (Candidate& candidate : *candidates) {
    if (candidate.key_count == 0) continue;
    const auto keys = static_cast<double>(candidate.key_count);
    const double value_of_bit = candidate.planned_bytes > 0
                                    ? value_of(candidate) / keys
                                : bits > 0 ? value / bits
                                           : 0;
    const double more_bytes =
        static_cast<double>(candidate.filter.filter_size_bytes) -
        candidate.planned_bytes;
    candidate.gain =
        candidate.absent_asks * (candidate.fpr - candidate.planned.fpr) +
        value_of_bit * 8 * more_bytes;
  }
}

bool IsFarFromPlan(const Candidate& candidate, double min_gain) {
  const RocksDbFilterFile& filter = candidate.filter;
  if (filter.state != RocksDbFilterState::kExpected) {
    // The policy would not make a filter again.
    return filter.filter_size_bytes > 0 || candidate.planned_bytes > 0;
  }
  if (candidate.is_bloom_of_ribbon) return false;
  if (std::abs(static_cast<double>(filter.filter_size_bytes) -
               candidate.planned_bytes) <= candidate.bytes_tolerance) {
    return false;
  }
  return candidate.gain >
         min_gain * candidate.absent_asks * candidate.planned.fpr;
}

RocksDbRefreshFile EntryOf(const Candidate& candidate) {
  const RocksDbFilterFile& filter = candidate.filter;
  RocksDbRefreshFile entry;
  entry.path = filter.path;
  entry.level = filter.level;
  entry.filter = filter.state;
  entry.note = filter.note;
  entry.size_bytes = candidate.live->size_bytes;
  entry.key_count = candidate.key_count;
  entry.bits_per_key = filter.bits_per_key();
  entry.planned_bits_per_key = candidate.planned.bits_per_key;
  entry.wasted_reads = candidate.absent_asks * candidate.fpr;
  entry.planned_wasted_reads = candidate.absent_asks * candidate.planned.fpr;
  entry.read_bytes = entry.size_bytes;
  const uint64_t other_bytes =
      entry.size_bytes - std::min(entry.size_bytes, filter.filter_size_bytes);
  entry.written_bytes =
      other_bytes + static_cast<uint64_t>(candidate.planned_bytes);
  return entry;
}

// Orders by the gain for each byte.
void SortByGain(std::vector<const Candidate*>* chosen) {
  const auto worth = [](const Candidate* candidate) {
    return std::max(0.0, candidate->gain) /
           static_cast<double>(
               std::max<uint64_t>(1, candidate->live->size_bytes));
  };
  std::stable_sort(chosen->begin(), chosen->end(),
                   [&](const Candidate* a, const Candidate* b) {
                     return worth(a) > worth(b);
                   });
}

RefreshPlan Choose(const std::vector<Candidate>& candidates, double min_gain) {
  RefreshPlan plan;
  std::vector<const Candidate*> chosen;
  std::vector<const Candidate*> unread;
  for (const Candidate& candidate : candidates) {
    const double wasted = candidate.absent_asks * candidate.fpr;
    plan.report.wasted_reads += wasted;
    if (!CanBeRead(candidate.filter.state)) {
      unread.push_back(&candidate);
    } else if (IsFarFromPlan(candidate, min_gain)) {
      chosen.push_back(&candidate);
      plan.report.planned_wasted_reads +=
          candidate.absent_asks * candidate.planned.fpr;
      continue;
    } else {
      ++plan.report.kept_file_count;
      plan.report.kept_bytes += candidate.live->size_bytes;
    }
    plan.report.planned_wasted_reads += wasted;
  }
  SortByGain(&chosen);
  for (const Candidate* candidate : chosen) {
    plan.report.files.push_back(EntryOf(*candidate));
    plan.ssts.emplace_back(candidate->number, *candidate->live);
  }
  for (const Candidate* candidate : unread) {
    RocksDbRefreshFile entry = EntryOf(*candidate);
    entry.result = RocksDbRefreshResult::kSkipped;
    entry.status = candidate->filter.status;
    entry.read_bytes = entry.written_bytes = 0;
    entry.planned_bits_per_key = entry.bits_per_key;
    entry.planned_wasted_reads = entry.wasted_reads;
    plan.report.files.push_back(std::move(entry));
  }
  return plan;
}

// The SSTs of `report` whose filters were read, with the asks of each.
std::vector<Candidate> CandidatesOf(const RocksDbBudgetReport& report,
                                    const RocksDbFilterReport& verified,
                                    rdb::Env* env, const LiveFiles& live) {
  std::map<std::string, std::pair<uint64_t, const LiveFile*>> by_path;
  for (const auto& [number, file] : live) by_path[file.path] = {number, &file};
  std::map<std::string, const RocksDbFilterFile*> filters;
  for (const RocksDbFilterFile& file : verified.files) {
    filters[file.path] = &file;
  }
  std::vector<Candidate> candidates;
  for (const RocksDbBudgetFile& file : report.files) {
    const auto filter = filters.find(SstPath(env, file.path));
    if (filter == filters.end()) continue;  // It came or went meanwhile.
    Candidate& candidate = candidates.emplace_back();
    std::tie(candidate.number, candidate.live) = by_path.at(file.path);
    candidate.filter = *filter->second;
    candidate.key_count = file.key_count;
    candidate.absent_asks = file.absent_asks;
  }
  return candidates;
}

// The cost of filters, or partitions of them, of the mean number of keys: the
// rates of small ones are higher.
absl::StatusOr<FilterCost> CostOf(const RocksDbBudgetReport& report,
                                  const RocksDbExpectedFilter& expected) {
  uint64_t keys = report.key_count / std::max<size_t>(1, report.files.size());
  if (expected.is_partitioned) {
    constexpr auto kBits =
        static_cast<uint64_t>(FilterSpec::kDefaultBitsPerKey);
    keys = std::min(keys, 8 * expected.metadata_block_size_bytes / kBits);
  }
  keys = std::max(keys, kFewestKeysOfAFilter);
  absl::StatusOr<FilterCost> large = FilterCost::OfName(report.filter);
  if (large.ok() && large->name() == FilterCost::OfRocksDbBloom().name()) {
    return large;
  }
  if (large.ok() && large->name() == FilterCost::OfRocksDbRibbon().name()) {
    return FilterCost::OfRocksDbRibbon(keys);
  }
  return FilterCost::OfFamily(report.filter, keys);
}

absl::Status CheckArguments(const rdb::Options& options,
                            const RocksDbRefreshOptions& refresh) {
  if (!(refresh.min_gain >= 0)) {  // NaN, too.
    return absl::InvalidArgumentError(
        absl::StrCat("min_gain ", refresh.min_gain, " is not at least 0"));
  }
  if (options.compaction_style == rdb::kCompactionStyleFIFO) {
    return absl::FailedPreconditionError(
        "FIFO compaction rewrites no SST: filters change as new SSTs replace "
        "old ones");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RefreshPlan> PlanRefresh(rdb::DB* db,
                                        rdb::ColumnFamilyHandle* column_family,
                                        const RocksDbRefreshOptions& refresh,
                                        BudgetTeller* teller) {
  const rdb::Options options = db->GetOptions(column_family);
  absl::Status checked = CheckArguments(options, refresh);
  if (!checked.ok()) return checked;
  rdb::ColumnFamilyMetaData listed;
  db->GetColumnFamilyMetaData(column_family, &listed);
  rdb::TablePropertiesCollection properties;
  const auto missing =
      ReadListedProperties(db, column_family, listed, &properties);
  if (!missing.ok()) return missing.status();
  const absl::StatusOr<RocksDbBudgetReport> report =
      ReportBudgetOf(options, listed, properties, nullptr);
  if (!report.ok()) return report.status();
  RocksDbVerifyOptions verify;
  verify.neighbours_per_file = 1;  // And stored keys.
  verify.progress = refresh.reading;
  const absl::StatusOr<RocksDbFilterReport> verified =
      VerifyRocksDbFilters(db, column_family, verify);
  if (!verified.ok()) return verified.status();
  const absl::StatusOr<FilterCost> cost = CostOf(*report, verified->expected);
  if (!cost.ok()) return cost.status();

  LiveFiles live = FilesOf(listed);
  for (auto& [number, file] : live) {
    const auto of_file = properties.find(file.path);
    if (of_file == properties.end() || of_file->second == nullptr) continue;
    file.filter = FileFilter::Of(*of_file->second);
  }
  std::vector<Candidate> candidates =
      CandidatesOf(*report, *verified, options.env, live);
  std::map<uint64_t, uint64_t> keys;
  for (const Candidate& candidate : candidates) {
    keys[candidate.number] = candidate.key_count;
  }
  const int bloom_levels = BloomLevels(
      *options.table_factory->GetOptions<rdb::BlockBasedTableOptions>()
           ->filter_policy);
  const std::map<uint64_t, FilterSetting> planned =
      PlanFilters({*db, options, listed, live, keys, *cost}, teller);
  for (Candidate& candidate : candidates) {
    candidate.planned = planned.at(candidate.number);
    candidate.planned_bytes =
        FilterBytes(candidate.planned, candidate.key_count);
    const RocksDbFilterFile& filter = candidate.filter;
    if (HasSmallFilters(filter) && candidate.planned_bytes > 0) {
      const SmallFilterSize small =
          SizeOfSmallFilters(filter, verified->expected, candidate.planned);
      candidate.planned_bytes = small.bytes;
      candidate.bytes_tolerance = small.tolerance;
      candidate.planned.bits_per_key =
          8 * small.bytes / static_cast<double>(filter.filter_key_count);
    }
    candidate.planned.fpr = cost->ForBits(candidate.planned.bits_per_key).fpr;
    candidate.fpr = FprOf(candidate.filter, verified->expected, *cost);
    constexpr double kSameRate = 1.5;
    candidate.is_bloom_of_ribbon =
        candidate.live->level < bloom_levels &&
        candidate.filter.family == "rocksdb_bloom" &&
        candidate.fpr < kSameRate * candidate.planned.fpr;
  }
  SetGains(&candidates);
  RefreshPlan plan = Choose(candidates, refresh.min_gain);
  plan.report.column_family = listed.name;
  std::map<uint64_t, uint64_t> bytes;
  for (const auto& [number, file] : plan.ssts) {
    bytes[number] =
        static_cast<uint64_t>(FilterBytes(planned.at(number), keys.at(number)));
  }
  teller->PlanFilters(bytes);
  return plan;
}

}  // namespace rowbloom::plugin
