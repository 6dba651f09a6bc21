// SPDX-License-Identifier: Apache-2.0
//
// Compares the reads that get_cost.h expects with those that RocksDB counts.

#include "rowbloom/get_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "open_db.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/version.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

struct Reads {
  double data = 0;
  double filter = 0;
  double index = 0;
};

double Fraction(uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

constexpr double kBitsPerKey = 10;

// A tree whose runs are files of level 0, with RocksDB's Bloom filter. Keeps
// what `env` holds, and otherwise writes it.
class CachedDb {
 public:
  CachedDb(const std::vector<TreeRun>& runs, rdb::Env* env,
           GetCostOptions* options)
      : options_(*options) {
    statistics_ = rdb::CreateDBStatistics();
    rdb::BlockBasedTableOptions table;
    rdb::LRUCacheOptions cache;
    cache.capacity = options->cache_bytes;
    cache.num_shard_bits = 0;
    cache.high_pri_pool_ratio = options->high_priority_share;
    table.block_cache = rdb::NewLRUCache(cache);
    table.filter_policy.reset(rdb::NewBloomFilterPolicy(kBitsPerKey));
    table.cache_index_and_filter_blocks = true;
    table.partition_filters = true;
    table.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
    table.decouple_partitioned_filters = options->decoupled_partitions;
#endif
    rdb::Options db;
    db.env = env;
    db.create_if_missing = true;
    db.disable_auto_compactions = true;
    db.write_buffer_size = 256 << 20;
    db.compression = rdb::kNoCompression;
    db.statistics = statistics_;
    db.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    const rdb::Status status = OpenDb(
        [&](auto* opened) { return rdb::DB::Open(db, "/db", opened); }, &db_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    for (const TreeRun& run : runs) key_count_ += run.key_count;
    std::string value;
    if (!db_->Get(rdb::ReadOptions(), Key(0), &value).ok()) Write(runs);
    MeasureEntries(options);
    SetPopularity(options->zipf_exponent);
  }

  // The mean of `get_count` gets after as many to fill the cache.
  Reads Count(int get_count) {
    for (int i = 0; i < get_count; ++i) Get();
    EXPECT_TRUE(statistics_->Reset().ok());
    for (int i = 0; i < get_count; ++i) Get();
    const auto mean = [&](rdb::Tickers ticker) {
      return static_cast<double>(statistics_->getTickerCount(ticker)) /
             get_count;
    };
    return {mean(rdb::BLOCK_CACHE_DATA_MISS),
            mean(rdb::BLOCK_CACHE_FILTER_MISS),
            mean(rdb::BLOCK_CACHE_INDEX_MISS)};
  }

 private:
  // In random order.
  static std::string Key(uint64_t number) {
    return absl::StrFormat("%016x", testing::Random(number)());
  }

  void Write(const std::vector<TreeRun>& runs) {
    uint64_t key = 0;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      for (uint64_t i = 0; i < run->key_count; ++i) {
        const rdb::Status status =
            db_->Put(rdb::WriteOptions(), Key(key++), std::string(100, 'v'));
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
      const rdb::Status status = db_->Flush(rdb::FlushOptions());
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }

  void MeasureEntries(GetCostOptions* options) const {
    rdb::TablePropertiesCollection files;
    ASSERT_TRUE(db_->GetPropertiesOfAllTables(&files).ok());
    double entries = 0;
    double data_bytes = 0;
    double blocks = 0;
    double index_bytes = 0;
    for (const auto& [name, file] : files) {
      entries += static_cast<double>(file->num_entries);
      data_bytes += static_cast<double>(file->data_size);
      blocks += static_cast<double>(file->num_data_blocks);
      index_bytes += static_cast<double>(file->index_size);
    }
    options->entry_bytes = data_bytes / entries;
    options->data_block_bytes = data_bytes / blocks;
    options->key_bytes = index_bytes / blocks - 12;
  }

  void SetPopularity(double exponent) {
    key_of_rank_.resize(key_count_);
    std::iota(key_of_rank_.begin(), key_of_rank_.end(), 0);
    std::shuffle(key_of_rank_.begin(), key_of_rank_.end(), random_);
    double sum = 0;
    for (uint64_t rank = 1; rank <= key_count_; ++rank) {
      sum += std::pow(rank, -exponent);
      popularity_.push_back(sum);
    }
  }

  void Get() {
    const bool is_absent = Fraction(random_()) < options_.missing_share;
    const double popularity = Fraction(random_()) * popularity_.back();
    const auto rank = static_cast<uint64_t>(
        std::upper_bound(popularity_.begin(), popularity_.end(), popularity) -
        popularity_.begin());
    uint64_t key = key_of_rank_[std::min(rank, key_count_ - 1)];
    if (is_absent) key += key_count_;
    std::string value;
    EXPECT_EQ(db_->Get(rdb::ReadOptions(), Key(key), &value).ok(), !is_absent);
  }

  const GetCostOptions options_;
  std::shared_ptr<rdb::Statistics> statistics_;
  std::unique_ptr<rdb::DB> db_;
  testing::Random random_{1};
  uint64_t key_count_ = 0;
  std::vector<uint64_t> key_of_rank_;
  std::vector<double> popularity_;  // A sum up to each rank.
};

// Expects agreement within 10%, or 0.01 reads: what the cache charges for a
// block differs between releases.
void ExpectNear(double model, double counted, const std::string& where) {
  EXPECT_NEAR(model, counted, std::max(0.01, 0.1 * counted)) << where;
}

TEST(DbGetCost, ModelExpectsTheReadsThatRocksDbCounts) {
  const std::vector<TreeRun> runs = {{2000}, {20000}, {200000}};
  const struct {
    uint64_t cache_bytes;
    double pool;
    double zipf;
    double missing;
  } cases[] = {{400000, 0.5, 0.9, 0.5},
               {400000, 0, 0.9, 0.5},
               {500000, 0.5, 0, 1},
               {800000, 0.2, 0.99, 0.2}};
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  for (const auto& c : cases) {
    GetCostOptions options;
    options.cache_bytes = c.cache_bytes;
    options.high_priority_share = c.pool;
    options.zipf_exponent = c.zipf;
    options.missing_share = c.missing;
    CachedDb db(runs, env.get(), &options);
    const Reads counted = db.Count(40000);
    const std::vector<FilterSetting> filters(
        runs.size(), FilterCost::OfRocksDbBloom().ForBits(kBitsPerKey));
    const auto cost = ExpectedGetCost(runs, filters, options);
    ASSERT_TRUE(cost.ok()) << cost.status();
    const std::string where =
        absl::StrCat("cache ", c.cache_bytes, ", pool ", c.pool, ", zipf ",
                     c.zipf, ", absent ", c.missing);
    ExpectNear(cost->data.reads, counted.data, where + ": data");
    ExpectNear(cost->filter.reads, counted.filter, where + ": filter");
    ExpectNear(cost->index.reads, counted.index, where + ": index");
  }
}

}  // namespace
}  // namespace rowbloom
