// SPDX-License-Identifier: Apache-2.0
//
// Every release reads the files of all released formats, and the current
// version's bytes do not change by accident.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "block/format.h"
#include "golden/cases.h"
#include "reader/test_block.h"
#include "rowbloom/filter_reader.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using ::testing::ElementsAre;
using testing::NumberedRow;

std::string GoldenFile(const std::string& name) {
  std::ifstream file(ROWBLOOM_SOURCE_DIR "/tests/golden/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(Golden, BlocksAreReadAndVerified) {
  for (const golden::Case& c : golden::BlockCases()) {
    const std::string bytes = GoldenFile(c.file);
    for (const Kernel kernel : AvailableKernels()) {
      const auto source = NewMemorySource(bytes, c.file);
      FilterReaderOptions options;
      options.kernel = kernel;
      options.secret = c.options.secret;
      const auto reader = FilterReader::Open(source.get(), {}, options);
      ASSERT_TRUE(reader.ok()) << reader.status();
      EXPECT_TRUE((*reader)->Verify().ok());
      EXPECT_EQ((*reader)->properties().bloom_type, c.options.bloom_type);
      for (const auto& cell : c.cells) {
        ASSERT_TRUE((*reader)->MayContain(cell.row)) << c.file;
        ASSERT_TRUE((*reader)->MayContain(cell.row, cell.qualifier)) << c.file;
        for (const size_t size : {4, 6}) {
          ASSERT_TRUE((*reader)->MayContain(
              FilterKey::Prefix(std::string_view(cell.row).substr(0, size))))
              << c.file;
        }
      }
    }
  }
}

// Returns chunks and chunk index. The properties name the writer's version, and
// the footer checksums them, so both differ.
std::string_view ChunksAndIndex(std::string_view block) {
  const std::string_view footer =
      block.substr(block.size() - block::Footer::kSize);
  return block.substr(
      0,
      util::LoadFixed<uint64_t>(footer.data() + block::Footer::kIndexOffset) +
          util::LoadFixed<uint64_t>(footer.data() + block::Footer::kIndexSize));
}

TEST(Golden, ChunksAndIndexAreWrittenAsTheyWere) {
  for (const golden::Case& c : golden::BlockCases()) {
    if (!c.is_written) continue;
    const std::string bytes = testing::WriteBlock(c.options, c.cells);
    const std::string golden = GoldenFile(c.file);
    EXPECT_EQ(ChunksAndIndex(bytes), ChunksAndIndex(golden)) << c.file;
  }
}

// A later version must also filter the same absent rows, not only lose none.
TEST(Golden, AnswersForAbsentRowsArePinned) {
  const auto count = [](const std::string& file) {
    const std::string bytes = GoldenFile(file);
    const auto source = NewMemorySource(bytes, file);
    const auto reader = FilterReader::Open(source.get(), {}, {});
    int positives = 0;
    for (uint64_t i = 0; i < 300; ++i) {
      positives += (*reader)->MayContain(NumberedRow(2 * i + 1));
    }
    return positives;
  };
  EXPECT_EQ(count("filter_block_v1_empty.bin"), 0);
  EXPECT_EQ(count("filter_block_v1_none.bin"), 300);
  EXPECT_EQ(count("filter_block_v1_blocked_bloom.bin"), 2);
  EXPECT_EQ(count("filter_block_v1_blocked_bloom_rowcol.bin"), 4);
  EXPECT_EQ(count("filter_block_v1_blocked_bloom_1_bit.bin"), 124);
  EXPECT_EQ(count("filter_block_v1_fast_8_columns.bin"), 1);
  EXPECT_EQ(count("filter_block_v1_compact_two_layers.bin"), 0);
  EXPECT_EQ(count("filter_block_v1_compact_2_columns.bin"), 70);
  EXPECT_EQ(count("filter_block_v1_compact_3000_keys.bin"), 0);
  EXPECT_EQ(count("filter_block_v1_compact_2_planes.bin"), 70);
}

TEST(Golden, AnswersForAbsentPrefixesArePinned) {
  const std::string bytes = GoldenFile("filter_block_v1_row_schema.bin");
  const auto source = NewMemorySource(bytes, "row_schema");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::set<std::string> present;
  for (uint64_t i = 0; i < 300; ++i) {
    present.insert(NumberedRow(3001 * i).substr(0, 6));
  }
  int absent = 0, positives = 0;
  for (uint64_t i = 0; i < 900000; i += 1000) {
    const std::string group = NumberedRow(i).substr(0, 6);
    if (present.count(group) != 0) continue;
    ++absent;
    positives += (*reader)->MayContain(FilterKey::Prefix(group));
  }
  EXPECT_EQ(absent, 600);
  EXPECT_EQ(positives, 5);
}

TEST(Golden, BlobsAreReadAndVerified) {
  for (const char* file : golden::kBlobFiles) {
    const std::string blob = GoldenFile(file);
    EXPECT_TRUE(VerifyFilterBlob(blob).ok());
    const auto parsed = ParseFilterBlob(blob);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(parsed->metadata, "metadata");
    for (const auto& cell : golden::Cells()) {
      EXPECT_TRUE(parsed->view.MayContain(DigestBytes(cell.row))) << file;
    }
  }
}

TEST(Golden, TheBlobIsWrittenAsItWas) {
  EXPECT_EQ(golden::Blob(), GoldenFile(golden::kBlobFiles[1]));
}

// A later version must also let the same absent keys pass each filter.
TEST(Golden, MemFiltersAreReadAndWrittenAndAnswerAsTheyDid) {
  std::vector<int> false_positives;
  for (const golden::MemFilterCase& c : golden::MemFilterCases()) {
    const std::string bytes = GoldenFile(c.file);
    EXPECT_EQ(c.filter->Save(), bytes) << c.file;
    const auto loaded = LoadMemFilter(bytes);
    ASSERT_TRUE(loaded.ok()) << c.file << " " << loaded.status();
    EXPECT_EQ((*loaded)->kind(), c.filter->kind());
    for (const KeyDigest key : golden::MemFilterKeys()) {
      ASSERT_TRUE((*loaded)->MayContain(key)) << c.file;
    }
    int& positives = false_positives.emplace_back(0);
    for (uint64_t i = 0; i < 1000; ++i) {
      positives += (*loaded)->MayContain(DigestBytes(NumberedRow(2 * i + 1)));
    }
  }
  EXPECT_THAT(false_positives, ElementsAre(8, 8, 8, 7, 19, 8, 18, 0));
}

}  // namespace
}  // namespace rowbloom
