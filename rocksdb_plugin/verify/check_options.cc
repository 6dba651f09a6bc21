// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "budget/budget_listener.h"
#include "budget/observed_gets.h"
#include "comparators.h"
#include "policy/builtin_filter.h"
#include "policy/composed_policy.h"
#include "policy/native_policy.h"
#include "policy/row_prefix_extractor.h"
#include "policy/text_policy.h"
#include "release.h"
#include "rocksdb/comparator.h"
#include "rocksdb/listener.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/filter.h"
#include "rowbloom/rocksdb.h"
#include "status.h"
#include "verify/no_policy.h"
#include "verify/partitions.h"
#include "verify/policy_budget.h"
#include "verify/whole_filters.h"

namespace rowbloom {

using plugin::BitsInId;
using plugin::BudgetBitsPerKey;
using plugin::BudgetOf;
using plugin::CheckRocksDbRelease;
using plugin::ComposedPolicy;
using plugin::EqualMeansSameBytes;
using plugin::IsBytewise;
using plugin::kBuiltinCompatibilityName;
using plugin::NativePolicy;
using plugin::PolicyBudget;
using plugin::RowPrefixExtractor;
using plugin::TextPolicy;
using plugin::ToRocksDbStatus;
using plugin::WarnOfPartitions;
using plugin::WarnOfWholeFilters;

using rdb::BlockBasedTableOptions;
using rdb::ColumnFamilyOptions;
using rdb::Status;

namespace {

// Both return nullptr if there is no such object, or if it is of another class.
const RowPrefixExtractor* ExtractorOf(const ColumnFamilyOptions& options) {
  return options.prefix_extractor == nullptr
             ? nullptr
             : options.prefix_extractor->CheckedCast<RowPrefixExtractor>();
}
template <typename Policy>
const Policy* PolicyOf(const BlockBasedTableOptions* table_options) {
  return table_options == nullptr || table_options->filter_policy == nullptr
             ? nullptr
             : table_options->filter_policy->CheckedCast<Policy>();
}

// RocksDB looks up the hash of a key with its timestamp among hashes without,
// unless the comparator may call keys of different bytes equal: then it does
// not use the hashes.
Status CheckDataBlockHashIndex(const ColumnFamilyOptions& options,
                               const BlockBasedTableOptions* table_options) {
  if (table_options == nullptr ||
      table_options->data_block_index_type !=
          BlockBasedTableOptions::kDataBlockBinaryAndHash ||
      options.comparator == nullptr ||
      options.comparator->timestamp_size() == 0 ||
      options.comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return Status::OK();
  }
  return Status::InvalidArgument(absl::StrCat(
      "data_block_index_type kDataBlockBinaryAndHash with the timestamps of "
      "comparator ",
      options.comparator->Name(),
      ": gets lose keys, with any filter and with none; use "
      "kDataBlockBinarySearch"));
}

// A target behind the last block of its prefix is "not in the index" to
// RocksDB, which then finds no key before it either. Its release 7.8 also
// treats timestamps as a part of the prefix.
Status CheckHashIndex(const BlockBasedTableOptions* table_options) {
  if (table_options == nullptr ||
      table_options->index_type != BlockBasedTableOptions::kHashSearch) {
    return Status::OK();
  }
  return Status::InvalidArgument(
      "index_type kHashSearch: SeekForPrev loses keys, with any filter and "
      "with none; use kBinarySearch or kTwoLevelIndexSearch");
}

// RocksDB's prefix memtables cannot iterate backwards.
Status CheckMemtable(const ColumnFamilyOptions& options) {
  const std::string memtable = options.memtable_factory == nullptr
                                   ? ""
                                   : options.memtable_factory->Name();
  if (memtable != "HashSkipListRepFactory" &&
      memtable != "HashLinkListRepFactory") {
    return Status::OK();
  }
  return Status::InvalidArgument(
      absl::StrCat("memtable_factory ", memtable,
                   ": SeekForPrev loses keys, with any filter and with none; "
                   "use SkipListFactory"));
}

// For RocksDB 11.2 and later: true if reads write range tombstones.
template <typename Options>
auto ReadsWriteTombstones(const Options& options, int /*preferred*/)
    -> decltype(options.min_tombstones_for_range_conversion > 0) {
  return options.min_tombstones_for_range_conversion > 0;
}
template <typename Options>
bool ReadsWriteTombstones(const Options& /*options*/, long /*otherwise*/) {
  return false;
}

// RocksDB 11.2 to 11.12 swaps keys of more than 39 bytes beyond their buffer
// when an iterator with this option goes backwards. The tombstones may also end
// at the bounds of a column, which hides the rest of its row from plain seeks.
Status CheckTombstones(const ColumnFamilyOptions& options) {
  if (!ReadsWriteTombstones(options, 0)) return Status::OK();
  return Status::InvalidArgument(
      "min_tombstones_for_range_conversion > 0: iterators that go backwards "
      "write beyond their memory, with any filter and with none; set it to 0");
}

// The bounds of a column map to a prefix that no key of the column maps to. Our
// builder adds it; everything else that RocksDB keys by prefix does not.
Status CheckNothingElseUsesPrefixes(
    const ColumnFamilyOptions& options,
    const BlockBasedTableOptions* table_options) {
  const std::string why =
      " loses columns with the extractor rowbloom.RowPrefix:ROWCOL:ordered: ";
  if (options.memtable_prefix_bloom_size_ratio > 0) {
    return Status::InvalidArgument(
        absl::StrCat("memtable_prefix_bloom_size_ratio > 0", why,
                     "set it to 0, or use rowbloom.RowPrefix:ROW"));
  }
  if (table_options == nullptr) {
    return Status::InvalidArgument(
        absl::StrCat("a table_factory other than BlockBasedTable", why,
                     "use BlockBasedTable, or no prefix_extractor"));
  }
  if (table_options->filter_policy != nullptr &&
      table_options->filter_policy->CheckedCast<NativePolicy>() == nullptr) {
    return Status::InvalidArgument(
        absl::StrCat("filter_policy ", table_options->filter_policy->Name(),
                     why, "use rowbloom, or rowbloom.RowPrefix:ROW"));
  }
  return Status::OK();
}

Status CheckPair(const RocksDbOptions& policy,
                 const RowPrefixExtractor& extractor) {
  // Filters of whole keys hold the prefixes of any extractor, too.
  const bool is_any = policy.key_codec == KeyCodec::WholeKey() &&
                      extractor.bloom_type() == BloomType::kRow;
  if (!is_any && !(policy.key_codec == extractor.key_codec())) {
    return Status::InvalidArgument(absl::StrCat(
        "prefix_extractor has key codec ", extractor.key_codec().ToString(),
        " and filter_policy has ", policy.key_codec.ToString(),
        ": seeks would ask for what was not added; make both the same"));
  }
  // The reverse is sound: seeks ask for rows, Gets for columns.
  if (policy.effective_bloom_type() == BloomType::kRow &&
      extractor.bloom_type() == BloomType::kRowCol) {
    return Status::InvalidArgument(
        "prefix_extractor rowbloom.RowPrefix:ROWCOL asks for columns that "
        "filter_policy rowbloom with bloom_type=ROW does not hold: make both "
        "the same");
  }
  return Status::OK();
}

// Bits per filter key of the policy; 0 if they are not known.
double BitsPerKey(const rdb::FilterPolicy& policy) {
  if (const auto* native = policy.CheckedCast<NativePolicy>()) {
    if (native->options().effective_budget().has_value()) {
      return BudgetBitsPerKey(native->options());
    }
    constexpr uint64_t kManyKeys = 1000000;
    return 8 *
           static_cast<double>(
               FilterSizeBytes(native->options().filter_spec, kManyKeys)) /
           kManyKeys;
  }
  if (const auto* composed = policy.CheckedCast<ComposedPolicy>()) {
    return composed->options().bits_per_key;
  }
  if (std::string_view(policy.CompatibilityName()) !=
          kBuiltinCompatibilityName ||
      std::string_view(policy.Name()) == "ribbonfilter") {
    return 0;
  }
  return BitsInId(policy);
}

// `table_options` are null unless the table factory is BlockBasedTable.
Status CheckTraps(const ColumnFamilyOptions& options,
                  const BlockBasedTableOptions* table_options) {
  const auto* policy = PolicyOf<NativePolicy>(table_options);
  const auto* composed = PolicyOf<ComposedPolicy>(table_options);
  const RowPrefixExtractor* extractor = ExtractorOf(options);
  if (extractor == nullptr && policy == nullptr && composed == nullptr) {
    return Status::OK();
  }

  Status status = CheckMemtable(options);
  if (status.ok()) status = CheckHashIndex(table_options);
  if (status.ok()) status = CheckDataBlockHashIndex(options, table_options);
  if (status.ok()) status = CheckTombstones(options);
  if (!status.ok()) return status;
  if (extractor != nullptr && extractor->maps_columns()) {
    status = CheckNothingElseUsesPrefixes(options, table_options);
    if (!status.ok()) return status;
  }
  if (policy == nullptr && composed == nullptr) return Status::OK();
  const std::string name =
      absl::StrCat("filter_policy ", table_options->filter_policy->Name());

  if (table_options->checksum == rdb::kNoChecksum) {
    return Status::InvalidArgument(
        absl::StrCat("checksum kNoChecksum with ", name,
                     ": a damaged filter would lose rows unnoticed; choose any "
                     "other checksum"));
  }
  if (!table_options->whole_key_filtering) {
    if (options.prefix_extractor == nullptr) {
      return Status::InvalidArgument(
          absl::StrCat(name,
                       " is never fed: whole_key_filtering is off and there is "
                       "no prefix_extractor; set either"));
    }
    // RocksDB 9.5 fixed this, and so does our builder.
    if (composed != nullptr && table_options->partition_filters &&
        ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 905) {
      return Status::InvalidArgument(absl::StrCat(
          name,
          " with partition_filters and without whole_key_filtering: "
          "SeekForPrev loses rows in this RocksDB; set "
          "whole_key_filtering, or partition_filters=false"));
    }
    if (composed == nullptr &&
        policy->options().effective_bloom_type() == BloomType::kRowCol) {
      return Status::InvalidArgument(
          "filter_policy rowbloom with bloom_type=ROWCOL is fed no columns: "
          "set whole_key_filtering, or bloom_type=ROW");
    }
  }
  if (options.comparator != nullptr &&
      !EqualMeansSameBytes(*options.comparator)) {
    return Status::InvalidArgument(absl::StrCat(
        "comparator ", options.comparator->Name(),
        " may call keys of different bytes equal, and a filter would lose "
        "them: use a bytewise comparator, let it override "
        "CanKeysWithDifferentByteContentsBeEqual(), or set no filter_policy"));
  }
  if (composed != nullptr || extractor == nullptr) return Status::OK();
  return CheckPair(policy->options(), *extractor);
}

// nullopt unless the policy is ours and has a budget.
std::optional<PolicyBudget> BudgetIn(
    const BlockBasedTableOptions* table_options) {
  if (const auto* native = PolicyOf<NativePolicy>(table_options)) {
    return BudgetOf(native->options());
  }
  if (const auto* composed = PolicyOf<ComposedPolicy>(table_options)) {
    return BudgetOf(composed->options());
  }
  return std::nullopt;
}

// nullptr if none is set.
const char* OptionThatNeedsListener(const PolicyBudget& budget) {
  if (budget.options.auto_bits) return "auto_bits";
  if (budget.options.budget_bytes > 0) return "budget_bytes";
  return budget.mode == BudgetMode::kHitsOnly ? "budget=hits_only" : nullptr;
}

// Empty unless a budget cannot be spent, or does not follow the gets.
std::string WarnOfBudget(const ColumnFamilyOptions& options,
                         const BlockBasedTableOptions* table_options) {
  const std::optional<PolicyBudget> budget = BudgetIn(table_options);
  if (!budget.has_value()) return "";
  const char* const name = table_options->filter_policy->Name();
  constexpr uint64_t kFewBytes = 1024;
  const uint64_t bytes = budget->options.budget_bytes;
  if (bytes > 0 && bytes < kFewBytes) {
    return absl::StrCat("filter_policy ", name, " with budget_bytes ", bytes,
                        ": it is in bytes, and too small for most filters");
  }
  if (options.optimize_filters_for_hits &&
      budget->mode != BudgetMode::kHitsOnly) {
    return absl::StrCat(
        "optimize_filters_for_hits with filter_policy ", name,
        ": RocksDB writes no filter at the last level, whatever bits the "
        "budget has for it; set optimize_filters_for_hits=false, and if gets "
        "never miss, budget=hits_only");
  }
  if (budget->options.auto_bits && !table_options->partition_filters &&
      plugin::EvictsWholeFilters(*table_options)) {
    return absl::StrCat(
        "filter_policy ", name,
        " with auto_bits, and whole filters in the block cache: it gives them "
        "its average, and plans bits for the gets of partitions only; set "
        "partition_filters=true and index_type=kTwoLevelIndexSearch");
  }
  return "";
}

// Whole keys are not scanned.
bool HasSegments(const BlockBasedTableOptions* table_options) {
  const auto* policy = PolicyOf<NativePolicy>(table_options);
  return policy != nullptr &&
         !(policy->options().key_codec == KeyCodec::WholeKey());
}

// Empty unless no scan asks the filters.
std::string WarnOfNoExtractor(const ColumnFamilyOptions& options,
                              const BlockBasedTableOptions* table_options) {
  if (!HasSegments(table_options) || options.prefix_extractor != nullptr) {
    return "";
  }
  return absl::StrCat(
      "filter_policy rowbloom has key codec ",
      PolicyOf<NativePolicy>(table_options)->options().key_codec.ToString(),
      ", and prefix_extractor is null: scans ask no filter; RocksDB drops an "
      "extractor whose name it does not know (NewRowPrefixExtractor())");
}

// Empty unless RocksDbRows would refuse to scan.
std::string WarnOfComparator(const ColumnFamilyOptions& options,
                             const BlockBasedTableOptions* table_options) {
  if (options.comparator == nullptr || IsBytewise(*options.comparator)) {
    return "";
  }
  if (!HasSegments(table_options) && ExtractorOf(options) == nullptr) {
    return "";
  }
  return absl::StrCat(
      "comparator ", options.comparator->Name(),
      ": RocksDbRows refuses to scan, and RocksDbScan sets bounds of another "
      "order; gets and RocksDB's own seeks are right; use a bytewise "
      "comparator to scan rows");
}

}  // namespace

Status CheckRocksDbOptions(const ColumnFamilyOptions& options,
                           std::vector<std::string>* warnings) {
  if (warnings != nullptr) warnings->clear();
  const absl::Status& release = CheckRocksDbRelease();
  if (!release.ok()) return ToRocksDbStatus(release);
  const auto* table_options =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (warnings != nullptr && table_options != nullptr &&
      table_options->filter_policy == nullptr) {
    warnings->push_back(plugin::kNoPolicyWarning);
  } else if (warnings != nullptr && table_options != nullptr) {
    std::string warning = WarnOfWholeFilters(
        options, *table_options, BitsPerKey(*table_options->filter_policy));
    if (!warning.empty()) warnings->push_back(std::move(warning));
    for (std::string& trap : WarnOfPartitions(options, *table_options)) {
      warnings->push_back(std::move(trap));
    }
  } else if (warnings != nullptr && options.table_factory != nullptr) {
    warnings->push_back(absl::StrCat(
        "table_factory ", options.table_factory->Name(),
        " does not show BlockBasedTableOptions: what filter_policy it has, if "
        "any, was not checked; check the factory of its block-based tables"));
  }
  if (warnings != nullptr) {
    for (const std::string& warning :
         {WarnOfComparator(options, table_options),
          WarnOfNoExtractor(options, table_options),
          WarnOfBudget(options, table_options)}) {
      if (!warning.empty()) warnings->push_back(warning);
    }
  }
  const auto* policy = PolicyOf<TextPolicy>(table_options);
  if (policy != nullptr && !policy->text_error().ok()) {
    return ToRocksDbStatus(policy->text_error());
  }
  return CheckTraps(options, table_options);
}

Status CheckRocksDbOptions(const rdb::Options& options,
                           std::vector<std::string>* warnings) {
  Status status = CheckRocksDbOptions(
      static_cast<const ColumnFamilyOptions&>(options), warnings);
  if (!status.ok()) return status;
  const auto* table_options =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<BlockBasedTableOptions>();
  const std::optional<PolicyBudget> budget = BudgetIn(table_options);
  if (!budget.has_value()) return status;
  const std::string name =
      absl::StrCat("filter_policy ", table_options->filter_policy->Name());
  const bool has_listener = std::any_of(
      options.listeners.begin(), options.listeners.end(),
      [](const std::shared_ptr<rdb::EventListener>& listener) {
        return listener != nullptr &&
               listener->IsInstanceOf(plugin::BudgetListener::kClassName());
      });
  const auto without_listener = [&](const char* what) {
    return absl::StrCat(
        name, " with ", what,
        " without a listener: all SSTs get the same bits; add "
        "NewRocksDbBudgetListener() to DBOptions::listeners, or "
        "listeners={rowbloom.BudgetListener}");
  };
  const char* const option = OptionThatNeedsListener(*budget);
  if (options.compaction_style == rdb::kCompactionStyleFIFO) {
    if (option == nullptr) return status;
    return Status::InvalidArgument(absl::StrCat(
        name, " with ", option,
        " under FIFO compaction, which gives all SSTs the same bits; leave it "
        "out"));
  }
  if (!has_listener && option != nullptr) {
    return Status::InvalidArgument(without_listener(option));
  }
  if (warnings == nullptr) return status;
  if (!has_listener && budget->mode != BudgetMode::kFixed) {
    warnings->push_back(without_listener("a budget") + ", or set budget=fixed");
  }
  if (options.compaction_service != nullptr &&
      budget->mode != BudgetMode::kFixed) {
    warnings->push_back(absl::StrCat(
        name,
        " with a budget and DBOptions::compaction_service: remote workers do "
        "not see the live tree, and give all SSTs the same bits"));
  }
  const bool counts_gets = options.statistics != nullptr &&
                           plugin::CountsTickers(*options.statistics);
  if (budget->options.auto_bits && !counts_gets) {
    warnings->push_back(absl::StrCat(
        name, " with auto_bits, but DBOptions::statistics ",
        options.statistics == nullptr ? "is nullptr" : "counts no tickers",
        ": it plans for missing_share and keys that are all asked for alike; "
        "set statistics (StatsLevel::kExceptHistogramOrTimers is enough)"));
  }
  return status;
}

}  // namespace rowbloom
