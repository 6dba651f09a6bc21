// SPDX-License-Identifier: Apache-2.0
//
// Tests whole filters in a block cache that is too small for them: lookups read
// them again and again; the check of the options and the report both say so.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/cache.h"
#include "rocksdb/statistics.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kWholeRows = 20000;
constexpr uint64_t kGets = 500;
constexpr size_t kCacheBytes = 16 << 10;  // The filter takes 25 KB or more.

void Configure(TestDb* db, std::shared_ptr<const rdb::FilterPolicy> other) {
  db->set_up.extractor = false;
  db->set_up.other_policy = std::move(other);
  db->set_up.cache_filter_blocks = true;
  db->set_up.metadata_block_size_bytes = 1024;
  db->set_up.block_cache = rdb::NewLRUCache(kCacheBytes, /*num_shard_bits=*/0);
}

void FillWhole(TestDb* db) {
  db->Fill(kWholeRows);
  db->Compact();  // RocksDB treats files at level 0 differently.
}

struct Found {
  std::vector<std::string> check;   // CheckRocksDbOptions().
  std::vector<std::string> report;  // VerifyRocksDbFilters().
  uint64_t misses = 0;
  uint64_t bytes = 0;  // Bytes of filters that kGets gets read.
};

std::vector<std::string> Warnings(const TestDb& db) {
  const auto report = VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->warnings() : std::vector<std::string>();
}

// Gets absent keys in different places within the SST.
Found Ask(TestDb* db, const rdb::Options& options) {
  Found found;
  const rdb::ColumnFamilyOptions& of_family = options;
  EXPECT_TRUE(CheckRocksDbOptions(of_family, &found.check).ok());
  db->Open(options);
  const uint64_t misses = db->Ticker(rdb::BLOCK_CACHE_FILTER_MISS);
  const uint64_t bytes = db->Ticker(rdb::BLOCK_CACHE_FILTER_BYTES_INSERT);
  for (uint64_t i = 0; i < kGets; ++i) {
    EXPECT_FALSE(db->Has(db->Key(
        Row(static_cast<int>(1 + i * 7919 % (kWholeRows - 1))), "absent")));
  }
  found.misses = db->Ticker(rdb::BLOCK_CACHE_FILTER_MISS) - misses;
  found.bytes = db->Ticker(rdb::BLOCK_CACHE_FILTER_BYTES_INSERT) - bytes;
  found.report = Warnings(*db);
  return found;
}

class WholeFilters : public ::testing::TestWithParam<bool> {
 protected:
  static std::shared_ptr<const rdb::FilterPolicy> OtherPolicy() {
    return GetParam() ? NewRocksDbComposedPolicy({})
                      : NewRocksDbFilterPolicy({});
  }
};
std::string ModeName(const ::testing::TestParamInfo<bool>& mode) {
  return mode.param ? "composed" : "native";
}
INSTANTIATE_TEST_SUITE_P(Db, WholeFilters, ::testing::Bool(), ModeName);

TEST_P(WholeFilters, AreReadAgainForEachGetAndWarnedOf) {
  TestDb db;
  Configure(&db, OtherPolicy());
  db.Open();
  FillWhole(&db);
  const uint64_t filter_bytes = db.FilterBytes();
  ASSERT_GT(filter_bytes, kCacheBytes);
  const Found found = Ask(&db, db.MakeOptions());
  EXPECT_GE(found.misses, kGets);
  EXPECT_GE(found.bytes, kGets * filter_bytes);
  EXPECT_THAT(found.check, ElementsAre(HasSubstr("a capacity of 16384")));
  EXPECT_THAT(
      found.report,
      ElementsAre(AllOf(HasSubstr("1 filter is read whole into the block"),
                        HasSubstr(std::to_string(filter_bytes) + " bytes"),
                        HasSubstr("a capacity of 16384 bytes"),
                        HasSubstr("set partition_filters=true"))));
}

TEST_P(WholeFilters, AreReadOnceWithEachRemedy) {
  for (const bool pinned : {false, true}) {
    TestDb db;
    Configure(&db, OtherPolicy());
    db.set_up.cache_filter_blocks = pinned;
    rdb::BlockBasedTableOptions table = db.TableOptions();
    if (pinned) {
      table.metadata_cache_options.unpartitioned_pinning =
          rdb::PinningTier::kAll;
    }
    const rdb::Options options = db.MakeOptions(table);
    db.Open(options);
    FillWhole(&db);
    const Found found = Ask(&db, options);
    EXPECT_EQ(found.misses, 0);
    EXPECT_EQ(found.bytes, 0);
    EXPECT_THAT(found.check, IsEmpty());
    EXPECT_THAT(found.report, IsEmpty());
  }
}

TEST_P(WholeFilters, AreWarnedOfUntilACompactionPartitionsThem) {
  TestDb db;
  Configure(&db, OtherPolicy());
  db.Open();
  FillWhole(&db);
  db.set_up.partitioned = true;
  Found found = Ask(&db, db.MakeOptions());
  EXPECT_GE(found.misses, kGets);
  const uint64_t whole_bytes = found.bytes;
  EXPECT_THAT(found.check, IsEmpty());
  EXPECT_THAT(found.report,
              ElementsAre(HasSubstr("compacting the files partitions them")));
  db.Compact();
  found = Ask(&db, db.MakeOptions());
  EXPECT_LT(found.bytes, whole_bytes / 10);
  EXPECT_THAT(found.report, IsEmpty());
}

TEST(DbWholeFilters, ThatTheCacheHoldsOneByOneButNotTogetherAreWarnedOf) {
  TestDb db;
  Configure(&db, nullptr);
  db.set_up.block_cache = rdb::NewLRUCache(60 << 10, 0);
  db.Open();
  for (int file = 0; file < 2; ++file) {
    EXPECT_THAT(Warnings(db), IsEmpty());
    db.Fill(kWholeRows);
  }
  EXPECT_THAT(Warnings(db), ElementsAre(HasSubstr("2 filters are read whole")));
}

}  // namespace
}  // namespace rowbloom::testing
