// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/utilities/object_registry.h"
#include "rowbloom/rocksdb.h"

extern "C" int rowbloom_register(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                 const std::string& arg);

namespace rowbloom {
namespace {

using ::testing::HasSubstr;

TEST(Registry, AddsEachFactoryOnce) {
  rdb::ObjectLibrary library("ours");
  EXPECT_EQ(RegisterRocksDb(library, ""), 6);
  EXPECT_EQ(RegisterRocksDb(library, ""), 0);
  size_t types = 0;
  EXPECT_EQ(library.GetFactoryCount(&types), 6);
  RegisterRocksDb();
  EXPECT_EQ(RegisterRocksDb(), 0);
}

TEST(Registry, IsCallableAsRocksDbCallsAPluginOfItsOwnTree) {
  rdb::ObjectLibrary library("ours");
  EXPECT_EQ(rowbloom_register(library, ""), 6);
}

TEST(Registry, WrongExtractorTextSaysWhatIsAllowed) {
  RegisterRocksDb();
  rdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<const rdb::SliceTransform> extractor;
  for (const char* text : {"rowbloom.RowPrefix", "rowbloom.RowPrefix:",
                           "rowbloom.RowPrefix:ROWCOL"}) {
    const rdb::Status status =
        rdb::SliceTransform::CreateFromString(config, text, &extractor);
    EXPECT_TRUE(status.IsInvalidArgument()) << text;
    EXPECT_THAT(status.ToString(), HasSubstr("BLOOM_TYPE:CODEC"));
  }
  EXPECT_TRUE(rdb::SliceTransform::CreateFromString(
                  config, "rowbloom.RowPrefixes:ROW:ordered", &extractor)
                  .IsNotSupported());
}

// Programs must call RegisterRocksDb(): RocksDB's defaults hide a missing call.
TEST(Registry, WithoutRegistrationRocksDbSilentlyUsesNoFilter) {
  rdb::ConfigOptions config;
  config.registry = std::make_shared<rdb::ObjectRegistry>(
      std::make_shared<rdb::ObjectLibrary>("empty"));
  std::shared_ptr<const rdb::FilterPolicy> policy;
  EXPECT_TRUE(
      rdb::FilterPolicy::CreateFromString(config, "rowbloom", &policy).ok());
  EXPECT_EQ(policy, nullptr);
  config.ignore_unsupported_options = false;
  EXPECT_TRUE(rdb::FilterPolicy::CreateFromString(config, "rowbloom", &policy)
                  .IsNotSupported());
}

}  // namespace
}  // namespace rowbloom
