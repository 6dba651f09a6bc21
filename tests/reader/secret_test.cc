// SPDX-License-Identifier: Apache-2.0
//
// Tests blocks that were written with a store's secret.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "block/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rowbloom/digest_secret.h"
#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/reseal.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;
using testing::NumberedRow;
using testing::Random;

constexpr DigestSecret kSecret = {{0x0123456789abcdef, 0xfedcba9876543210}};
constexpr DigestSecret kOtherSecret = {{0x0123456789abcdef, 1}};

absl::StatusOr<std::unique_ptr<FilterReader>> Open(
    const RandomAccessSource& source, const DigestSecret& secret) {
  FilterReaderOptions options;
  options.secret = secret;
  return FilterReader::Open(&source, {}, options);
}

std::string SmallBlock(const DigestSecret& secret) {
  FilterOptions options;
  options.secret = secret;
  return testing::WriteBlock(options, testing::EvenRows(1000));
}

TEST(Secret, LosesNoRowAndFiltersOthers) {
  for (const std::string_view family : FilterFamilyNames()) {
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      FilterOptions options = testing::BlockOptions(family, 10, 1024, type);
      if (type == BloomType::kRowPrefixFixedLength) {
        options.prefix_length_bytes = 32;
      }
      options.secret = kSecret;
      testing::TestFile file(options, testing::EvenRows(4000));
      FilterReaderOptions reader_options;
      reader_options.secret = kSecret;
      const auto reader = file.Open(reader_options);
      EXPECT_TRUE(reader->Verify().ok());
      std::vector<std::string> rows;
      for (uint64_t i = 0; i < 8000; ++i) rows.push_back(NumberedRow(i));
      std::vector<FilterKey> keys;
      for (const std::string& row : rows) {
        keys.push_back(FilterKey::RowCol(row, "q0"));
      }
      const std::vector<char> answers = testing::Ask(*reader, keys);
      uint64_t positives = 0;
      for (uint64_t i = 0; i < 8000; ++i) {
        ASSERT_EQ(answers[i] != 0, reader->MayContain(keys[i]));
        if (i % 2 == 0) {
          ASSERT_TRUE(answers[i]);
          ASSERT_TRUE(reader->MayContain(rows[i]));
        } else {
          positives += answers[i];
        }
      }
      const uint64_t most = family == "always_maybe" ? 4000 : 400;
      EXPECT_LE(positives, most) << family;
    }
  }
}

TEST(Secret, WithoutItTheBlockIsNotOpened) {
  const std::string block = SmallBlock(kSecret);
  const auto memory = NewMemorySource(block, "a.sst");
  EXPECT_TRUE(Open(*memory, kSecret).ok());
  for (const DigestSecret& secret : {DigestSecret(), kOtherSecret}) {
    const absl::Status status = Open(*memory, secret).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("a.sst"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("secret"));
  }
}

TEST(Secret, AReaderThatHasOneReadsBlocksWithoutOne) {
  const std::string block = SmallBlock(DigestSecret());
  const auto memory = NewMemorySource(block);
  const auto reader = Open(*memory, kSecret);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE((*reader)->MayContain(NumberedRow(2 * i)));
  }
}

TEST(Secret, AFlagThatContradictsThePropertiesIsDamage) {
  for (const bool has_secret : {false, true}) {
    std::string block = SmallBlock(has_secret ? kSecret : DigestSecret());
    testing::SetFooterByteAndReseal(block::Footer::kIncompatibleFlags,
                                    has_secret ? 0 : block::kSecretFlag,
                                    &block);
    const auto memory = NewMemorySource(block);
    EXPECT_EQ(Open(*memory, kSecret).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

// Aims 64 rows at each line of a `fast` filter; returns how many absent rows
// are "maybe".
uint64_t FalsePositivesOfAimedRows(const DigestSecret& secret,
                                   uint64_t lookups) {
  const auto key = [](const std::string& row, uint64_t digest) {
    return FilterKey::RowCol(row, "", KeyDigest{digest}, KeyDigest{digest});
  };
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("fast", 10);
  options.chunk_size_bytes = 1 << 20;
  options.secret = secret;
  std::string block;
  const auto sink = NewStringSink(&block);
  FilterBlockWriter writer(options, sink.get());
  for (uint64_t i = 0; i < 100000; ++i) {
    writer.Add(key(NumberedRow(i), i / 64 * 0x9e3779b97f4a7c15 + i % 64));
  }
  EXPECT_TRUE(writer.Finish().ok());
  const auto memory = NewMemorySource(block);
  FilterReaderOptions reader_options;
  reader_options.secret = secret;
  const auto reader = testing::OpenOrDie(memory.get(), reader_options);
  Random random(1);
  uint64_t positives = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    positives +=
        reader->MayContain(key(NumberedRow(i % 99999) + "x", random()));
  }
  return positives;
}

TEST(Secret, RowsThatAreAimedAtLinesDoNotRaiseTheRateOfOthers) {
  constexpr uint64_t kLookups = 400000;
  EXPECT_GT(FalsePositivesOfAimedRows(DigestSecret(), kLookups),
            kLookups * 3 / 10);
  EXPECT_TRUE(testing::WithinBinomialBound(
      FalsePositivesOfAimedRows(kSecret, kLookups), kLookups,
      FilterSpec::BitsPerKey("fast", 10).expected_fpr(), 0.05));
}

}  // namespace
}  // namespace rowbloom
