// SPDX-License-Identifier: Apache-2.0
//
// Tests the sources with which other tests count and break reads.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/io.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"
#include "testing/threads.h"

namespace rowbloom::testing {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;

constexpr std::string_view kBytes = "0123456789";

class SourcesTest : public ::testing::Test {
 protected:
  // Returns the bytes of a read of [offset, offset + size_bytes), or its error
  // code.
  static std::string Get(const RandomAccessSource& source, uint64_t offset,
                         size_t size_bytes) {
    std::string scratch(size_bytes, '\0');
    std::string_view result;
    const absl::Status status =
        source.Read(offset, size_bytes, scratch.data(), &result);
    return status.ok() ? std::string(result)
                       : absl::StatusCodeToString(status.code());
  }

  std::unique_ptr<RandomAccessSource> memory_ = NewMemorySource(kBytes, "m");
  CountingSource counting_{memory_.get()};
  FaultySource faulty_{memory_.get()};
};

TEST_F(SourcesTest, PassOnWhatTheyWrap) {
  for (const RandomAccessSource* source :
       std::vector<const RandomAccessSource*>{&counting_, &faulty_}) {
    EXPECT_EQ(source->name(), "m");
    EXPECT_EQ(source->size_bytes(), 10);
    EXPECT_EQ(Get(*source, 2, 3), "234");
    EXPECT_EQ(Get(*source, 8, 3), "OUT_OF_RANGE");
  }
}

TEST_F(SourcesTest, CountingSourceRemembersReadsAndForgetsThemOnReset) {
  Get(counting_, 2, 3);
  Get(counting_, 8, 3);
  EXPECT_EQ(counting_.read_count(), 2);
  EXPECT_EQ(counting_.read_bytes(), 6);
  EXPECT_THAT(counting_.reads(), ElementsAre(ReadRange{2, 3}, ReadRange{8, 3}));
  counting_.Reset();
  EXPECT_EQ(counting_.read_count(), 0);
  EXPECT_EQ(counting_.read_bytes(), 0);
  EXPECT_THAT(counting_.reads(), ElementsAre());
}

TEST_F(SourcesTest, CountingSourceCountsEveryThread) {
  RunThreads(8, [this](int) {
    for (int i = 0; i < 500; ++i) Get(counting_, 1, 2);
  });
  EXPECT_EQ(counting_.read_count(), 4000);
  EXPECT_EQ(counting_.read_bytes(), 8000);
  EXPECT_EQ(counting_.reads().size(), 4000);
}

TEST_F(SourcesTest, FailsTheNthReadFromNow) {
  EXPECT_EQ(Get(faulty_, 0, 1), "0");
  faulty_.FailRead(2);
  EXPECT_EQ(Get(faulty_, 0, 1), "0");
  EXPECT_EQ(Get(faulty_, 0, 1), "UNAVAILABLE");
  EXPECT_EQ(Get(faulty_, 0, 1), "0");
  EXPECT_EQ(faulty_.read_count(), 4);
}

TEST_F(SourcesTest, FailsAllReadsUntilHealed) {
  faulty_.FailAllReads();
  EXPECT_EQ(Get(faulty_, 0, 1), "UNAVAILABLE");
  EXPECT_EQ(Get(faulty_, 0, 1), "UNAVAILABLE");
  faulty_.Heal();
  EXPECT_EQ(Get(faulty_, 0, 1), "0");
}

TEST_F(SourcesTest, ShortenedReadsSayOkWithLess) {
  faulty_.ShortenReads(2);
  EXPECT_EQ(Get(faulty_, 3, 4), "34");
  EXPECT_EQ(Get(faulty_, 3, 1), "");
}

TEST_F(SourcesTest, FlippedBitsAreSeenByEveryReadThatCoversThem) {
  faulty_.FlipBit(4, 0);
  faulty_.FlipBit(4, 1);
  faulty_.FlipBit(6, 0);
  EXPECT_EQ(Get(faulty_, 0, 10), "0123757789");
  EXPECT_EQ(Get(faulty_, 4, 1), "7");
  EXPECT_EQ(Get(faulty_, 0, 4), "0123");
  EXPECT_EQ(Get(faulty_, 7, 3), "789");
  EXPECT_EQ(kBytes, "0123456789");  // A copy was flipped.
  faulty_.Heal();
  EXPECT_EQ(Get(faulty_, 0, 10), "0123456789");
}

TEST_F(SourcesTest, BreaksReadsAtRandomAndCountsThem) {
  faulty_.BreakAtRandom(7, 4);
  uint64_t failed = 0, flipped = 0;
  constexpr int kReads = 10000;
  for (int i = 0; i < kReads; ++i) {
    const std::string got = Get(faulty_, 2, 5);
    if (got == "23456") continue;
    ++(got.size() == 5 ? flipped : failed);
  }
  EXPECT_EQ(failed, faulty_.random_failures());
  EXPECT_EQ(flipped, faulty_.random_flips());
  // One of the five kinds of faults does no harm, and one flips bits.
  EXPECT_NEAR(static_cast<double>(failed), kReads * 0.15, 200);
  EXPECT_NEAR(static_cast<double>(flipped), kReads * 0.05, 120);
  faulty_.Heal();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Get(faulty_, 2, 5), "23456");
  EXPECT_EQ(failed, faulty_.random_failures());
}

TEST_F(SourcesTest, ReadsOfNothingFailOrNot) {
  faulty_.BreakAtRandom(7, 1);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t before = faulty_.random_failures();
    const bool failed = !Get(faulty_, i % 5, 0).empty();
    EXPECT_EQ(failed, faulty_.random_failures() > before);
  }
  EXPECT_EQ(faulty_.random_flips(), 0);
}

TEST_F(SourcesTest, FaultsCanBeSetWhileOthersRead) {
  RunThreads(
      4,
      [this](int) {
        for (int i = 0; i < 500; ++i) {
          EXPECT_THAT(Get(faulty_, 0, 2), AnyOf("01", "11", "UNAVAILABLE"));
        }
      },
      [this] {
        faulty_.FlipBit(0, 0);
        faulty_.Heal();
        faulty_.FailAllReads();
        faulty_.Heal();
      });
  EXPECT_EQ(faulty_.read_count(), 2000);
}

}  // namespace
}  // namespace rowbloom::testing
