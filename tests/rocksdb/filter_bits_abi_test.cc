// SPDX-License-Identifier: Apache-2.0

#include "filter_bits_abi.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/table.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;

// RocksDB's own builder and reader, called through our declaration of them:
// with a slot out of place this crashes or answers nonsense.
TEST(FilterBitsAbi, DrivesTheBuilderAndReaderThatRocksDbBuiltIn) {
  const std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> policy(
      ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10));
  const ROCKSDB_NAMESPACE::BlockBasedTableOptions table_options;
  const ROCKSDB_NAMESPACE::FilterBuildingContext context(table_options);
  const std::unique_ptr<ROCKSDB_NAMESPACE::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(context));
  ASSERT_NE(builder, nullptr);
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(std::to_string(i));
  for (const std::string& key : keys) builder->AddKey(key);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1000);
  EXPECT_GT(builder->ApproximateNumEntries(1300), 900);
  EXPECT_LT(builder->ApproximateNumEntries(1300), 1100);

  std::unique_ptr<const char[]> bytes;
  ROCKSDB_NAMESPACE::Status status;
  const ROCKSDB_NAMESPACE::Slice filter = builder->Finish(&bytes, &status);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(builder->MaybePostVerify(filter).ok());
  EXPECT_GT(filter.size(), 1200);

  const std::unique_ptr<ROCKSDB_NAMESPACE::FilterBitsReader> reader(
      policy->GetFilterBitsReader(filter));
  for (const std::string& key : keys) EXPECT_TRUE(reader->MayMatch(key));
  ROCKSDB_NAMESPACE::Slice present("7"), absent("absent");
  ROCKSDB_NAMESPACE::Slice* both[] = {&present, &absent};
  bool may_match[] = {false, true};
  reader->MayMatch(2, both, may_match);
  EXPECT_TRUE(may_match[0]);
  EXPECT_EQ(may_match[1], reader->MayMatch(absent));
}

TEST(FilterBitsAbi, AdmitsTheReleaseItWasCompiledFor) {
  EXPECT_TRUE(CheckRocksDbVersion(RunningRocksDbVersion()).ok());
}

TEST(FilterBitsAbi, RefusesAnotherReleaseAndNamesBoth) {
  const absl::Status status = CheckRocksDbVersion("9.6.1");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("RocksDB 9.6.1 is"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("RocksDB " + CompiledRocksDbVersion() + " but"));
}

TEST(FilterBitsAbi, ComparesMinorReleasesWhole) {
  EXPECT_FALSE(CheckRocksDbVersion("7.80.3", "7.8.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("7.8.3", "7.80.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("7.8", "7.8.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("").ok());
}

TEST(FilterBitsAbi, PatchReleasesMatterBefore703Only) {
  EXPECT_TRUE(CheckRocksDbVersion("7.8.30", "7.8.3").ok());
  EXPECT_TRUE(CheckRocksDbVersion("7.0.4", "7.0.3").ok());
  for (const char* older : {"7.0.0", "7.0.1", "7.0.2"}) {
    EXPECT_FALSE(CheckRocksDbVersion(older, "7.0.3").ok()) << older;
  }
}

}  // namespace
}  // namespace rowbloom
