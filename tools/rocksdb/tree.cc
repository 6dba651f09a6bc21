// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/metadata.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/release.h"
#include "rocksdb_plugin/sst_path.h"
#include "rocksdb_plugin/sst_properties.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_verify.h"
#include "tools/rocksdb/open.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

// The name of rowbloom's own policy in table properties.
constexpr char kNativePolicy[] = "rowbloom";

// A database whose column family `handle` has the options that gets need.
struct OpenedFamily {
  OptionsFile options_file;
  OpenedDb opened;
  rdb::ColumnFamilyHandle* handle = nullptr;
  rdb::BlockBasedTableOptions table;

  rdb::DB* db() const { return opened.db.get(); }
};

absl::StatusOr<OpenedFamily> OpenFamily(const DatabasePlace& place,
                                        const std::string& column_family,
                                        std::shared_ptr<rdb::Cache> cache,
                                        int max_open_files) {
  if (const absl::Status& s = plugin::CheckRocksDbRelease(); !s.ok()) return s;
  OptionsFile options_file(place.directory);
  rdb::BlockBasedTableOptions table;
  bool is_block_based = true;
  const auto configure = [&](rdb::ColumnFamilyDescriptor* family) {
    const auto* written = options_file.Find(family->name);
    if (family->name != column_family || written == nullptr) return;
    family->options.prefix_extractor = written->prefix_extractor;
    family->options.merge_operator = written->merge_operator;
    const auto* written_table =
        written->table_factory->GetOptions<rdb::BlockBasedTableOptions>();
    is_block_based = written_table != nullptr;
    if (!is_block_based) return;
    table = *written_table;
    if (cache != nullptr) table.block_cache = cache;
    family->options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
  };
  rdb::DBOptions options;
  options.max_open_files = max_open_files;
  options.paranoid_checks = false;  // An SST's own error names it.
  absl::StatusOr<OpenedDb> opened =
      OpenReadOnly(place, options_file, options, configure);
  if (!opened.ok()) return opened.status();
  const std::string where = place.directory + ": column family \"" +
                            EscapeBytes(column_family) + "\"";
  std::string known;
  rdb::ColumnFamilyHandle* handle = nullptr;
  for (rdb::ColumnFamilyHandle* family : opened->families) {
    if (family->GetName() == column_family) handle = family;
    known += (known.empty() ? "" : ", ") + EscapeBytes(family->GetName());
  }
  if (handle == nullptr) {
    return absl::FailedPreconditionError(where +
                                         " does not exist; known: " + known);
  }
  if (!is_block_based) {
    return absl::FailedPreconditionError(
        where +
        " has no block based tables, which are the only ones with a "
        "filter_policy");
  }
  const std::string policy =
      options_file.TableOption(column_family, "filter_policy");
  if (options_file.Find(column_family) == nullptr) {
    return absl::FailedPreconditionError(
        where + ": its options are not known (" + options_file.error() +
        "); copy the OPTIONS file together with the SSTs");
  }
  if (table.filter_policy == nullptr && policy != "nullptr") {
    return absl::FailedPreconditionError(
        where + ": the tool does not know filter_policy " + policy +
        " of the OPTIONS file; known are rowbloom's and RocksDB's own");
  }
  const std::string error =
      ExpectedRocksDbFilter(*options_file.Find(column_family)).error;
  if (!error.empty()) {
    return absl::InvalidArgumentError(
        where + ": DB::Open() refuses the options: " + error);
  }
  return OpenedFamily{std::move(options_file), *std::move(opened), handle,
                      std::move(table)};
}

// Adds an SST. `file` is nullptr if no policy reads its filter.
void AddTable(const rdb::TableProperties& table, const RocksDbBudgetFile* file,
              bool partition_filters, RocksDbRun* run) {
  const uint64_t entries =
      table.num_entries -
      std::min(table.num_entries, table.num_range_deletions);
  // Keys that share filter keys by mistake are what gets ask for all the same.
  const bool fits = run->misfit.empty();
  const uint64_t keys = file == nullptr || !fits ? entries : file->key_count;
  ++run->file_count;
  run->entry_count += entries;
  run->key_count += keys;
  run->data_bytes += table.data_size;
  run->raw_key_bytes += table.raw_key_size;
  run->raw_value_bytes += table.raw_value_size;
  run->data_block_count += table.num_data_blocks;
  run->index_bytes += table.index_size;
  // A filter that is not read denies nothing.
  const double fpr = file == nullptr ? 1
                     : fits          ? file->expected_fpr
                                     : run->observed_fpr;
  if (fpr < 1) {
    run->filter_bytes += file->filter_bytes;
    run->filter_key_count += keys;
    run->filter_false_positives += static_cast<double>(keys) * fpr;
  }
  run->false_positives += static_cast<double>(keys) * fpr;
  run->is_partitioned =
      table.filter_size > 0 && table.index_partitions > 0 && partition_filters;
  run->filter_policy = table.filter_size > 0 ? table.filter_policy_name : "";
}

// Reads from the SST, if nothing is known of the run's filters yet, which keys
// they are for, and whether the keys are such.
void SetKeyLayout(const std::string& path, const rdb::TableProperties& table,
                  const rdb::Options& options, RocksDbRun* run) {
  if (table.filter_policy_name != kNativePolicy || !run->key_codec.empty()) {
    return;
  }
  const RocksDbFilterFile file =
      VerifyRocksDbSst(plugin::SstPath(options.env, path), options);
  if (!file.status.ok() || !file.key_codec.has_value()) return;
  run->key_codec = file.key_codec->ToString();
  if (file.bloom_type != BloomType::kRowCol &&
      file.key_codec->key_level_count() > 1) {
    run->bloom_type = std::string(BloomTypeName(*file.bloom_type));
  }
  run->misfit = file.warning();
  run->observed_fpr = file.observed_fpr().value_or(1);
}

// The option is that of the OPTIONS file, which has none before RocksDB 9.6.
PartitionCuts CutsOf(const std::string& decouple_partitioned_filters) {
  if (decouple_partitioned_filters.empty()) return PartitionCuts::kCoupled;
  return decouple_partitioned_filters == "true" ? PartitionCuts::kDecoupled
                                                : PartitionCuts::kCoupledTwice;
}

std::optional<FilterPlace> PlaceOf(const rdb::BlockBasedTableOptions& table) {
  if (table.partition_filters) {
    return table.metadata_cache_options.partition_pinning ==
                   rdb::PinningTier::kAll
               ? FilterPlace::kPinnedPartitions
               : FilterPlace::kCachedPartitions;
  }
  if (table.cache_index_and_filter_blocks) return std::nullopt;
  return FilterPlace::kTableReaders;
}

// A writer may delete SSTs while they are read. Then the list is read again,
// and the SSTs that are new in it: each reading is shorter than the one before.
constexpr int kMaxReadings = 10;

absl::StatusOr<RocksDbTree> TreeOf(
    const OpenedFamily& family, const std::string& column_family,
    const rdb::ColumnFamilyMetaData& listed,
    const rdb::TablePropertiesCollection& properties) {
  const rdb::Options options = family.db()->GetOptions(family.handle);
  std::map<std::string, RocksDbBudgetFile> files;
  if (family.table.filter_policy != nullptr && !properties.empty()) {
    const auto report =
        plugin::ReportBudgetOf(options, listed, properties, nullptr);
    if (!report.ok()) return report.status();
    for (const RocksDbBudgetFile& file : report->files) files[file.path] = file;
  }
  RocksDbTree tree;
  tree.data_block_bytes = family.table.block_size;
  tree.metadata_block_bytes = family.table.metadata_block_size;
  tree.partition_cuts = CutsOf(family.options_file.TableOption(
      column_family, "decouple_partitioned_filters"));
  tree.partitions_filters =
      family.table.partition_filters &&
      family.table.index_type ==
          rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  tree.none_at_bottom =
      family.options_file.Find(column_family)->optimize_filters_for_hits;
  tree.column_family_count = family.opened.families.size();
  tree.place = PlaceOf(family.table);
  for (const rdb::LevelMetaData& level : listed.levels) {
    // The SSTs of level 0 are runs.
    std::vector<rdb::SstFileMetaData> newest_first = level.files;
    std::sort(newest_first.begin(), newest_first.end(),
              [](const auto& a, const auto& b) {
                return a.largest_seqno > b.largest_seqno;
              });
    for (const rdb::SstFileMetaData& sst : newest_first) {
      const std::string path = plugin::ListedPath(sst);
      const auto table = properties.find(path);
      if (table == properties.end() || table->second == nullptr) {
        const auto read = plugin::ReadSstProperties(path, options);
        return read.ok()
                   ? absl::UnavailableError(path + ": has no table properties")
                   : read.status();
      }
      if (level.level == 0 || tree.runs.empty() ||
          tree.runs.back().level != level.level) {
        tree.runs.emplace_back().level = level.level;
      }
      SetKeyLayout(path, *table->second, options, &tree.runs.back());
      const auto file = files.find(path);
      AddTable(*table->second, file == files.end() ? nullptr : &file->second,
               family.table.partition_filters, &tree.runs.back());
    }
  }
  return tree;
}

// Adds one get by RocksDB's counters. `is_first`: the key was not counted yet.
void AddGet(const rdb::PerfContext& perf, bool is_found, bool is_first,
            ReadCounts* counts) {
  uint64_t negatives = 0;
  uint64_t false_positives = 0;
  uint64_t true_positives = 0;
  if (perf.level_to_perf_context != nullptr) {
    for (const auto& [level, of_level] : *perf.level_to_perf_context) {
      negatives += of_level.bloom_filter_useful;
      false_positives += of_level.bloom_filter_full_positive -
                         of_level.bloom_filter_full_true_positive;
      true_positives += of_level.bloom_filter_full_true_positive;
    }
  }
  const uint64_t reads = perf.block_read_count - perf.index_block_read_count -
                         perf.filter_block_read_count -
                         perf.compression_dict_block_read_count;
  const uint64_t asks = reads + perf.block_cache_hit_count -
                        perf.block_cache_index_hit_count -
                        perf.block_cache_filter_hit_count;
  ++*counts->gets;
  *(is_found && asks == 0 ? counts->memtable_hits : counts->sst_hits) +=
      is_found ? 1 : 0;
  *counts->filter_negatives += negatives;
  if (is_first) {
    counts->of_distinct_keys->negatives += negatives;
    counts->of_distinct_keys->false_positives += false_positives;
  }
  *counts->false_positives += false_positives;
  *counts->true_positives += true_positives;
  *counts->data_reads += reads;
  *counts->filter_reads += perf.filter_block_read_count;
  *counts->filter_asks +=
      perf.filter_block_read_count + perf.block_cache_filter_hit_count;
  *counts->data_asks += asks;
  *counts->index_reads += perf.index_block_read_count;
  if (asks == 0) return;
  *counts->wasted_reads += static_cast<double>(reads) *
                           std::min(1.0, static_cast<double>(false_positives) /
                                             static_cast<double>(asks));
}

// Gets the keys. Sets *is_file_gone if an SST was deleted before it was opened.
absl::StatusOr<ReadCounts> CountGetsOf(const OpenedFamily& family,
                                       absl::Span<const std::string> keys,
                                       bool* is_file_gone) {
  const std::string latest(family.handle->GetComparator()->timestamp_size(),
                           '\xff');
  const rdb::Slice timestamp(latest);
  rdb::ReadOptions options;
  if (!latest.empty()) options.timestamp = &timestamp;
  ReadCounts counts;
  for (std::optional<uint64_t> ReadCounts::*count :
       {&ReadCounts::gets, &ReadCounts::memtable_hits, &ReadCounts::sst_hits,
        &ReadCounts::filter_negatives, &ReadCounts::false_positives,
        &ReadCounts::true_positives, &ReadCounts::data_reads,
        &ReadCounts::filter_reads, &ReadCounts::index_reads,
        &ReadCounts::filter_asks, &ReadCounts::data_asks}) {
    counts.*count = 0;
  }
  counts.wasted_reads = 0;
  counts.of_distinct_keys = AbsentAnswers();
  std::set<std::string_view> counted;
  rdb::PerfContext& perf = *rdb::get_perf_context();
  rdb::SetPerfLevel(rdb::PerfLevel::kEnableCount);
  perf.EnablePerLevelPerfContext();
  ProgressLine progress;
  for (size_t i = 0; i < keys.size(); ++i) {
    constexpr size_t kStep = 4096;
    if (i % kStep == 0) progress.ShowCount("get", i, keys.size());
    perf.Reset();
    rdb::PinnableSlice value;
    const rdb::Status status =
        family.db()->Get(options, family.handle, keys[i], &value);
    if (!status.ok() && !status.IsNotFound()) {
      *is_file_gone = status.IsPathNotFound();
      return FromRocksDb(status);
    }
    if (i < keys.size() / 2) continue;
    AddGet(perf, status.ok(), counted.insert(keys[i]).second, &counts);
  }
  rdb::SetPerfLevel(rdb::PerfLevel::kDisable);
  return counts;
}

}  // namespace

double RocksDbRun::bits_per_key() const {
  return key_count == 0 ? 0
                        : 8 * static_cast<double>(filter_bytes) /
                              static_cast<double>(key_count);
}

double RocksDbRun::fpr() const {
  if (key_count == 0) return 1;
  return std::min(1.0, false_positives / static_cast<double>(key_count));
}

absl::StatusOr<RocksDbTree> ReadRocksDbTree(const DatabasePlace& place,
                                            const std::string& column_family) {
  constexpr int kFewTables = 16;  // Properties are read without the table.
  rdb::TablePropertiesCollection properties;
  std::set<std::string> missing;
  for (int i = 0; i < kMaxReadings; ++i) {
    const absl::StatusOr<OpenedFamily> family =
        OpenFamily(place, column_family, nullptr, kFewTables);
    if (!family.ok()) return family.status();
    rdb::ColumnFamilyMetaData listed;
    family->db()->GetColumnFamilyMetaData(family->handle, &listed);
    auto gone = plugin::ReadListedProperties(family->db(), family->handle,
                                             listed, &properties);
    if (!gone.ok()) return gone.status();
    for (const std::string& path : *gone) {
      // A database lists no file that it has deleted.
      if (missing.count(path) == 0) continue;
      return absl::DataLossError(path + ": missing, and the database needs it");
    }
    missing = *std::move(gone);
    if (missing.empty()) {
      return TreeOf(*family, column_family, listed, properties);
    }
  }
  return absl::UnavailableError(
      *missing.begin() + ": deleted while the SSTs were read, as others were " +
      std::to_string(kMaxReadings - 1) +
      " times before; try again when the database writes less");
}

absl::StatusOr<ReadCounts> CountGets(const DatabasePlace& place,
                                     const std::string& column_family,
                                     uint64_t cache_bytes,
                                     absl::Span<const std::string> keys) {
  absl::StatusOr<ReadCounts> counts;
  for (int i = 0; i < kMaxReadings; ++i) {
    constexpr int kAllTables = -1;
    const absl::StatusOr<OpenedFamily> family = OpenFamily(
        place, column_family, rdb::NewLRUCache(cache_bytes), kAllTables);
    if (!family.ok()) return family.status();
    bool is_file_gone = false;
    counts = CountGetsOf(*family, keys, &is_file_gone);
    if (!is_file_gone) break;
  }
  return counts;
}

}  // namespace rowbloom::tools
