// SPDX-License-Identifier: Apache-2.0
//
// Tests filters that keep only some of their steps, for every registered
// family.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "rowbloom/filter.h"
#include "testing/filters.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::CutFilter;
using testing::Random;
using testing::RandomDigests;
using testing::ViewOf;

constexpr double kBitsPerKey[] = {1.0, 2.7, 4.2, 8.15, 10.0, 13.3, 24.0};
constexpr size_t kKeyCounts[] = {0, 1, 10, 3000, 200000};

EncodedFilter Build(std::string_view family, double bits_per_key,
                    const std::vector<KeyDigest>& digests) {
  return testing::BuildFilter(FilterSpec::BitsPerKey(family, bits_per_key),
                              digests);
}

std::vector<bool> Ask(const FilterView& view,
                      const std::vector<KeyDigest>& digests) {
  const auto answers = std::make_unique<bool[]>(digests.size());
  view.MayContain(digests, answers.get());
  return std::vector<bool>(answers.get(), answers.get() + digests.size());
}

// Calls check(filter, its keys) for every family and rate.
template <typename Check>
void ForEachFilter(size_t key_count, uint64_t seed, const Check& check) {
  Random random(seed);
  for (const std::string_view family : FilterFamilyNames()) {
    for (const double bits : kBitsPerKey) {
      SCOPED_TRACE(::testing::Message() << key_count << " keys in " << family
                                        << " at " << bits << " bits per key");
      const auto digests = RandomDigests(&random, key_count);
      check(Build(family, bits, digests), digests);
    }
  }
}

class FilterStepsTest : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Keys, FilterStepsTest, ::testing::ValuesIn(kKeyCounts),
                         ::testing::PrintToStringParamName());

TEST_P(FilterStepsTest, NoKeyIsLostAtAnyStepByAnyKernel) {
  ForEachFilter(GetParam(), 61, [](const EncodedFilter& filter, auto& keys) {
    const std::vector<bool> all_maybe(keys.size(), true);
    for (uint32_t s = 1; s <= FilterSteps(filter.descriptor); ++s) {
      const EncodedFilter cut = CutFilter(filter, s);
      for (const Kernel kernel : AvailableKernels()) {
        const FilterView view = ViewOf(cut, kernel);
        ASSERT_EQ(Ask(view, keys), all_maybe) << s << " steps";
        for (size_t i = 0; i < keys.size(); i += 1000) {
          ASSERT_TRUE(view.MayContain(keys[i])) << s << " steps";
        }
      }
    }
  });
}

TEST_P(FilterStepsTest, FewerStepsSayMaybeWhereverMoreDo) {
  Random random(62);
  const auto asked = RandomDigests(&random, 20000);
  ForEachFilter(GetParam(), 63, [&](const EncodedFilter& filter, auto&) {
    std::vector<bool> fewer(asked.size(), true);
    for (uint32_t s = 1; s <= FilterSteps(filter.descriptor); ++s) {
      const EncodedFilter cut = CutFilter(filter, s);
      const std::vector<bool> answers = Ask(ViewOf(cut), asked);
      for (size_t i = 0; i < asked.size(); ++i) {
        ASSERT_LE(answers[i], fewer[i]) << s << " steps";
      }
      fewer = answers;
    }
    EXPECT_EQ(fewer, Ask(ViewOf(filter), asked));
  });
}

TEST_P(FilterStepsTest, CuttingTwiceIsCuttingOnce) {
  ForEachFilter(GetParam(), 64, [](const EncodedFilter& filter, auto&) {
    const uint32_t steps = FilterSteps(filter.descriptor);
    for (uint32_t s = 1; s <= steps; ++s) {
      const EncodedFilter cut = CutFilter(filter, s);
      ASSERT_EQ(FilterSteps(cut.descriptor), s);
      for (uint32_t fewer = 1; fewer <= s; fewer += 1 + fewer / 3) {
        const EncodedFilter twice = CutFilter(cut, fewer);
        const EncodedFilter once = CutFilter(filter, fewer);
        ASSERT_EQ(twice.descriptor, once.descriptor) << fewer << " of " << s;
        ASSERT_TRUE(twice.units == once.units) << fewer << " of " << s;
      }
    }
    const EncodedFilter all = CutFilter(filter, steps);
    EXPECT_EQ(all.descriptor, filter.descriptor);
    EXPECT_TRUE(all.units == filter.units);
  });
}

TEST_P(FilterStepsTest, EachStepHalvesTheRate) {
  Random random(65);
  const auto asked = RandomDigests(&random, 200000);
  ForEachFilter(GetParam(), 66, [&](const EncodedFilter& filter, auto&) {
    const uint32_t steps = FilterSteps(filter.descriptor);
    for (uint32_t s = 1; s < steps; ++s) {
      const EncodedFilter cut = CutFilter(filter, s);
      const FilterView view = ViewOf(cut);
      EXPECT_EQ(view.expected_fpr(), std::ldexp(1, -static_cast<int>(s)));
      const std::vector<bool> answers = Ask(view, asked);
      const auto positives = std::count(answers.begin(), answers.end(), true);
      EXPECT_TRUE(testing::WithinBinomialBound(
          static_cast<uint64_t>(positives), asked.size(), view.expected_fpr(),
          /*model_error=*/0))
          << s << " of " << steps << " steps";
    }
  });
}

TEST(FilterSteps, CompactHasOneForEachPlaneAndOthersOneInAll) {
  Random random(67);
  const auto digests = RandomDigests(&random, 3000);
  EXPECT_EQ(FilterSteps(Build("always_maybe", 10, digests).descriptor), 0u);
  EXPECT_EQ(FilterSteps(Build("blocked_bloom", 10, digests).descriptor), 1u);
  EXPECT_EQ(FilterSteps(Build("fast", 10, digests).descriptor), 1u);
  // A plane that only some stripes have counts, too.
  EXPECT_EQ(FilterSteps(Build("compact", 4.4, digests).descriptor), 5u);
  EXPECT_EQ(FilterSteps(Build("compact", 10, digests).descriptor), 10u);
  EXPECT_EQ(FilterSteps(Build("compact", 24, digests).descriptor), 24u);
}

TEST(FilterSteps, AFilterThatIsNotUnderstoodIsOneStep) {
  Random random(69);
  const EncodedFilter filter =
      Build("compact", 10, RandomDigests(&random, 3000));
  FilterDescriptor unknown = filter.descriptor;
  unknown.family_code = 200;
  FilterDescriptor more_units = filter.descriptor;
  ++more_units.unit_count;
  FilterDescriptor no_planes = filter.descriptor;
  no_planes.parameters &= ~uint64_t{31};
  FilterDescriptor other_size = filter.descriptor;
  ++other_size.unit_size_bytes[1];
  for (const FilterDescriptor& descriptor :
       {unknown, more_units, no_planes, other_size}) {
    EXPECT_EQ(FilterSteps(descriptor), 1u);
    EXPECT_EQ(FilterAtStep(descriptor, 1), descriptor);
    const std::string unit(static_cast<size_t>(descriptor.unit_size_bytes[1]),
                           'x');
    std::string out(unit.size(), '\0');
    CopyUnitAtStep(descriptor, 1, 1, unit, out.data());
    EXPECT_EQ(out, unit);
  }
}

TEST(FilterSteps, CuttingAcceptsNoDescriptorThatIsRefusedWhole) {
  Random random(70);
  constexpr uint64_t kMostBytes = 1 << 20;
  for (const std::string_view family : FilterFamilyNames()) {
    for (const double bits : {1.0, 4.2, 10.0, 24.0}) {
      const EncodedFilter filter =
          Build(family, bits, RandomDigests(&random, 500));
      std::string bytes;
      filter.descriptor.AppendTo(&bytes);
      for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        std::string damaged = bytes;
        damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
        std::string_view rest = damaged;
        const auto descriptor = FilterDescriptor::Parse(&rest);
        if (!descriptor.ok()) continue;
        EncodedFilter whole;
        whole.descriptor = *descriptor;
        const uint32_t steps = FilterSteps(*descriptor);
        if (descriptor->total_size_bytes() > kMostBytes) {
          for (uint32_t s = 1; s <= steps; ++s) FilterAtStep(*descriptor, s);
          continue;
        }
        whole.units.resize(descriptor->total_size_bytes());
        const bool accepted =
            FilterView::Parse(*descriptor, whole.UnitViews()).ok();
        for (uint32_t s = 1; s <= steps; ++s) {
          const EncodedFilter cut = CutFilter(whole, s);
          EXPECT_EQ(FilterView::Parse(cut.descriptor, cut.UnitViews()).ok(),
                    accepted);
        }
      }
    }
  }
}

TEST(FilterDescriptorDeathTest, MistakesNameTheCall) {
  EncodedFilter filter;
  FilterDescriptor& descriptor = filter.descriptor;
  std::string out;
  EXPECT_DEATH(descriptor.AppendTo(nullptr), "out is null");
  EXPECT_DEATH((void)FilterDescriptor::Parse(nullptr), "in is null");
  descriptor.unit_count = FilterDescriptor::kMaxUnits + 1;
  EXPECT_DEATH(descriptor.AppendTo(&out), "unit_count is above");
  EXPECT_DEATH((void)filter.UnitViews(), "unit_count is above");
}

TEST(FilterStepsDeathTest, StepsAreAtLeastOneAndNoMoreThanThereAre) {
  Random random(71);
  const FilterDescriptor descriptor =
      Build("compact", 10, RandomDigests(&random, 100)).descriptor;
  EXPECT_DEATH(FilterAtStep(descriptor, 0), "steps must be 1 to");
  EXPECT_DEATH(FilterAtStep(descriptor, 11), "steps must be 1 to");
  char out = 0;
  EXPECT_DEATH(CopyUnitAtStep(descriptor, 5, 1, "torn", &out),
               "no such step or unit");
}

}  // namespace
}  // namespace rowbloom
