// SPDX-License-Identifier: Apache-2.0
//
// Tests the promises of every registered family, but those of its lookups,
// which filter_soak_test.cc tests. A new family is tested as soon as it is
// registered.

#include <gtest/gtest.h>

#include "filter/family.h"
#include "rowbloom/filter.h"
#include "testing/filters.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::BuildFilter;
using testing::Random;
using testing::RandomDigests;
using testing::ViewOf;

class FamilyTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  FilterSpec Spec(double bits_per_key) const {
    return FilterSpec::BitsPerKey(GetParam(), bits_per_key);
  }
};

INSTANTIATE_TEST_SUITE_P(All, FamilyTest,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST_P(FamilyTest, ObservedRateIsTheExpectedOne) {
  Random random(14);
  constexpr uint64_t kLookups = 4000000;
  for (const double bits : {1.0, 3.0, 5.5, 8.0, 10.0, 12.0, 14.0}) {
    for (const size_t count : {300, 3277, 105000}) {
      // The rates of small filters vary, so many filters share the lookups.
      const size_t filters = count < 1000 ? 100 : count < 10000 ? 20 : 4;
      const uint64_t lookups = kLookups / filters;
      uint64_t positives = 0;
      double expected = 0;
      for (size_t f = 0; f < filters; ++f) {
        const EncodedFilter filter =
            BuildFilter(Spec(bits), RandomDigests(&random, count));
        const FilterView view = ViewOf(filter);
        expected += view.expected_fpr() / static_cast<double>(filters);
        positives += testing::CountPositives(view, lookups, &random);
      }
      // The model may be off by 3%; small filters also vary among each other.
      EXPECT_TRUE(testing::WithinBinomialBound(
          positives, filters * lookups, expected, count < 1000 ? 0.05 : 0.03))
          << count << " keys at " << bits << " bits per key";
    }
  }
}

TEST_P(FamilyTest, RateAndBitsPerKeyAreInverseFunctions) {
  for (double bits = 1; bits <= 24; bits += 0.37) {
    const FilterSpec spec = Spec(bits);
    const double rate = spec.expected_fpr();
    if (rate == 1) continue;  // A family without bits has no inverse.
    const FilterSpec inverse = FilterSpec::TargetFpr(GetParam(), rate);
    ASSERT_TRUE(inverse.Validate().ok());
    EXPECT_NEAR(inverse.expected_fpr() / rate, 1, 0.005);
    // The inverse gives the fewest bits of a rate that may be constant over a
    // range.
    EXPECT_LE(inverse.bits_per_key(), bits + 0.01);
    const double fewer = inverse.bits_per_key() - 0.02;
    if (fewer >= FilterSpec::kMinBitsPerKey) {
      EXPECT_GT(Spec(fewer).expected_fpr(), rate);
    }
  }
}

TEST_P(FamilyTest, MoreBitsNeverExpectMoreFalsePositives) {
  double previous = 1;
  for (double bits = 1; bits <= 24; bits += 0.05) {
    const double rate = Spec(bits).expected_fpr();
    EXPECT_LE(rate, previous * 1.0005) << bits;
    previous = rate;
  }
}

TEST_P(FamilyTest, SizeFunctionsSayWhatIsWritten) {
  Random random(15);
  for (const double bits : {1.0, 6.5, 10.0, 20.0}) {
    for (const size_t count : {1, 50, 51, 52, 1000, 20001}) {
      const FilterSpec spec = Spec(bits);
      const EncodedFilter filter =
          BuildFilter(spec, RandomDigests(&random, count));
      // The number of stripes of compact varies a little with its keys.
      const double tolerance =
          GetParam() == "compact"
              ? 100 + 0.03 * static_cast<double>(filter.units.size())
              : 0;
      EXPECT_NEAR(static_cast<double>(FilterSizeBytes(spec, count)),
                  static_cast<double>(filter.units.size()), tolerance);
      EXPECT_EQ(filter.descriptor.total_size_bytes(), filter.units.size());
      EXPECT_EQ(filter.descriptor.key_count, count);
    }
    for (const uint64_t size : {256, 4096, 131072, 1 << 20}) {
      const uint64_t keys = MaxKeys(Spec(bits), size);
      EXPECT_LE(FilterSizeBytes(Spec(bits), keys), size);
      if (GetParam() != "always_maybe") {
        EXPECT_GT(FilterSizeBytes(Spec(bits), keys + 1), size);
      }
    }
  }
}

TEST_P(FamilyTest, SizesOfMoreKeysThan32BitsCountAreInProportion) {
  if (GetParam() == "always_maybe") return;  // It has no bytes.
  for (const double bits : {1.0, 9.3, 24.0}) {
    const double of_a_million =
        static_cast<double>(FilterSizeBytes(Spec(bits), 1 << 20)) / (1 << 20);
    for (const uint64_t keys : {uint64_t{1} << 32, (uint64_t{1} << 32) + 5,
                                uint64_t{1} << 33, uint64_t{1} << 40}) {
      const uint64_t size = FilterSizeBytes(Spec(bits), keys);
      const double of_one =
          static_cast<double>(size) / static_cast<double>(keys);
      EXPECT_NEAR(of_one / of_a_million, 1, 0.01) << keys << " at " << bits;
      EXPECT_GE(MaxKeys(Spec(bits), size), keys - keys / 1000);
    }
  }
}

TEST_P(FamilyTest, NoSizeIsTooLargeToAskForItsKeys) {
  for (const double bits : {1.0, 6.5, 24.0}) {
    uint64_t previous = 0;
    for (uint32_t shift = 30; shift < 64; ++shift) {
      const uint64_t keys = MaxKeys(Spec(bits), ~uint64_t{0} >> (63 - shift));
      EXPECT_GE(keys, previous) << shift;
      EXPECT_GT(keys, (uint64_t{1} << 30) / 4);
      previous = keys;
    }
  }
}

TEST_P(FamilyTest, RunsOfEqualDigestsCountOnce) {
  const std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(Spec(10));
  for (const uint64_t digest : {7, 7, 7, 8, 7, 7}) builder->Add({digest});
  EXPECT_EQ(builder->key_count(), 3u);
}

TEST_P(FamilyTest, ABuilderIsEmptyAfterFinishAndKeepsWorkingMemoryOnce) {
  Random random(16);
  const std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(Spec(10));
  const std::vector<KeyDigest> digests = RandomDigests(&random, 5000);
  std::string first;
  size_t kept = 0;
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(builder->key_count(), 0u);
    EXPECT_EQ(builder->memory_usage_bytes(), kept);
    for (const KeyDigest digest : digests) builder->Add(digest);
    const EncodedFilter filter = builder->Finish();
    if (round == 0) {
      first = filter.units;
      kept = builder->memory_usage_bytes();
    } else {
      EXPECT_EQ(filter.units, first);  // Same keys, same bytes.
    }
  }
}

TEST_P(FamilyTest, ABuilderKeepsAtMostThreeMebibytes) {
  for (const double bits_per_key : {4.0, 10.0, 24.0}) {
    Random random(17);
    const auto builder = NewFilterBuilder(Spec(bits_per_key));
    for (int i = 0; i < 1000000; ++i) builder->Add(KeyDigest{random()});
    builder->Finish();
    EXPECT_LE(builder->memory_usage_bytes(), 3u << 20) << bits_per_key;
  }
}

TEST_P(FamilyTest, AFilterOfNoKeysIsAlwaysMaybe) {
  const EncodedFilter filter = NewFilterBuilder(Spec(10))->Finish();
  EXPECT_EQ(filter.descriptor.family_name(), "always_maybe");
  EXPECT_TRUE(filter.units.empty());
  EXPECT_TRUE(ViewOf(filter).MayContain(KeyDigest{1}));
}

}  // namespace
}  // namespace rowbloom
