// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/filter_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rowbloom/filter.h"
#include "testing/filters.h"
#include "testing/keys.h"

namespace rowbloom::tools {
namespace {

FilterSpec Rate(double target_fpr) {
  return FilterSpec::TargetFpr("blocked_bloom", target_fpr);
}

FilterSpec Bits(double bits_per_key) {
  return FilterSpec::BitsPerKey("blocked_bloom", bits_per_key);
}

constexpr FilterPreference kAll[] = {FilterPreference::kCpu,
                                     FilterPreference::kBalanced,
                                     FilterPreference::kSpace};

absl::StatusOr<FilterChoice> ChooseFilter(uint64_t key_count,
                                          const FilterSpec& goal,
                                          FilterPreference preference) {
  const auto choices = FilterChoices(key_count, goal);
  if (!choices.ok()) return choices.status();
  return BestChoice(*choices, preference);
}

TEST(FilterRanking, ATargetRateIsReachedByWhateverIsChosen) {
  rowbloom::testing::Random random(1);
  for (const uint64_t keys : {1, 20, 300, 3500, 100000}) {
    for (const double rate : {0.3, 0.01, 0.001, 0.0001}) {
      const auto choices = FilterChoices(keys, Rate(rate));
      ASSERT_TRUE(choices.ok()) << choices.status();
      for (const FilterChoice& choice : *choices) {
        EXPECT_LE(choice.expected_fpr, rate * 1.0001);
        const EncodedFilter filter = rowbloom::testing::BuildFilter(
            choice.filter_spec,
            rowbloom::testing::RandomDigests(&random, keys));
        const double written = static_cast<double>(filter.units.size());
        EXPECT_NEAR(written, static_cast<double>(choice.size_bytes),
                    200 + 0.01 * written)
            << choice.filter_spec.ToString() << " of " << keys << " keys";
      }
    }
  }
}

TEST(FilterRanking, BitsPerKeyAreNotExceededNotEvenByFewKeys) {
  for (const uint64_t keys : {300, 1000, 3500, 10000, 1000000}) {
    for (const double bits : {2.0, 10.0, 20.0}) {
      for (const FilterPreference preference : kAll) {
        const auto choice = ChooseFilter(keys, Bits(bits), preference);
        ASSERT_TRUE(choice.ok());
        EXPECT_LE(static_cast<double>(choice->size_bytes),
                  std::max(128.0, bits * static_cast<double>(keys) / 8));
      }
    }
  }
}

TEST(FilterRanking, WhereNoFamilyStaysWithinTheBitsTheSmallestIsChosen) {
  for (uint64_t keys = 0; keys < 6000; keys += 41) {
    for (const double bits : {1.0, 1.02, 1.1, 1.5}) {
      const auto choice =
          ChooseFilter(keys, Bits(bits), FilterPreference::kSpace);
      ASSERT_TRUE(choice.ok()) << keys << " keys: " << choice.status();
      // The filter exceeds the bits by one line at most.
      EXPECT_LE(static_cast<double>(choice->size_bytes),
                std::max(128.0, 64 + bits * static_cast<double>(keys) / 8));
    }
  }
}

TEST(FilterRanking, SpaceIsTheSmallestAndCpuTheCheapestOfAll) {
  for (const uint64_t keys : {10, 1000, 1000000}) {
    for (const double rate : {0.1, 0.01, 0.0005}) {
      const auto choices = FilterChoices(keys, Rate(rate));
      ASSERT_TRUE(choices.ok());
      const auto smallest =
          ChooseFilter(keys, Rate(rate), FilterPreference::kSpace);
      const auto cheapest =
          ChooseFilter(keys, Rate(rate), FilterPreference::kCpu);
      for (const FilterChoice& choice : *choices) {
        EXPECT_GE(choice.size_bytes, smallest->size_bytes);
        EXPECT_GE(choice.lookup_cost + choice.build_cost,
                  cheapest->lookup_cost + cheapest->build_cost);
      }
    }
  }
}

TEST(FilterRanking, LargeFiltersForSpaceAreCompact) {
  const auto family = [](const FilterSpec& goal, FilterPreference preference) {
    return ChooseFilter(100000, goal, preference)->filter_spec.family();
  };
  EXPECT_EQ(family(Rate(0.01), FilterPreference::kSpace), "compact");
  EXPECT_EQ(family(Bits(10), FilterPreference::kSpace), "compact");
  EXPECT_EQ(family(Bits(10), FilterPreference::kCpu), "blocked_bloom");
  EXPECT_EQ(family(Rate(0.004), FilterPreference::kBalanced), "fast");
}

TEST(FilterRanking, AGoalThatNoFamilyCanMeetIsRefused) {
  for (const FilterSpec& goal :
       {Rate(0), Rate(1), Rate(-1), Rate(std::nan("")), Bits(0), Bits(1000)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        ChooseFilter(1000, goal, FilterPreference::kSpace).status()))
        << goal.ToString();
  }
}

TEST(FilterRanking, EveryFamilyThatFiltersIsAChoice) {
  const auto choices = FilterChoices(1000, Bits(10));
  ASSERT_TRUE(choices.ok());
  for (const std::string_view family : FilterFamilyNames()) {
    EXPECT_EQ(std::count_if(choices->begin(), choices->end(),
                            [&](const FilterChoice& choice) {
                              return choice.filter_spec.family() == family;
                            }),
              family == "always_maybe" ? 0 : 1)
        << family;
  }
}

}  // namespace
}  // namespace rowbloom::tools
