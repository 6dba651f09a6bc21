// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "policy/builtin_filter.h"
#include "policy/composed_policy.h"
#include "policy/filter_entry.h"
#include "policy/native_policy.h"
#include "policy/text_policy.h"
#include "release.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/metadata.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/rocksdb_verify.h"
#include "sst_path.h"
#include "sst_properties.h"
#include "verify/asked_keys.h"
#include "verify/no_policy.h"
#include "verify/policy_budget.h"
#include "verify/whole_filters.h"

namespace rowbloom {

using plugin::AskerOfBuiltin;
using plugin::AskKeys;
using plugin::BlockCacheSize;
using plugin::BudgetOf;
using plugin::BuiltinFamily;
using plugin::CheckRocksDbRelease;
using plugin::ComposedPolicy;
using plugin::EvictsWholeFilters;
using plugin::kBuiltinCompatibilityName;
using plugin::KeyLevelCount;
using plugin::KeySample;
using plugin::kNoPolicyWarning;
using plugin::ListedPath;
using plugin::NativePolicy;
using plugin::PolicyBudget;
using plugin::ReadSstProperties;
using plugin::SizeOf;
using plugin::SstFilters;
using plugin::SstPath;
using plugin::TextPolicy;
using plugin::WholeFilterRemedy;

namespace {

// Abseil's string_view may not be the standard's.
std::string Word(std::string_view text) { return std::string(text); }

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// True for the names of all policies of this project and of RocksDB.
bool IsKnownPolicy(std::string_view name) {
  return name == "rowbloom" || StartsWith(name, "rowbloom.") ||
         name == "bloomfilter" || name == "ribbonfilter" ||
         StartsWith(name, "rocksdb.");
}

// "mixed" if they differ.
void MergeFamily(const std::string& family, std::string* merged) {
  if (merged->empty()) {
    *merged = family;
  } else if (*merged != family) {
    *merged = "mixed";
  }
}

// Asks the filters for keys of the file and for neighbours of these. DataLoss
// if they deny a stored key.
absl::Status Observe(const rdb::Options& options,
                     const RocksDbVerifyOptions& verify,
                     const SstFilters& filters, RocksDbFilterFile* file) {
  // Without an expected rate that of neighbours would tell nothing.
  const bool ask_neighbours = file->expected_fpr.has_value();
  const KeySample sample =
      AskKeys(file->path, options, filters,
              {ask_neighbours ? verify.neighbours_per_file : 0,
               /*all_keys=*/verify.read_data_blocks});
  file->neighbour_count = sample.asked;
  file->false_positive_count = sample.passed;
  file->sampled_key_count = sample.keys;
  file->misfit_key_count = sample.misfits;
  file->sharing_misfit_count = sample.sharing_misfits;
  file->unobserved = sample.unknown;
  file->asked_key_count = sample.stored;
  file->denied_key_count = sample.denied;
  if (sample.denied == 0) return absl::OkStatus();
  constexpr size_t kMostShownBytes = 64;
  const std::string key = absl::StrCat(
      "\"", absl::CHexEscape(sample.first_denied.substr(0, kMostShownBytes)),
      sample.first_denied.size() > kMostShownBytes ? "...\"" : "\"");
  const std::string denied =
      filters.count == 1
          ? absl::StrCat("the filter denies ", sample.denied, " of ",
                         sample.stored, " stored keys, the first is ", key)
          : absl::StrCat(
                "the filter's partitions deny stored keys, the first "
                "at or before ",
                key, ", of ", sample.stored, " that were asked");
  return absl::DataLossError(absl::StrCat(
      file->path, ": ", denied,
      ": gets do not find them; compact the file, and look at the memory of "
      "the machine that wrote it"));
}

bool AsksKeys(const RocksDbVerifyOptions& verify) {
  return verify.neighbours_per_file > 0 || verify.read_data_blocks;
}

// Checks each rowbloom filter in `sst` in full and reports its properties.
absl::Status CheckOurs(const RocksDbSst& sst, const rdb::Options& options,
                       const RocksDbVerifyOptions& verify,
                       RocksDbFilterFile* file) {
  std::vector<RocksDbFilterInfo> infos;
  uint64_t key_count = 0;
  double expected = 0;
  for (size_t i = 0; i < sst.filters.size(); ++i) {
    const absl::StatusOr<RocksDbFilterInfo> info =
        ParseRocksDbFilter(sst.filters[i]);
    absl::Status status = info.status();
    if (info.ok()) {
      status = VerifyUnits(info->blob);
      if (!status.ok()) {
        // RocksDB's checksum covers the damage too, and lookups trust it.
        status = absl::DataLossError(
            absl::StrCat(std::string(status.message()),
                         "; it may deny rows that are there"));
      }
    }
    if (status.ok() && i > 0 &&
        (info->bloom_type != infos[0].bloom_type ||
         !(info->key_codec == infos[0].key_codec))) {
      status =
          absl::DataLossError("bloom type or key codec differs from chunk 0");
    }
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(file->path, ": filter chunk ", i, ": ",
                                       std::string(status.message())));
    }
    const uint64_t keys = info->blob.descriptor.key_count;
    key_count += keys;
    // A filter without keys does not have the spec's family.
    if (keys > 0 || sst.filters.size() == 1) {
      MergeFamily(Word(info->blob.descriptor.family_name()), &file->family);
    }
    expected += info->blob.view.expected_fpr() * static_cast<double>(keys);
    file->unit_size_bytes += info->blob.units.size();
    infos.push_back(*info);
  }
  file->bloom_type = infos[0].bloom_type;
  file->key_codec = infos[0].key_codec;
  file->filter_key_count = key_count;
  // A lookup asks one filter, and each in proportion to its keys.
  if (key_count > 0) {
    file->expected_fpr = expected / static_cast<double>(key_count);
  }
  if (!AsksKeys(verify)) return absl::OkStatus();
  SstFilters filters;
  filters.has_codec = true;
  filters.key_codec = infos[0].key_codec;
  filters.key_level_count =
      KeyLevelCount(infos[0].bloom_type, infos[0].key_codec);
  filters.count = infos.size();
  filters.may_contain = [&infos](size_t filter, std::string_view entry) {
    return RocksDbFilterMayContain(infos[filter], entry);
  };
  return Observe(options, verify, filters, file);
}

// Asks filters of RocksDB's own policies.
absl::Status CheckBuiltin(const RocksDbSst& sst, const rdb::Options& options,
                          const RocksDbVerifyOptions& verify,
                          RocksDbFilterFile* file) {
  for (const std::string& filter : sst.filters) {
    MergeFamily(Word(BuiltinFamily(filter)), &file->family);
  }
  if (!AsksKeys(verify)) return absl::OkStatus();
  SstFilters filters;
  filters.count = sst.filters.size();
  filters.may_contain = AskerOfBuiltin(sst.filters);
  if (filters.may_contain != nullptr) {
    return Observe(options, verify, filters, file);
  }
  file->unobserved = "this build asks no filters of RocksDB's policies";
  return absl::OkStatus();
}

// Sets file->state on error.
absl::Status CheckFilter(const rdb::Options& options,
                         const RocksDbVerifyOptions& verify,
                         RocksDbFilterFile* file) {
  file->state = RocksDbFilterState::kUnreadable;
  absl::StatusOr<RocksDbSst> sst = ReadRocksDbSst(file->path, options);
  if (!sst.ok()) {
    // Footer, index and properties are good if the SST opens without its
    // filter.
    if (ReadSstProperties(file->path, options).ok()) {
      file->state = RocksDbFilterState::kUnusable;
    } else if (absl::IsUnimplemented(sst.status())) {
      file->state = RocksDbFilterState::kNewer;
    } else if (absl::IsInvalidArgument(sst.status())) {
      file->state = RocksDbFilterState::kNone;  // As in a table of LevelDB.
    }
    return sst.status();
  }
  file->filter_policy = sst->filter_policy_name;
  file->prefix_extractor = sst->prefix_extractor_name;
  file->owner = sst->owner;
  file->entry_count = sst->entry_count;
  file->range_tombstone_count = sst->range_tombstone_count;
  file->is_partitioned = sst->is_partitioned();
  file->filter_count = sst->filters.size();
  file->filter_key_count = sst->filter_key_count;
  for (const std::string& filter : sst->filters) {
    file->filter_size_bytes += filter.size();
    file->largest_filter_bytes =
        std::max<uint64_t>(file->largest_filter_bytes, filter.size());
  }

  if (sst->owner == RocksDbFilterOwner::kUnknown) {
    // RocksDB drops a damaged filter in silence; the checksums reveal it. The
    // filter's checksum comes before those of data.
    absl::Status status = VerifyRocksDbSstChecksums(file->path, options);
    if (status.ok() || absl::IsDataLoss(status)) {
      file->state = RocksDbFilterState::kUnusable;
    }
    if (!status.ok()) return status;
    if (IsKnownPolicy(sst->filter_policy_name)) {
      return absl::DataLossError(absl::StrCat(
          file->path, ": the properties promise a filter block of ",
          sst->filter_size_bytes, " bytes by policy ", sst->filter_policy_name,
          ", but the file has no filter block"));
    }
  }
  file->state = RocksDbFilterState::kUnusable;
  switch (sst->owner) {
    case RocksDbFilterOwner::kRowbloom:
      return CheckOurs(*sst, options, verify, file);
    case RocksDbFilterOwner::kRocksDb:
      return CheckBuiltin(*sst, options, verify, file);
    default:
      return absl::OkStatus();
  }
}

// --- The expected filter ----------------------------------------------------

// With fewer keys, a filter's size depends more on rounding and chance than on
// bits per key.
constexpr uint64_t kFewestKeysToJudge = 1000;

// The family that a policy builds: for few bits, "fast" builds another.
std::string FamilyOf(const FilterSpec& policy) {
  const std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(policy);
  builder->Add(KeyDigest{});
  return Word(builder->Finish().descriptor.family_name());
}

// The bits per key that an SST may have within its budget.
struct BitsRange {
  double low = 0;
  double high = 0;
};

// nullopt if each SST gets the same bits.
std::optional<PolicyBudget> BudgetIn(const RocksDbExpectedFilter& expected) {
  if (expected.composed.has_value()) return BudgetOf(*expected.composed);
  if (expected.rowbloom.has_value()) return BudgetOf(*expected.rowbloom);
  return std::nullopt;
}

// Filter sizes are rounded, most of all by optimize_filters_for_memory.
BitsRange RangeOf(const PolicyBudget& budget) {
  constexpr double kExtra = FileBudget::kMaxExtraBits;
  const double bits = budget.bits_per_key;
  BitsRange range;
  switch (budget.mode) {
    case BudgetMode::kBalanced:
      range = {0.9 * (bits - kExtra), 1.25 * (bits + kExtra)};
      break;
    case BudgetMode::kHitsOnly:
      return {0, std::numeric_limits<double>::infinity()};
    case BudgetMode::kFixed:
      range = {0.75 * bits, 1.25 * bits};
      break;
  }
  if (budget.options.auto_bits) {
    return {0, std::numeric_limits<double>::infinity()};
  }
  // Limits in bytes may be below the bits, and below the smallest filter the
  // nearest choice is no filter.
  if (budget.options.budget_bytes > 0 ||
      range.low < FilterSpec::kMinBitsPerKey) {
    range.low = 0;
  }
  return range;
}

std::optional<BitsRange> BudgetRange(const RocksDbExpectedFilter& expected) {
  const std::optional<PolicyBudget> budget = BudgetIn(expected);
  if (!budget.has_value()) return std::nullopt;
  return RangeOf(*budget);
}

// The reason why the budget did not give these bits, or empty.
std::string WhyOtherBits(const BitsRange& range,
                         const RocksDbFilterFile& file) {
  if (file.filter_key_count < kFewestKeysToJudge * file.filter_count) return "";
  const double bits = file.bits_per_key();
  if (bits >= range.low && bits <= range.high) return "";
  return absl::StrFormat("built with %.2f bits per key, not %.3g to %.3g", bits,
                         range.low, range.high);
}

// The reason why another policy built a filter of ours, or empty.
std::string WhyOtherPolicy(const RocksDbExpectedFilter& expected,
                           const RocksDbFilterFile& file) {
  if (file.filter_key_count == 0) return "";
  const FilterSpec& policy = expected.rowbloom->filter_spec;
  const std::optional<BitsRange> range = BudgetRange(expected);
  const std::string family = FamilyOf(policy);
  if (file.family != family &&
      !(range.has_value() &&
        (file.family == policy.family() ||
         file.family == FamilyOf(FilterSpec::BitsPerKey(
                            policy.family(), FilterSpec::kMinBitsPerKey))))) {
    return absl::StrCat("built as ", file.family, ", not ", family);
  }
  if (range.has_value()) return WhyOtherBits(*range, file);
  const uint64_t keys = file.filter_key_count / file.filter_count;
  if (keys < kFewestKeysToJudge) return "";
  const double asked = static_cast<double>(FilterSizeBytes(policy, keys)) *
                       static_cast<double>(file.filter_count);
  const double found = static_cast<double>(file.unit_size_bytes);
  // Partitions differ in keys, and each is rounded up to whole lines.
  constexpr double kTolerance = 0.1;
  const double rounding = static_cast<double>(FilterSizeBytes(policy, 1)) *
                          static_cast<double>(file.filter_count);
  if (std::abs(found - asked) <= kTolerance * asked + rounding) return "";
  const double bits = 8 / static_cast<double>(file.filter_key_count);
  return absl::StrFormat("built with %.2f bits per key, not %.2f", bits * found,
                         bits * asked);
}

// The reason in composed mode, or empty.
std::string WhyOtherComposed(const RocksDbExpectedFilter& expected,
                             const RocksDbFilterFile& file) {
  if (file.filter_key_count < kFewestKeysToJudge * file.filter_count) return "";
  // In some cases Ribbon falls back to Bloom.
  const bool is_bloom = expected.composed->filter == RocksDbFilter::kBloom;
  const char* other = is_bloom ? "rocksdb_ribbon" : "rocksdb_bloom";
  if (file.family == other) return absl::StrCat("built as ", file.family);
  return WhyOtherBits(*BudgetRange(expected), file);
}

// The reason why a filter that the policy reads is not the expected one, or
// empty.
std::string WhyOther(const RocksDbExpectedFilter& expected,
                     const RocksDbFilterFile& file) {
  if (expected.rowbloom.has_value() &&
      (!(file.key_codec == expected.rowbloom->key_codec) ||
       KeyLevelCount(*file.bloom_type, *file.key_codec) !=
           KeyLevelCount(expected.rowbloom->effective_bloom_type(),
                         *file.key_codec))) {
    return absl::StrCat("built for ", Word(BloomTypeName(*file.bloom_type)),
                        " ", file.key_codec->ToString());
  }
  if (file.owner == RocksDbFilterOwner::kRocksDb &&
      file.filter_policy != expected.filter_policy) {
    return absl::StrCat("written with policy ", file.filter_policy);
  }
  // Without an extractor seeks ask no filter, so the file's extractor does not
  // matter.
  if (!expected.prefix_extractor.empty() &&
      file.prefix_extractor != expected.prefix_extractor) {
    return absl::StrCat("written with prefix_extractor ",
                        file.prefix_extractor);
  }
  if (expected.rowbloom.has_value()) {
    return WhyOtherPolicy(expected, file);
  }
  if (expected.composed.has_value()) {
    return WhyOtherComposed(expected, file);
  }
  return "";
}

// True for an SST with keys and without a filter. Range tombstones are in no
// filter.
bool LacksFilter(const RocksDbFilterFile& file) {
  return file.status.ok() && file.owner == RocksDbFilterOwner::kNobody &&
         file.entry_count > file.range_tombstone_count;
}

// The reason why a file that should have a filter has none.
std::string WhyNone(const RocksDbFilterFile& file) {
  if (file.filter_policy.empty()) return "written without a filter policy";
  return absl::StrCat("policy ", file.filter_policy, " made none");
}

// RocksDB's default from 8.2 on; 8 MiB before.
constexpr uint64_t kDefaultBlockCacheBytes = 32 << 20;

uint64_t LargestPartitionBytes(const std::vector<RocksDbFilterFile>& files) {
  uint64_t largest = 0;
  for (const RocksDbFilterFile& file : files) {
    if (!file.is_partitioned || file.filter_count == 0 || !file.status.ok()) {
      continue;
    }
    largest = std::max(largest, file.largest_filter_bytes);
  }
  return largest;
}

// True if the filter passes keys that it should stop.
bool PassesTooMany(const RocksDbFilterFile& file) {
  if (file.key_codec.has_value() &&
      2 * file.sharing_misfit_count > file.sampled_key_count) {
    return true;
  }
  const double most = 2 * static_cast<double>(file.neighbour_count) *
                      file.expected_fpr.value_or(1);
  return static_cast<double>(file.false_positive_count) >
         most + 6 * std::sqrt(most) + 6;
}

// A warning of filters that pass keys which they should stop, or empty.
std::string PassingWarning(absl::Span<const RocksDbFilterFile> files) {
  uint64_t count = 0, keys = 0, misfits = 0;
  uint64_t entries = 0, filter_keys = 0, neighbours = 0, false_positives = 0;
  double expected = 0;  // False positives among the neighbours.
  std::set<std::string> codecs;
  for (const RocksDbFilterFile& file : files) {
    if (!file.status.ok() || !PassesTooMany(file)) continue;
    ++count;
    keys += file.sampled_key_count;
    misfits += file.misfit_key_count;
    codecs.insert(file.key_codec->ToString());
    entries += file.entry_count;
    filter_keys += file.filter_key_count;
    neighbours += file.neighbour_count;
    false_positives += file.false_positive_count;
    expected += file.expected_fpr.value_or(1) *
                static_cast<double>(file.neighbour_count);
  }
  if (count == 0) return "";
  std::string out = absl::StrCat(count,
                                 count == 1 ? " file has a filter that passes"
                                            : " files have filters that pass",
                                 " keys which it should stop: ");
  if (neighbours > 0) {
    absl::StrAppendFormat(&out,
                          "%.4f%% of %d neighbours of stored keys, where "
                          "%.4f%% are expected, with ",
                          100 * static_cast<double>(false_positives) /
                              static_cast<double>(neighbours),
                          neighbours,
                          100 * expected / static_cast<double>(neighbours));
  }
  absl::StrAppend(&out, filter_keys,
                  filter_keys == 1 ? " filter key" : " filter keys", " for ",
                  entries, " entries");
  const std::string codec =
      codecs.size() == 1 ? *codecs.begin() : "of several kinds";
  if (misfits > 0) {
    absl::StrAppend(&out, "; key_codec ", codec, " does not fit ", misfits,
                    " of ", keys,
                    " sampled keys: set key_codec=whole_key without "
                    "bloom_type, or the codec that wrote the keys, and "
                    "compact");
  } else {
    absl::StrAppend(&out, "; key_codec ", codec,
                    " fits the keys: if they are partitions of few keys, raise "
                    "metadata_block_size");
  }
  return out;
}

// True if the options ask for filters where they pay: a budget that is not for
// gets that never miss. `auto` may know that none pay.
bool WantsFilters(const RocksDbExpectedFilter& expected) {
  const std::optional<PolicyBudget> budget = BudgetIn(expected);
  return budget.has_value() && budget->mode != BudgetMode::kHitsOnly &&
         (!budget->options.auto_bits || budget->options.budget_bytes > 0 ||
          budget->options.min_bits_per_key > 0 || expected.none_at_bottom);
}

// A warning if most keys are in no filter, though the options want some, or
// empty.
std::string WarnOfNoFilters(const RocksDbFilterReport& report) {
  if (!WantsFilters(report.expected)) return "";
  uint64_t entries = 0;
  uint64_t unfiltered = 0;
  uint64_t count = 0;
  std::string note;
  for (const RocksDbFilterFile& file : report.files) {
    entries += file.entry_count;
    if (file.state == RocksDbFilterState::kExpected && LacksFilter(file)) {
      ++count;
      unfiltered += file.entry_count;
      note = file.note;
    }
  }
  if (2 * unfiltered <= entries) return "";
  return absl::StrCat(count, count == 1 ? " file" : " files", " with ",
                      unfiltered, " of ", entries,
                      " entries without a filter, so that gets of absent keys "
                      "read a block of each: ",
                      note);
}

// A warning if lookups must read whole filters repeatedly, or empty.
std::string WarnOfEviction(const RocksDbFilterReport& report) {
  const RocksDbFilterReport::WholeFilters whole =
      report.EvictableWholeFilters();
  const uint64_t capacity =
      report.block_cache_bytes.value_or(kDefaultBlockCacheBytes);
  if (whole.total_bytes <= capacity &&
      whole.largest_bytes <=
          report.block_cache_shard_bytes.value_or(capacity)) {
    return "";
  }
  std::string cache = absl::StrCat("has a capacity of ", capacity, " bytes");
  if (!report.block_cache_bytes.has_value()) {
    cache = absl::StrCat("has a capacity that the OPTIONS file does not hold, ",
                         "by default at most ", capacity, " bytes");
  } else if (report.block_cache_shard_bytes.has_value()) {
    absl::StrAppend(&cache, " in shards of ", *report.block_cache_shard_bytes);
  }
  return absl::StrCat(
      whole.count, whole.count == 1 ? " filter is" : " filters are",
      " read whole into the block cache, which may evict ",
      whole.count == 1 ? "it: " : "them: ", whole.total_bytes,
      " bytes, the largest of ", whole.largest_bytes, ", and the cache ", cache,
      ", so that lookups may read the same filters again and again (",
      report.expected.is_partitioned ? "compacting the files partitions them"
                                     : WholeFilterRemedy(),
      ")");
}

}  // namespace

// --- Names ------------------------------------------------------------------

std::string_view RocksDbFilterStateName(RocksDbFilterState state) {
  constexpr std::string_view kNames[] = {
      "expected", "other options", "foreign", "none",
      "unusable", "unreadable",    "newer"};
  static_assert(std::size(kNames) ==
                static_cast<size_t>(RocksDbFilterState::kCount));
  const auto number = static_cast<size_t>(state);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

std::string RocksDbExpectedFilter::ToString() const {
  if (filter_policy.empty()) return "no filter";
  if (!rowbloom.has_value()) return filter_policy;
  return absl::StrCat(
      filter_policy, " ", Word(BloomTypeName(rowbloom->effective_bloom_type())),
      " ", rowbloom->key_codec.ToString(), " ",
      rowbloom->filter_spec.ToString(),
      rowbloom->effective_budget().has_value() ? " by a budget" : "");
}

double RocksDbFilterFile::bits_per_key() const {
  if (filter_key_count == 0) return 0;
  return 8 * static_cast<double>(filter_size_bytes) /
         static_cast<double>(filter_key_count);
}

std::optional<double> RocksDbFilterFile::observed_fpr() const {
  if (neighbour_count == 0) return std::nullopt;
  return static_cast<double>(false_positive_count) /
         static_cast<double>(neighbour_count);
}

std::string RocksDbFilterFile::warning() const {
  return PassingWarning({this, 1});
}

// --- One file ---------------------------------------------------------------

RocksDbExpectedFilter ExpectedRocksDbFilter(
    const rdb::ColumnFamilyOptions& options) {
  RocksDbExpectedFilter expected;
  if (!CheckRocksDbRelease().ok()) return expected;
  const rdb::BlockBasedTableOptions* table =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) return expected;
  const rdb::FilterPolicy& policy = *table->filter_policy;
  const std::string_view reads = policy.CompatibilityName();
  expected.filter_policy = policy.Name();
  if (options.prefix_extractor != nullptr) {
    expected.prefix_extractor = options.prefix_extractor->AsString();
  }
  expected.is_partitioned = table->partition_filters;
  expected.metadata_block_size_bytes = table->metadata_block_size;
  expected.none_at_bottom = options.optimize_filters_for_hits;
  expected.evicts_whole_filters = EvictsWholeFilters(*table);
  expected.owner =
      reads == kRocksDbCompatibilityName   ? RocksDbFilterOwner::kRowbloom
      : reads == kBuiltinCompatibilityName ? RocksDbFilterOwner::kRocksDb
                                           : RocksDbFilterOwner::kUnknown;
  if (const auto* text = policy.CheckedCast<TextPolicy>()) {
    expected.error = std::string(text->text_error().message());
  }
  if (const auto* native = policy.CheckedCast<NativePolicy>()) {
    expected.rowbloom = native->options();
    // NativePolicy::GetBuilderWithContext() does this too.
    if (!table->whole_key_filtering) {
      expected.rowbloom->bloom_type = BloomType::kRow;
    }
  } else if (const auto* composed = policy.CheckedCast<ComposedPolicy>()) {
    expected.composed = composed->options();
  }
  return expected;
}

RocksDbFilterFile VerifyRocksDbSst(const std::string& path,
                                   const rdb::Options& options,
                                   const RocksDbVerifyOptions& verify) {
  RocksDbFilterFile file;
  file.path = path;
  file.status = CheckRocksDbRelease();
  if (file.status.ok()) {
    file.status = CheckFilter(options, verify, &file);
  }
  if (file.status.ok()) {
    file.state = file.owner == RocksDbFilterOwner::kNobody
                     ? RocksDbFilterState::kNone
                     : RocksDbFilterState::kExpected;
  }
  // Memory that damaged the filter may have damaged data, too.
  if (verify.read_data_blocks &&
      (file.status.ok() || file.denied_key_count > 0)) {
    absl::Status checksums = VerifyRocksDbSstChecksums(path, options);
    if (!checksums.ok()) {
      file.status = std::move(checksums);
      file.state = RocksDbFilterState::kUnreadable;
    }
  }
  file.note = std::string(file.status.message());
  return file;
}

void CompareWithExpected(const RocksDbExpectedFilter& expected,
                         RocksDbFilterFile* file) {
  if (!file->status.ok()) return;
  const auto set = [file](RocksDbFilterState state, std::string note = "") {
    file->state = state;
    file->note = std::move(note);
  };
  if (file->owner == RocksDbFilterOwner::kNobody) {
    if (expected.filter_policy.empty() || !LacksFilter(*file)) {
      set(RocksDbFilterState::kExpected);
    } else if (expected.none_at_bottom && !file->filter_policy.empty()) {
      // A file stays without a filter if others are written below it later.
      set(RocksDbFilterState::kExpected, "optimize_filters_for_hits");
    } else if (const std::optional<BitsRange> range = BudgetRange(expected);
               range.has_value() && range->low == 0 &&
               file->filter_policy == expected.filter_policy) {
      set(RocksDbFilterState::kExpected, "no filter by the budget");
    } else {
      set(RocksDbFilterState::kNone, WhyNone(*file));
    }
    return;
  }
  if (file->owner != expected.owner ||
      (file->owner == RocksDbFilterOwner::kUnknown &&
       file->filter_policy != expected.filter_policy)) {
    set(RocksDbFilterState::kForeign,
        absl::StrCat("written with policy ", file->filter_policy));
  } else if (std::string why = WhyOther(expected, *file); !why.empty()) {
    set(RocksDbFilterState::kOtherOptions, std::move(why));
  } else {
    set(RocksDbFilterState::kExpected);
  }
}

// --- The report -------------------------------------------------------------

uint64_t RocksDbFilterReport::CountOf(RocksDbFilterState state) const {
  return std::count_if(
      files.begin(), files.end(),
      [state](const RocksDbFilterFile& file) { return file.state == state; });
}

RocksDbFilterReport::WholeFilters RocksDbFilterReport::EvictableWholeFilters()
    const {
  WholeFilters whole;
  if (!expected.evicts_whole_filters) return whole;
  for (const RocksDbFilterFile& file : files) {
    const bool is_asked = file.state == RocksDbFilterState::kExpected ||
                          file.state == RocksDbFilterState::kOtherOptions;
    if (!is_asked || file.is_partitioned || file.filter_count == 0) continue;
    ++whole.count;
    whole.total_bytes += file.filter_size_bytes;
    whole.largest_bytes = std::max(whole.largest_bytes, file.filter_size_bytes);
  }
  return whole;
}

std::vector<std::string> RocksDbFilterReport::warnings() const {
  std::vector<std::string> warnings;
  const auto warn = [&](RocksDbFilterState state, std::string_view what) {
    const uint64_t count = CountOf(state);
    if (count == 0) return;
    std::set<std::string> notes;
    for (const RocksDbFilterFile& file : files) {
      if (file.state == state) notes.insert(file.note);
    }
    warnings.push_back(absl::StrCat(
        count, count == 1 ? " file" : " files", Word(what), ": ",
        notes.size() == 1 ? *notes.begin() : "for several reasons"));
  };
  if (!expected.error.empty()) {
    warnings.push_back(
        absl::StrCat("DB::Open() refuses the options: ", expected.error));
  }
  using State = RocksDbFilterState;
  warn(State::kUnreadable, " cannot be read, or not all of it");
  warn(State::kNewer, " of a newer format than this RocksDB reads");
  warn(State::kUnusable,
       " with a filter that cannot be used (compacting them rebuilds it)");
  if (expected.filter_policy.empty()) {
    warn(State::kForeign,
         " with a filter that is not asked, for no filter_policy is set (were "
         "the options loaded without RegisterRocksDb()?)");
  } else {
    warn(State::kForeign,
         " with a filter that the configured policy does not read (compacting "
         "them rebuilds it)");
  }
  const auto unfiltered =
      std::count_if(files.begin(), files.end(), LacksFilter);
  if (expected.filter_policy.empty() && unfiltered > 0) {
    warnings.push_back(absl::StrCat(
        unfiltered, unfiltered == 1 ? " file" : " files",
        " without a filter, as none is asked for: ", kNoPolicyWarning));
  }
  warn(State::kNone, " without a filter (compacting them builds one)");
  std::string unasked = WarnOfNoFilters(*this);
  if (!unasked.empty()) warnings.push_back(std::move(unasked));
  warn(State::kOtherOptions,
       " built under other options (compacting them rebuilds it)");
  std::string passing = PassingWarning(files);
  if (!passing.empty()) warnings.push_back(std::move(passing));
  const uint64_t largest = LargestPartitionBytes(files);
  if (largest > 2 * expected.metadata_block_size_bytes &&
      expected.is_partitioned) {
    warnings.push_back(absl::StrCat(
        "filter partitions of up to ", largest,
        " bytes where metadata_block_size asks for ",
        expected.metadata_block_size_bytes,
        ": RocksDB before 9.6 may miss where to cut, and before 10.6 it cuts "
        "only between data blocks unless decouple_partitioned_filters is set"));
  }
  std::string whole = WarnOfEviction(*this);
  if (!whole.empty()) warnings.push_back(std::move(whole));
  return warnings;
}

absl::StatusOr<RocksDbFilterReport> VerifyRocksDbFilters(
    rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
    const RocksDbVerifyOptions& verify) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  RocksDbFilterReport report;
  report.column_family = column_family->GetName();
  const rdb::Options options = db->GetOptions(column_family);
  report.expected = ExpectedRocksDbFilter(options);
  const auto* table =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  if (table != nullptr && table->block_cache != nullptr) {
    const BlockCacheSize cache = SizeOf(*table->block_cache);
    report.block_cache_bytes = cache.capacity_bytes;
    report.block_cache_shard_bytes = cache.shard_bytes;
  }

  const auto live_files = [db, column_family] {
    rdb::ColumnFamilyMetaData meta;
    db->GetColumnFamilyMetaData(column_family, &meta);
    std::vector<std::pair<std::string, int>> files;
    for (const rdb::LevelMetaData& level : meta.levels) {
      for (const rdb::SstFileMetaData& file : level.files) {
        files.emplace_back(ListedPath(file), level.level);
      }
    }
    return files;
  };
  const std::vector<std::pair<std::string, int>> files = live_files();
  std::map<std::string, std::string> listed_as;  // By the path that is read.
  bool any_gone = false;
  for (size_t i = 0; i < files.size(); ++i) {
    if (verify.progress) verify.progress(i, files.size());
    const std::string path = SstPath(options.env, files[i].first);
    listed_as[path] = files[i].first;
    RocksDbFilterFile file = VerifyRocksDbSst(path, options, verify);
    file.level = files[i].second;
    CompareWithExpected(report.expected, &file);
    any_gone = any_gone || file.state == RocksDbFilterState::kUnreadable;
    report.files.push_back(std::move(file));
  }
  if (any_gone) {
    // Perhaps a compaction deleted them in the meantime.
    std::set<std::string> live;
    for (auto& [path, level] : live_files()) live.insert(path);
    report.files.erase(
        std::remove_if(report.files.begin(), report.files.end(),
                       [&](const RocksDbFilterFile& file) {
                         return file.state == RocksDbFilterState::kUnreadable &&
                                live.count(listed_as[file.path]) == 0;
                       }),
        report.files.end());
  }
  std::sort(report.files.begin(), report.files.end(),
            [](const RocksDbFilterFile& a, const RocksDbFilterFile& b) {
              return std::tie(a.level, a.path) < std::tie(b.level, b.path);
            });
  return report;
}

}  // namespace rowbloom
