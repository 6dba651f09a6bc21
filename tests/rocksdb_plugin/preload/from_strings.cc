// SPDX-License-Identifier: Apache-2.0
//
// from_strings DB FILTER_POLICY [PREFIX_EXTRACTOR]: a program that knows
// RocksDB only. It names the policy in an options string, writes 1000 keys to a
// new database and asks for 1000 absent ones. Exit code 0 if the filter spared
// most of them a read; on standard output, what the SST says of its filter.

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table_properties.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

rocksdb::Status Run(const std::string& path, const std::string& text) {
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;  // Else a loss goes unnoticed.
  config.input_strings_escaped = false;
  rocksdb::Options options;
  rocksdb::Status status =
      rocksdb::GetOptionsFromString(config, rocksdb::Options(), text, &options);
  if (!status.ok()) return status;
  options.statistics = rocksdb::CreateDBStatistics();

  std::unique_ptr<rocksdb::DB> db;
#if ROCKSDB_MAJOR >= 10
  status = rocksdb::DB::Open(options, path, &db);
#else  // Before 9.11 DB::Open() takes a raw pointer.
  rocksdb::DB* opened = nullptr;
  status = rocksdb::DB::Open(options, path, &opened);
  db.reset(opened);
#endif
  if (!status.ok()) return status;
  for (int i = 0; i < 2000 && status.ok(); i += 2) {
    status = db->Put({}, "key" + std::to_string(10000 + i), "value");
  }
  if (status.ok()) status = db->Flush({});
  if (!status.ok()) return status;
  std::string value;
  for (int i = 1; i < 1998; i += 2) {
    if (!db->Get({}, "key" + std::to_string(10000 + i), &value).IsNotFound()) {
      return rocksdb::Status::Corruption("an absent key was found");
    }
  }
  rocksdb::TablePropertiesCollection files;
  status = db->GetPropertiesOfAllTables(&files);
  if (!status.ok()) return status;
  for (const auto& [name, properties] : files) {
    std::printf("%s: %llu bytes of filter\n",
                properties->filter_policy_name.c_str(),
                static_cast<unsigned long long>(properties->filter_size));
  }
  const unsigned long long spared =
      options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  std::printf("%llu of 999 reads spared\n", spared);
  if (spared < 900) {
    return rocksdb::Status::Incomplete("the filter is not used");
  }
  return rocksdb::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: %s DB FILTER_POLICY [PREFIX_EXTRACTOR]\n",
                 argv[0]);
    return 2;
  }
  std::string text = "create_if_missing=true;";
  if (argc == 4) text += "prefix_extractor=" + std::string(argv[3]) + ";";
  text +=
      "block_based_table_factory={filter_policy=" + std::string(argv[2]) + "}";
  const rocksdb::Status status = Run(argv[1], text);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
