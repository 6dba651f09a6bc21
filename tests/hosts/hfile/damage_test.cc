// SPDX-License-Identifier: Apache-2.0
//
// Tests small files that are damaged at each of their bytes.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hosts/hfile/test_data.h"
#include "hosts/hfile/test_hfile.h"
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

// Places of the file's Bloom chunks, of both filters: offset and size.
std::vector<std::pair<size_t, size_t>> ChunksOf(const std::string& bytes) {
  std::vector<std::pair<size_t, size_t>> chunks;
  const OpenHFile file(bytes);
  for (const HFileBloomInfo* filter :
       {&file->general_filter(), &file->delete_family_filter()}) {
    for (const HFileBloomChunkInfo& chunk : filter->chunks) {
      chunks.emplace_back(static_cast<size_t>(chunk.offset), chunk.size_bytes);
    }
  }
  return chunks;
}

TEST(Misplaced, ChunksThatAreSwappedOrCopiedAreSeenAndLoseNoRow) {
  std::vector<DamageCase> cases = {
      Written("row", BloomType::kRow, HFileCompression::kNone),
      Written("rowcol", BloomType::kRowCol, HFileCompression::kNone),
      Written("prefix_gz", BloomType::kRowPrefixFixedLength,
              HFileCompression::kGz),
      Golden("row_v2_multichunk_gz"), Golden("row_v2_err05_fold0_oddsize")};
  HFileWriterOptions delete_chunks;
  delete_chunks.bloom_type = BloomType::kNone;
  delete_chunks.chunk_size_bytes = 8;
  delete_chunks.max_fold = 0;
  cases.push_back({"delete_family", testing::SmallHFile(delete_chunks, 50)});
  // Chunks of both filters take turns, and have no key in common.
  HFileWriterOptions both_chunks = delete_chunks;
  both_chunks.bloom_type = BloomType::kRowPrefixFixedLength;
  both_chunks.prefix_length_bytes = 2;
  both_chunks.block_size_bytes = 128;
  std::vector<HFileCell> deletes;
  std::vector<std::string> deleted_rows;
  for (int i = 10; i < 60; ++i) {
    deleted_rows.push_back(std::to_string(i) + " and more");
  }
  for (const std::string& row : deleted_rows) {
    deletes.push_back(testing::FamilyDelete(row));
  }
  cases.push_back({"both", testing::WriteHFile(both_chunks, deletes)});
  size_t pairs = 0;
  for (const DamageCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Contents contents = ContentsOf(c.bytes);
    const auto chunks = ChunksOf(c.bytes);
    ASSERT_GT(chunks.size(), 1);
    for (const auto& [from, from_size] : chunks) {
      for (const auto& [to, to_size] : chunks) {
        // Only blocks of one size can be in each other's place.
        if (from == to || from_size != to_size) continue;
        ++pairs;
        std::string copied = c.bytes;
        copied.replace(to, to_size, c.bytes, from, from_size);
        EXPECT_TRUE(IsSeen(copied, contents)) << from << " to " << to;
        EXPECT_FALSE(OpenHFile(copied)->Verify(false).ok());
        copied.replace(from, from_size, c.bytes, to, to_size);
        EXPECT_TRUE(IsSeen(copied, contents)) << from << " and " << to;
        EXPECT_FALSE(OpenHFile(copied)->Verify(false).ok());
      }
    }
  }
  EXPECT_GT(pairs, 100);
}

// With the index of a filter, or the header that says whether headers state the
// block before, the order of the chunks is lost.
TEST(Misplaced, ChunksAreSeenAlsoIfWhatTellsTheirOrderIsDamaged) {
  const DamageCase golden = Golden("row_snappy_prefix", "hbase_2.6/");
  HFileWriterOptions options;
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  options.prefix_length_bytes = 2;
  options.chunk_size_bytes = 8;
  options.max_fold = 0;
  options.block_size_bytes = 128;
  std::vector<std::string> rows;
  for (int i = 10; i < 40; ++i) rows.push_back(std::to_string(i) + " more");
  std::vector<HFileCell> cells;
  for (const std::string& row : rows) {
    cells.push_back(testing::FamilyDelete(row));
  }
  std::map<std::string, int> cases;
  for (const DamageCase& c :
       {golden, DamageCase{"both", testing::WriteHFile(options, cells)}}) {
    SCOPED_TRACE(c.name);
    const Contents contents = ContentsOf(c.bytes);
    const auto chunks = ChunksOf(c.bytes);
    ASSERT_GT(chunks.size(), 1);
    std::vector<HFileBlockInfo> blocks;
    ASSERT_EQ(OpenHFile(c.bytes)->ListBlocks(&blocks), absl::OkStatus());
    for (const HFileBlockInfo& block : blocks) {
      if (block.type != "IDXROOT2" && block.type != "BLMFMET2" &&
          block.type != "DFBLMET2") {
        continue;
      }
      for (const size_t at : {0, 40}) {  // The magic, and the payload.
        if (at >= block.size_bytes) continue;
        std::string damaged = c.bytes;
        damaged[static_cast<size_t>(block.offset) + at] ^= 1;
        ++cases[block.type];
        for (const auto& [from, from_size] : chunks) {
          for (const auto& [to, to_size] : chunks) {
            if (from == to || from_size != to_size) continue;
            std::string copied = damaged;
            copied.replace(to, to_size, c.bytes, from, from_size);
            EXPECT_TRUE(IsSeen(copied, contents))
                << from << " to " << to << ", and byte " << at << " of "
                << block.type;
          }
        }
      }
    }
  }
  EXPECT_EQ(cases.size(), 3);
}

}  // namespace
}  // namespace rowbloom
