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
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/rocksdb_release.h"
#include "rowbloom/filter_place.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

struct Reads {
  double data = 0;
  double filter = 0;
  double index = 0;

  double sum() const { return data + filter + index; }
};

double Fraction(uint64_t random) {
  return static_cast<double>(random >> 11) * 0x1p-53;
}

// A tree whose runs are files of level 0, with RocksDB's Bloom filters. Keeps
// what `env` holds, and otherwise writes it.
class CachedDb {
 public:
  CachedDb(const std::vector<TreeRun>& runs,
           const std::vector<FilterSetting>& filters, rdb::Env* env,
           GetCostOptions* options)
      : options_(*options) {
    statistics_ = rdb::CreateDBStatistics();
    const rdb::Status parsed = rdb::GetBlockBasedTableOptionsFromString(
        rdb::ConfigOptions(), table_, FilterPlaceOptions(options->place),
        &table_);
    EXPECT_TRUE(parsed.ok()) << parsed.ToString();
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
    table_.decouple_partitioned_filters =
        options->partition_cuts == PartitionCuts::kDecoupled;
#endif
    db_options_.env = env;
    db_options_.create_if_missing = true;
    db_options_.disable_auto_compactions = true;
    db_options_.write_buffer_size = 256 << 20;
    db_options_.compression = rdb::kNoCompression;
    db_options_.statistics = statistics_;
    for (const TreeRun& run : runs) key_count_ += run.key_count;
    Open(filters.front());
    std::string value;
    if (!db_->Get(rdb::ReadOptions(), Key(0), &value).ok()) {
      Write(runs, filters);
      Open(filters.front());
    }
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

  // With an empty cache.
  void Open(const FilterSetting& filter) {
    db_.reset();
    rdb::LRUCacheOptions cache;
    cache.capacity = options_.cache_bytes;
    cache.num_shard_bits = 0;
    cache.high_pri_pool_ratio = options_.high_priority_share;
    table_.block_cache = rdb::NewLRUCache(cache);
    table_.partition_filters =
        options_.place != FilterPlace::kTableReaders && filter.builder_bits > 0;
    table_.filter_policy.reset(
        filter.builder_bits > 0 ? rdb::NewBloomFilterPolicy(filter.builder_bits)
                                : nullptr);
    db_options_.table_factory.reset(rdb::NewBlockBasedTableFactory(table_));
    const rdb::Status status = plugin::OpenDb(
        [&](auto* opened) { return rdb::DB::Open(db_options_, "/db", opened); },
        &db_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  void Write(const std::vector<TreeRun>& runs,
             const std::vector<FilterSetting>& filters) {
    uint64_t key = 0;
    for (size_t i = runs.size(); i-- > 0;) {
      Open(filters[i]);
      for (uint64_t j = 0; j < runs[i].key_count; ++j) {
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
  rdb::BlockBasedTableOptions table_;
  rdb::Options db_options_;
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

void ExpectNear(const GetCost& cost, const Reads& counted,
                const std::string& where) {
  ExpectNear(cost.data.reads, counted.data, where + ": data");
  ExpectNear(cost.filter.reads, counted.filter, where + ": filter");
  ExpectNear(cost.index.reads, counted.index, where + ": index");
}

const std::vector<TreeRun> kRuns = {{2000}, {20000}, {200000}};
constexpr int kGets = 40000;

// The ways in which the release can cut.
std::vector<PartitionCuts> Cuts() {
  if (testing::kRocksDbRelease < 906) return {PartitionCuts::kCoupled};
  return {PartitionCuts::kCoupledTwice, PartitionCuts::kDecoupled};
}

std::vector<FilterSetting> BloomOf10Bits() {
  return std::vector<FilterSetting>(kRuns.size(),
                                    FilterCost::OfRocksDbBloom().ForBits(10));
}

TEST(DbGetCost, ModelExpectsTheReadsThatRocksDbCounts) {
  const struct {
    uint64_t cache_bytes;
    double pool;
    double zipf;
    double missing;
  } cases[] = {{400000, 0.5, 0.9, 0.5},
               {400000, 0, 0.9, 0.5},
               {500000, 0.5, 0, 1},
               {800000, 0.2, 0.99, 0.2}};
  for (const PartitionCuts cuts : Cuts()) {
    const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
    for (const auto& c : cases) {
      GetCostOptions options;
      options.partition_cuts = cuts;
      options.cache_bytes = c.cache_bytes;
      options.high_priority_share = c.pool;
      options.zipf_exponent = c.zipf;
      options.missing_share = c.missing;
      CachedDb db(kRuns, BloomOf10Bits(), env.get(), &options);
      const Reads counted = db.Count(kGets);
      const auto cost = ExpectedGetCost(kRuns, BloomOf10Bits(), options);
      ASSERT_TRUE(cost.ok()) << cost.status();
      ExpectNear(*cost, counted,
                 absl::StrCat("cache ", c.cache_bytes, ", pool ", c.pool,
                              ", zipf ", c.zipf, ", absent ", c.missing,
                              ", cuts ", static_cast<int>(cuts)));
    }
  }
}

TEST(DbGetCost, ModelExpectsTheReadsOfFiltersThatStayInMemory) {
  for (const FilterPlace place :
       {FilterPlace::kTableReaders, FilterPlace::kPinnedPartitions}) {
    const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
    for (const double missing : {1.0, 0.5, 0.0}) {
      GetCostOptions options;
      options.partition_cuts = Cuts().front();
      options.place = place;
      options.cache_bytes = 1000000;  // RocksDB's block cache has them.
      options.zipf_exponent = 0.9;
      options.missing_share = missing;
      CachedDb db(kRuns, BloomOf10Bits(), env.get(), &options);
      const Reads counted = db.Count(kGets);
      if (place == FilterPlace::kTableReaders) {
        const auto alone = ExpectedGetCost(kRuns, BloomOf10Bits(), options);
        ASSERT_TRUE(alone.ok()) << alone.status();
        options.cache_bytes += static_cast<uint64_t>(alone->resident_bytes);
      }
      const auto cost = ExpectedGetCost(kRuns, BloomOf10Bits(), options);
      ASSERT_TRUE(cost.ok()) << cost.status();
      ExpectNear(*cost, counted,
                 absl::StrCat("place ", static_cast<int>(place), ", absent ",
                              missing));
      EXPECT_EQ(counted.filter + counted.index, 0);
    }
  }
}

// In this small cache, the filter of the oldest run is worth less than its
// room.
TEST(DbGetCost, PlanReadsLessThanTenBitsPerKey) {
  TotalMemoryOptions options;
  options.get.cache_bytes = 300000;
  options.get.zipf_exponent = 0.9;
  options.get.missing_share = 0.1;
  options.get.partition_cuts = Cuts().front();
  const std::unique_ptr<rdb::Env> env10(rdb::NewMemEnv(rdb::Env::Default()));
  CachedDb db10(kRuns, BloomOf10Bits(), env10.get(), &options.get);
  const auto plan =
      PlanTotalMemory(FilterCost::OfRocksDbBloom(), kRuns, options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<FilterSetting> filters;
  for (const RunBudget& run : plan->filters.runs) {
    filters.push_back(run.setting);
  }
  EXPECT_EQ(filters.back().bits_per_key, 0);
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  GetCostOptions get = options.get;
  CachedDb db(kRuns, filters, env.get(), &get);
  const Reads counted = db.Count(kGets);
  ExpectNear(plan->cost, counted, "plan");
  EXPECT_LT(counted.sum(), 0.75 * db10.Count(kGets).sum());
}

}  // namespace
}  // namespace rowbloom
