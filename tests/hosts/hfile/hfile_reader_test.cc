// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hfile/bloom_meta.h"
#include "hfile/cell_key.h"
#include "hfile/file_info.h"
#include "hosts/hfile/test_hfile.h"
#include "rowbloom/hfile.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"

namespace rowbloom {
namespace {

using testing::EditHFile;
using ::testing::HasSubstr;
using testing::LoadedBlock;
using testing::OpenHFile;
using testing::Put;
using testing::SmallHFile;
using testing::WriteHFile;

constexpr const char* kAbsent[] = {"row01", "row03", "row05", "row07",
                                   "row09", "row11", "row13"};
constexpr int kAbsentCount = std::size(kAbsent);

// Makes chunks for a few keys each, at a rate at which few of kAbsent pass.
HFileWriterOptions ManyChunks(BloomType type) {
  HFileWriterOptions options;
  options.bloom_type = type;
  options.chunk_size_bytes = 8;
  options.error_rate = 0.01F;
  options.max_fold = 0;
  return options;
}

int CountMaybe(const HFileReader& reader) {
  int maybe = 0;
  for (const char* row : kAbsent) maybe += reader.MayContain(row, "a") ? 1 : 0;
  return maybe;
}

// Sets a value of file info; nullopt removes it.
std::string WithInfo(const std::string& bytes, const char* name,
                     const std::optional<std::string>& value) {
  return EditHFile(bytes, [&](std::vector<LoadedBlock>* blocks) {
    for (LoadedBlock& block : *blocks) {
      if (block.magic != hfile::kFileInfoMagic) continue;
      hfile::FileInfo info = *hfile::ParseFileInfo(block.payload);
      info.erase(name);
      if (value.has_value()) info[name] = *value;
      block.payload = hfile::SerializeFileInfo(info);
    }
  });
}

std::string WithMeta(const std::string& bytes,
                     const std::function<void(std::string*)>& edit) {
  return EditHFile(bytes, [&](std::vector<LoadedBlock>* blocks) {
    for (LoadedBlock& block : *blocks) {
      if (block.magic == hfile::kGeneralBloomMagic) edit(&block.payload);
    }
  });
}

// Edits the general Bloom meta as a parsed one.
std::string WithParsedMeta(const std::string& bytes,
                           const std::function<void(hfile::BloomMeta*)>& edit) {
  return WithMeta(bytes, [&](std::string* payload) {
    hfile::BloomMeta meta = *hfile::ParseBloomMeta(*payload, 1 << 30);
    edit(&meta);
    *payload = hfile::SerializeBloomMeta(meta);
  });
}

// Expects that a file without a usable filter denies no row and no column.
void ExpectNoFilter(const std::string& bytes, const char* reason) {
  const OpenHFile file(bytes);
  EXPECT_FALSE(file->general_filter().is_usable);
  EXPECT_THAT(file->general_filter().reason, HasSubstr(reason));
  EXPECT_EQ(CountMaybe(*file), kAbsentCount);
  EXPECT_TRUE(file->MayContain("row00", "a"));
}

TEST(HFileReader, RowFilterAnswersForRowsAndTheirColumns) {
  const OpenHFile file(SmallHFile(ManyChunks(BloomType::kRow)));
  EXPECT_GT(file->general_filter().chunks.size(), 2);
  EXPECT_TRUE(file->MayContain("row04"));
  EXPECT_TRUE(file->MayContain("row04", "no such column"));
  EXPECT_LT(CountMaybe(*file), 3);
  EXPECT_FALSE(file->MayContain("ro"));    // Before the first key.
  EXPECT_FALSE(file->MayContain("row9"));  // Behind the last one.
}

TEST(HFileReader, RowColFilterKnowsColumnsAndNoRows) {
  const OpenHFile file(SmallHFile(ManyChunks(BloomType::kRowCol)));
  EXPECT_TRUE(file->MayContain("row04", "a"));
  EXPECT_TRUE(file->MayContain("row01"));
  EXPECT_LT(CountMaybe(*file), 3);
  // The row's family is deleted: a read of any column must see the delete.
  EXPECT_TRUE(file->MayContain("row00", "no such column"));
  const HFileExplanation why = file->Explain("row00", "no such column");
  ASSERT_EQ(why.probes.size(), 2);
  EXPECT_FALSE(why.probes[0].may_contain);
  EXPECT_TRUE(why.probes[1].may_contain);
}

TEST(HFileReader, PrefixFilterAnswersForRowsAndScans) {
  HFileWriterOptions options = ManyChunks(BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 4;
  const OpenHFile file(
      WriteHFile(options, {Put("aaab1", "q"), Put("ab", "q"), Put("dddd1", "q"),
                           Put("dddd2", "q")}));
  const HFileReader& reader = *file;
  EXPECT_EQ(reader.general_filter().prefix_length_bytes, 4);
  EXPECT_EQ(reader.general_filter().key_count, 3);
  EXPECT_EQ(reader.general_filter().last_key, "dddd");
  EXPECT_TRUE(reader.MayContain("dddd9"));  // It shares a prefix.
  EXPECT_TRUE(reader.MayContain("ab"));     // Shorter than a prefix.
  EXPECT_FALSE(reader.MayContain("dddc"));
  EXPECT_FALSE(reader.MayContain(HFileRead{"dddc1", "dddc7"}));
  EXPECT_FALSE(reader.MayContain(HFileRead{"dddc", "dddd"}));
  EXPECT_TRUE(reader.MayContain(HFileRead{"dddd", "dddd7"}));
  EXPECT_TRUE(reader.MayContain(HFileRead{"dddc", "dddd1"}));
}

TEST(HFileReader, FamilyDeletesHaveAFilterOfTheirOwn) {
  const OpenHFile file(SmallHFile(ManyChunks(BloomType::kRow), 200));
  EXPECT_TRUE(file->MayContainFamilyDelete("row00"));
  int maybe = 0;
  for (const char* row : kAbsent) {
    maybe += file->MayContainFamilyDelete(row) ? 1 : 0;
  }
  EXPECT_LT(maybe, 3);
  const OpenHFile none(WriteHFile({}, {Put("row", "a")}));
  EXPECT_FALSE(none->MayContainFamilyDelete("row"));
  HFileWriterOptions options;
  options.bloom_type = BloomType::kRowCol;
  const OpenHFile without(SmallHFile(options));
  EXPECT_FALSE(without->delete_family_filter().is_usable);
  EXPECT_TRUE(without->MayContainFamilyDelete("row02"));
}

TEST(HFileReader, AFilterOfFamilyDeletesOutweighsACountOfNone) {
  const OpenHFile file(WithInfo(SmallHFile(ManyChunks(BloomType::kRow)),
                                hfile::kDeleteFamilyCountName,
                                hfile::NumberBytes(int64_t{0})));
  EXPECT_EQ(file->properties().delete_family_count, 0);
  EXPECT_TRUE(file->MayContainFamilyDelete("row00"));
}

TEST(HFileReader, AFileWithoutCellsHasNothing) {
  const OpenHFile file(WriteHFile({}, {}));
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  EXPECT_FALSE(file->MayContain("row"));
  EXPECT_FALSE(file->MayContain("row", "a"));
  EXPECT_FALSE(file->MayContainFamilyDelete("row"));
}

TEST(HFileReader, AnEmptyMetaIndexIsNoEmptyDataIndex) {
  const std::string bytes = EditHFile(
      WriteHFile({}, {Put("row", "a")}),
      [](std::vector<LoadedBlock>* blocks) { blocks->erase(blocks->begin()); },
      [](hfile::Trailer* trailer) { trailer->entry_count = 0; });
  const OpenHFile file(bytes);
  EXPECT_TRUE(file->MayContain("row"));
  EXPECT_FALSE(file->Verify(false).ok());
}

TEST(HFileReader, VerifySeesLevelsOfDataIndexThatAreNotThere) {
  for (const uint64_t levels : {0, 2, 3, 5, 33}) {
    const OpenHFile file(EditHFile(
        WriteHFile({}, {}), nullptr,
        [&](hfile::Trailer* trailer) { trailer->data_index_levels = levels; }));
    EXPECT_EQ(file->Verify(false).code(), absl::StatusCode::kDataLoss)
        << levels;
  }
}

TEST(HFileReader, WhatItDoesNotKnowIsNoFilter) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  ASSERT_LT(CountMaybe(*OpenHFile(bytes)), 3);
  const auto with_type = [&](const char* type) {
    return WithInfo(bytes, hfile::kBloomTypeName, type);
  };
  ExpectNoFilter(with_type("RIBBON_ROW"), "RIBBON_ROW");
  ExpectNoFilter(with_type("ROWPREFIX_FIXED_LENGTH"), "without its length");
  ExpectNoFilter(with_type("ROWCOL"), "comparator");
  ExpectNoFilter(WithInfo(bytes, hfile::kBloomTypeName, {}), "no bloom type");
  ExpectNoFilter(WithMeta(bytes, [](auto* payload) { (*payload)[3] = 101; }),
                 "version 101");
  ExpectNoFilter(WithMeta(bytes, [](auto* payload) { (*payload)[19] = 3; }),
                 "hash type 3");
  ExpectNoFilter(WithMeta(bytes, [](auto* payload) { payload->pop_back(); }),
                 "cut short");
  const char own[] = "com.example.Own";
  ExpectNoFilter(
      WithParsedMeta(bytes, [&](auto* meta) { meta->comparator = own; }), own);
  ExpectNoFilter(WithParsedMeta(bytes,
                                [](hfile::BloomMeta* meta) {
                                  meta->chunks[1].first_key = "a";
                                }),
                 "does not follow");
  ExpectNoFilter(EditHFile(bytes, nullptr,
                           [&](auto* trailer) { trailer->comparator = own; }),
                 own);
  ExpectNoFilter(EditHFile(bytes,
                           [](std::vector<LoadedBlock>* blocks) {
                             blocks->erase(blocks->begin() + 3);
                           }),
                 "no general Bloom meta");
}

// HBASE-30174 may give prefixes an offset in the row.
TEST(HFileReader, AnUnknownEntryAboutFiltersMakesAllAnswersMaybe) {
  const char offset[] = "BLOOM_FILTER_PARAM_OFFSET";
  HFileWriterOptions options = ManyChunks(BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 5;
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                               BloomType::kRowPrefixFixedLength}) {
    options.bloom_type = type;
    const std::string known = SmallHFile(options);
    ASSERT_LT(CountMaybe(*OpenHFile(known)), 3);
    ASSERT_EQ(OpenHFile(known)->Verify(true), absl::OkStatus());
    HFileWriterOptions newer = options;
    newer.file_info[offset] = std::string("\0\0\0\3", 4);
    const std::string bytes = SmallHFile(newer);
    ExpectNoFilter(bytes, offset);
    const OpenHFile file(bytes);
    for (const HFileBloomInfo* info :
         {&file->general_filter(), &file->delete_family_filter()}) {
      if (info->bloom_type == BloomType::kNone) continue;
      EXPECT_FALSE(info->is_usable);
      EXPECT_EQ(info->error.code(), absl::StatusCode::kUnimplemented);
      EXPECT_THAT(
          std::string(info->error.message()),
          HasSubstr("file: offset " + std::to_string(bytes.rfind("FILEINF2")) +
                    ": file info has \"BLOOM_FILTER_PARAM_OFFSET\""));
    }
    EXPECT_GT(file->general_filter().key_count, 0U);
    EXPECT_EQ(file->Explain("row01", std::nullopt).status,
              file->general_filter().error);
    EXPECT_EQ(file->Verify(true), file->general_filter().error);
    for (const char* row : kAbsent) {
      EXPECT_TRUE(file->MayContainFamilyDelete(row)) << row;
      EXPECT_TRUE(file->MayContain(HFileRead::Get(row)));
    }
    // The writer does not repeat what it does not do.
    EXPECT_EQ(OptionsOf(*file).file_info.count(offset), 0U);
    EXPECT_EQ(OptionsOf(*file).bloom_type, BloomType::kNone);
  }
}

TEST(HFileReader, AnUnknownEntryAboutFiltersMayReplaceAKnownOne) {
  HFileWriterOptions options = ManyChunks(BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 5;
  const std::string bytes =
      WithInfo(SmallHFile(options), hfile::kBloomParamName, {});
  EXPECT_EQ(OpenHFile(bytes)->general_filter().error.code(),
            absl::StatusCode::kDataLoss);
  const OpenHFile newer(WithInfo(bytes, "BLOOM_FILTER_PARAMS", "3:5"));
  EXPECT_EQ(newer->general_filter().error.code(),
            absl::StatusCode::kUnimplemented);
}

TEST(HFileReader, AFilterWithoutHashesIsMaybe) {
  // HBase writes this for an error rate of 0.9, with room for no key.
  const OpenHFile file(WithMeta(SmallHFile(ManyChunks(BloomType::kRow)),
                                [](std::string* payload) {
                                  payload->replace(12, 4, 4, '\0');
                                  payload->replace(28, 8, 8, '\0');
                                }));
  EXPECT_TRUE(file->general_filter().is_usable);
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  EXPECT_EQ(CountMaybe(*file), kAbsentCount);
}

TEST(HFileReader, SaysWhereTheBytesAreThatAreNoFilter) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const auto offset = [](const std::string& file, const char* magic) {
    return "file: offset " + std::to_string(file.rfind(magic)) + ": ";
  };
  const auto expect = [&](const std::string& edited, const char* magic,
                          absl::StatusCode code) {
    const OpenHFile file(edited);
    const HFileBloomInfo& info = file->general_filter();
    EXPECT_EQ(info.error.code(), code);
    EXPECT_THAT(std::string(info.error.message()),
                HasSubstr(offset(edited, magic)));
    EXPECT_EQ(info.reason.find("file: "), std::string::npos) << info.reason;
    EXPECT_EQ(file->Explain("row00", std::nullopt).status, info.error);
    EXPECT_EQ(file->Verify(false), info.error);
  };
  expect(WithMeta(bytes, [](std::string* payload) { (*payload)[19] = 9; }),
         "BLMFMET2", absl::StatusCode::kUnimplemented);
  expect(WithMeta(bytes, [](std::string* payload) { (*payload)[36] = 1; }),
         "BLMFMET2", absl::StatusCode::kDataLoss);
  expect(WithInfo(bytes, hfile::kBloomTypeName, "RIB"), "FILEINF2",
         absl::StatusCode::kUnimplemented);
  std::string damaged = bytes;
  damaged[damaged.rfind("BLMFMET2") + 40] ^= 1;
  expect(damaged, "BLMFMET2", absl::StatusCode::kDataLoss);
}

TEST(HFileReader, AFilterBehindDamageIsNotSaidToBeMissing) {
  for (const bool has_deletes : {true, false}) {
    std::string bytes = has_deletes ? SmallHFile(ManyChunks(BloomType::kRow))
                                    : WriteHFile({}, {Put("row", "q")});
    // The damaged size is that of the last block, which another might follow.
    bytes[bytes.rfind(has_deletes ? "DFBLMET2" : "BLMFMET2") + 8] ^= 0x40;
    const OpenHFile file(bytes);
    const HFileBloomInfo& info = file->delete_family_filter();
    EXPECT_EQ(info.error.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(info.reason, "what is loaded at open cannot be read to its end");
    // One of the chunks that are not known may lie in the place of one of its.
    EXPECT_FALSE(file->general_filter().is_usable);
    if (!has_deletes) {
      EXPECT_EQ(file->general_filter().reason, info.reason);
    }
    EXPECT_TRUE(file->MayContainFamilyDelete("row01"));
    EXPECT_EQ(file->ExplainFamilyDelete("row01").status, info.error);
    EXPECT_TRUE(OptionsOf(*file).delete_family_filter);
  }
}

TEST(HFileReader, ABlockOfUnknownTypeIsPassedOver) {
  const std::string bytes = EditHFile(
      SmallHFile(ManyChunks(BloomType::kRow)),
      [](std::vector<LoadedBlock>* blocks) {
        blocks->insert(blocks->begin() + 3, {"NEWBLOCK", "something"});
      });
  const OpenHFile file(bytes);
  EXPECT_TRUE(file->general_filter().is_usable);
  EXPECT_EQ(file->Verify(false).code(), absl::StatusCode::kUnimplemented);
}

TEST(HFileReader, CellsBehindABlockOfUnknownTypeAreRead) {
  HFileWriterOptions options = ManyChunks(BloomType::kRow);
  options.checksum = HFileChecksum::kNull;
  std::string bytes = SmallHFile(options);
  const auto count = [](const std::string& of) {
    const OpenHFile file(of);
    const auto cells = file->NewCellReader();
    HFileCell cell;
    int found = 0;
    while (cells->Next(&cell)) ++found;
    EXPECT_EQ(cells->status(), absl::OkStatus());
    return found;
  };
  const int cells = count(bytes);
  const size_t chunk = bytes.find("BLMFBLK2");
  ASSERT_LT(chunk, bytes.rfind("DATABLK*"));
  bytes.replace(chunk, 8, "NEWBLOCK");
  EXPECT_EQ(count(bytes), cells);
}

TEST(HFileReader, VerifyCountsTheDeletesOfFamilies) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  for (const char count : {3, 4, 5}) {  // SmallHFile() has 4.
    const OpenHFile file(
        WithInfo(bytes, "DELETE_FAMILY_COUNT", std::string(7, '\0') + count));
    EXPECT_EQ(file->Verify(true).code(),
              count == 4 ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss);
  }
}

TEST(HFileReader, TheExplanationOfADamagedChunkIsMaybe) {
  std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const uint64_t chunk =
      OpenHFile(bytes)->general_filter().chunks.front().offset;
  bytes[static_cast<size_t>(chunk) + 40] ^= 1;
  const OpenHFile file(bytes);
  const HFileExplanation why = file->Explain("row01", std::nullopt);
  EXPECT_TRUE(why.may_contain);
  EXPECT_EQ(why.status.code(), absl::StatusCode::kDataLoss);
}

TEST(HFileReader, ADamagedTypeOfBlockIsNotANewOne) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  for (const char* magic : {"DATABLK*", "BLMFBLK2", "IDXROOT2", "BLMFMET2"}) {
    std::string damaged = bytes;
    damaged[damaged.rfind(magic) + 3] ^= 1;
    const OpenHFile file(damaged);
    EXPECT_EQ(file->Verify(false).code(), absl::StatusCode::kDataLoss) << magic;
  }
}

TEST(HFileReader, ALastKeyThatIsNoneCostsOnlyItsCheck) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRowCol));
  for (const std::string& without :
       {WithInfo(bytes, hfile::kLastBloomKeyName, {}),
        WithInfo(bytes, hfile::kLastBloomKeyName, "no key")}) {
    const OpenHFile file(without);
    EXPECT_TRUE(file->general_filter().is_usable);
    EXPECT_TRUE(file->MayContain("row04", "a"));
    EXPECT_LT(CountMaybe(*file), 3);
    // HBase does not open such a file.
    const OpenHFile without_totals(
        EditHFile(without, nullptr, [](hfile::Trailer* trailer) {
          trailer->total_uncompressed_bytes = 0;
        }));
    const absl::Status status = without_totals->Verify(false);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), HasSubstr("no last key"));
  }
}

TEST(HFileReader, BytesPerChecksumAreASignedInteger) {
  HFileWriterOptions options = ManyChunks(BloomType::kRow);
  options.checksum = HFileChecksum::kNull;
  std::string bytes = SmallHFile(options);
  ASSERT_EQ(OpenHFile(bytes)->Verify(true), absl::OkStatus());
  bytes[25] ^= '\x80';  // The first block's bytes per checksum.
  EXPECT_EQ(OpenHFile(bytes)->Verify(true).code(), absl::StatusCode::kDataLoss);
}

TEST(HFileReader, AnEncryptedFileIsOpenedWithoutAFilter) {
  // This adds field 13 to the trailer; no byte is encrypted.
  std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const size_t trailer = bytes.size() - 4096;
  const size_t size = static_cast<unsigned char>(bytes[trailer + 8]);
  ASSERT_LT(size, 120);
  bytes[trailer + 8] = static_cast<char>(size + 3);
  bytes[trailer + 9 + size] = 13 << 3 | 2;
  bytes[trailer + 9 + size + 1] = 1;
  bytes[trailer + 9 + size + 2] = 'k';
  ExpectNoFilter(bytes, "encrypted");
  const OpenHFile file(bytes);
  EXPECT_TRUE(file->properties().is_encrypted);
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  const auto cells = file->NewCellReader();
  HFileCell cell;
  EXPECT_FALSE(cells->Next(&cell));
  EXPECT_EQ(cells->status().code(), absl::StatusCode::kUnimplemented);
}

TEST(HFileReader, OpensWithTwoReadsAndLoadsEachChunkOnce) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const auto memory = NewMemorySource(bytes);
  const testing::CountingSource source(memory.get());
  const auto cache = NewShardedLruCache({1 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  {
    const auto reader = HFileReader::Open(&source, options);
    EXPECT_EQ(source.read_count(), 2);
    EXPECT_TRUE((*reader)->MayContain("row00"));
    EXPECT_EQ(source.read_count(), 3);
    EXPECT_TRUE((*reader)->MayContain("row00"));
    EXPECT_EQ(source.read_count(), 3);
    EXPECT_EQ(cache->GetUsage().entry_count, 1);
  }
  EXPECT_EQ(cache->GetUsage().entry_count, 0);
  options.prefetch = true;
  const auto reader = HFileReader::Open(&source, options);
  const uint64_t reads = source.read_count();
  CountMaybe(**reader);
  EXPECT_EQ(source.read_count(), reads);
}

TEST(HFileReader, ReadersOfOneIdShareChunksAndThoseOfAnotherFileDoNot) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const std::string other = SmallHFile(ManyChunks(BloomType::kRow), 10);
  const auto memory = NewMemorySource(bytes);
  const testing::CountingSource source(memory.get());
  const auto cache = NewShardedLruCache({1 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  options.file_id = 7;
  const auto first = HFileReader::Open(&source, options);
  const auto second = HFileReader::Open(&source, options);
  EXPECT_TRUE((*first)->MayContain("row00"));
  EXPECT_EQ(source.read_count(), 5);
  EXPECT_TRUE((*second)->MayContain("row00"));
  EXPECT_EQ(source.read_count(), 5);
  const OpenHFile third(other, options);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(third->MayContain(testing::SmallRow(i)));
  }
}

// The chunks of the first file are in the cache under the same numbers, and
// would deny rows that only the other one has.
TEST(HFileReader, ChunksOfAnotherFileOfTheSameIdDenyNothing) {
  const HFileWriterOptions writer = ManyChunks(BloomType::kRow);
  std::vector<std::string> rows;
  std::vector<HFileCell> cells;
  for (int i = 0; i < 20; ++i) rows.push_back("other" + std::to_string(10 + i));
  for (const std::string& row : rows) cells.push_back(testing::Put(row, "a"));
  const std::string bytes = SmallHFile(writer);
  const std::string other = testing::WriteHFile(writer, cells);
  const auto cache = NewShardedLruCache({1 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  options.file_id = 7;
  const OpenHFile first(bytes, options);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(first->MayContain(testing::SmallRow(i)));
  }
  const OpenHFile second(other, options);
  for (const std::string& row : rows) EXPECT_TRUE(second->MayContain(row));
}

TEST(HFileReader, AChunkThatTheCacheHasDroppedIsLoadedAgain) {
  const auto cache = NewShardedLruCache({1 << 20});
  HFileReaderOptions options;
  options.cache = cache.get();
  const OpenHFile file(SmallHFile(ManyChunks(BloomType::kRow)), options);
  EXPECT_LT(CountMaybe(*file), 3);
  cache->SetCapacity(0);
  EXPECT_EQ(cache->GetUsage().entry_count, 0);
  cache->SetCapacity(1 << 20);
  EXPECT_LT(CountMaybe(*file), 3);
}

// Each row's delete is a key of one filter, and its row of the other.
TEST(HFileReader, ChunksOfBothFiltersAreOneChain) {
  HFileWriterOptions options = ManyChunks(BloomType::kRow);
  options.block_size_bytes = 256;
  std::vector<HFileCell> cells;
  std::vector<std::string> rows;
  for (int i = 0; i < 60; ++i) rows.push_back("row" + std::to_string(100 + i));
  for (const std::string& row : rows) {
    cells.push_back(testing::FamilyDelete(row));
  }
  const OpenHFile file(WriteHFile(options, cells));
  const auto& general = file->general_filter().chunks;
  const auto& deletes = file->delete_family_filter().chunks;
  ASSERT_GT(general.size(), 1u);
  ASSERT_GT(deletes.size(), 1u);
  EXPECT_LT(deletes.front().offset, general.back().offset);
  EXPECT_LT(general.front().offset, deletes.back().offset);
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  int maybe = 0;
  for (const std::string& row : rows) {
    EXPECT_TRUE(file->MayContain(row));
    EXPECT_TRUE(file->MayContainFamilyDelete(row));
    maybe += file->MayContain(row + "x") ? 1 : 0;
    maybe += file->MayContainFamilyDelete(row + "x") ? 1 : 0;
  }
  EXPECT_LT(maybe, 20);
}

TEST(HFileReader, GivenIdsAreBelow2To63) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  HFileReaderOptions options;
  options.file_id = (uint64_t{1} << 63) - 1;
  EXPECT_EQ(OpenHFile(bytes, options).reader.status(), absl::OkStatus());
  ++options.file_id;
  const absl::Status status = OpenHFile(bytes, options).reader.status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "file_id 9223372036854775808 is not below 2^63");
}

TEST(HFileReader, BrokenReadsAreTriedAgainAndDamagedChunksAreNot) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow));
  const auto memory = NewMemorySource(bytes);
  testing::FaultySource source(memory.get());
  FilterStats stats;
  HFileReaderOptions options;
  options.stats = &stats;
  const auto reader = HFileReader::Open(&source, options);
  source.FailAllReads();
  EXPECT_EQ(CountMaybe(**reader), kAbsentCount);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLoadErrors], kAbsentCount);
  source.Heal();
  EXPECT_LT(CountMaybe(**reader), 3);

  const auto other = HFileReader::Open(&source, options);
  for (const HFileBloomChunkInfo& chunk : (*other)->general_filter().chunks) {
    source.FlipBit(chunk.offset + 33, 3);
  }
  EXPECT_EQ(CountMaybe(**other), kAbsentCount);
  source.Heal();
  EXPECT_EQ(CountMaybe(**other), kAbsentCount);
}

TEST(HFileReaderThreads, AgreeWhileTheCacheIsTooSmall) {
  const std::string bytes = SmallHFile(ManyChunks(BloomType::kRow), 400);
  const auto cache = NewShardedLruCache({2048});
  HFileReaderOptions options;
  options.cache = cache.get();
  const OpenHFile file(bytes, options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&file, t] {
      for (int i = 0; i < 2000; ++i) {
        EXPECT_TRUE(file->MayContain(testing::SmallRow((i * 7 + t) % 400)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HFileReader, TellsWhatIsTooOldFromWhatIsNotKnown) {
  const std::string bytes = SmallHFile({});
  for (const bool is_old : {true, false}) {
    const OpenHFile file(
        EditHFile(bytes, nullptr, [&](hfile::Trailer* trailer) {
          trailer->comparator =
              is_old ? "org.apache.hadoop.hbase.KeyValue$RootKeyComparator"
                     : "org.example.Comparator";
        }));
    const absl::Status& error = file->general_filter().error;
    EXPECT_EQ(error.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(IsOlderThanSupported(error), is_old);
    EXPECT_TRUE(file->MayContain("no row"));
  }
  std::string version = bytes;
  version.replace(version.size() - 4, 4, std::string("\0\0\0\1", 4));
  EXPECT_TRUE(IsOlderThanSupported(OpenHFile(version).reader.status()));
  version[version.size() - 4] = 9;
  version[version.size() - 1] = 3;
  EXPECT_FALSE(IsOlderThanSupported(OpenHFile(version).reader.status()));
}

TEST(HFileReader, MetaTablesAreOrderedByTheirOwnComparator) {
  // Bytewise "t!x" is before "t,y"; by tables, "t" is before "t!x".
  HFileWriterOptions options = ManyChunks(BloomType::kRow);
  options.is_meta_table = true;
  std::vector<std::string> rows;
  for (const std::string table : {"t", "t!x"}) {
    for (int i = 100; i < 140; ++i) {
      rows.push_back(table + "," + std::to_string(i) + ",1");
    }
  }
  std::vector<HFileCell> cells;
  for (const std::string& row : rows) cells.push_back(Put(row, "q"));
  const OpenHFile file(WriteHFile(options, cells));
  EXPECT_GT(file->general_filter().chunks.size(), 2);
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  for (const std::string& row : rows) {
    EXPECT_TRUE(file->MayContain(row)) << row;
  }
}

TEST(HFileReader, SaysWhyMetaBlocksCannotBeTold) {
  HFileWriterOptions options;
  options.meta_blocks["name"] = "meta";
  const std::string bytes = SmallHFile(options);
  EXPECT_EQ(OpenHFile(bytes)->properties().meta_blocks_error, absl::OkStatus());
  const OpenHFile file(EditHFile(bytes, nullptr, [](hfile::Trailer* trailer) {
    trailer->meta_index_count = 0;
  }));
  EXPECT_TRUE(file->properties().meta_blocks.empty());
  EXPECT_EQ(file->properties().meta_blocks_error.code(),
            absl::StatusCode::kDataLoss);
}

TEST(HFileReader, NamesTheMetaBlockThatIsNotThere) {
  const OpenHFile file(SmallHFile({}));
  EXPECT_EQ(file->ReadMetaBlock("bloomFilter").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(HFileReader, TellsAFilterOfHudisFromOneOfHBase) {
  HFileWriterOptions options;
  options.bloom_type = BloomType::kNone;
  options.meta_blocks["bloomFilter"] = "Hudi's own";
  const OpenHFile file(SmallHFile(options));
  EXPECT_EQ(file->general_filter().reason,
            "no HBase filter; a filter of Hudi's is in the meta block "
            "bloomFilter");
  EXPECT_TRUE(file->MayContain("any"));
}

TEST(HFileReader, RefusesWhatIsNoHFile) {
  EXPECT_EQ(OpenHFile("").reader.status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenHFile(std::string(5000, 'x')).reader.status().code(),
            absl::StatusCode::kInvalidArgument);
  std::string newer = SmallHFile({});
  newer[newer.size() - 4] = 4;  // 3.4
  EXPECT_EQ(OpenHFile(newer).reader.status().code(),
            absl::StatusCode::kUnimplemented);
  std::string oldest(60, '\0');
  oldest.replace(0, 8, "TRABLK\"$");
  oldest.back() = 1;
  EXPECT_EQ(OpenHFile(oldest).reader.status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ClassifyHFileRead, EachTypeServesItsReads) {
  const std::string_view qualifiers[] = {"a", "b"};
  const HFileRead get = HFileRead::Get("row");
  const HFileRead columns = HFileRead::Get("row", qualifiers);
  const HFileRead scan = {"row1", "row2"};
  const auto use = [](BloomType type, const HFileRead& read) {
    return ClassifyHFileRead(type, 3, read);
  };
  for (const HFileRead& read : {get, columns, scan, HFileRead{}}) {
    EXPECT_EQ(use(BloomType::kNone, read), HFileFilterUse::kNone);
  }
  EXPECT_EQ(use(BloomType::kRow, get), HFileFilterUse::kRow);
  EXPECT_EQ(use(BloomType::kRow, columns), HFileFilterUse::kRow);
  EXPECT_EQ(use(BloomType::kRow, scan), HFileFilterUse::kNone);
  EXPECT_EQ(use(BloomType::kRowCol, get), HFileFilterUse::kNone);
  EXPECT_EQ(use(BloomType::kRowCol, columns), HFileFilterUse::kColumns);
  EXPECT_EQ(use(BloomType::kRowCol, scan), HFileFilterUse::kNone);
  const BloomType prefix = BloomType::kRowPrefixFixedLength;
  EXPECT_EQ(use(prefix, get), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, HFileRead::Get("r")), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, scan), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, HFileRead{}), HFileFilterUse::kNone);
  // The scan ends before the first row without the prefix.
  EXPECT_EQ(use(prefix, {"row", "rox"}), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, {"row5", "rox"}), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, {"row", "rox", true, true}), HFileFilterUse::kNone);
  EXPECT_EQ(use(prefix, {"row", "rox\1"}), HFileFilterUse::kNone);
  EXPECT_EQ(use(prefix, {"row", "roy"}), HFileFilterUse::kNone);
  EXPECT_EQ(use(prefix, {"row", ""}), HFileFilterUse::kNone);
  EXPECT_EQ(use(prefix, {"ro", "ro"}), HFileFilterUse::kNone);
  EXPECT_EQ(use(prefix, {"ro\xff", "rp"}), HFileFilterUse::kPrefix);
  EXPECT_EQ(use(prefix, {"\xff\xff\xff", ""}), HFileFilterUse::kNone);
}

}  // namespace
}  // namespace rowbloom
