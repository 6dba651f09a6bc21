// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/get_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "rowbloom/tree_shape.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

constexpr double kRelative = 1e-6;

FilterSetting Setting(double bits_per_key, double fpr) {
  return {bits_per_key, bits_per_key, fpr};
}

constexpr uint64_t kHugeCache = uint64_t{1} << 60;

// 1,000,000 keys in blocks of 32 keys.
const std::vector<TreeRun> kOneRun = {{1000000}};

GetCostOptions SmallEntries() {
  GetCostOptions options;
  options.entry_bytes = 128;
  options.key_bytes = 20;
  options.missing_share = 0.25;
  return options;
}

TEST(GetCost, NothingIsReadWhereAllBlocksFit) {
  GetCostOptions options = SmallEntries();
  options.cache_bytes = kHugeCache;
  for (const PartitionCuts cuts :
       {PartitionCuts::kCoupled, PartitionCuts::kCoupledTwice,
        PartitionCuts::kDecoupled}) {
    for (const double exponent : {0.0, 0.99}) {
      options.partition_cuts = cuts;
      options.zipf_exponent = exponent;
      const auto cost = ExpectedGetCost(kOneRun, {Setting(10, 0.01)}, options);
      ASSERT_TRUE(cost.ok()) << cost.status();
      EXPECT_EQ(cost->reads(), 0);
      EXPECT_EQ(cost->data.hit_rate(), 1);
      EXPECT_NEAR(cost->filter.asks, 1, kRelative);
      const double maybes = 0.75 + 0.25 * 0.01;
      EXPECT_NEAR(cost->data.asks, maybes, kRelative);
      EXPECT_NEAR(cost->index.asks, maybes, kRelative);
      EXPECT_NEAR(cost->total_us, 1 + 0.3 + 2 * 0.7 * maybes, 1e-5);
    }
  }
}

TEST(GetCost, AllBlocksAreReadWithoutACache) {
  GetCostOptions options = SmallEntries();
  options.cache_bytes = 0;
  const auto cost = ExpectedGetCost(
      {{100000}, {1000000}, {0}, {8900000}},
      {Setting(16, 0.001), Setting(10, 0.01), Setting(0, 1), Setting(0, 1)},
      options);
  ASSERT_TRUE(cost.ok()) << cost.status();
  // Gets that ask a run for a key that it does not have.
  const double other0 = 0.25 + 0.75 * 0.99;
  const double other1 = 0.25 + 0.75 * 0.89;
  const double maybe0 = 0.75 * 0.01 + 0.001 * other0;
  const double maybe1 = 0.75 * 0.1 + 0.01 * other1;
  const double maybe3 = 0.75 * 0.89 + 0.25;
  EXPECT_NEAR(cost->runs[0].filter.reads, 1, kRelative);
  EXPECT_NEAR(cost->runs[1].filter.reads, 1 - 0.75 * 0.01, kRelative);
  EXPECT_EQ(cost->runs[2].data.asks, 0);
  EXPECT_EQ(cost->runs[3].filter.asks, 0);
  EXPECT_NEAR(cost->data.reads, maybe0 + maybe1 + maybe3, kRelative);
  EXPECT_NEAR(cost->index.reads, cost->data.reads, kRelative);
  EXPECT_EQ(cost->data.hit_rate(), 0);
  EXPECT_EQ(cost->data.miss_share, 1);
}

TEST(GetCost, SizesAreThoseOfRocksDb) {
  GetCostOptions options = SmallEntries();
  options.block_overhead_bytes = 0;
  options.partition_cuts = PartitionCuts::kDecoupled;
  auto cost = ExpectedGetCost(kOneRun, {Setting(8, 0.02)}, options);
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_NEAR(cost->data.bytes, 128e6, 1);
  EXPECT_NEAR(cost->filter.bytes, 1e6, 1);
  EXPECT_NEAR(cost->index.bytes, 1e6 / 32 * (20 + 12), 1);
  // With one byte of overhead there are as many bytes more as blocks.
  options.block_overhead_bytes = 1;
  cost = ExpectedGetCost(kOneRun, {Setting(8, 0.02)}, options);
  EXPECT_NEAR(cost->filter.bytes, 1e6 + 1e6 / (0.9 * 4096), 1);
  EXPECT_NEAR(cost->index.bytes, 1e6 + 1e6 / 4096, 1);
  // An index partition has 128 entries of 32 keys: 4096 keys. With 14.4 bits a
  // filter partition has 2048 keys, and cuts the index partition there.
  options.partition_cuts = PartitionCuts::kCoupled;
  cost = ExpectedGetCost(kOneRun, {Setting(14.4, 0.001)}, options);
  EXPECT_NEAR(cost->filter.bytes, 1.8e6 + 1e6 / 2048, 1);
  EXPECT_NEAR(cost->index.bytes, 1e6 + 1e6 / 2048, 1);
  // RocksDB from 9.6 on: 32 keys behind each 2048 have partitions of their own.
  options.partition_cuts = PartitionCuts::kCoupledTwice;
  cost = ExpectedGetCost(kOneRun, {Setting(14.4, 0.001)}, options);
  EXPECT_NEAR(cost->filter.bytes, 1.8e6 + 2 * 1e6 / 2080, 1);
  EXPECT_NEAR(cost->index.bytes, 1e6 + 2 * 1e6 / 2080, 1);
  EXPECT_NEAR(cost->filter.block_count, 2 * 1e6 / 2080, 1e-3);
  // With 4 bits, the index partition cuts the filter.
  for (const PartitionCuts cuts :
       {PartitionCuts::kCoupled, PartitionCuts::kCoupledTwice}) {
    options.partition_cuts = cuts;
    cost = ExpectedGetCost(kOneRun, {Setting(4, 0.1)}, options);
    EXPECT_NEAR(cost->filter.bytes, 0.5e6 + 1e6 / 4096, 1);
  }
}

TEST(GetCost, UniformGetsHitWhatIsCached) {
  GetCostOptions options = SmallEntries();
  options.high_priority_share = 0;
  options.missing_share = 0;
  options.key_bytes = 0;
  options.block_overhead_bytes = 0;
  // One run, no filter: data blocks and index partitions in one list. A data
  // block lives for T gets with a = 1 / blocks.
  const double data_blocks = 1e6 / 32;
  options.cache_bytes = static_cast<uint64_t>(0.3 * 128e6);
  const auto cost = ExpectedGetCost(kOneRun, {Setting(0, 1)}, options);
  ASSERT_TRUE(cost.ok()) << cost.status();
  const double life = -std::log(cost->data.miss_share) * data_blocks;
  const double index_blocks = 1e6 / 32 * 12 / 4096;
  EXPECT_NEAR(1 - cost->index.hit_rate(), std::exp(-life / index_blocks), 1e-9);
  EXPECT_NEAR(cost->data.hit_rate(), 1 - cost->data.miss_share, kRelative);
  EXPECT_NEAR(cost->data.bytes * (1 - cost->data.miss_share) +
                  cost->index.bytes * (1 - cost->index.miss_share),
              0.3 * 128e6, 100);
}

TEST(GetCost, CacheIsFull) {
  const std::vector<TreeRun> runs = {{10000}, {100000}, {1000000}};
  const std::vector<FilterSetting> filters = {
      Setting(14, 0.001), Setting(10, 0.01), Setting(6, 0.1)};
  for (const double pool : {0.0, 0.1, 0.9}) {
    for (const double exponent : {0.0, 0.8, 1.0, 1.2}) {
      for (const double missing : {0.0, 0.5, 1.0}) {
        for (const uint64_t cache_bytes : {1000000u, 10000000u}) {
          GetCostOptions options = SmallEntries();
          options.high_priority_share = pool;
          options.zipf_exponent = exponent;
          options.missing_share = missing;
          options.cache_bytes = cache_bytes;
          const auto cost = ExpectedGetCost(runs, filters, options);
          ASSERT_TRUE(cost.ok()) << cost.status();
          double bytes = 0;
          for (const BlockUse& use : {cost->data, cost->filter, cost->index}) {
            bytes += use.bytes * (1 - use.miss_share);
          }
          EXPECT_NEAR(bytes, cache_bytes, 1e-4 * cache_bytes)
              << pool << " " << exponent << " " << missing;
        }
      }
    }
  }
}

TEST(GetCost, MoreCacheReadsLess) {
  TreeShape shape;
  shape.key_count = 100000000;
  const auto runs = RunsOf(shape);
  ASSERT_TRUE(runs.ok());
  const std::vector<FilterSetting> filters(runs->size(), Setting(10, 0.01));
  for (const double exponent : {0.0, 0.9}) {
    double last = std::numeric_limits<double>::infinity();
    for (uint64_t cache = 1 << 20; cache < uint64_t{1} << 35; cache *= 4) {
      GetCostOptions options = SmallEntries();
      options.zipf_exponent = exponent;
      options.cache_bytes = cache;
      const auto cost = ExpectedGetCost(*runs, filters, options);
      ASSERT_TRUE(cost.ok());
      EXPECT_LE(cost->reads(), last);
      last = cost->reads();
    }
    EXPECT_EQ(last, 0);
  }
}

TEST(GetCost, PoolKeepsFilters) {
  TreeShape shape;
  shape.key_count = 100000000;
  const auto runs = RunsOf(shape);
  ASSERT_TRUE(runs.ok());
  const std::vector<FilterSetting> filters(runs->size(), Setting(10, 0.01));
  GetCostOptions options = SmallEntries();
  options.high_priority_share = 0;
  options.zipf_exponent = 0.9;
  options.cache_bytes = 200 << 20;
  const auto one_list = ExpectedGetCost(*runs, filters, options);
  options.high_priority_share = 0.5;
  const auto pool = ExpectedGetCost(*runs, filters, options);
  ASSERT_TRUE(one_list.ok() && pool.ok());
  EXPECT_LT(pool->filter.reads, one_list->filter.reads);
}

TEST(GetCost, FewerGetsAskARunWithKnownAbsentAsks) {
  GetCostOptions options = SmallEntries();
  options.cache_bytes = 0;
  std::vector<TreeRun> runs = {{1000000}, {1000000}};
  runs[0].absent_asks = 0.1;
  const auto cost =
      ExpectedGetCost(runs, {Setting(10, 0.01), Setting(10, 0.01)}, options);
  ASSERT_TRUE(cost.ok()) << cost.status();
  EXPECT_NEAR(cost->runs[0].filter.asks, 0.375 + 0.1, kRelative);
  EXPECT_NEAR(cost->runs[0].data.asks, 0.375 + 0.1 * 0.01, kRelative);
}

// Doubles do not hold every whole number beyond 2^53.
TEST(GetCost, LargestTreesHaveACost) {
  for (const double exponent : {0.5, 1.0, 4.0}) {
    GetCostOptions options;
    options.missing_share = 1;
    options.zipf_exponent = exponent;
    const auto cost = ExpectedGetCost(
        {{1}, {kMaxTreeKeys}}, {Setting(10, 0.01), Setting(10, 0.01)}, options);
    ASSERT_TRUE(cost.ok()) << cost.status();
    EXPECT_NEAR(cost->filter.asks, 2, kRelative);
    EXPECT_NEAR(cost->data.asks, 0.02, kRelative);
    EXPECT_LE(cost->reads(), 2.04);
  }
}

TEST(GetCost, EmptyTreeCostsTheGetAlone) {
  for (const std::vector<TreeRun>& runs :
       {std::vector<TreeRun>{}, std::vector<TreeRun>{{0}, {0}}}) {
    const std::vector<FilterSetting> filters(runs.size());
    const auto cost = ExpectedGetCost(runs, filters, {});
    ASSERT_TRUE(cost.ok()) << cost.status();
    EXPECT_EQ(cost->runs.size(), runs.size());
    EXPECT_EQ(cost->total_us, GetCostOptions().get_cpu_us);
  }
}

// RocksDB's LRUCache with one shard: LRU_Insert and MaintainPoolSize in
// lru_cache.cc. A block that was used in the cache before enters at the head,
// as blocks of high priority do.
class LruCache {
 public:
  LruCache(double capacity, double pool_share, size_t block_count)
      : capacity_(capacity),
        pool_capacity_(capacity * pool_share),
        entries_(block_count),
        low_(lru_.begin()) {}

  // Returns true if the block was cached.
  bool Use(size_t block, double bytes, bool is_high_priority) {
    Entry& entry = entries_[block];
    const bool was_cached = entry.is_cached;
    if (was_cached) {
      Remove(block);
      entry.has_hit = true;
    } else {
      entry = {};
      entry.bytes = bytes;
      entry.is_high_priority = is_high_priority;
      while (use_ + bytes > capacity_ && !lru_.empty()) Remove(lru_.back());
    }
    Insert(block);
    return was_cached;
  }

 private:
  struct Entry {
    std::list<size_t>::iterator place;
    double bytes = 0;
    bool is_high_priority = false;
    bool has_hit = false;
    bool is_cached = false;
    bool is_in_pool = false;
  };

  // lru_ has the newest block at its front; low_ is the first one behind the
  // pool.
  void Insert(size_t block) {
    Entry& entry = entries_[block];
    entry.is_in_pool =
        pool_capacity_ > 0 && (entry.is_high_priority || entry.has_hit);
    entry.place = lru_.insert(entry.is_in_pool ? lru_.begin() : low_, block);
    entry.is_cached = true;
    use_ += entry.bytes;
    if (!entry.is_in_pool) {
      low_ = entry.place;
      return;
    }
    pool_use_ += entry.bytes;
    while (pool_use_ > pool_capacity_) {
      --low_;
      entries_[*low_].is_in_pool = false;
      pool_use_ -= entries_[*low_].bytes;
    }
  }

  void Remove(size_t block) {
    Entry& entry = entries_[block];
    if (entry.place == low_) ++low_;
    lru_.erase(entry.place);
    use_ -= entry.bytes;
    if (entry.is_in_pool) pool_use_ -= entry.bytes;
    entry.is_cached = false;
  }

  const double capacity_;
  const double pool_capacity_;
  double use_ = 0;
  double pool_use_ = 0;
  std::vector<Entry> entries_;
  std::list<size_t> lru_;
  std::list<size_t>::iterator low_;
};

// Gets in a small tree with explicit blocks.
class Simulation {
 public:
  struct Reads {
    double data = 0;
    double filter = 0;
    double index = 0;
  };

  Simulation(const std::vector<TreeRun>& runs,
             const std::vector<FilterSetting>& filters,
             const GetCostOptions& options)
      : options_(options), random_(1) {
    const double data_keys = options.data_block_bytes / options.entry_bytes;
    const double index_key_bytes = (options.key_bytes + 12) / data_keys;
    for (size_t i = 0; i < runs.size(); ++i) {
      Run run;
      run.first_key = key_count_;
      run.key_count = runs[i].key_count;
      key_count_ += run.key_count;
      run.fpr = filters[i].bits_per_key > 0 ? filters[i].fpr : 1;
      run.data = KindOf(run.key_count, data_keys, options.entry_bytes);
      double metadata_keys = options.metadata_block_bytes / index_key_bytes;
      if (filters[i].bits_per_key > 0) {
        const double filter_key_bytes = filters[i].bits_per_key / 8;
        metadata_keys =
            std::min(metadata_keys,
                     0.9 * options.metadata_block_bytes / filter_key_bytes);
        run.filter = KindOf(run.key_count, metadata_keys, filter_key_bytes);
      }
      run.index = KindOf(run.key_count, metadata_keys, index_key_bytes);
      runs_.push_back(run);
    }
    range_keys_ = static_cast<uint64_t>(options.range_keys);
    range_of_rank_.resize(key_count_ / range_keys_);
    std::iota(range_of_rank_.begin(), range_of_rank_.end(), 0);
    std::shuffle(range_of_rank_.begin(), range_of_rank_.end(), random_);
    double sum = 0;
    for (size_t rank = 1; rank <= range_of_rank_.size(); ++rank) {
      sum += std::pow(rank, -options.zipf_exponent);
      popularity_.push_back(sum);
    }
  }

  // The mean of `get_count` gets after `warm_up` gets.
  Reads Count(int warm_up, int get_count) {
    const int scans = warm_up + get_count;
    LruCache cache(
        options_.cache_bytes, options_.high_priority_share,
        block_count_ + static_cast<size_t>(scans * options_.scan_data_reads));
    for (int i = 0; i < warm_up; ++i) GetAndScan(&cache);
    reads_ = {};
    for (int i = 0; i < get_count; ++i) GetAndScan(&cache);
    return {reads_.data / get_count, reads_.filter / get_count,
            reads_.index / get_count};
  }

 private:
  struct Kind {
    size_t first_block = 0;
    double keys = 0;   // The keys per block. 0: there are no such blocks.
    double bytes = 0;  // The size of one block.
  };
  struct Run {
    uint64_t first_key = 0;
    uint64_t key_count = 0;
    double fpr = 0;
    Kind data;
    Kind filter;
    Kind index;
  };

  Kind KindOf(uint64_t key_count, double keys, double key_bytes) {
    keys = std::min(keys, static_cast<double>(key_count));
    const Kind kind = {block_count_, keys,
                       keys * key_bytes + options_.block_overhead_bytes};
    block_count_ += static_cast<size_t>(std::ceil(key_count / keys));
    return kind;
  }

  void Use(const Kind& kind, uint64_t place, bool is_metadata, LruCache* cache,
           double* reads) {
    const auto block = static_cast<size_t>(place / kind.keys);
    if (!cache->Use(kind.first_block + block, kind.bytes, is_metadata)) {
      ++*reads;
    }
  }

  // The runs have every so many of the keys of a tree whose keys are popular in
  // ranges, and else a part of the keys each.
  bool HasKey(const Run& run, uint64_t key) const {
    const uint64_t place =
        range_keys_ == 1 ? key : testing::Random(key).Below(key_count_);
    return place >= run.first_key && place < run.first_key + run.key_count;
  }
  uint64_t PlaceOf(const Run& run, uint64_t key, bool is_own,
                   testing::Random* of_key) const {
    if (range_keys_ > 1) return key % key_count_ * run.key_count / key_count_;
    return is_own ? key - run.first_key : of_key->Below(run.key_count);
  }

  void Get(LruCache* cache) {
    const bool is_absent = Fraction(random_()) < options_.missing_share;
    const double popularity = Fraction(random_()) * popularity_.back();
    const auto rank = static_cast<uint64_t>(
        std::upper_bound(popularity_.begin(), popularity_.end(), popularity) -
        popularity_.begin());
    uint64_t key = range_of_rank_[std::min(rank, range_of_rank_.size() - 1)] *
                       range_keys_ +
                   random_.Below(range_keys_);
    if (is_absent) key += key_count_;
    for (const Run& run : runs_) {
      const bool is_own = !is_absent && HasKey(run, key);
      // A key is always at the same place of a run, a false positive or not.
      testing::Random of_key(key * 1000 + run.first_key);
      const uint64_t place = PlaceOf(run, key, is_own, &of_key);
      if (run.filter.keys > 0) {
        Use(run.filter, place, true, cache, &reads_.filter);
      }
      if (!is_own && Fraction(of_key()) >= run.fpr) continue;
      Use(run.index, place, true, cache, &reads_.index);
      Use(run.data, place, false, cache, &reads_.data);
      if (is_own) return;
    }
  }

  void GetAndScan(LruCache* cache) {
    Get(cache);
    double not_counted = 0;
    for (seeks_ += options_.scan_seeks; seeks_ >= 1; --seeks_) {
      for (const Run& run : runs_) {
        Use(run.index, random_.Below(run.key_count), true, cache, &not_counted);
      }
    }
    for (scanned_ += options_.scan_data_reads; scanned_ >= 1; --scanned_) {
      cache->Use(block_count_ + scanned_blocks_++,
                 options_.data_block_bytes + options_.block_overhead_bytes,
                 false);
    }
  }

  static double Fraction(uint64_t random) {
    return static_cast<double>(random >> 11) * 0x1p-53;
  }

  const GetCostOptions options_;
  testing::Random random_;
  uint64_t key_count_ = 0;
  size_t block_count_ = 0;
  std::vector<Run> runs_;
  uint64_t range_keys_ = 1;
  std::vector<uint64_t> range_of_rank_;
  double seeks_ = 0;
  double scanned_ = 0;
  size_t scanned_blocks_ = 0;
  std::vector<double> popularity_;  // A sum up to each rank.
  Reads reads_;
};

// Expects agreement within 5%, or 0.005 reads.
void ExpectNear(double model, double counted, const std::string& where) {
  EXPECT_NEAR(model, counted, std::max(0.005, 0.05 * counted)) << where;
}

const std::vector<TreeRun> kSimulatedRuns = {{180}, {1800}, {18000}, {180020}};
const std::vector<FilterSetting> kBitsByRun = {
    Setting(14, 0.0012), Setting(10, 0.0085), Setting(6, 0.06), Setting(0, 1)};
const std::vector<FilterSetting> kSameBits(4, Setting(10, 0.0085));

GetCostOptions SimulatedOptions() {
  GetCostOptions options;
  options.entry_bytes = 128;
  options.data_block_bytes = 1024;
  options.metadata_block_bytes = 512;
  return options;
}

void ExpectAgreement(const std::vector<FilterSetting>& filters,
                     const GetCostOptions& options) {
  const auto cost = ExpectedGetCost(kSimulatedRuns, filters, options);
  ASSERT_TRUE(cost.ok()) << cost.status();
  const Simulation::Reads counted =
      Simulation(kSimulatedRuns, filters, options).Count(60000, 60000);
  const std::string where = absl::StrCat(
      "zipf ", options.zipf_exponent, " of ", options.range_keys,
      " keys, absent ", options.missing_share, ", pool ",
      options.high_priority_share, ", cache ", options.cache_bytes, ", scans ",
      options.scan_seeks, " and ", options.scan_data_reads);
  ExpectNear(cost->data.reads, counted.data, where + ": data");
  ExpectNear(cost->filter.reads, counted.filter, where + ": filter");
  ExpectNear(cost->index.reads, counted.index, where + ": index");
}

TEST(GetCost, AgreesWithASimulatedCache) {
  for (const double exponent : {0.0, 0.9, 0.99}) {
    for (const double missing : {0.0, 0.5, 1.0}) {
      for (const double pool : {0.0, 0.5}) {
        GetCostOptions options = SimulatedOptions();
        options.zipf_exponent = exponent;
        options.missing_share = missing;
        options.high_priority_share = pool;
        options.cache_bytes = (exponent == 0) == (pool == 0) ? 500000 : 2500000;
        ExpectAgreement(missing == 0.5 ? kBitsByRun : kSameBits, options);
      }
    }
  }
}

TEST(GetCost, AgreesWithASimulatedCacheOfPopularRanges) {
  for (const double range_keys : {50, 1000, 10000}) {
    for (const double missing : {0.0, 0.4}) {
      GetCostOptions options = SimulatedOptions();
      options.range_keys = range_keys;
      options.zipf_exponent = 1.2;
      options.missing_share = missing;
      options.cache_bytes = 1000000;
      ExpectAgreement(missing > 0 ? kBitsByRun : kSameBits, options);
    }
  }
}

TEST(GetCost, AgreesWithASimulatedCacheThatScansUse) {
  for (const double exponent : {0.0, 0.9}) {
    for (const double pool : {0.0, 0.5}) {
      GetCostOptions options = SimulatedOptions();
      options.zipf_exponent = exponent;
      options.high_priority_share = pool;
      options.scan_seeks = 0.4;
      options.scan_data_reads = 1.2;
      options.cache_bytes = 1500000;
      ExpectAgreement(kSameBits, options);
    }
  }
}

std::string ErrorOf(const GetCostOptions& options) {
  return std::string(ExpectedGetCost(kOneRun, {Setting(10, 0.01)}, options)
                         .status()
                         .message());
}

TEST(GetCost, EntrySizesAreThoseOfTheTableProperties) {
  // 100 entries and 80 filter keys; user keys of 16 bytes, values of 100.
  GetCostOptions options;
  SetEntrySizes({100, 80, 2400, 10000}, &options);
  EXPECT_EQ(options.entry_bytes, (24 + 100 + 3) * 100.0 / 80);
  EXPECT_EQ(options.key_bytes, 16);
  // Many filter keys in a short entry.
  SetEntrySizes({1, 20, 40, 0}, &options);
  EXPECT_EQ(options.entry_bytes, 43.0 / 20);
  EXPECT_EQ(options.key_bytes, 43.0 / 20);
  // Keys that share prefixes: 25 blocks of data, an index of 20 bytes for each.
  options.data_block_bytes = 500;
  SetEntrySizes({200, 200, 4800, 10000, 25, 500}, &options);
  EXPECT_EQ(options.entry_bytes, 25 * 500.0 / 200);
  EXPECT_EQ(options.key_bytes, 8);
  // Blocks that were larger once: values and lengths are not shared.
  options.data_block_bytes = 100;
  SetEntrySizes({200, 200, 4800, 10000, 25, 500}, &options);
  EXPECT_EQ(options.entry_bytes, 10000.0 / 200 + 3);
  // Blocks of three entries are larger than they should be.
  SetEntrySizes({75, 75, 1800, 10000, 25, 5000}, &options);
  EXPECT_EQ(options.entry_bytes, 24 + 10000.0 / 75 + 3);
  EXPECT_EQ(options.key_bytes, 16) << "an index with more than keys";
  const GetCostOptions before = options;
  SetEntrySizes({}, &options);
  EXPECT_EQ(options.entry_bytes, before.entry_bytes);
  EXPECT_EQ(options.key_bytes, before.key_bytes);
}

// A get reads a data block for its key, if it is there, and the wasted ones.
TEST(GetCost, DataReadsAreThoseOfHitsAndTheWastedOnes) {
  const std::vector<TreeRun> runs = {{10000}, {100000}, {1000000}};
  GetCostOptions options = SmallEntries();
  options.cache_bytes = 10000000;
  for (const FilterSetting& oldest : {FilterSetting{}, Setting(8, 0.02)}) {
    const std::vector<FilterSetting> filters = {Setting(12, 0.003), {}, oldest};
    const auto cost = ExpectedGetCost(runs, filters, options);
    ASSERT_TRUE(cost.ok()) << cost.status();
    const double wasted =
        ExpectedWastedReads(runs, filters, options.missing_share, *cost);
    double of_hits = 0;
    for (size_t i = 0; i < runs.size(); ++i) {
      of_hits += (1 - options.missing_share) *
                 static_cast<double>(runs[i].key_count) / 1110000 *
                 cost->runs[i].data.miss_share;
    }
    EXPECT_NEAR(cost->data.reads, of_hits + wasted, 1e-4);
    EXPECT_GT(wasted, 0.1);
  }
}

TEST(GetCost, ErrorNamesValueAndLimits) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  GetCostOptions options;
  options.missing_share = 1.5;
  EXPECT_EQ(ErrorOf(options), "missing_share 1.5 is not within 0 to 1");
  options = {};
  options.zipf_exponent = -1;
  EXPECT_EQ(ErrorOf(options), "zipf_exponent -1 is not within 0 to 4");
  options = {};
  options.entry_bytes = 0;
  EXPECT_EQ(ErrorOf(options), "entry_bytes 0 is not within 1 to 1e+09");
  options = {};
  options.key_bytes = 121;
  EXPECT_EQ(ErrorOf(options), "key_bytes 121 is not within 0 to 120");
  options = {};
  options.read_us = nan;
  EXPECT_EQ(ErrorOf(options), "read_us nan is not within 0 to 1e+09");
  options = {};
  options.high_priority_share = -0.1;
  EXPECT_EQ(ErrorOf(options), "high_priority_share -0.1 is not within 0 to 1");
  EXPECT_EQ(ExpectedGetCost(kOneRun, {}, {}).status().message(),
            "0 filter settings for 1 runs");
  EXPECT_EQ(ExpectedGetCost(kOneRun, {Setting(-1, 1)}, {}).status().message(),
            "bits_per_key -1 is not within 0 to 1e+06");
  EXPECT_EQ(ExpectedGetCost(kOneRun, {Setting(10, 2)}, {}).status().message(),
            "fpr 2 is not within 0 to 1");
}

std::vector<TreeRun> Leveled(uint64_t key_count) {
  TreeShape shape;
  shape.key_count = key_count;
  return *RunsOf(shape);
}

TEST(TotalMemory, PlanIsTheCheapestOfTheSweep) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const std::vector<TreeRun> runs = Leveled(100000000);
  for (const BudgetMode mode : {BudgetMode::kBalanced, BudgetMode::kFixed}) {
    TotalMemoryOptions options;
    options.mode = mode;
    options.step_bits = 4;
    options.get.zipf_exponent = 0.9;
    const auto sweep = SweepTotalMemory(cost, runs, options);
    const auto plan = PlanTotalMemory(cost, runs, options);
    ASSERT_TRUE(sweep.ok() && plan.ok());
    EXPECT_EQ(sweep->size(), 7);
    for (const TotalMemoryPlan& other : *sweep) {
      EXPECT_LE(plan->cost.total_us, 1.0011 * other.cost.total_us);
    }
    EXPECT_EQ(sweep->front().filters.bits_per_key, 0);
    EXPECT_EQ(sweep->front().cost.filter.bytes, 0);
  }
}

// Where the cache holds all, more bits save little time.
TEST(TotalMemory, PlanHasTheFewestBitsThatAreAsCheap) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  TotalMemoryOptions options;
  options.get.cache_bytes = uint64_t{1} << 40;
  for (const uint64_t key_count : {1000, 100000, 10000000}) {
    const std::vector<TreeRun> runs = {{key_count / 10}, {key_count}};
    const auto sweep = SweepTotalMemory(cost, runs, options);
    const auto plan = PlanTotalMemory(cost, runs, options);
    ASSERT_TRUE(sweep.ok() && plan.ok());
    EXPECT_LE(
        plan->filters.bits_per_key,
        CheapestPlan(*sweep).filters.bits_per_key + 2 * options.step_bits);
  }
}

// The time of a get has two minima where a cache is small: below one of them
// the largest run has no filter.
TEST(TotalMemory, PlanIsAsCheapAsTheSweep) {
  const FilterCost cost = FilterCost::OfRocksDbRibbon();
  std::mt19937_64 random(20);
  const auto uniform = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
  };
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    std::vector<TreeRun> runs(1 + i % 5);
    double key_count = uniform(2000, 200000);
    double all_keys = 0;
    for (TreeRun& run : runs) {
      run.key_count = static_cast<uint64_t>(key_count);
      all_keys += key_count;
      key_count *= uniform(1, 10);
    }
    TotalMemoryOptions options;
    options.mode = i % 3 == 0 ? BudgetMode::kFixed : BudgetMode::kBalanced;
    options.get.cache_bytes = static_cast<uint64_t>(
        all_keys * options.get.entry_bytes * std::exp(uniform(-6, -1.5)));
    options.get.missing_share = uniform(0.02, 0.98);
    options.get.zipf_exponent = i % 4 == 0 ? 0 : uniform(0, 1.25);
    options.get.range_keys = i % 7 == 0 ? 256 : 1;
    const auto sweep = SweepTotalMemory(cost, runs, options);
    const auto plan = PlanTotalMemory(cost, runs, options);
    ASSERT_TRUE(sweep.ok() && plan.ok());
    EXPECT_LE(plan->cost.total_us, 1.01 * CheapestPlan(*sweep).cost.total_us);
  }
}

TEST(TotalMemory, AverageIsWithinTheLimits) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const std::vector<TreeRun> runs = Leveled(100000000);
  TotalMemoryOptions options;
  options.mode = BudgetMode::kFixed;
  const double best =
      PlanTotalMemory(cost, runs, options)->filters.bits_per_key;
  options.min_bits_per_key = best + 3;
  EXPECT_NEAR(PlanTotalMemory(cost, runs, options)->filters.bits_per_key,
              best + 3, 0.1);
  options.min_bits_per_key = 0;
  options.max_bits_per_key = best - 3;
  EXPECT_NEAR(PlanTotalMemory(cost, runs, options)->filters.bits_per_key,
              best - 3, 0.1);
}

TEST(TotalMemory, CostIsThatOfTheFilters) {
  const FilterCost cost = *FilterCost::OfFamily("compact");
  const std::vector<TreeRun> runs = Leveled(100000000);
  TotalMemoryOptions options;
  options.step_bits = 4;
  const auto plan = PlanTotalMemory(cost, runs, options);
  ASSERT_TRUE(plan.ok());
  std::vector<FilterSetting> filters;
  for (const RunBudget& run : plan->filters.runs) {
    filters.push_back(run.setting);
  }
  const auto again = ExpectedGetCost(runs, filters, options.get);
  ASSERT_TRUE(again.ok());
  EXPECT_NEAR(plan->cost.total_us, again->total_us, 1e-5);
}

TEST(TotalMemory, GivenMemoryIsSpent) {
  const FilterCost cost = *FilterCost::OfFamily("compact");
  const std::vector<TreeRun> runs = Leveled(100000000);
  for (const double bits : {0.0, 3.0, 10.0}) {
    const auto plan =
        PlanFilterMemory(cost, runs, {}, FilterMemory::BitsPerKey(bits));
    ASSERT_TRUE(plan.ok());
    EXPECT_NEAR(plan->filters.bits_per_key, bits, 0.02);
    EXPECT_NEAR(plan->cost.filter.bytes, bits / 8 * 100000000,
                0.15 * bits / 8 * 100000000);
  }
}

TEST(TotalMemory, OldestRunHasNoFilterIfFewGetsMissAndTheCacheIsSmall) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const std::vector<TreeRun> runs = Leveled(1000000000);
  TotalMemoryOptions options;
  options.get.missing_share = 0.05;
  const auto plan = PlanTotalMemory(cost, runs, options);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->filters.runs.back().setting.bits_per_key, 0);
  EXPECT_NEAR(plan->filters.runs.back().absent_asks, 0.05, kRelative);
  EXPECT_GT(plan->filters.runs.front().setting.bits_per_key, 5);
}

TEST(TotalMemory, BitsThatSaveNothingAreNotSpent) {
  TotalMemoryOptions options;
  options.get.cache_bytes = kHugeCache;
  options.get.missing_share = 1;
  const auto plan = PlanTotalMemory(FilterCost::OfRocksDbBloom(),
                                    Leveled(100000000), options);
  ASSERT_TRUE(plan.ok());
  EXPECT_LT(plan->filters.bits_per_key, 20);
}

TEST(TotalMemory, SameBitsReadLessInATinyCache) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const std::vector<TreeRun> runs = Leveled(1000000000);
  TotalMemoryOptions options;
  options.get.missing_share = 1;
  options.get.cache_bytes = 120000000;
  const auto tiny = PlanTotalMemory(cost, runs, options);
  options.get.cache_bytes = 600000000;
  const auto larger = PlanTotalMemory(cost, runs, options);
  ASSERT_TRUE(tiny.ok() && larger.ok());
  EXPECT_EQ(tiny->mode, BudgetMode::kFixed);
  EXPECT_EQ(larger->mode, BudgetMode::kBalanced);
}

TEST(TotalMemory, UselessFiltersAreNotBuilt) {
  // Every get finds its key in the one run there is.
  TotalMemoryOptions options;
  options.get.missing_share = 0;
  const auto plan =
      PlanTotalMemory(FilterCost::OfRocksDbBloom(), {{100000000}}, options);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->filters.bits_per_key, 0);
  EXPECT_EQ(plan->cost.filter.asks, 0);
}

TEST(TotalMemory, FiltersSaveCpuWhereAllBlocksFit) {
  TotalMemoryOptions options;
  options.get.cache_bytes = kHugeCache;
  const auto plan = PlanTotalMemory(FilterCost::OfRocksDbBloom(),
                                    Leveled(100000000), options);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->cost.reads(), 0);
  EXPECT_GT(plan->filters.bits_per_key, 5);
}

TEST(TotalMemory, LittleCacheWantsFewerBits) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const std::vector<TreeRun> runs = Leveled(1000000000);
  TotalMemoryOptions options;
  options.get.missing_share = 1;
  options.get.cache_bytes = uint64_t{4} << 30;
  const auto much = PlanTotalMemory(cost, runs, options);
  options.get.cache_bytes = 256 << 20;
  const auto little = PlanTotalMemory(cost, runs, options);
  ASSERT_TRUE(much.ok() && little.ok());
  EXPECT_LT(little->filters.bits_per_key, much->filters.bits_per_key);
}

TEST(TotalMemory, ErrorNamesValueAndLimits) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  TotalMemoryOptions options;
  options.step_bits = 0;
  EXPECT_EQ(PlanTotalMemory(cost, kOneRun, options).status().message(),
            "step_bits 0 is not within 0.01 to 100");
  options = {};
  options.max_bits_per_key = 200;
  EXPECT_EQ(PlanTotalMemory(cost, kOneRun, options).status().message(),
            "max_bits_per_key 200 is not within 0 to 100");
  options = {};
  options.min_bits_per_key = 25;
  EXPECT_EQ(PlanTotalMemory(cost, kOneRun, options).status().message(),
            "min_bits_per_key 25 is not within 0 to 24");
  options = {};
  options.get.missing_share = 2;
  EXPECT_EQ(PlanTotalMemory(cost, kOneRun, options).status().message(),
            "missing_share 2 is not within 0 to 1");
}

}  // namespace
}  // namespace rowbloom
