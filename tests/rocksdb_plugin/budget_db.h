// SPDX-License-Identifier: Apache-2.0
//
// A RocksDB in memory that grows by flushes to several levels, the same ones in
// each run, and the size of its filters.
//
//   BudgetDb db;
//   db.options.num_levels = 4;
//   db.Open(policy, /*with_listener=*/true);
//   for (...) db.Write(keys);
//   EXPECT_NEAR(db.Measure().bits_per_key, 10, 1);

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUDGET_DB_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUDGET_DB_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"

namespace rowbloom::testing {

class BudgetDb : public TestDb {
 public:
  BudgetDb() {
    options.env = env();
    options.create_if_missing = true;
    options.compression = rdb::kNoCompression;
    // Levels of about one, ten and a hundred SSTs of flushes.
    options.write_buffer_size = 64 << 20;
    options.target_file_size_base = 64 << 10;
    options.max_bytes_for_level_base = 64 << 10;
    options.max_bytes_for_level_multiplier = 10;
    options.level0_file_num_compaction_trigger = 2;
    table_options.block_size = 1024;
    table_options.no_block_cache = true;
  }

  rdb::Options options;
  rdb::BlockBasedTableOptions table_options;

  void Open(std::shared_ptr<const rdb::FilterPolicy> policy,
            bool with_listener) {
    table_options.filter_policy = std::move(policy);
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
    if (!with_listener) options.listeners.clear();
    if (with_listener && options.listeners.empty()) {
      options.listeners.push_back(NewRocksDbBudgetListener());
    }
    TestDb::Open(options);
  }

  static std::string Key(uint64_t number) {
    char key[17];
    std::snprintf(key, sizeof(key), "%016llx",
                  static_cast<unsigned long long>(number));
    return key;
  }
  // Writes keys of these numbers to one SST in level 0; waits for compactions.
  void Write(const std::vector<uint64_t>& numbers) {
    rdb::WriteOptions write;
    write.disableWAL = true;
    for (const uint64_t number : numbers) {
      ASSERT_TRUE(get()->Put(write, Key(number), "value").ok());
    }
    ASSERT_TRUE(get()->Flush({}).ok());
    WaitForCompactions();
  }
  // The numbers must rise.
  void Ingest(const std::vector<uint64_t>& numbers) {
    std::vector<std::string> keys;
    for (const uint64_t number : numbers) keys.push_back(Key(number));
    TestDb::Ingest(keys, options);
    WaitForCompactions();
  }
  void WaitForCompactions() {
    // Each round completes the scheduled work; the next one, the work that
    // follows.
    uint64_t version = 0;
    uint64_t last_version = 0;
    do {
      last_version = version;
      ASSERT_TRUE(get()->PauseBackgroundWork().ok());
      ASSERT_TRUE(get()->GetIntProperty("rocksdb.current-super-version-number",
                                        &version));
      ASSERT_TRUE(get()->ContinueBackgroundWork().ok());
    } while (version != last_version);
  }

  struct Filters {
    double bits_per_key = 0;
    uint64_t key_count = 0;
  };
  // Measures the filters of all live SSTs.
  Filters Measure(rdb::ColumnFamilyHandle* handle = nullptr) const {
    rdb::TablePropertiesCollection all;
    EXPECT_TRUE(
        get()
            ->GetPropertiesOfAllTables(
                handle == nullptr ? get()->DefaultColumnFamily() : handle, &all)
            .ok());
    Filters filters;
    uint64_t bytes = 0;
    for (const auto& [path, properties] : all) {
      filters.key_count += properties->num_entries;
      bytes += properties->filter_size;
    }
    if (filters.key_count > 0) {
      filters.bits_per_key = 8.0 * static_cast<double>(bytes) /
                             static_cast<double>(filters.key_count);
    }
    return filters;
  }
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_BUDGET_DB_H_
