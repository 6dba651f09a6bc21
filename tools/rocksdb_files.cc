// SPDX-License-Identifier: Apache-2.0
//
// Compiled without RTTI, as RocksDB's own releases are: a subclass of
// FilterPolicy then links with both kinds of library.

#include "rocksdb_files.h"

#include <algorithm>
#include <cstdarg>
#include <memory>
#include <tuple>
#include <utility>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::tools {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

absl::Status FromRocksDb(const rdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = status.ToString();
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotSupported()) return absl::UnimplementedError(message);
  return absl::UnavailableError(message);
}

// Claims to read rowbloom's filters, keeps the bytes RocksDB hands over, and
// returns no reader, which RocksDB takes for "no filter".
class CapturingPolicy : public rdb::FilterPolicy {
 public:
  explicit CapturingPolicy(std::vector<std::string>* filters)
      : filters_(filters) {}

  const char* Name() const override { return "rowbloom.tool"; }
  const char* CompatibilityName() const override {
    return kRocksDbCompatibilityName;
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const override {
    filters_->emplace_back(contents.data(), contents.size());
    return nullptr;
  }

 private:
  std::vector<std::string>* filters_;
};

rdb::Options ReadOnlyTableOptions(std::vector<std::string>* filters) {
  rdb::BlockBasedTableOptions table_options;
  table_options.filter_policy = std::make_shared<CapturingPolicy>(filters);
  // With this off, opening a table loads its filter, all partitions of it.
  table_options.cache_index_and_filter_blocks = false;
  // Partitions pass through a cache; they are kept by the policy, not here.
  table_options.block_cache = rdb::NewLRUCache(64 << 10, /*num_shard_bits=*/0);
  rdb::Options options;
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  return options;
}

// Keeps RocksDB from writing a LOG into a directory that is only looked at.
class NullLogger : public rdb::Logger {
 public:
  using rdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

}  // namespace

absl::StatusOr<SstFilters> ReadSstFilters(const std::string& path) {
  SstFilters result;
  rdb::SstFileReader reader(ReadOnlyTableOptions(&result.filters));
  const rdb::Status status = reader.Open(path);
  if (!status.ok()) return FromRocksDb(status);

  const std::shared_ptr<const rdb::TableProperties> properties =
      reader.GetTableProperties();
  if (properties == nullptr) {
    return absl::DataLossError(path + ": no table properties");
  }
  result.column_family_name = properties->column_family_name;
  result.filter_policy_name = properties->filter_policy_name;
  result.prefix_extractor_name = properties->prefix_extractor_name;
  result.entry_count = properties->num_entries;
  result.filter_size_bytes = properties->filter_size;
  return result;
}

absl::Status VerifySstChecksums(const std::string& path) {
  std::vector<std::string> unused;
  rdb::SstFileReader reader(ReadOnlyTableOptions(&unused));
  rdb::Status status = reader.Open(path);
  if (status.ok()) {
    rdb::ReadOptions read_options;
    read_options.fill_cache = false;
    read_options.readahead_size = 2 << 20;
    status = reader.VerifyChecksum(read_options);
  }
  return FromRocksDb(status);
}

absl::StatusOr<std::vector<LiveSst>> ListLiveSsts(
    const std::string& directory) {
  rdb::Options options;
  options.info_log = std::make_shared<NullLogger>();
  // The list is in the manifest: open as few tables as RocksDB allows.
  options.max_open_files = 16;
  options.skip_stats_update_on_db_open = true;
  // Damaged and missing SSTs are for the verbs to report, each by name.
  options.paranoid_checks = false;
  std::vector<std::string> names;
  rdb::Status status = rdb::DB::ListColumnFamilies(options, directory, &names);
  if (!status.ok()) return FromRocksDb(status);

  std::vector<rdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, options);
  std::vector<rdb::ColumnFamilyHandle*> handles;
  rdb::DB* raw_db = nullptr;
  status =
      rdb::DB::OpenForReadOnly(options, directory, families, &handles, &raw_db);
  if (!status.ok()) return FromRocksDb(status);
  const std::unique_ptr<rdb::DB> db(raw_db);

  std::vector<rdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (rdb::ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle);
  }
  std::sort(files.begin(), files.end(),
            [](const rdb::LiveFileMetaData& a, const rdb::LiveFileMetaData& b) {
              return std::tie(a.column_family_name, a.level, a.file_number) <
                     std::tie(b.column_family_name, b.level, b.file_number);
            });
  std::vector<LiveSst> result;
  result.reserve(files.size());
  for (const rdb::LiveFileMetaData& file : files) {
    result.push_back(
        {file.directory + "/" + file.relative_filename, file.level});
  }
  return result;
}

}  // namespace rowbloom::tools
