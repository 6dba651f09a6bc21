// SPDX-License-Identifier: Apache-2.0
//
// Asks files that HBase wrote the questions that HBase answered.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hfile/test_data.h"
#include "rowbloom/hfile.h"

namespace rowbloom {
namespace {

class HFileSamplesTest : public ::testing::TestWithParam<testing::HFileSample> {
 protected:
  void SetUp() override {
    auto source = OpenFileSource(GetParam().path);
    ASSERT_TRUE(source.ok()) << source.status();
    source_ = *std::move(source);
  }

  std::unique_ptr<HFileReader> Open(const HFileReaderOptions& options = {}) {
    auto reader = HFileReader::Open(source_.get(), options);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? *std::move(reader) : nullptr;
  }

  std::unique_ptr<RandomAccessSource> source_;
};

INSTANTIATE_TEST_SUITE_P(All, HFileSamplesTest,
                         ::testing::ValuesIn(testing::HFileSamples()),
                         testing::SampleName);

bool Ask(const HFileReader& reader, const testing::HFileQuery& query) {
  if (query.kind == "ROW") return reader.MayContain(query.row);
  if (query.kind == "ROWCOL") {
    return reader.MayContain(query.row, query.qualifier);
  }
  EXPECT_EQ(query.kind, "DELFAM");
  return reader.MayContainFamilyDelete(query.row);
}

TEST_P(HFileSamplesTest, AnswersAsHBase) {
  const std::unique_ptr<FilterCache> cache = NewShardedLruCache({8 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  FilterStats stats;
  options.stats = &stats;
  const auto reader = Open(options);
  ASSERT_NE(reader, nullptr);
  ASSERT_FALSE(GetParam().queries.empty());
  int wrong = 0;
  for (const testing::HFileQuery& query : GetParam().queries) {
    if (Ask(*reader, query) != query.may_contain) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << "of " << GetParam().queries.size();
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups],
            GetParam().queries.size());
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLoadErrors], 0);
}

TEST_P(HFileSamplesTest, IsFoundWhole) {
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(reader->Verify(true), absl::OkStatus());
}

TEST_P(HFileSamplesTest, HasAsManyCellsAsItSays) {
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  const auto cells = reader->NewCellReader();
  uint64_t count = 0;
  HFileCell cell;
  while (cells->Next(&cell)) ++count;
  EXPECT_EQ(cells->status(), absl::OkStatus());
  EXPECT_EQ(count, reader->properties().cell_count);
}

// Returns the files in directories of this name below ROWBLOOM_HFILES.
std::vector<std::filesystem::path> FoundIn(const char* directory) {
  std::vector<std::filesystem::path> files;
  const char* root = std::getenv("ROWBLOOM_HFILES");
  if (root == nullptr) return files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().parent_path().filename() == directory) {
      files.push_back(entry.path());
    }
  }
  return files;
}

TEST(HFileFound, HudisFilesHaveNoHBaseFilter) {
  const auto files = FoundIn("hudi_no_hbase_bloom");
  if (files.empty()) GTEST_SKIP() << "ROWBLOOM_HFILES names no samples";
  for (const auto& path : files) {
    auto source = OpenFileSource(path);
    ASSERT_TRUE(source.ok());
    const auto reader = HFileReader::Open(source->get());
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_FALSE((*reader)->general_filter().is_usable);
    EXPECT_EQ((*reader)->general_filter().reason.rfind("no HBase filter", 0), 0)
        << (*reader)->general_filter().reason;
    EXPECT_TRUE((*reader)->MayContain("any"));
    EXPECT_TRUE((*reader)->MayContainFamilyDelete("any"));
    EXPECT_EQ((*reader)->Verify(true), absl::OkStatus());
    for (const std::string& name : (*reader)->properties().meta_blocks) {
      EXPECT_TRUE((*reader)->ReadMetaBlock(name).ok()) << name;
    }
  }
}

TEST(HFileFound, FilesOfVersion1AreRefused) {
  const auto files = FoundIn("hfile_v1_to_refuse");
  if (files.empty()) GTEST_SKIP() << "ROWBLOOM_HFILES names no samples";
  for (const auto& path : files) {
    auto source = OpenFileSource(path);
    ASSERT_TRUE(source.ok());
    const auto status = HFileReader::Open(source->get()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_NE(status.message().find("version 1"), absl::string_view::npos);
  }
}

TEST(HFileFound, EveryFileThatCanBeReadIsWhole) {
  const char* root = std::getenv("ROWBLOOM_HFILES");
  if (root == nullptr) GTEST_SKIP() << "ROWBLOOM_HFILES names no samples";
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    auto source = OpenFileSource(entry.path());
    ASSERT_TRUE(source.ok());
    const auto reader = HFileReader::Open(source->get());
    if (!reader.ok()) continue;
    EXPECT_EQ((*reader)->Verify(true), absl::OkStatus());
  }
}

}  // namespace
}  // namespace rowbloom
