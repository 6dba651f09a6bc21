// SPDX-License-Identifier: Apache-2.0

#include "budget/budget_listener.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "budget/database_id.h"
#include "budget/live_tree.h"
#include "release.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rowbloom/rocksdb_budget.h"
#include "sst_properties.h"
#include "status.h"

namespace rowbloom::plugin {

namespace {

constexpr size_t kReadsPerEvent = 8;

DatabaseId IdOf(const rdb::DB& db, const rdb::Logger& logger) {
  return OpenDatabase<rdb::FilterBuildingContext>(&logger, db.GetName());
}

// Lists the SSTs of all column families, since RocksDB lists no others without
// a handle.
void ListFiles(rdb::DB* db, const std::shared_ptr<rdb::Logger>& logger) {
  const DatabaseId database = IdOf(*db, *logger);
  const std::map<std::string, uint64_t> changes = LiveTrees::Changes(database);
  const auto start = LiveTree::Clock::now();
  std::vector<rdb::ColumnFamilyMetaData> column_families;
  db->GetAllColumnFamilyMetaData(&column_families);
  const auto took = LiveTree::Clock::now() - start;
  // Dropped ones with an open handle are listed, too, before newer ones.
  std::map<std::string, const rdb::ColumnFamilyMetaData*> newest;
  for (const rdb::ColumnFamilyMetaData& column_family : column_families) {
    newest[column_family.name] = &column_family;
  }
  std::set<std::string> names;
  for (const auto& [name, column_family] : newest) {
    const auto before = changes.find(name);
    LiveTrees::FindOrAdd(database, logger, name)
        ->SetFiles(before == changes.end() ? 0 : before->second,
                   FilesOf(*column_family), took);
    names.insert(name);
  }
  LiveTrees::KeepOnly(database, names);
}

// Reads the filter properties of SSTs from before the open, or ingested.
void ReadUnknownFilters(rdb::DB* db, LiveTree* tree) {
  const LiveFiles unknown = tree->TakeUnknown(kReadsPerEvent);
  if (unknown.empty()) return;
  rdb::Options options;
  options.env = db->GetEnv();
  for (const auto& [number, file] : unknown) {
    const auto properties = ReadSstProperties(file.path, options);
    // It may be deleted, or another program's.
    if (properties.ok()) {
      tree->LearnFilter(number, FileFilter::Of(**properties));
    }
  }
}

// The tree of a column family, brought up to date as far as possible.
std::shared_ptr<LiveTree> TreeOf(rdb::DB* db, const std::string& name,
                                 std::optional<uint32_t> id = std::nullopt) {
  const std::shared_ptr<rdb::Logger> logger = db->GetDBOptions().info_log;
  if (logger == nullptr) return nullptr;
  std::shared_ptr<LiveTree> tree =
      LiveTrees::FindOrAdd(IdOf(*db, *logger), logger, name, id);
  if (tree->WantsFiles(LiveTree::Clock::now())) ListFiles(db, logger);
  ReadUnknownFilters(db, tree.get());
  return tree;
}

// Filters are planned with what is known when a flush or compaction begins.
void ObserveGets(rdb::DB* db, LiveTree* tree) {
  const std::shared_ptr<rdb::Statistics> statistics =
      db->GetDBOptions().statistics;
  if (tree != nullptr && statistics != nullptr && CountsTickers(*statistics)) {
    tree->ObserveGets(CountsOf(*statistics));
  }
}

std::vector<uint64_t> NumbersOf(
    const std::vector<rdb::CompactionFileInfo>& files) {
  std::vector<uint64_t> numbers;
  numbers.reserve(files.size());
  for (const rdb::CompactionFileInfo& file : files) {
    numbers.push_back(file.file_number);
  }
  return numbers;
}

uint64_t SizeOf(const rdb::TableProperties& properties) {
  return properties.data_size + properties.index_size + properties.filter_size;
}

// The paths are the keys of `all_properties`.
LiveFiles FilesOf(const std::vector<rdb::CompactionFileInfo>& infos,
                  const std::vector<std::string>& paths,
                  const rdb::TablePropertiesCollection& all_properties) {
  LiveFiles files;
  for (size_t i = 0; i < infos.size() && i < paths.size(); ++i) {
    LiveFile& file = files[infos[i].file_number];
    file.level = infos[i].level;
    const auto properties = all_properties.find(paths[i]);
    // A remote compaction may have null in place of them.
    if (properties == all_properties.end() || properties->second == nullptr) {
      continue;
    }
    file.filter = FileFilter::Of(*properties->second);
    file.size_bytes = SizeOf(*properties->second);
  }
  return files;
}

}  // namespace

void BudgetListener::OnFlushBegin(rdb::DB* db,
                                  const rdb::FlushJobInfo& info) noexcept {
  ObserveGets(db, TreeOf(db, info.cf_name, info.cf_id).get());
}

void BudgetListener::OnFlushCompleted(rdb::DB* db,
                                      const rdb::FlushJobInfo& info) noexcept {
  const rdb::TableProperties& properties = info.table_properties;
  if (properties.num_entries == 0) return;  // Nothing was written.
  const std::shared_ptr<LiveTree> tree = TreeOf(db, info.cf_name, info.cf_id);
  if (tree == nullptr) return;
  LiveFile file;
  file.order = info.largest_seqno;
  file.size_bytes = SizeOf(properties);
  file.filter = FileFilter::Of(properties);
  tree->FlushCompleted(info.file_number, std::move(file));
}

void BudgetListener::OnCompactionBegin(
    rdb::DB* db, const rdb::CompactionJobInfo& info) noexcept {
  const std::shared_ptr<LiveTree> tree = TreeOf(db, info.cf_name, info.cf_id);
  if (tree == nullptr) return;
  ObserveGets(db, tree.get());
  LiveFiles inputs =
      FilesOf(info.input_file_infos, info.input_files, info.table_properties);
  // RocksDB counts the input levels from 0 on.
  for (auto& [number, file] : inputs) {
    file.level = file.level == 0 ? info.base_input_level : info.output_level;
  }
  tree->CompactionBegan(info.job_id, static_cast<uint32_t>(info.output_level),
                        std::move(inputs));
}

void BudgetListener::OnCompactionCompleted(
    rdb::DB* db, const rdb::CompactionJobInfo& info) noexcept {
  const std::shared_ptr<LiveTree> tree = TreeOf(db, info.cf_name, info.cf_id);
  if (tree == nullptr) return;
  tree->CompactionCompleted(info.job_id, info.status.ok(),
                            NumbersOf(info.input_file_infos),
                            FilesOf(info.output_file_infos, info.output_files,
                                    info.table_properties));
  // CompactRange() may move its output to another level, unreported.
  if (info.compaction_reason == rdb::CompactionReason::kManualCompaction) {
    tree->SetStale();
  }
}

void BudgetListener::OnExternalFileIngested(
    rdb::DB* db, const rdb::ExternalFileIngestionInfo& info) noexcept {
  const std::shared_ptr<rdb::Logger> logger = db->GetDBOptions().info_log;
  if (logger != nullptr) {
    LiveTrees::FindOrAdd(IdOf(*db, *logger), logger, info.cf_name)->SetStale();
  }
  TreeOf(db, info.cf_name);
}

}  // namespace rowbloom::plugin

namespace rowbloom {

std::shared_ptr<rdb::EventListener> NewRocksDbBudgetListener(
    rdb::Status* error) {
  if (!plugin::IsOk(plugin::CheckRocksDbRelease(), error)) return nullptr;
  return std::make_shared<plugin::BudgetListener>();
}

}  // namespace rowbloom
