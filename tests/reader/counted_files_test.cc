// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes files as readers do; FilterReader's tests see the same from
// outside.

#include "reader/counted_files.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/file_counters.h"
#include "rowbloom/filter_stats.h"
#include "testing/threads.h"

namespace rowbloom {
namespace {

using C = FilterCounter;

class OpenFile {
 public:
  OpenFile(FilterStats* stats, int level)
      : files_(internal::reader::CountedFiles::Of(stats)) {
    files_->Open(&counters_, level);
  }
  ~OpenFile() { files_->Close(&counters_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  void Count(uint64_t lookups, uint64_t negatives) {
    for (uint64_t i = 0; i < lookups; ++i) {
      counters_.CountLookup(util::ThisThread());
      counters_.CountAnswer(util::ThisThread(), i < negatives);
    }
  }
  void CountPrefix(size_t level, bool is_negative) {
    counters_.CountPrefix(level, is_negative);
  }
  void Add(FilterCounter counter, uint64_t delta) {
    counters_.Add(counter, delta);
  }

 private:
  internal::reader::CountedFiles* const files_;
  internal::reader::FileCounters counters_{/*answers_prefixes=*/true};
};

TEST(FilterStatsFiles, AreSummedByLevel) {
  FilterStats stats;
  EXPECT_TRUE(stats.Levels().empty());
  OpenFile a(&stats, 0), b(&stats, 3), c(&stats, 3);
  a.Count(10, 4);
  b.Count(100, 40);
  c.Count(1000, 400);
  c.Add(C::kChunkLoads, 7);
  std::map<int, FilterStatsSnapshot> levels = stats.Levels();
  ASSERT_EQ(levels.size(), 2);
  EXPECT_EQ(levels[0][C::kLookups], 10);
  EXPECT_EQ(levels[3][C::kLookups], 1100);
  EXPECT_EQ(levels[3][C::kNegatives], 440);
  EXPECT_EQ(levels[3][C::kChunkLoads], 7);
  EXPECT_EQ(stats.Snapshot()[C::kLookups], 1110);
}

TEST(FilterStatsFiles, StayInTheLevelsWhenTheyAreClosed) {
  FilterStats stats;
  for (int i = 0; i < 5; ++i) {
    OpenFile file(&stats, 2);
    file.Count(10, 5);
    file.Add(C::kLoadErrors, 1);
  }
  EXPECT_EQ(stats.Levels()[2][C::kLookups], 50);
  EXPECT_EQ(stats.Levels()[2][C::kNegatives], 25);
  EXPECT_EQ(stats.Levels()[2][C::kLoadErrors], 5);
}

TEST(FilterStatsText, IsATableOfLevels) {
  FilterStats stats;
  OpenFile upper(&stats, 0), lower(&stats, 5);
  upper.Count(1000, 600);
  upper.Add(C::kTruePositives, 390);
  upper.Add(C::kFalsePositives, 200);
  upper.Add(C::kUnloaded, 3);
  lower.Count(5, 0);
  lower.Add(C::kChunkLoads, 2);
  lower.Add(C::kChunkLoadBytes, 8192);
  lower.Add(C::kLoadErrors, 1);
  stats.Add(C::kOpenErrors, 4);
  EXPECT_EQ(
      stats.ToString(),
      "level           lookups      negatives      true pos.     false pos."
      "        fpr     unloaded      loads   loaded bytes   errors\n"
      "unknown               0              0              0              0"
      "    0.0000%            0          0              0        4\n"
      "0                  1000            600            390            200"
      "   25.0000%            3          0              0        0\n"
      "5                     5              0              0              0"
      "    0.0000%            0          2           8192        1\n"
      "all                1005            600            390            200"
      "   25.0000%            3          2           8192        5\n");
}

TEST(FilterStatsText, OfPrometheusHasACounterForEachNameAndLevel) {
  FilterStats stats;
  OpenFile upper(&stats, 0), lower(&stats, 5);
  upper.Count(10, 6);
  lower.Count(20, 7);
  lower.Add(C::kUnloaded, 1);
  stats.Add(C::kOpenErrors, 4);
  const auto metric = [](const std::string& name, const std::string& help,
                         int unknown, int zero, int five) {
    const std::string full = "rowbloom_" + name + "_total";
    return "# HELP " + full + " " + help + "\n# TYPE " + full + " counter\n" +
           full + "{level=\"unknown\"} " + std::to_string(unknown) + "\n" +
           full + "{level=\"0\"} " + std::to_string(zero) + "\n" + full +
           "{level=\"5\"} " + std::to_string(five) + "\n";
  };
  EXPECT_EQ(
      stats.ToPrometheus(),
      metric("lookups", "Questions asked.", 0, 10, 20) +
          metric("negatives", "Questions answered no.", 0, 6, 7) +
          metric("true_positives",
                 "Questions answered maybe whose key was there.", 0, 0, 0) +
          metric("false_positives",
                 "Questions answered maybe whose key was not there.", 0, 0, 0) +
          metric("unloaded",
                 "Questions answered maybe because their chunk was not loaded.",
                 0, 0, 1) +
          metric("chunk_loads", "Reads of filter chunks.", 0, 0, 0) +
          metric("chunk_load_bytes", "Bytes of filter chunks read.", 0, 0, 0) +
          metric("load_errors",
                 "Filter chunks that could not be read or were damaged.", 0, 0,
                 0) +
          metric("open_errors", "Files read without a filter.", 4, 0, 0) +
          metric("prefix_lookups",
                 "Questions for a prefix of rows, or of key levels.", 0, 0, 0) +
          metric("prefix_negatives",
                 "Questions for a prefix of rows answered no.", 0, 0, 0));
}

TEST(FilterStatsText, NamesTheLevelsOfPrefixesThatWereAsked) {
  FilterStats stats;
  {
    OpenFile closed(&stats, 0), open(&stats, 5);
    closed.CountPrefix(1, true);
    closed.CountPrefix(8, true);
    closed.CountPrefix(8, false);
    open.CountPrefix(0, false);
    open.CountPrefix(8, false);
  }
  const FilterStatsSnapshot all = stats.Snapshot();
  EXPECT_EQ(all[C::kPrefixLookups], 5);
  EXPECT_EQ(all[C::kPrefixNegatives], 2);
  EXPECT_EQ(all.prefix_levels[0].lookups, 1);
  EXPECT_EQ(all.prefix_levels[0].negatives, 1);
  EXPECT_EQ(all.prefix_levels[1].lookups, 0);
  EXPECT_EQ(all.prefix_levels[7].lookups, 3);
  EXPECT_EQ(all.prefix_levels[7].negatives, 1);
  EXPECT_THAT(all.ToString(),
              ::testing::EndsWith("prefix_lookups 5\n"
                                  "prefix_negatives 2\n"
                                  "prefix_level_1_lookups 1\n"
                                  "prefix_level_1_negatives 1\n"
                                  "prefix_level_8_lookups 3\n"
                                  "prefix_level_8_negatives 1\n"));
  EXPECT_THAT(stats.ToString(),
              ::testing::EndsWith("prefix          lookups      negatives\n"
                                  "1                     1              1\n"
                                  "8                     3              1\n"
                                  "all                   5              2\n"));
  EXPECT_THAT(stats.ToPrometheus(),
              ::testing::EndsWith(
                  "# HELP rowbloom_prefix_level_lookups_total "
                  "Questions for a prefix that a level answered.\n"
                  "# TYPE rowbloom_prefix_level_lookups_total counter\n"
                  "rowbloom_prefix_level_lookups_total"
                  "{level=\"0\",prefix_level=\"1\"} 1\n"
                  "rowbloom_prefix_level_lookups_total"
                  "{level=\"0\",prefix_level=\"8\"} 2\n"
                  "rowbloom_prefix_level_lookups_total"
                  "{level=\"5\",prefix_level=\"8\"} 1\n"
                  "# HELP rowbloom_prefix_level_negatives_total "
                  "Questions for a prefix that a level answered no.\n"
                  "# TYPE rowbloom_prefix_level_negatives_total counter\n"
                  "rowbloom_prefix_level_negatives_total"
                  "{level=\"0\",prefix_level=\"1\"} 1\n"
                  "rowbloom_prefix_level_negatives_total"
                  "{level=\"0\",prefix_level=\"8\"} 1\n"
                  "rowbloom_prefix_level_negatives_total"
                  "{level=\"5\",prefix_level=\"8\"} 0\n"));
}

TEST(FilterStatsThreads, SnapshotsWhileFilesComeAndGoNeverCountBackwards) {
  constexpr int kThreads = 4;
  constexpr uint64_t kFiles = 200;
  constexpr uint64_t kLookups = 50;
  FilterStats stats;
  uint64_t last = 0;
  testing::RunThreads(
      kThreads,
      [&](int t) {
        for (uint64_t i = 0; i < kFiles; ++i) {
          OpenFile file(&stats, t % 3);
          for (uint64_t l = 0; l < kLookups; ++l) file.Count(1, 1);
          stats.Add(C::kChunkLoadBytes, i);
        }
      },
      [&] {
        const FilterStatsSnapshot now = stats.Snapshot();
        ASSERT_GE(now[C::kLookups], last);
        ASSERT_LE(now.positives(), now[C::kLookups]);
        last = now[C::kLookups];
        ASSERT_FALSE(stats.ToString().empty());
        ASSERT_LE(stats.Levels().size(), 4);
      });
  EXPECT_EQ(stats.Snapshot()[C::kLookups], kThreads * kFiles * kLookups);
  EXPECT_EQ(stats.Snapshot().positives(), 0);
  EXPECT_EQ(stats.Snapshot()[C::kChunkLoadBytes],
            kThreads * (kFiles * (kFiles - 1) / 2));
}

}  // namespace
}  // namespace rowbloom
