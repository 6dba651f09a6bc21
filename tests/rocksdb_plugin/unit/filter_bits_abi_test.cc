// SPDX-License-Identifier: Apache-2.0

#include "filter_bits_abi.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rdb.h"
#include "rocksdb/table.h"

namespace rowbloom {
namespace {

// RocksDB's own builder and reader, called through our declaration of them:
// with a slot out of place this crashes or answers nonsense.
TEST(FilterBitsAbi, DrivesTheBuilderAndReaderThatRocksDbBuiltIn) {
  const std::unique_ptr<const rdb::FilterPolicy> policy(
      rdb::NewBloomFilterPolicy(10));
  const rdb::BlockBasedTableOptions table_options;
  const rdb::FilterBuildingContext context(table_options);
  const std::unique_ptr<rdb::FilterBitsBuilder> builder(
      policy->GetBuilderWithContext(context));
  ASSERT_NE(builder, nullptr);
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back(std::to_string(i));
  for (const std::string& key : keys) builder->AddKey(key);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1000);
  EXPECT_GT(builder->ApproximateNumEntries(1300), 900);
  EXPECT_LT(builder->ApproximateNumEntries(1300), 1100);

  std::unique_ptr<const char[]> bytes;
  rdb::Status status;
  const rdb::Slice filter = builder->Finish(&bytes, &status);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(builder->MaybePostVerify(filter).ok());
  EXPECT_GT(filter.size(), 1200);

  const std::unique_ptr<rdb::FilterBitsReader> reader(
      policy->GetFilterBitsReader(filter));
  for (const std::string& key : keys) EXPECT_TRUE(reader->MayMatch(key));
  rdb::Slice present("7"), absent("absent");
  rdb::Slice* both[] = {&present, &absent};
  bool may_match[] = {false, true};
  reader->MayMatch(2, both, may_match);
  EXPECT_TRUE(may_match[0]);
  EXPECT_EQ(may_match[1], reader->MayMatch(absent));
}

}  // namespace
}  // namespace rowbloom
