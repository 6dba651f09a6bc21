// SPDX-License-Identifier: Apache-2.0
//
// Asks files that HBase wrote the questions that HBase answered.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "hosts/hfile/test_data.h"
#include "hosts/hfile/test_hfile.h"
#include "rowbloom/hfile.h"

namespace rowbloom {
namespace {

using testing::OpenHFile;

class HFileSamplesTest : public ::testing::TestWithParam<testing::HFileSample> {
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
  FilterStats stats;
  HFileReaderOptions options;
  options.stats = &stats;
  const OpenHFile file(testing::ReadFile(GetParam().path), options);
  ASSERT_FALSE(GetParam().queries.empty());
  int wrong = 0;
  for (const testing::HFileQuery& query : GetParam().queries) {
    if (Ask(*file, query) != query.may_contain) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << "of " << GetParam().queries.size();
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups],
            GetParam().queries.size());
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLoadErrors], 0);
}

TEST_P(HFileSamplesTest, IsFoundWholeAndHasAsManyCellsAsItSays) {
  const OpenHFile file(testing::ReadFile(GetParam().path));
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  const auto cells = file->NewCellReader();
  uint64_t count = 0;
  HFileCell cell;
  while (cells->Next(&cell)) ++count;
  EXPECT_EQ(cells->status(), absl::OkStatus());
  EXPECT_EQ(count, file->properties().cell_count);
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
    const OpenHFile file(testing::ReadFile(path));
    EXPECT_FALSE(file->general_filter().is_usable);
    EXPECT_EQ(file->general_filter().reason.rfind("no HBase filter", 0), 0)
        << file->general_filter().reason;
    EXPECT_TRUE(file->MayContain("any"));
    EXPECT_TRUE(file->MayContainFamilyDelete("any"));
    for (const std::string& name : file->properties().meta_blocks) {
      EXPECT_TRUE(file->ReadMetaBlock(name).ok()) << name;
    }
  }
}

TEST(HFileFound, FilesOfVersion1AreRefused) {
  const auto files = FoundIn("hfile_v1_to_refuse");
  if (files.empty()) GTEST_SKIP() << "ROWBLOOM_HFILES names no samples";
  for (const auto& path : files) {
    const absl::Status status =
        OpenHFile(testing::ReadFile(path)).reader.status();
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
    const OpenHFile file(testing::ReadFile(entry.path()));
    if (!file.reader.ok()) continue;
    EXPECT_EQ(file->Verify(true), absl::OkStatus()) << entry.path();
  }
}

}  // namespace
}  // namespace rowbloom
