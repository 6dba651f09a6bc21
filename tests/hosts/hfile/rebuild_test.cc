// SPDX-License-Identifier: Apache-2.0
//
// Rewrites files that HBase wrote from their cells.

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <regex>
#include <string>
#include <tuple>

#include "hosts/hfile/test_data.h"
#include "hosts/hfile/test_hfile.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"

namespace rowbloom {
namespace {

using testing::OpenHFile;

std::string DescribedValue(const std::string& description, const char* name) {
  std::smatch match;
  const std::regex pattern("\\b" + std::string(name) + "=([^ \n]*)");
  return std::regex_search(description, match, pattern) ? match[1].str() : "";
}

// Returns the options that the file was written with; its description gives
// those that the file does not record.
HFileWriterOptions OptionsFor(const std::filesystem::path& path,
                              const HFileReader& reader) {
  HFileWriterOptions options = OptionsOf(reader);
  const HFileBloomInfo& filter = reader.general_filter().is_usable
                                     ? reader.general_filter()
                                     : reader.delete_family_filter();
  const bool is_of_hbase_2 =
      filter.comparator.empty() ||
      filter.comparator == "org.apache.hadoop.hbase.CellComparatorImpl";
  options.profile =
      is_of_hbase_2 ? HFileProfile::kHBase2 : HFileProfile::kWidest;
  const std::string description = testing::ReadFile(
      std::filesystem::path(path).replace_extension(".desc.txt"));
  if (description.empty()) return options;
  const int chunk_size = std::stoi(DescribedValue(description, "bloomBlock"));
  if (chunk_size > 0) options.chunk_size_bytes = chunk_size;
  const float rate = std::stof(DescribedValue(description, "err"));
  if (rate > 0) options.error_rate = rate;
  const int fold = std::stoi(DescribedValue(description, "fold"));
  if (fold >= 0) options.max_fold = fold;
  if (DescribedValue(description, "delfam") == "false" &&
      options.bloom_type != BloomType::kRowCol &&
      reader.properties().delete_family_count > 0) {
    EXPECT_FALSE(options.delete_family_filter);
  }
  EXPECT_EQ(std::to_string(options.bytes_per_checksum),
            DescribedValue(description, "bpc"));
  options.block_size_bytes =
      static_cast<uint32_t>(std::stoul(DescribedValue(description, "blk")));
  return options;
}

// Writes all cells of the file again.
OpenHFile Rebuild(const HFileReader& reader,
                  const HFileWriterOptions& options) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const auto writer = *HFileWriter::Make(options, sink.get());
  const auto cells = reader.NewCellReader();
  HFileCell cell;
  while (cells->Next(&cell)) {
    EXPECT_EQ(writer->Add(cell), absl::OkStatus());
  }
  EXPECT_EQ(cells->status(), absl::OkStatus());
  EXPECT_EQ(writer->Finish(), absl::OkStatus());
  return OpenHFile(bytes);
}

void ExpectSameFilter(const HFileReader& expected,
                      const HFileBloomInfo& expected_info,
                      const HFileReader& actual,
                      const HFileBloomInfo& actual_info) {
  EXPECT_EQ(actual_info.is_usable, expected_info.is_usable);
  EXPECT_EQ(actual_info.bloom_type, expected_info.bloom_type);
  EXPECT_EQ(actual_info.last_key, expected_info.last_key);
  EXPECT_EQ(actual_info.size_bytes, expected_info.size_bytes);
  EXPECT_EQ(actual_info.key_count, expected_info.key_count);
  EXPECT_EQ(actual_info.max_keys, expected_info.max_keys);
  EXPECT_EQ(actual_info.hash_count, expected_info.hash_count);
  EXPECT_EQ(actual_info.hash, expected_info.hash);
  ASSERT_EQ(actual_info.chunks.size(), expected_info.chunks.size());
  for (size_t i = 0; i < expected_info.chunks.size(); ++i) {
    EXPECT_EQ(actual_info.chunks[i].first_key,
              expected_info.chunks[i].first_key);
    const auto expected_bits = expected.ReadChunk(expected_info, i);
    const auto actual_bits = actual.ReadChunk(actual_info, i);
    EXPECT_TRUE(*actual_bits == *expected_bits) << "chunk " << i;
  }
}

// Returns the file from its last block of this magic on, without the trailer.
std::string BlocksFrom(const std::string& file, const std::string& magic,
                       size_t trailer_size) {
  const size_t at = file.rfind(magic);
  if (at == std::string::npos) return "";
  return file.substr(at, file.size() - trailer_size - at);
}

class RebuildTest : public ::testing::TestWithParam<testing::HFileSample> {
 protected:
  const OpenHFile original_{testing::ReadFile(GetParam().path)};
};

INSTANTIATE_TEST_SUITE_P(All, RebuildTest,
                         ::testing::ValuesIn(testing::HFileSamples()),
                         testing::SampleName);

TEST_P(RebuildTest, HasTheSameFilters) {
  const std::string& original = original_.bytes;
  const HFileProperties& properties = original_->properties();
  const OpenHFile file =
      Rebuild(*original_, OptionsFor(GetParam().path, *original_));
  const std::string& rebuilt = file.bytes;
  EXPECT_EQ(file->Verify(true), absl::OkStatus());
  EXPECT_EQ(file->properties().delete_family_count,
            std::max<int64_t>(0, properties.delete_family_count));
  ExpectSameFilter(*original_, original_->general_filter(), *file,
                   file->general_filter());
  ExpectSameFilter(*original_, original_->delete_family_filter(), *file,
                   file->delete_family_filter());

  const bool has_described_layout =
      std::filesystem::exists(std::filesystem::path(GetParam().path)
                                  .replace_extension(".desc.txt")) &&
      properties.compression == HFileCompression::kNone &&
      original.find("IDXLEAF2") == std::string::npos;
  if (!has_described_layout) return;
  // All data blocks, in any encoding, and all chunks have the same bytes at the
  // same offsets, and so have the Bloom metas, which record the offsets.
  const size_t data_size =
      original.rfind("IDXROOT2", original.rfind("IDXROOT2") - 1);
  ASSERT_NE(data_size, std::string::npos);
  EXPECT_TRUE(rebuilt.substr(0, data_size) == original.substr(0, data_size));
  EXPECT_EQ(rebuilt.substr(data_size, 8), "IDXROOT2");
  const size_t trailer_size = properties.major_version == 2 ? 212 : 4096;
  for (const char* magic : {"BLMFMET2", "DFBLMET2"}) {
    EXPECT_EQ(BlocksFrom(rebuilt, magic, 4096),
              BlocksFrom(original, magic, trailer_size))
        << magic;
  }
}

// Error rate and chunk size are in no description, but follow from the filter.
TEST_P(RebuildTest, KeepsRateAndChunkSizeWithoutADescription) {
  HFileWriterOptions options = OptionsOf(*original_);
  const OpenHFile file = Rebuild(*original_, options);
  ExpectSameFilter(*original_, original_->general_filter(), *file,
                   file->general_filter());
  ExpectSameFilter(*original_, original_->delete_family_filter(), *file,
                   file->delete_family_filter());
}

// No file states it, but each block ended with the cell that reached it.
TEST_P(RebuildTest, KeepsTheSizeOfBlocksWithoutADescription) {
  const std::string description = testing::ReadFile(
      std::filesystem::path(GetParam().path).replace_extension(".desc.txt"));
  if (description.empty()) return;
  const auto described = std::stoul(DescribedValue(description, "blk"));
  const auto found = original_->FindBlockSize();
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->min, described);
  EXPECT_GE(found->max, described);
  // A block that was never full tells no more than that.
  const bool is_full = found->max < 64 << 10;
  if (is_full) {
    EXPECT_EQ(found->likely, described);
  }
}

TEST_P(RebuildTest, HasTheSameCells) {
  const auto fields = [](const HFileCell& c) {
    return std::tie(c.row, c.family, c.qualifier, c.timestamp, c.type, c.value,
                    c.tags, c.mvcc);
  };
  constexpr HFileEncoding kEncodings[] = {
      HFileEncoding::kNone, HFileEncoding::kPrefix, HFileEncoding::kDiff,
      HFileEncoding::kFastDiff, HFileEncoding::kRowIndexV1};
  size_t encoding = 0;
  for (const auto compression :
       {HFileCompression::kNone, HFileCompression::kGz,
        HFileCompression::kSnappy, HFileCompression::kLz4,
        HFileCompression::kZstd}) {
    HFileWriterOptions options = OptionsFor(GetParam().path, *original_);
    options.compression = compression;
    options.profile = HFileProfile::kHBase2;  // The widest lacks ZSTD.
    ++encoding;
    options.encoding = kEncodings[encoding % std::size(kEncodings)];
    const OpenHFile rebuilt = Rebuild(*original_, options);
    const auto expected = original_->NewCellReader();
    const auto actual = rebuilt->NewCellReader();
    HFileCell a;
    HFileCell b;
    while (expected->Next(&a)) {
      ASSERT_TRUE(actual->Next(&b));
      ASSERT_EQ(fields(a), fields(b));
    }
    EXPECT_FALSE(actual->Next(&b));
    EXPECT_EQ(actual->status(), absl::OkStatus());
  }
}

}  // namespace
}  // namespace rowbloom
