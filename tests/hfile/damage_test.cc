// SPDX-License-Identifier: Apache-2.0
//
// Tests small files that are damaged at each of their bytes.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hfile/test_data.h"
#include "hfile/test_hfile.h"
#include "rowbloom/hfile.h"

namespace rowbloom {
namespace {

using testing::OpenHFile;

struct DamageCase {
  const char* name;
  std::string bytes;
};

DamageCase Written(const char* name, BloomType type,
                   HFileCompression compression) {
  HFileWriterOptions options;
  options.bloom_type = type;
  options.prefix_length_bytes = 4;
  options.chunk_size_bytes = 8;
  options.max_fold = 0;
  options.compression = compression;
  return {name, testing::SmallHFile(options, 12)};
}

DamageCase Golden(const char* name, const std::string& directory = "") {
  return {name,
          testing::ReadFile(testing::HFileData(directory + name + ".hfile"))};
}

std::vector<DamageCase> Cases() {
  return {Written("row", BloomType::kRow, HFileCompression::kNone),
          Written("rowcol_gz", BloomType::kRowCol, HFileCompression::kGz),
          Written("prefix_snappy", BloomType::kRowPrefixFixedLength,
                  HFileCompression::kSnappy),
          Golden("rowcol_v2_nodelbloom_single"),
          Golden("row_v3_single_row"),
          Golden("rowcol_one_cell", "hbase_2.6/"),
          Golden("row_only_a_delete", "hbase_2.6/")};
}

// The contents of the undamaged file.
struct Contents {
  std::vector<std::pair<std::string, std::string>> columns;
  std::vector<std::string> deleted;
};

Contents ContentsOf(const std::string& bytes) {
  Contents contents;
  const OpenHFile file(bytes);
  const auto cells = file->NewCellReader();
  HFileCell cell;
  while (cells->Next(&cell)) {
    contents.columns.emplace_back(cell.row, cell.qualifier);
    if (cell.type == HFileCell::kDeleteFamily) {
      contents.deleted.emplace_back(cell.row);
    }
  }
  EXPECT_FALSE(contents.columns.empty());
  return contents;
}

// Expects that no cell is denied; returns true if the damage is detected.
bool IsSeen(const std::string& bytes, const Contents& contents) {
  const OpenHFile file(bytes);
  if (!file.reader.ok()) return true;
  for (const auto& [row, qualifier] : contents.columns) {
    EXPECT_TRUE(file->MayContain(row));
    EXPECT_TRUE(file->MayContain(row, qualifier));
  }
  for (const std::string& row : contents.deleted) {
    EXPECT_TRUE(file->MayContainFamilyDelete(row));
  }
  const auto cells = file->NewCellReader();
  HFileCell cell;
  size_t count = 0;
  while (cells->Next(&cell)) ++count;
  EXPECT_TRUE(!cells->status().ok() || count == contents.columns.size());
  return !file->Verify(true).ok();
}

class DamageTest : public ::testing::TestWithParam<DamageCase> {};

INSTANTIATE_TEST_SUITE_P(All, DamageTest, ::testing::ValuesIn(Cases()),
                         [](const auto& param) {
                           return std::string(param.param.name);
                         });

TEST_P(DamageTest, AnyChangedByteIsSeenAndLosesNoRow) {
  const std::string& whole = GetParam().bytes;
  const Contents contents = ContentsOf(whole);
  ASSERT_FALSE(IsSeen(whole, contents));
  // Minor versions of a major one do not differ in the parts that are read.
  const size_t minor_version = whole.size() - 4;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const bool seen = IsSeen(damaged, contents);
      if (i != minor_version) {
        ASSERT_TRUE(seen) << "byte " << i << " of " << whole.size()
                          << " changed by " << change;
      }
    }
  }
}

TEST_P(DamageTest, AnyOtherByteInTheTrailerIsSeenAndLosesNoRow) {
  const std::string& whole = GetParam().bytes;
  const Contents contents = ContentsOf(whole);
  const size_t trailer = whole.rfind("TRABLK\"$");
  // The loop covers the fields; zeros follow them.
  for (size_t i = trailer; i < trailer + 200; ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(value);
      if (damaged == whole) continue;
      ASSERT_TRUE(IsSeen(damaged, contents))
          << "byte " << i << " of " << whole.size() << " is " << value;
    }
  }
}

TEST_P(DamageTest, AnyEndOrBeginningThatIsMissingIsSeenAndLosesNoRow) {
  const std::string& whole = GetParam().bytes;
  const Contents contents = ContentsOf(whole);
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_TRUE(IsSeen(whole.substr(0, size), contents)) << size;
    ASSERT_TRUE(IsSeen(whole.substr(size + 1), contents)) << size;
  }
}
}  // namespace
}  // namespace rowbloom
