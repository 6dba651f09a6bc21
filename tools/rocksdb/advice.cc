// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/advice.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/get_fit.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::tools {
namespace {

constexpr char kNow[] = "now";
constexpr char kCompact[] = "compact";
constexpr char kRibbon[] = "composed Ribbon";
// The model is not as exact as 2%: what is less than that cheaper does not
// count.
constexpr double kClear = 0.98;

// Fewer reads than one in a million gets round to 0.
double RoundedReads(double reads) {
  constexpr double kMillion = 1e6;
  return std::round(kMillion * reads) / kMillion;
}

// --- The sizes of the filters that a policy writes ---------------------------
//
// A plan knows the rates of large filters only: a partition has few keys, and
// bytes of its own.

// rowbloom's own policy, or composed mode with RocksDB's Ribbon filters.
enum class FilterWriter { kNative, kComposedRibbon };

// RocksDB's five bytes behind a Ribbon filter, and the slots that round it up
// to a multiple of 128: half of that on average.
constexpr double kRibbonExtraBytes = 5;
constexpr double kRibbonExtraSlots = 64;

// The bytes of a compact filter in a table beside those that its keys take.
double CompactExtraBytes() {
  // Most codecs take 8 bytes (rocksdb_plugin/policy/filter_info.h).
  constexpr size_t kMetadataBytes = 8;
  const std::unique_ptr<FilterBuilder> builder =
      NewFilterBuilder(FilterSpec::BitsPerKey(kCompact, 10));
  builder->Add(KeyDigest{});
  const EncodedFilter of_one_key = builder->Finish();
  const std::string blob =
      EncodeFilterBlob(of_one_key, std::string(kMetadataBytes, '\0'));
  return static_cast<double>(blob.size() - of_one_key.units.size());
}

// A compact filter of `key_count` keys that is asked to take `bits` for each,
// with all of its bytes (rocksdb_plugin/policy/row_filter_builder.cc).
FilterSetting CompactSetting(const FilterCost& cost, double bits,
                             double key_count) {
  static const double extra_bits = 8 * CompactExtraBytes();
  constexpr double kLeastOfAsked = 0.95;
  FilterSetting setting = cost.ForBits(
      std::max(kLeastOfAsked * bits, bits - extra_bits / key_count));
  if (setting.bits_per_key > 0) setting.bits_per_key = bits;
  return setting;
}

double RibbonBytes(double fpr, double key_count) {
  const auto keys = static_cast<uint64_t>(std::ceil(key_count));
  const double bits =
      FilterCost::OfRocksDbRibbon(keys).ForFpr(fpr).bits_per_key;
  return (key_count + kRibbonExtraSlots) * bits / 8 + kRibbonExtraBytes;
}

// The curve by which the policy chooses.
absl::StatusOr<FilterCost> PolicyCost(FilterWriter writer) {
  return writer == FilterWriter::kNative ? FilterCost::OfFamily(kCompact)
                                         : FilterCost::OfRocksDbRibbon();
}

// The number of filters of a run, each with its last one that is not full.
double FilterCount(const RocksDbTree& tree, const RocksDbRun& run,
                   const BlockUse& filters) {
  const auto files = static_cast<double>(std::max<uint64_t>(run.file_count, 1));
  if (!tree.partitions_filters || filters.block_count == 0) return files;
  return files * std::ceil(filters.block_count / files);
}

// The filters of each run of the tree, in its order, if the policy has the
// budget of `plan`, for the gets `get`. bits_per_key has all bytes of a filter:
// its descriptor and its entry in the index over partitions included. A
// balanced budget is taken to have settled, with a listener.
absl::StatusOr<std::vector<FilterSetting>> WrittenFilters(
    FilterWriter writer, const RocksDbTree& tree, const TotalMemoryPlan& plan,
    const GetCostOptions& get) {
  const double asked = plan.filters.bits_per_key;
  const bool is_native = writer == FilterWriter::kNative;
  const absl::StatusOr<FilterCost> cost = PolicyCost(writer);
  if (!cost.ok()) return cost.status();
  // Writes filters of `less` bits fewer than planned. Returns the mean of all.
  std::vector<FilterSetting> written(tree.runs.size());
  const auto write = [&](double less) {
    double bits = 0;
    double all_keys = 0;
    for (size_t i = 0; i < tree.runs.size(); ++i) {
      const auto keys = static_cast<double>(tree.runs[i].key_count);
      const double planned = plan.filters.runs[i].setting.bits_per_key;
      all_keys += keys;
      written[i] = {};
      if (keys == 0 || planned <= less) continue;
      const double count =
          FilterCount(tree, tree.runs[i], plan.cost.runs[i].filter);
      written[i] = is_native
                       ? CompactSetting(*cost, planned - less, keys / count)
                       : cost->ForBits(planned - less);
      if (written[i].bits_per_key == 0) continue;
      double bytes = is_native ? keys / count * written[i].bits_per_key / 8
                               : RibbonBytes(written[i].fpr, keys / count);
      if (tree.partitions_filters) {
        bytes += get.key_bytes + GetCostOptions::kIndexEntryExtraBytes;
      }
      written[i].bits_per_key = 8 * count * bytes / keys;
      bits += 8 * count * bytes;
    }
    return all_keys == 0 ? 0 : bits / all_keys;
  };
  const double over = write(0) - asked;
  if (plan.mode == BudgetMode::kFixed) return written;
  // Control takes kControlGain of what is left over the budget off each SST.
  constexpr double kGain = FileBudget::kControlGain;
  write(kGain / (1 + kGain) * over);
  return written;
}

// --- Candidates -------------------------------------------------------------

std::vector<TreeRun> TreeRunsOf(const RocksDbTree& tree) {
  std::vector<TreeRun> runs;
  for (const RocksDbRun& run : tree.runs) runs.push_back({run.key_count});
  return runs;
}

// Sets what follows from the name and the settings.
absl::StatusOr<Candidate> WithCost(Candidate candidate, const RocksDbTree& tree,
                                   const GetCostOptions& options) {
  const std::vector<TreeRun> runs = TreeRunsOf(tree);
  double keys = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto run_keys = static_cast<double>(runs[i].key_count);
    keys += run_keys;
    candidate.bits_per_key += run_keys * candidate.settings[i].bits_per_key;
  }
  if (keys > 0) candidate.bits_per_key /= keys;
  absl::StatusOr<GetCost> cost =
      ExpectedGetCost(runs, candidate.settings, options);
  if (!cost.ok()) return cost.status();
  candidate.cost = *std::move(cost);
  candidate.wasted_reads = ExpectedWastedReads(
      runs, candidate.settings, options.missing_share, candidate.cost);
  return candidate;
}

absl::StatusOr<Candidate> Now(const RocksDbTree& tree,
                              const GetCostOptions& options) {
  Candidate now;
  now.name = kNow;
  for (const RocksDbRun& run : tree.runs) {
    const double bits = run.bits_per_key();
    now.settings.push_back({bits, bits, bits > 0 ? run.fpr() : 1});
  }
  return WithCost(std::move(now), tree, options);
}

absl::StatusOr<Candidate> Planned(FilterWriter writer, const RocksDbTree& tree,
                                  const GetCostOptions& get) {
  const bool is_native = writer == FilterWriter::kNative;
  const absl::StatusOr<FilterCost> cost = PolicyCost(writer);
  if (!cost.ok()) return cost.status();
  TotalMemoryOptions options;
  options.get = get;
  const absl::StatusOr<TotalMemoryPlan> plan =
      PlanTotalMemory(*cost, TreeRunsOf(tree), options);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::vector<FilterSetting>> settings =
      WrittenFilters(writer, tree, *plan, get);
  if (!settings.ok()) return settings.status();
  Candidate candidate;
  candidate.name = is_native ? kCompact : kRibbon;
  candidate.mode = plan->mode;
  candidate.asked_bits_per_key = plan->filters.bits_per_key;
  candidate.settings = *std::move(settings);
  return WithCost(std::move(candidate), tree, get);
}

}  // namespace

Json Candidate::Row() const {
  return {{"filters", name},
          {"bits_per_key", bits_per_key},
          {"data_reads", RoundedReads(cost.data.reads)},
          {"wasted_reads", RoundedReads(wasted_reads)},
          {"filter_reads", RoundedReads(cost.filter.reads)},
          {"index_reads", RoundedReads(cost.index.reads)},
          {"us", cost.total_us}};
}

GetCostOptions ModelOf(const RocksDbTree& tree) {
  GetCostOptions options;
  options.data_block_bytes = static_cast<double>(tree.data_block_bytes);
  options.metadata_block_bytes = static_cast<double>(tree.metadata_block_bytes);
  options.partition_cuts = tree.partition_cuts;
  TableSums sums;
  for (const RocksDbRun& run : tree.runs) {
    sums.entry_count += static_cast<double>(run.entry_count);
    sums.key_count += static_cast<double>(run.key_count);
    sums.raw_key_bytes += static_cast<double>(run.raw_key_bytes);
    sums.raw_value_bytes += static_cast<double>(run.raw_value_bytes);
    sums.data_block_count += static_cast<double>(run.data_block_count);
    sums.index_bytes += static_cast<double>(run.index_bytes);
  }
  SetEntrySizes(sums, &options);
  return options;
}

absl::StatusOr<uint64_t> MemoryOf(const RocksDbTree& tree,
                                  const GetCostOptions& options) {
  if (tree.place != FilterPlace::kTableReaders) return options.cache_bytes;
  GetCostOptions now = options;
  now.place = FilterPlace::kTableReaders;
  const absl::StatusOr<Candidate> filters = Now(tree, now);
  if (!filters.ok()) return filters.status();
  // A cache without a limit has the largest number.
  return std::min(options.cache_bytes, kMaxTreeKeys) +
         static_cast<uint64_t>(filters->cost.resident_bytes);
}

absl::StatusOr<bool> FitToCounts(const RocksDbTree& tree,
                                 const ReadCounts& counts,
                                 uint64_t block_cache_bytes,
                                 GetCostOptions* options) {
  const std::optional<GetRates> rates = counts.rates();
  // The model has no whole filters in a cache.
  if (!rates.has_value() || !tree.place.has_value()) return false;
  GetCostOptions fitted = *options;
  fitted.place = *tree.place;
  fitted.cache_bytes = block_cache_bytes;
  const absl::StatusOr<uint64_t> memory = MemoryOf(tree, fitted);
  if (!memory.ok()) return memory.status();
  fitted.cache_bytes = *memory;
  const absl::StatusOr<Candidate> now = Now(tree, fitted);
  if (!now.ok()) return now.status();
  if (absl::Status status =
          FitGets(TreeRunsOf(tree), now->settings, *rates, {}, &fitted);
      !status.ok()) {
    return status;
  }
  options->range_keys = fitted.range_keys;
  options->zipf_exponent = fitted.zipf_exponent;
  options->scan_seeks = fitted.scan_seeks;
  options->scan_data_reads = fitted.scan_data_reads;
  return true;
}

absl::StatusOr<std::vector<Candidate>> CandidatesFor(
    const RocksDbTree& tree, const GetCostOptions& options) {
  std::vector<Candidate> candidates;
  for (absl::StatusOr<Candidate>& candidate :
       std::vector<absl::StatusOr<Candidate>>{
           Now(tree, options), Planned(FilterWriter::kNative, tree, options),
           Planned(FilterWriter::kComposedRibbon, tree, options)}) {
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

const Candidate& Best(const std::vector<Candidate>& candidates) {
  const Candidate* best = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (candidate.cost.total_us < kClear * best->cost.total_us) {
      best = &candidate;
    }
  }
  return *best;
}

std::string KeyLayoutOption(const RocksDbTree& tree) {
  for (const RocksDbRun& run : tree.runs) {
    if (run.key_codec.empty()) continue;
    if (!run.misfit.empty()) return "key_codec=whole_key";
    return "key_codec=" + run.key_codec +
           (run.bloom_type.empty() ? "" : ";bloom_type=" + run.bloom_type);
  }
  return "";
}

std::string OptionText(const Candidate& best, double missing_share,
                       const std::string& key_layout) {
  if (best.name == kNow) return "";
  if (best.asked_bits_per_key == 0) return "filter_policy=nullptr";
  constexpr double kLeast = FilterBudgetOptions::kMinMissingShare;
  const bool is_native = best.name == kCompact;
  const std::string budget =
      absl::StrFormat("budget=%s;%s=%.3g;missing_share=%.2g}",
                      best.mode == BudgetMode::kFixed ? "fixed" : "balanced",
                      is_native ? "budget_bits_per_key" : "bits_per_key",
                      best.asked_bits_per_key, std::max(kLeast, missing_share));
  if (!is_native) return "filter_policy={id=rowbloom.Composed;" + budget;
  return "filter_policy={id=rowbloom;" +
         (key_layout.empty() ? "" : key_layout + ";") + "filter_spec=compact;" +
         budget;
}

std::string ListenersText(const Candidate& best) {
  // A policy of fixed bits need not know the other SSTs.
  const bool is_needed = best.name != kNow && best.asked_bits_per_key > 0 &&
                         best.mode != BudgetMode::kFixed;
  return is_needed ? "listeners={rowbloom.BudgetListener}" : "";
}

Json PlaceAdvice::Rows() const {
  Json rows = Json::array();
  for (const FilterPlaceCost& place : places) {
    Json& row = rows.emplace_back(
        Json{{"place", FilterPlaceName(place.place)},
             {"block_cache_bytes", place.block_cache_bytes},
             {"resident_bytes", std::llround(place.cost.resident_bytes)}});
    const GetCost& cost = place.cost;
    const auto if_it_fits = [&place](const Json& value) {
      return place.fits ? value : Json();
    };
    row["data_reads"] = if_it_fits(RoundedReads(cost.data.reads));
    row["filter_reads"] = if_it_fits(RoundedReads(cost.filter.reads));
    row["index_reads"] = if_it_fits(RoundedReads(cost.index.reads));
    row["instructions"] = if_it_fits(std::llround(place.instructions));
    row["us"] = if_it_fits(cost.total_us);
    row["cheapest"] = place.place == cheapest;
  }
  return rows;
}

Json PlaceAdvice::Notes() const {
  Json notes = Json::array();
  const auto& whole =
      places.at(static_cast<size_t>(FilterPlace::kTableReaders));
  if (!whole.fits) {
    notes.push_back(absl::StrFormat(
        "Filters and indexes take %.0f bytes, and the memory has %u: they have "
        "to compete for the block cache.",
        whole.cost.resident_bytes, memory_bytes));
  }
  if (cheapest == FilterPlace::kCachedPartitions) return notes;
  if (cheapest == FilterPlace::kTableReaders) {
    notes.push_back(absl::StrFormat(
        "Table readers hold filters and indexes outside of the block cache: "
        "give the cache %u bytes, or all %u and let it charge them "
        "(cache_usage_options, CacheEntryRole::kBlockBasedTableReader).",
        whole.block_cache_bytes, memory_bytes));
  }
  notes.push_back(
      "Filters and indexes that stay in memory are read when an SST is opened, "
      "and grow with the tree: keep SSTs open (max_open_files=-1).");
  return notes;
}

absl::StatusOr<PlaceAdvice> PlacesFor(const RocksDbTree& tree,
                                      const std::vector<Candidate>& candidates,
                                      const GetCostOptions& options) {
  PlaceAdvice advice;
  advice.memory_bytes = options.cache_bytes;
  absl::StatusOr<std::vector<FilterPlaceCost>> places =
      CompareFilterPlaces(TreeRunsOf(tree), Best(candidates).settings, options);
  if (!places.ok()) return places.status();
  advice.places = *std::move(places);
  const FilterPlaceCost& cheapest = CheapestPlace(advice.places);
  advice.cheapest = cheapest.place;
  if (tree.place.has_value()) {
    const FilterPlaceCost& now =
        advice.places[static_cast<size_t>(*tree.place)];
    if (now.fits && cheapest.cost.total_us >= kClear * now.cost.total_us) {
      return advice;
    }
  }
  advice.option = FilterPlaceOptions(cheapest.place);
  return advice;
}

}  // namespace rowbloom::tools
