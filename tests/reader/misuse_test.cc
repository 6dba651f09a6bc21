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

TEST_F(ReaderMisuse, OpenSaysWhatIsWrong) {
  FilterReaderOptions unknown_priority;
  unknown_priority.priority = static_cast<FilterCachePriority>(9);
  const struct {
    absl::Status status;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {FilterReader::Open(nullptr, {}, {}).status(),
       absl::StatusCode::kInvalidArgument, "source is null"},
      {FilterReader::Open(source_.get(), {}, unknown_priority).status(),
       absl::StatusCode::kInvalidArgument, "priority 9"},
      {FilterReader::Open(source_.get(), {10, 0}, {}).status(),
       absl::StatusCode::kNotFound, "000012.sst"}};
  for (const auto& c : cases) {
    EXPECT_EQ(c.status.code(), c.code);
    EXPECT_THAT(std::string(c.status.message()), HasSubstr(c.message));
  }
}

TEST_F(ReaderMisuseDeathTest, ACacheThatDiesBeforeAReaderSaysSo) {
  EXPECT_DEATH(
      {
        auto cache = NewShardedLruCache({1 << 20});
        const auto reader =
            testing::OpenOrDie(source_.get(), testing::CachedIn(cache));
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
