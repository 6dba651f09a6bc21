// SPDX-License-Identifier: Apache-2.0

#include "budget_listener.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live_tree.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb_budget.h"

namespace rowbloom {

namespace rdb = ROCKSDB_NAMESPACE;

namespace {

constexpr size_t kReadsPerEvent = 8;

// Of all column families, since that is how RocksDB lists SSTs without a
// handle.
void ListFiles(rdb::DB* db, const std::shared_ptr<rdb::Logger>& logger) {
  const std::map<std::string, uint64_t> changes = LiveTrees::Changes(*logger);
  const auto start = LiveTree::Clock::now();
  std::vector<rdb::ColumnFamilyMetaData> column_families;
  db->GetAllColumnFamilyMetaData(&column_families);
  const auto took = LiveTree::Clock::now() - start;
  std::set<std::string> names;
  for (const rdb::ColumnFamilyMetaData& column_family : column_families) {
    const auto before = changes.find(column_family.name);
    LiveTrees::FindOrAdd(logger, column_family.name)
        ->SetFiles(before == changes.end() ? 0 : before->second,
                   FilesOf(column_family), took);
    names.insert(column_family.name);
  }
  LiveTrees::KeepOnly(*logger, names);
}

// From before the database was opened, or ingested.
void ReadUnknownFilters(rdb::DB* db, LiveTree* tree) {
  const LiveFiles unknown = tree->TakeUnknown(kReadsPerEvent);
  if (unknown.empty()) return;
  rdb::BlockBasedTableOptions table_options;
  table_options.no_block_cache = true;
  rdb::Options options;
  options.env = db->GetEnv();
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  for (const auto& [number, file] : unknown) {
    rdb::SstFileReader reader(options);
    if (!reader.Open(file.path).ok()) continue;  // Gone, or not ours to read.
    const auto properties = reader.GetTableProperties();
    if (properties != nullptr) {
      tree->LearnFilter(number, FileFilter::Of(*properties));
    }
  }
}

// As it is, as far as can be known.
std::shared_ptr<LiveTree> TreeOf(rdb::DB* db, const std::string& name,
                                 std::optional<uint32_t> id = std::nullopt) {
  const std::shared_ptr<rdb::Logger> logger = db->GetDBOptions().info_log;
  if (logger == nullptr) return nullptr;
  std::shared_ptr<LiveTree> tree = LiveTrees::FindOrAdd(logger, name, id);
  if (tree->WantsFiles(LiveTree::Clock::now())) ListFiles(db, logger);
  ReadUnknownFilters(db, tree.get());
  return tree;
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

// By path.
const rdb::TableProperties* Find(const rdb::TablePropertiesCollection& all,
                                 const std::string& path) {
  const auto found = all.find(path);
  return found == all.end() ? nullptr : found->second.get();
}

uint64_t SizeOf(const rdb::TableProperties& properties) {
  return properties.data_size + properties.index_size + properties.filter_size;
}

}  // namespace

void BudgetListener::OnFlushBegin(rdb::DB* db,
                                  const rdb::FlushJobInfo& info) noexcept {
  TreeOf(db, info.cf_name, info.cf_id);
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
  const std::vector<uint64_t> inputs = NumbersOf(info.input_file_infos);
  for (size_t i = 0; i < inputs.size() && i < info.input_files.size(); ++i) {
    const rdb::TableProperties* properties =
        Find(info.table_properties, info.input_files[i]);
    if (properties != nullptr) {
      tree->LearnFilter(inputs[i], FileFilter::Of(*properties));
    }
  }
  tree->CompactionBegan(info.job_id, static_cast<uint32_t>(info.output_level),
                        inputs);
}

void BudgetListener::OnCompactionCompleted(
    rdb::DB* db, const rdb::CompactionJobInfo& info) noexcept {
  const std::shared_ptr<LiveTree> tree = TreeOf(db, info.cf_name, info.cf_id);
  if (tree == nullptr) return;
  LiveFiles outputs;
  for (size_t i = 0; i < info.output_file_infos.size(); ++i) {
    LiveFile& file = outputs[info.output_file_infos[i].file_number];
    file.level = info.output_file_infos[i].level;
    const rdb::TableProperties* properties =
        Find(info.table_properties, info.output_files[i]);
    if (properties == nullptr) continue;
    file.filter = FileFilter::Of(*properties);
    file.size_bytes = SizeOf(*properties);
  }
  tree->CompactionCompleted(info.job_id, info.status.ok(),
                            NumbersOf(info.input_file_infos),
                            std::move(outputs));
}

void BudgetListener::OnExternalFileIngested(
    rdb::DB* db, const rdb::ExternalFileIngestionInfo& info) noexcept {
  const std::shared_ptr<rdb::Logger> logger = db->GetDBOptions().info_log;
  if (logger != nullptr) {
    LiveTrees::FindOrAdd(logger, info.cf_name)->SetStale();
  }
  TreeOf(db, info.cf_name);
}

std::shared_ptr<rdb::EventListener> NewRocksDbBudgetListener() {
  return std::make_shared<BudgetListener>();
}

}  // namespace rowbloom
