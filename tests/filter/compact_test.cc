// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

#include "absl/strings/escaping.h"
#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_layout.h"
#include "testing/filters.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;
using testing::RandomDigests;
using testing::ViewOf;

EncodedFilter Build(double bits_per_key,
                    const std::vector<KeyDigest>& digests) {
  return testing::BuildFilter(FilterSpec::BitsPerKey("compact", bits_per_key),
                              digests);
}

// Returns the bits per key of this many whole planes.
double BitsOfPlanes(int planes) {
  return BitsPerKeyFor(kCompactFamily, std::ldexp(1, -planes));
}

CompactLayout LayoutOf(const EncodedFilter& filter) {
  CompactLayout layout;
  EXPECT_TRUE(CompactLayout::Decode(filter.descriptor.parameters,
                                    filter.descriptor.unit_size_bytes[0],
                                    &layout));
  return layout;
}

// Implements section "compact" of docs/filter_families.md in the plainest way.
bool MayContainByTheSpecification(const EncodedFilter& filter,
                                  uint64_t digest) {
  const CompactLayout layout = LayoutOf(filter);
  const std::vector<std::string_view> units = filter.UnitViews();
  const auto byte = [](std::string_view bytes, uint64_t at) {
    return static_cast<uint8_t>(bytes[at]);
  };
  const uint64_t seed = 0xa54ff53a5f1d36f1u * (2 * uint64_t{layout.seed} + 1);
  uint64_t first = 0;
  for (uint32_t layer = 0; layer < 4 && layout.homes[layer] > 0; ++layer) {
    const unsigned __int128 product =
        static_cast<unsigned __int128>(digest) * layout.homes[layer];
    const uint64_t stripe = first + static_cast<uint64_t>(product >> 64);
    const uint32_t position = static_cast<uint64_t>(product) >> 56;
    const uint32_t code = byte(units[0], layout.CodesOffset() + stripe / 4) >>
                              (2 * (stripe % 4)) &
                          3;
    constexpr uint32_t kBumpedBelow[] = {0, 48, 140, 256};
    if (position < kBumpedBelow[code]) {
      digest = Mix64(digest, 0xbb67ae8584caa73bu);
      first += layout.homes[layer] + 1;
      continue;
    }
    const uint64_t equation = Mix64(digest, seed);
    const uint64_t fingerprint = (equation * 0xbb67ae8584caa73bu) >> 32;
    const auto planes_of = [&](uint64_t s) {
      return layout.planes.lean + (s < layout.rich_stripes());
    };
    const uint32_t planes = std::min(planes_of(stripe), planes_of(stripe + 1));
    for (uint32_t c = 0; c < planes; ++c) {
      uint32_t parity = 0;
      for (uint32_t slot = 0; slot < 64; ++slot) {
        if ((equation >> slot & 1) == 0) continue;
        const uint64_t s = stripe + slot / 32;
        const uint64_t at =
            layout.StripeOffset(c / 4, s) + 4 * (c % 4) + slot % 32 / 8;
        parity ^= byte(units[c / 4], at) >> (slot % 8) & 1;
      }
      if (parity != (fingerprint >> c & 1)) return false;
    }
    return true;
  }
  return true;
}

TEST(Compact, LookupsAnswerAsSpecified) {
  Random random(31);
  for (const double bits : {1.0, 2.7, 4.2, 8.15, 10.0, 13.3, 17.0, 24.0}) {
    for (const size_t count : {1, 40, 700, 9000}) {
      const EncodedFilter filter = Build(bits, RandomDigests(&random, count));
      const FilterView view = ViewOf(filter);
      for (int i = 0; i < 3000; ++i) {
        const uint64_t digest = random();
        ASSERT_EQ(view.MayContain({digest}),
                  MayContainByTheSpecification(filter, digest))
            << count << " keys at " << bits;
      }
    }
  }
}

// A kernel has other lookups for first units of more than a megabyte.
TEST(Compact, LookupsOfNearAndOfFarFiltersAnswerTheSame) {
  Random random(25);
  for (const double bits_per_key : {2.5, 4.6, 6.8, 8.2, 10.0, 13.0, 21.5}) {
    for (const size_t key_count : {1, 300, 20000}) {
      std::vector<KeyDigest> digests = RandomDigests(&random, key_count);
      const EncodedFilter filter = Build(bits_per_key, digests);
      const std::vector<KeyDigest> absent = RandomDigests(&random, 5001);
      digests.insert(digests.end(), absent.begin(), absent.end());
      std::vector<uint64_t> values;
      for (const KeyDigest digest : digests) values.push_back(digest.value);
      const testing::UnitBlocks blocks(filter.UnitViews(), 3);
      const absl::Span<const std::string_view> units = blocks.units();
      for (size_t loaded = 1; loaded <= units.size(); ++loaded) {
        FilterState state;
        state.unit_count = static_cast<uint32_t>(loaded);
        for (size_t u = 0; u < loaded; ++u) state.unit[u] = units[u].data();
        FilterLookup parsed;
        ASSERT_TRUE(
            kCompactFamily
                .parse(filter.descriptor, Kernel::kPortable, &state, &parsed)
                .ok());
        std::vector<bool> expected;
        for (const uint64_t value : values) {
          expected.push_back(parsed.may_contain(state, value));
        }
        for (const Kernel kernel : AvailableKernels()) {
          for (const bool near : {false, true}) {
            const CompactLookup lookup =
                CompactKernelFor(kernel).lookup(state, near);
            const auto answers = std::make_unique<bool[]>(values.size() + 1);
            answers[values.size()] = true;
            lookup.may_contain_batch(state, values.data(), values.size(),
                                     answers.get());
            EXPECT_TRUE(answers[values.size()]);
            for (size_t i = 0; i < values.size(); ++i) {
              ASSERT_TRUE(expected[i] || i >= key_count);
              ASSERT_EQ(lookup.may_contain(state, values[i]), expected[i]);
              ASSERT_EQ(answers[i], expected[i]) << i << " of a batch";
            }
          }
        }
      }
    }
  }
}

TEST(Compact, TheSmallestFilterHasTheseBytes) {
  const EncodedFilter filter = Build(BitsOfPlanes(4), {DigestBytes("row")});
  std::string descriptor;
  filter.descriptor.AppendTo(&descriptor);
  // docs/filter_families.md shows the same bytes.
  EXPECT_EQ(absl::BytesToHexString(descriptor), "010401848048012140dc26a6");
  EXPECT_EQ(absl::BytesToHexString(filter.units),
            "04000000040000000400000004000000"
            "00000000000000000000000000000000"
            "00");
}

TEST(Compact, RandomKeysAllFindRoom) {
  Random random(33);
  for (int i = 0; i < 300; ++i) {
    const size_t count = 1 + random.Below(i < 290 ? 3000 : 100000);
    EXPECT_EQ(
        Build(BitsOfPlanes(8), RandomDigests(&random, count)).saturated_keys,
        0u)
        << count;
  }
}

TEST(Compact, SizeIsNearTheInformationLimit) {
  Random random(34);
  for (const auto& [count, percent] :
       std::map<size_t, double>{{3500, 3.4}, {10000, 2.8}, {300000, 1.8}}) {
    const EncodedFilter filter =
        Build(BitsOfPlanes(8), RandomDigests(&random, count));
    const double bits = 8.0 * static_cast<double>(filter.units.size()) /
                        static_cast<double>(count);
    EXPECT_LT(bits, (1 + percent / 100) * 8) << count;
    EXPECT_EQ(ViewOf(filter).expected_fpr(), std::exp2(-8));
  }
}

// Means of many filters, in slots for each key.
TEST(Compact, FewKeysTakeFewSlots) {
  Random random(43);
  const double bits = BitsOfPlanes(8);
  for (const auto& [count, most] : std::map<size_t, double>{{60, 1.12},
                                                            {300, 1.085},
                                                            {400, 1.08},
                                                            {550, 1.06},
                                                            {700, 1.06},
                                                            {5000, 1.0195}}) {
    constexpr int kFilters = 100;
    double slots = 0;
    double size = 0;
    for (int i = 0; i < kFilters; ++i) {
      const EncodedFilter filter = Build(bits, RandomDigests(&random, count));
      const CompactLayout layout = LayoutOf(filter);
      EXPECT_EQ(layout.homes[1] == 0, count <= kLastLayerKeys) << count;
      slots += static_cast<double>(kStripeSlots * layout.stripe_count());
      size += static_cast<double>(filter.units.size());
    }
    EXPECT_LT(slots / kFilters / static_cast<double>(count), most) << count;
    EXPECT_NEAR(static_cast<double>(kCompactFamily.size_bytes(bits, count)),
                size / kFilters, 16)
        << count;
  }
}

TEST(Compact, ABuilderKeepsTheSolversMemoryForTheNextFilter) {
  const auto builder = NewFilterBuilder(FilterSpec::BitsPerKey("compact", 10));
  for (uint64_t key = 0; key < 3000; ++key) {
    builder->Add(KeyDigest{key * 0x9e3779b97f4a7c15u});
  }
  builder->Finish();
  EXPECT_EQ(builder->key_count(), 0u);
  EXPECT_GT(builder->memory_usage_bytes(), 10000u);
}

TEST(Compact, NoSetOfRandomKeysTakesMuchMoreThanExpected) {
  Random random(42);
  const double stripe_size = kPlaneSize * CompactPlanesFor(10).most();
  for (const size_t count : {1000, 3141, 10000}) {
    const double expected =
        static_cast<double>(kCompactFamily.size_bytes(10, count));
    for (int i = 0; i < 500; ++i) {
      const EncodedFilter filter = Build(10, RandomDigests(&random, count));
      // The last layer of a small filter may need two stripes more; large
      // filters differ by 2%.
      EXPECT_LT(static_cast<double>(filter.units.size()),
                1.02 * expected + 2 * stripe_size)
          << count << " keys";
    }
  }
}

TEST(Compact, EachUnitTakesTheRateToASixteenth) {
  Random random(35);
  const EncodedFilter filter =
      Build(BitsOfPlanes(16), RandomDigests(&random, 50000));
  ASSERT_EQ(filter.descriptor.unit_count, 4);
  const std::vector<std::string_view> units = filter.UnitViews();
  for (size_t loaded = 1; loaded <= 4; ++loaded) {
    const auto view = FilterView::Parse(
        filter.descriptor, absl::MakeConstSpan(units.data(), loaded));
    ASSERT_TRUE(view.ok());
    EXPECT_EQ(view->expected_fpr(), std::exp2(-4.0 * loaded));
  }
}

// No hash function gives such sets, but an attacker may.
TEST(Compact, KeysThatCrowdOneStripeGoToOtherLayers) {
  std::vector<KeyDigest> digests;
  for (uint64_t i = 0; i < 5000; ++i) {
    // The keys are at home in one stripe, at the positions that are bumped
    // last.
    digests.push_back({~uint64_t{0} - i * 977});
  }
  const EncodedFilter filter = Build(BitsOfPlanes(8), digests);
  EXPECT_EQ(filter.saturated_keys, 0u);
  const FilterView view = ViewOf(filter);
  for (const KeyDigest digest : digests) ASSERT_TRUE(view.MayContain(digest));
  Random random(36);
  EXPECT_LT(testing::CountPositives(view, 100000, &random), 2000u);
}

TEST(Compact, ManyCopiesOfTwoKeysSaturateWhereTheyAreAndNowhereElse) {
  Random random(37);
  std::vector<KeyDigest> digests = RandomDigests(&random, 5000);
  for (int i = 0; i < 400; ++i) {
    digests.push_back({123});
    digests.push_back({456});
  }
  const EncodedFilter filter = Build(BitsOfPlanes(8), digests);
  EXPECT_GT(filter.saturated_keys, 0u);
  const FilterView view = ViewOf(filter);
  for (const KeyDigest digest : digests) ASSERT_TRUE(view.MayContain(digest));
  EXPECT_LT(testing::CountPositives(view, 100000, &random), 1000u);
}

TEST(Compact, ReservedBitsMustBeZero) {
  Random random(39);
  const auto digests = RandomDigests(&random, 930);
  EncodedFilter filter = Build(2.5, digests);  // One unit is partial.
  const CompactLayout layout = LayoutOf(filter);
  ASSERT_NE(layout.stripe_count() % 4, 0u);
  const uint64_t padding = layout.StripesSize(0);
  for (const uint64_t at :
       {padding, padding + kPartialUnitPadding - 1, layout.UnitSize(0) - 1}) {
    filter.units[at] = static_cast<char>(filter.units[at] ^ 0x80);
    EXPECT_TRUE(absl::IsDataLoss(
        FilterView::Parse(filter.descriptor, filter.UnitViews()).status()));
    filter.units[at] = static_cast<char>(filter.units[at] ^ 0x80);
  }
  EXPECT_TRUE(FilterView::Parse(filter.descriptor, filter.UnitViews()).ok());
}

TEST(Compact, AFilterThatIsCutHasTheFirstPlanesAndNothingElse) {
  Random random(40);
  for (const double bits : {2.7, 4.2, 8.15, 10.0, 13.3, 24.0}) {
    for (const size_t count : {1, 40, 700, 9000}) {
      const EncodedFilter filter = Build(bits, RandomDigests(&random, count));
      const CompactLayout from = LayoutOf(filter);
      for (uint32_t planes = 1; planes < from.planes.most(); ++planes) {
        const EncodedFilter cut = testing::CutFilter(filter, planes);
        const CompactLayout to = LayoutOf(cut);
        ASSERT_EQ(to.planes.lean, planes);
        ASSERT_EQ(to.planes.rich_share, 0u);
        ASSERT_EQ(to.homes, from.homes);
        ASSERT_EQ(to.seed, from.seed);
        ASSERT_EQ(cut.descriptor.unit_count, (planes + 3) / 4);
        ASSERT_EQ(cut.descriptor.key_count, filter.descriptor.key_count);
        std::string expected;
        for (uint32_t u = 0; u < to.planes.unit_count(); ++u) {
          const std::string_view stored = filter.UnitViews()[u];
          const uint32_t kept = std::min(planes - 4 * u, 4u);
          ASSERT_EQ(cut.descriptor.unit_checksum[u],
                    kept == 4 ? filter.descriptor.unit_checksum[u] : 0);
          for (uint64_t s = 0; s < from.stripe_count(); ++s) {
            expected += stored.substr(from.StripeOffset(u, s), 4 * kept);
          }
          if (kept < 4) expected.append(12, '\0');
          if (u == 0) expected += stored.substr(from.CodesOffset());
        }
        ASSERT_TRUE(cut.units == expected)
            << planes << " planes, " << count << " keys at " << bits;
      }
    }
  }
}

// With 18 planes, further planes almost never change which equations contradict
// each other.
TEST(Compact, AFilterThatIsCutIsTheOneThatIsBuiltOfFewerPlanes) {
  Random random(41);
  for (const size_t count : {1, 300, 5000, 100000}) {
    const auto digests = RandomDigests(&random, count);
    const EncodedFilter built = Build(BitsOfPlanes(18), digests);
    const EncodedFilter cut =
        testing::CutFilter(Build(BitsOfPlanes(23), digests), 18);
    EXPECT_EQ(cut.descriptor.parameters, built.descriptor.parameters);
    EXPECT_EQ(cut.descriptor.key_count, built.descriptor.key_count);
    EXPECT_TRUE(cut.units == built.units) << count;
  }
}

TEST(CompactLayout, ParametersAndFirstUnitGiveTheLayoutBack) {
  Random random(38);
  for (int i = 0; i < 3000; ++i) {
    CompactLayout layout;
    layout.planes.lean = static_cast<uint32_t>(1 + random.Below(31));
    layout.planes.rich_share = static_cast<uint32_t>(random.Below(256));
    layout.seed = static_cast<uint32_t>(random.Below(256));
    layout.homes[0] = 1 + random.Below(uint64_t{1} << (1 + random.Below(35)));
    const uint32_t layers = static_cast<uint32_t>(random.Below(4));
    for (uint32_t layer = 1; layer <= layers; ++layer) {
      layout.homes[layer] = RepresentableHomes(
          1 + random.Below(uint64_t{1} << (1 + random.Below(30))));
    }
    CompactLayout decoded;
    ASSERT_TRUE(
        CompactLayout::Decode(layout.Encode(), layout.UnitSize(0), &decoded));
    EXPECT_EQ(decoded.Encode(), layout.Encode());
    EXPECT_EQ(decoded.homes, layout.homes);
    EXPECT_EQ(decoded.stripe_count(), layout.stripe_count());
  }
}

TEST(CompactLayout, WhatIsNotALayoutIsRefused) {
  CompactLayout layout;
  layout.planes.lean = 8;
  layout.homes = {100, 5, 0, 0};
  const uint64_t parameters = layout.Encode();
  const uint64_t size = layout.UnitSize(0);
  CompactLayout decoded;
  EXPECT_TRUE(CompactLayout::Decode(parameters, size, &decoded));
  // Decode() refuses no planes, unknown bits, a gap between layers, a number
  // of homes that is not in its shortest form, and sizes that no number of
  // stripes has.
  EXPECT_FALSE(
      CompactLayout::Decode(parameters & ~uint64_t{31}, size, &decoded));
  for (uint32_t bit = 60; bit < 64; ++bit) {
    EXPECT_FALSE(
        CompactLayout::Decode(parameters | uint64_t{1} << bit, size, &decoded));
  }
  layout.homes = {100, 0, 5, 0};
  EXPECT_FALSE(CompactLayout::Decode(layout.Encode(), size, &decoded));
  EXPECT_FALSE(
      CompactLayout::Decode(parameters | uint64_t{1} << 29, size, &decoded));
  for (const uint64_t wrong :
       {uint64_t{0}, uint64_t{1}, size - 1, size + 1, ~uint64_t{0}}) {
    EXPECT_FALSE(CompactLayout::Decode(parameters, wrong, &decoded)) << wrong;
  }
}

}  // namespace
}  // namespace rowbloom::filter
