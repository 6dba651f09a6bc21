// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "rowbloom/filter.h"

namespace rowbloom {
namespace {

std::vector<FilterCost> AllCosts() {
  std::vector<FilterCost> costs = {FilterCost::OfRocksDbBloom(),
                                   FilterCost::OfRocksDbRibbon()};
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    costs.push_back(*FilterCost::OfFamily(family));
    costs.push_back(*FilterCost::OfFamily(family, 1000));
  }
  return costs;
}

TEST(FilterCost, SettingsOfAFamilyAreWhatItsBuilderMakes) {
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    for (const uint64_t keys : {300, 5000, 1000000}) {
      const auto cost = FilterCost::OfFamily(family, keys);
      ASSERT_TRUE(cost.ok());
      for (double bits = 2; bits <= 24; bits += 0.37) {
        const FilterSetting setting = cost->ForBits(bits);
        if (setting.builder_bits == 0) continue;
        const FilterSpec spec =
            FilterSpec::BitsPerKey(family, setting.builder_bits);
        ASSERT_TRUE(spec.Validate().ok()) << spec.ToString();
        // The curve bridges the small gap where a family adds a column.
        EXPECT_NEAR(spec.expected_fpr() / setting.fpr, 1, 0.06)
            << spec.ToString();
        // Filters are whole lines of 64 bytes.
        EXPECT_NEAR(setting.bits_per_key,
                    8 * static_cast<double>(FilterSizeBytes(spec, keys)) /
                        static_cast<double>(keys),
                    1024 / static_cast<double>(keys) + 0.06)
            << spec.ToString();
      }
    }
  }
}

TEST(FilterCost, MoreBitsAreLessRate) {
  for (const FilterCost& cost : AllCosts()) {
    FilterSetting last;
    for (double bits = 0; bits < 100; bits += 1.0 / 128) {
      const FilterSetting setting = cost.ForBits(bits);
      EXPECT_LE(setting.bits_per_key, bits);
      EXPECT_GE(setting.bits_per_key, last.bits_per_key);
      EXPECT_LE(setting.fpr, last.fpr);
      last = setting;
    }
    EXPECT_GT(last.bits_per_key, 20) << cost.name();
  }
}

TEST(FilterCost, NoMixOfTwoSettingsIsClearlyBetterThanOneBetweenThem) {
  for (const FilterCost& cost : AllCosts()) {
    for (double low = 0; low < 24; low += 0.5) {
      for (double high = low + 0.25; high < 24; high += 0.5) {
        const FilterSetting a = cost.ForBits(low);
        const FilterSetting b = cost.ForBits(high);
        const FilterSetting middle =
            cost.ForBits((a.bits_per_key + b.bits_per_key) / 2);
        if (b.bits_per_key == a.bits_per_key) continue;
        const double part = (middle.bits_per_key - a.bits_per_key) /
                            (b.bits_per_key - a.bits_per_key);
        EXPECT_LE(middle.fpr, 1.061 * (a.fpr + part * (b.fpr - a.fpr)))
            << cost.name() << " at " << middle.bits_per_key;
      }
    }
  }
}

TEST(FilterCost, RatesAndBitsAreInverse) {
  for (const FilterCost& cost : AllCosts()) {
    for (double bits = 0; bits <= 24; bits += 0.1) {
      const FilterSetting by_bits = cost.ForBits(bits);
      const FilterSetting by_fpr = cost.ForFpr(by_bits.fpr);
      EXPECT_NEAR(by_fpr.bits_per_key, by_bits.bits_per_key, 1e-6)
          << cost.name();
      EXPECT_NEAR(by_fpr.fpr / by_bits.fpr, 1, 1e-6) << cost.name();
    }
  }
}

TEST(FilterCost, TheNearestRateIsWithinHalfAGap) {
  const FilterCost cost =
      *FilterCost::FromSettings("steps", {{4, 4, 1.0 / 16}, {8, 8, 1.0 / 256}});
  EXPECT_EQ(cost.ForFpr(1).bits_per_key, 0);
  EXPECT_EQ(cost.ForFpr(0.26).bits_per_key, 0);
  EXPECT_EQ(cost.ForFpr(0.24).bits_per_key, 4);
  EXPECT_EQ(cost.ForFpr(0.016).bits_per_key, 4);
  EXPECT_EQ(cost.ForFpr(0.015).bits_per_key, 8);
  EXPECT_EQ(cost.ForFpr(1e-30).bits_per_key, 8);
  EXPECT_EQ(cost.ForFpr(0).bits_per_key, 8);
  EXPECT_EQ(cost.ForBits(7.9).bits_per_key, 4);
  EXPECT_EQ(cost.ForBits(3.9).bits_per_key, 0);
  EXPECT_EQ(cost.ForBits(-1).bits_per_key, 0);
}

TEST(FilterCost, SettingsThatAMixBeatsAreLeftOut) {
  const FilterCost cost = *FilterCost::FromSettings(
      "beaten", {{8, 8, 0.01}, {2, 2, 0.9}, {4, 4, 0.1}, {9, 9, 0.02}});
  EXPECT_EQ(cost.ForBits(3).bits_per_key, 0);
  EXPECT_EQ(cost.ForBits(5).bits_per_key, 4);
  EXPECT_EQ(cost.ForBits(50).bits_per_key, 8);
}

// RocksDB's wiki, "RocksDB Bloom Filter", publishes these measurements: 0.95%
// at 10 bits for Bloom, and about 30% less memory at that rate for Ribbon.
TEST(FilterCost, RocksDbsFiltersAreAsDocumented) {
  EXPECT_NEAR(FilterCost::OfRocksDbBloom().ForBits(10).fpr, 0.0095, 0.0001);
  const FilterSetting ribbon = FilterCost::OfRocksDbRibbon().ForFpr(0.0095);
  EXPECT_NEAR(ribbon.builder_bits, 10, 0.05);
  EXPECT_NEAR(ribbon.bits_per_key, 7, 0.15);
}

TEST(FilterCost, WhatIsNoFilterIsRefusedWithWhatIsOne) {
  EXPECT_EQ(FilterCost::OfFamily("always_maybe").status(),
            absl::InvalidArgumentError(
                "filter family \"always_maybe\" is no filter and has no cost; "
                "known: blocked_bloom, fast, compact"));
  EXPECT_EQ(FilterCost::OfFamily("no such").status(),
            absl::InvalidArgumentError("unknown filter family \"no such\"; "
                                       "known: blocked_bloom, fast, compact"));
  EXPECT_EQ(FilterCost::OfName("ribbon").status(),
            absl::InvalidArgumentError(
                "unknown filter family \"ribbon\"; known: blocked_bloom, fast, "
                "compact, rocksdb_bloom, rocksdb_ribbon"));
  EXPECT_FALSE(FilterCost::FromSettings("x", {{1, 0, 0.5}}).ok());
  EXPECT_FALSE(FilterCost::FromSettings("x", {{1, 1, 0}}).ok());
  EXPECT_FALSE(FilterCost::FromSettings("x", {{1, 1, 1.5}}).ok());
  EXPECT_FALSE(FilterCost::FromSettings("x", {{1, std::nan(""), 0.5}}).ok());
  EXPECT_FALSE(FilterCost::FromSettings("x", {{1, 1, std::nan("")}}).ok());
}

}  // namespace
}  // namespace rowbloom
