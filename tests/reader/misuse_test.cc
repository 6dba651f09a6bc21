// SPDX-License-Identifier: Apache-2.0
//
// Tests that a caller's mistake is a Status, or a check that names the call.

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;

class ReaderMisuse : public ::testing::Test {
 protected:
  const std::string block_ =
      testing::WriteBlock(FilterOptions(), testing::EvenRows(100));
  const std::unique_ptr<RandomAccessSource> source_ =
      NewMemorySource(block_, "000012.sst");
};
using ReaderMisuseDeathTest = ReaderMisuse;

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

TEST_F(ReaderMisuse, ANullSourceIsInvalid) {
  const auto reader = FilterReader::Open(nullptr, {}, {});
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(reader.status()), HasSubstr("source is null"));
}

TEST_F(ReaderMisuse, AnUnknownPriorityIsInvalid) {
  FilterReaderOptions options;
  options.priority = static_cast<FilterCachePriority>(9);
  const auto reader = FilterReader::Open(source_.get(), {}, options);
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(MessageOf(reader.status()), HasSubstr("priority 9"));
}

TEST_F(ReaderMisuse, ARangeOfNoBytesIsNoFilter) {
  const auto reader = FilterReader::Open(source_.get(), {10, 0}, {});
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(MessageOf(reader.status()), HasSubstr("000012.sst"));
}

TEST_F(ReaderMisuseDeathTest, ACacheThatDiesBeforeAReaderSaysSo) {
  EXPECT_DEATH(
      {
        auto cache = NewShardedLruCache({1 << 20});
        FilterReaderOptions options;
        options.cache = cache.get();
        const auto reader = testing::OpenOrDie(source_.get(), options);
        cache.reset();
      },
      "FilterCache is destroyed before a FilterReader");
}

TEST_F(ReaderMisuseDeathTest, StatisticsThatDieBeforeAReaderSaySo) {
  EXPECT_DEATH(
      {
        auto stats = std::make_unique<FilterStats>();
        FilterReaderOptions options;
        options.stats = stats.get();
        const auto reader = testing::OpenOrDie(source_.get(), options);
        stats.reset();
      },
      "FilterStats is destroyed before a FilterReader");
}

TEST_F(ReaderMisuseDeathTest, AQuestionWithoutAReaderNamesTheCall) {
  bool answer = false;
  const FilterQuestion question;
  EXPECT_DEATH(FilterReader::MayContain({&question, 1}, &answer),
               "a question without a reader or a key");
}

}  // namespace
}  // namespace rowbloom
