// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/hfile_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hfile/file_info.h"
#include "hosts/hfile/test_hfile.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;
using testing::OpenHFile;
using testing::Put;
using testing::SmallHFile;

// Adds the cells to a new file and returns the first error.
absl::Status AddAll(const HFileWriterOptions& options,
                    const std::vector<HFileCell>& cells) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const auto writer = HFileWriter::Make(options, sink.get());
  absl::Status status = writer.status();
  for (const HFileCell& cell : cells) status.Update((*writer)->Add(cell));
  return status;
}

TEST(HFileWriter, ProfilesNameComparatorsAsHBaseDoes) {
  struct Case {
    HFileProfile profile;
    BloomType type;
    const char* comparator;
  };
  for (const Case& c : {
           Case{HFileProfile::kHBase2, BloomType::kRow, ""},
           Case{HFileProfile::kHBase2, BloomType::kRowCol,
                "org.apache.hadoop.hbase.CellComparatorImpl"},
           Case{HFileProfile::kWidest, BloomType::kRow,
                "org.apache.hadoop.hbase.KeyValue$RawBytesComparator"},
           Case{HFileProfile::kWidest, BloomType::kRowCol,
                "org.apache.hadoop.hbase.KeyValue$KVComparator"},
       }) {
    HFileWriterOptions options;
    options.profile = c.profile;
    options.bloom_type = c.type;
    const OpenHFile file(SmallHFile(options));
    EXPECT_EQ(file->general_filter().comparator, c.comparator);
    EXPECT_EQ(file->properties().comparator,
              "org.apache.hadoop.hbase.KeyValue$KVComparator");
    EXPECT_EQ(file->Verify(true), absl::OkStatus());
  }
}

TEST(HFileWriter, WidestRefusesWhatHBase098CannotOpen) {
  HFileWriterOptions prefix;
  prefix.profile = HFileProfile::kWidest;
  prefix.bloom_type = BloomType::kRowPrefixFixedLength;
  prefix.prefix_length_bytes = 4;
  HFileWriterOptions zstd;
  zstd.profile = HFileProfile::kWidest;
  zstd.compression = HFileCompression::kZstd;
  for (HFileWriterOptions options : {prefix, zstd}) {
    EXPECT_THAT(std::string(AddAll(options, {}).message()),
                HasSubstr("HBase 0.98"));
    options.profile = HFileProfile::kHBase2;
    EXPECT_EQ(AddAll(options, {}), absl::OkStatus());
  }
}

TEST(HFileWriter, RefusesCellsOutOfOrderAndStaysRefusing) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  auto writer = HFileWriter::Make({}, sink.get());
  EXPECT_EQ((*writer)->Add(Put("b", "q")), absl::OkStatus());
  EXPECT_EQ((*writer)->Add(Put("b", "q")), absl::OkStatus());  // A repetition.
  const absl::Status status = (*writer)->Add(Put("a", "q"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("row \"a\""));
  EXPECT_EQ((*writer)->Add(Put("c", "q")), status);
  EXPECT_EQ((*writer)->Finish(), status);
}

TEST(HFileWriter, RefusesCellsThatHBaseCannotHave) {
  const std::string too_long(32768, 'r');
  HFileCell before_time = Put("r", "q");
  before_time.timestamp = -1;
  HFileCell of_no_type = Put("r", "q");
  of_no_type.type = 77;
  HFileCell tagged = Put("r", "q");  // has_tags is false.
  tagged.tags = "t";
  for (const HFileCell& cell :
       {Put("", "q"), Put(too_long, "q"), before_time, of_no_type, tagged}) {
    const absl::Status status = AddAll({}, {Put("a", "q"), cell});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("cell 1"));
  }
}

TEST(HFileWriter, WritesTheLongestTagsThatHBaseHas) {
  HFileWriterOptions options;
  options.has_tags = true;
  const std::string tags(65536, 't');
  HFileCell cell = Put("r", "q");
  cell.tags = std::string_view(tags).substr(1);
  const OpenHFile file(testing::WriteHFile(options, {cell}));
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  const auto cells = file->NewCellReader();
  HFileCell read;
  ASSERT_TRUE(cells->Next(&read)) << cells->status();
  EXPECT_EQ(read.tags, cell.tags);
  cell.tags = tags;
  EXPECT_EQ(AddAll(options, {cell}).code(), absl::StatusCode::kInvalidArgument);
}

TEST(HFileWriter, RefusesFilterKeysOutOfOrder) {
  const auto add_all = [](const HFileWriterOptions& options,
                          const std::vector<HFileCell>& cells) {
    return AddAll(options, cells).code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  HFileWriterOptions columns;
  columns.bloom_type = BloomType::kRowCol;
  HFileCell other_family = Put("r", "q1");
  other_family.family = "d";
  EXPECT_EQ(add_all(columns, {Put("r", "q5"), other_family}), kInvalid);
  // The cell is the last of its row, though its column is the first.
  HFileCell last = Put("r", "");
  last.family = "";
  last.type = 0;
  EXPECT_EQ(add_all(columns, {Put("r", "q"), last}), kInvalid);
  EXPECT_EQ(add_all({}, {Put("r", "q"), last}), absl::StatusCode::kOk);
  HFileWriterOptions prefixes;
  prefixes.bloom_type = BloomType::kRowPrefixFixedLength;
  prefixes.prefix_length_bytes = 4;
  prefixes.is_meta_table = true;
  EXPECT_EQ(add_all(prefixes, {Put("t,a!,1", "q"), Put("t,a,z,1", "q")}),
            kInvalid);
}

TEST(HFileWriter, RefusesOptionsThatCannotBe) {
  const auto refuses = [&](auto set, absl::StatusCode code =
                                         absl::StatusCode::kInvalidArgument) {
    HFileWriterOptions options;
    set(&options);
    return AddAll(options, {}).code() == code;
  };
  EXPECT_TRUE(refuses([](auto* o) { o->error_rate = 0; }));
  EXPECT_TRUE(refuses([](auto* o) { o->error_rate = 1; }));
  EXPECT_TRUE(refuses([](auto* o) { o->chunk_size_bytes = 0; }));
  EXPECT_TRUE(refuses([](auto* o) { o->max_fold = -1; }));
  EXPECT_TRUE(refuses([](auto* o) { o->bytes_per_checksum = 32; }));
  EXPECT_TRUE(refuses([](auto* o) { o->bytes_per_checksum = 1U << 31; }));
  EXPECT_TRUE(refuses([](auto* o) { o->block_size_bytes = 0; }));
  for (const auto type : {static_cast<BloomType>(0), static_cast<BloomType>(9),
                          BloomType::kRowPrefixFixedLength}) {
    EXPECT_TRUE(refuses([&](auto* o) { o->bloom_type = type; }));
  }
  EXPECT_TRUE(refuses([](auto* o) { o->hash = static_cast<HFileHash>(7); }));
  EXPECT_TRUE(
      refuses([](auto* o) { o->checksum = static_cast<HFileChecksum>(9); }));
  EXPECT_TRUE(
      refuses([](auto* o) { o->profile = static_cast<HFileProfile>(2); }));
  for (const auto encoding :
       {HFileEncoding::kPrefixTree, HFileEncoding::kUnknown}) {
    EXPECT_TRUE(refuses([&](auto* o) { o->encoding = encoding; }));
  }
  EXPECT_TRUE(refuses([](auto* o) {
    o->encoding = HFileEncoding::kRowIndexV1;
    o->profile = HFileProfile::kWidest;
  }));
  EXPECT_TRUE(refuses([](auto* o) { o->compression = HFileCompression::kLzo; },
                      absl::StatusCode::kUnimplemented));
}

TEST(HFileWriter, RefusesANullSink) {
  EXPECT_EQ(HFileWriter::Make({}, nullptr).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(HFileWriter, PassesOnWhatTheSinkSays) {
  class FullSink : public ByteSink {
   public:
    absl::Status Append(std::string_view) override {
      return absl::ResourceExhaustedError("full");
    }
  } sink;
  auto writer = HFileWriter::Make({}, &sink);
  EXPECT_EQ((*writer)->Add(Put("a", "q")), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish().code(), absl::StatusCode::kResourceExhausted);
}

TEST(HFileWriter, KeepsFileInfoButWhatItSaysItself) {
  HFileWriterOptions options;
  options.file_info["MAX_SEQ_ID_KEY"] = "12345678";
  options.file_info["BLOOM_FILTER_TYPE"] = "ROWCOL";
  options.file_info["BLOOM_FILTER_PARAM"] = "1234";
  const OpenHFile file(SmallHFile(options));
  const auto& info = file->properties().file_info;
  EXPECT_EQ(info.at("MAX_SEQ_ID_KEY"), "12345678");
  EXPECT_EQ(info.at("BLOOM_FILTER_TYPE"), "ROW");
  EXPECT_EQ(info.count("BLOOM_FILTER_PARAM"), 0);
}

TEST(HFileWriter, FileInfoHasTheAverageSizesAndSaysThatTagsAreNotCompressed) {
  HFileWriterOptions options;
  options.has_tags = true;
  const std::string values[] = {std::string(10, 'v'), std::string(33, 'v')};
  std::vector<HFileCell> cells = {Put("row1", "a", values[0]),
                                  Put("row2", "b", values[1])};
  const OpenHFile file(testing::WriteHFile(options, cells));
  const auto& info = file->properties().file_info;
  // "row1", "cf", "a" with their sizes, timestamp and type.
  EXPECT_EQ(info.at("hfile.AVG_KEY_LEN"), std::string("\0\0\0\x13", 4));
  EXPECT_EQ(info.at("hfile.AVG_VALUE_LEN"), std::string("\0\0\0\x15", 4));
  EXPECT_EQ(info.at("hfile.TAGS_COMPRESSED"), std::string(1, '\0'));
}

TEST(HFileWriterDeathTest, ASecondFinishIsTheCallersMistake) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const auto writer = *HFileWriter::Make({}, sink.get());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  EXPECT_DEATH((void)writer->Finish(), "Finish.. was called twice");
}

TEST(HFileWriter, WritesMetaBlocksThatAreReadByTheirNames) {
  for (const auto compression :
       {HFileCompression::kNone, HFileCompression::kGz}) {
    HFileWriterOptions options;
    options.compression = compression;
    options.meta_blocks["second"] = std::string(1000, 'x');
    options.meta_blocks["first"] = "";
    const OpenHFile file(SmallHFile(options));
    EXPECT_EQ(file->Verify(true), absl::OkStatus());
    EXPECT_EQ(file->properties().meta_blocks,
              (std::vector<std::string>{"first", "second"}));
    for (const auto& [name, payload] : options.meta_blocks) {
      const auto read = file->ReadMetaBlock(name);
      EXPECT_EQ(*read, payload);
    }
  }
}

// Returns a file of version 2.0, whose blocks have no checksums: file info and
// trailer.
std::string HFile20() {
  std::string bytes = "FILEINF2";
  const std::string payload = hfile::SerializeFileInfo({});
  util::AppendBigEndian(static_cast<uint32_t>(payload.size()), &bytes);
  util::AppendBigEndian(static_cast<uint32_t>(payload.size()), &bytes);
  util::AppendBigEndian(int64_t{-1}, &bytes);
  bytes += payload;
  const size_t trailer = bytes.size();
  bytes += hfile::kTrailerMagic;
  bytes.append(16, '\0');  // Both offsets.
  bytes.append(32, '\0');
  util::AppendBigEndian(uint32_t{2}, &bytes);  // No compression.
  util::AppendBigEndian(uint32_t{1}, &bytes);
  bytes.append(16, '\xff');  // No data block.
  bytes.resize(trailer + 208);
  util::AppendBigEndian(uint32_t{2}, &bytes);
  return bytes;
}

TEST(OptionsOf, GiveChecksumsToAFileThatHasNone) {
  const OpenHFile file(HFile20());
  EXPECT_EQ(file->properties().checksum, HFileChecksum::kNull);
  EXPECT_EQ(OptionsOf(*file).checksum, HFileChecksum::kCrc32c);
  HFileWriterOptions options;
  options.checksum = HFileChecksum::kNull;
  const OpenHFile null(SmallHFile(options));
  EXPECT_EQ(OptionsOf(*null).checksum, HFileChecksum::kNull);
}

TEST(OptionsOf, HaveTheHashOfAFilterThatIsRefused) {
  HFileWriterOptions options;
  options.hash = HFileHash::kMurmur3;
  options.delete_family_filter = false;
  const OpenHFile file(testing::EditHFile(
      SmallHFile(options), nullptr,
      [](hfile::Trailer* trailer) { trailer->comparator = "own"; }));
  ASSERT_FALSE(file->general_filter().is_usable);
  EXPECT_EQ(OptionsOf(*file).hash, HFileHash::kMurmur3);
}

TEST(OptionsOf, HaveTheEncodingAndTheTagsOfTheFile) {
  HFileWriterOptions options;
  options.has_tags = true;
  for (const auto encoding :
       {HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
        HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1}) {
    for (const bool compress_tags : {false, true}) {
      options.encoding = encoding;
      options.compress_tags = compress_tags;
      const OpenHFile file(SmallHFile(options));
      EXPECT_EQ(file->Verify(true), absl::OkStatus());
      const HFileWriterOptions found = OptionsOf(*file);
      EXPECT_EQ(found.encoding, encoding);
      EXPECT_EQ(found.compress_tags,
                compress_tags && encoding != HFileEncoding::kNone);
      EXPECT_EQ(found.block_size_bytes, 256);
    }
  }
}

TEST(FindBlockSize, IsNoneWithoutCellsAndTheUsualOneIfNoBlockIsFull) {
  EXPECT_FALSE(OpenHFile(testing::WriteHFile({}, {}))->FindBlockSize());
  const OpenHFile one(testing::WriteHFile({}, {Put("row", "q")}));
  EXPECT_EQ(one->FindBlockSize()->likely, 64 << 10);
  EXPECT_EQ(one->FindBlockSize()->min, 1);
  // The second cell came to a block that was larger than usual.
  HFileWriterOptions large;
  large.block_size_bytes = 256 << 10;
  const std::string value(200 << 10, 'v');
  const OpenHFile two(testing::WriteHFile(
      large, {Put("row1", "q", value), Put("row2", "q", value)}));
  EXPECT_EQ(two->FindBlockSize()->likely, 256 << 10);
  EXPECT_GT(two->FindBlockSize()->min, 200 << 10);
}

TEST(FindBlockSize, IsTheRoundestOfThoseThatGiveTheBlocks) {
  for (const uint32_t size : {1000, 4096, 10000, 16384, 100000, 131072}) {
    HFileWriterOptions options;
    options.block_size_bytes = size;
    std::vector<std::string> rows;
    for (int i = 0; i < 20000; ++i) rows.push_back(std::to_string(100000 + i));
    std::vector<HFileCell> cells;
    for (const std::string& row : rows) cells.push_back(Put(row, "q"));
    const OpenHFile file(testing::WriteHFile(options, cells));
    EXPECT_EQ(file->FindBlockSize()->likely, size);
  }
}

TEST(PlanHFileFilter, HasAChunkForEachKeyWhereNoneHasRoom) {
  HFileWriterOptions options;
  options.chunk_size_bytes = 2;
  options.max_fold = 0;
  options.error_rate = 4.62e-4F;
  const OpenHFile file(SmallHFile(options, 3));
  const HFileBloomInfo& written = file->general_filter();
  EXPECT_EQ(written.max_keys, 0);
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  const auto plan = PlanHFileFilter(options, 3);
  EXPECT_EQ(plan->chunk_count, 3);
  EXPECT_EQ(plan->chunk_count, written.chunks.size());
  EXPECT_EQ(plan->size_bytes, written.size_bytes);
}

TEST(PlanHFileFilter, IsWhatIsWritten) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const int rows : {0, 1, 12, 100, 700}) {
      HFileWriterOptions options;
      options.bloom_type = type;
      options.chunk_size_bytes = 256;
      options.max_fold = 3;
      const OpenHFile file(SmallHFile(options, rows));
      const HFileBloomInfo& written = file->general_filter();
      const auto plan = PlanHFileFilter(options, written.key_count);
      EXPECT_EQ(plan->chunk_count, written.chunks.size());
      EXPECT_EQ(plan->size_bytes, written.size_bytes);
      EXPECT_EQ(plan->hash_count, written.hash_count);
      if (rows >= 100) {
        EXPECT_LT(plan->expected_fpr, 0.013);
      }
    }
  }
}

// Also in filters of a few bytes, in which the probes of a key often coincide.
TEST(ExpectedFpr, IsTheShareOfAbsentColumnsThatAreMaybe) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const int keys : {2, 3, 5, 12, 100, 1000}) {
      HFileWriterOptions options;
      options.bloom_type = type;
      options.error_rate = 0.05F;
      // Absent rows come between the first and the last one.
      std::vector<std::string> rows;
      for (int i = 1; i < keys; ++i) {
        rows.push_back("a" + std::to_string(1000 + i));
      }
      rows.push_back("z");
      std::vector<HFileCell> cells;
      for (const std::string& row : rows) cells.push_back(Put(row, "q"));
      const OpenHFile file(testing::WriteHFile(options, cells));
      const HFileBloomInfo& filter = file->general_filter();
      ASSERT_EQ(filter.chunks.size(), 1);
      const double expected =
          HFileReader::ExpectedFpr(filter, *file->ReadChunk(filter, 0));
      constexpr int kAsked = 100000;
      int maybe = 0;
      for (int i = 0; i < kAsked; ++i) {
        if (file->MayContain("m" + std::to_string(i), "q")) ++maybe;
      }
      // Five standard deviations of both counts, and the formula's error.
      const double observed = maybe / double{kAsked};
      EXPECT_NEAR(observed, expected,
                  10 * std::sqrt(expected / kAsked) + 0.05 * expected)
          << keys << " keys, type " << static_cast<int>(type);
      // The plan does not know these keys: it is the mean of such filters.
      const auto plan = PlanHFileFilter(options, filter.key_count);
      EXPECT_LT(plan->expected_fpr, 3 * expected + 0.01);
      EXPECT_GT(plan->expected_fpr, expected / 3 - 0.01);
    }
  }
}

TEST(OptionsOf, FindsTheErrorRateAndChunkSizeOfAFilter) {
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol}) {
    for (const float rate : {0.2F, 0.05F, 0.02F, 0.01F, 0.002F, 0.001F}) {
      for (const int chunk_size : {1000, 4096, 128 << 10}) {
        HFileWriterOptions options;
        options.bloom_type = type;
        options.error_rate = rate;
        options.chunk_size_bytes = chunk_size;
        options.max_fold = 3;
        std::vector<std::string> rows;
        for (int i = 0; i < 9000; ++i) {
          rows.push_back(std::to_string(10000 + i));
        }
        std::vector<HFileCell> cells;
        for (const std::string& row : rows) {
          cells.push_back(type == BloomType::kNone ? testing::FamilyDelete(row)
                                                   : Put(row, "q"));
        }
        const OpenHFile file(testing::WriteHFile(options, cells));
        const HFileWriterOptions found = OptionsOf(*file);
        EXPECT_FLOAT_EQ(found.error_rate, rate) << chunk_size;
        if (file->general_filter().chunks.size() > 1) {
          EXPECT_EQ(found.chunk_size_bytes, chunk_size);
          EXPECT_EQ(found.max_fold, 3 + (chunk_size == 4096 ? 4 : 0));
        }
        EXPECT_TRUE(testing::WriteHFile(found, cells) == file.bytes);
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom
