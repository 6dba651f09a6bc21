// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/sizing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "testing/keys.h"

namespace rowbloom {
namespace {

constexpr std::nullopt_t kNone = std::nullopt;

BloomSize Solve(const BloomSizeRequest& request) {
  const auto size = SolveBloomSize(request);
  EXPECT_TRUE(size.ok()) << size.status();
  return size.ok() ? *size : BloomSize();
}

TEST(BloomSizing, UsualTableIsReproduced) {
  struct Row {
    uint64_t keys;
    double fpr;
    uint64_t bits;
    uint32_t probes;
    double size;
    double unit;
  };
  constexpr double kKib = 1 << 10;
  constexpr double kMib = 1 << 20;
  for (const Row& row :
       {Row{10'000, 0.0444, 64'824, 4, 7.9, kKib},
        Row{1'000'000, 1e-4, 19'170'116, 13, 2.29, kMib},
        Row{1'000'000, 1e-7, 33'547'704, 23, 4.00, kMib},
        Row{10'000'000, 1e-4, 191'701'167, 13, 22.85, kMib},
        Row{100'000'000, 1e-4, 1'917'011'675, 13, 228.53, kMib},
        Row{100'000'000, 1e-8, 3'834'023'350, 27, 457.05, kMib}}) {
    const BloomSize size = Solve({row.keys, row.fpr});
    EXPECT_EQ(size.bit_count, row.bits);
    EXPECT_EQ(size.probe_count, row.probes);
    EXPECT_NEAR(static_cast<double>(size.bit_count) / 8 / row.unit, row.size,
                row.size < 10 && row.unit == kKib ? 0.05 : 0.005);
    EXPECT_NEAR(size.fpr / row.fpr, 1, 0.02);
  }
}

TEST(BloomSizing, LargeFilterOfGivenProbesHasItsKnownRate) {
  const BloomSize size = Solve({1'000'000'000, kNone, 32'000'000'000, 24});
  EXPECT_NEAR(size.fpr, 2.17e-7, 0.005e-7);
  EXPECT_NEAR(static_cast<double>(size.bit_count) / 8 / (1 << 20), 3814.697,
              0.0005);
}

TEST(BloomSizing, OneKeyInTwoBitsHasItsKnownRate) {
  EXPECT_NEAR(Solve({1, kNone, 2, 2}).fpr, 0.3995764008, 1e-10);
}

TEST(BloomSizing, BestProbesAreThoseOfTheFormula) {
  EXPECT_NEAR(BestProbeCount(1, 32), 22.18, 0.005);
  EXPECT_EQ(Solve({1000, kNone, 32'000}).probe_count, 22u);
}

TEST(BloomSizing, BitsOfOneKeyAreNotThoseOfTheWrongFormula) {
  EXPECT_NEAR(BloomBits(1, 0.39957640), 1.909, 0.0005);
}

TEST(BloomSizing, BitsKeysAndRateAreInverseFunctions) {
  for (const double keys : {1.0, 1000.0, 1e6, 1e12}) {
    for (const double fpr : {0.5, 0.1, 0.01, 1e-4, 1e-9, 1e-30}) {
      EXPECT_NEAR(BloomKeys(BloomBits(keys, fpr), fpr) / keys, 1, 1e-12);
      for (const uint32_t probes : {1u, 2u, 7u, 24u, 100u}) {
        const double bits = BloomBits(keys, fpr, probes);
        EXPECT_NEAR(BloomKeys(bits, fpr, probes) / keys, 1, 1e-12);
        EXPECT_NEAR(BloomFpr(keys, bits, probes) / fpr, 1, 1e-9);
      }
    }
  }
}

TEST(BloomSizing, GivenProbesMeetTheRateWithTheFewestBitsAndTheMostKeys) {
  for (const uint32_t probes : {1u, 3u, 7u, 13u, 30u}) {
    for (const double fpr : {0.2, 0.01, 1e-5}) {
      const BloomSize size = Solve({54'321, fpr, kNone, probes});
      const double bits = static_cast<double>(size.bit_count);
      EXPECT_LE(size.fpr, fpr * (1 + 1e-9));
      EXPECT_GT(BloomFpr(54'321, bits - 1, probes), fpr * (1 - 1e-9));
      const BloomSize keys = Solve({kNone, fpr, size.bit_count, probes});
      EXPECT_NEAR(static_cast<double>(keys.key_count), 54'321, 1);
    }
  }
}

TEST(BloomSizing, BitsAndRateGiveKeys) {
  const BloomSize size = Solve({kNone, 1e-4, 19'170'117});
  EXPECT_EQ(size.key_count, 1'000'000u);
  EXPECT_EQ(size.probe_count, 13u);
}

TEST(BloomSizing, ProbesWithKeysOrBitsGiveTheOtherSoThatTheyAreBest) {
  const BloomSize of_keys = Solve({1000, kNone, kNone, 10});
  EXPECT_EQ(of_keys.bit_count, 14'427u);
  EXPECT_NEAR(of_keys.fpr, 1.0 / 1024, 1e-6);
  const BloomSize of_bits = Solve({kNone, kNone, 131'072, 10});
  EXPECT_EQ(of_bits.key_count, 9'085u);  // Half of the bits are set.
}

TEST(BloomSizing, KeysBitsAndRateGiveTheFewestProbes) {
  const BloomSize size = Solve({1000, 0.001, 20'000});
  EXPECT_LE(size.fpr, 0.001);
  EXPECT_GT(BloomFpr(1000, 20'000, size.probe_count - 1), 0.001);
  const auto impossible = SolveBloomSize({1000, 1e-9, 20'000});
  EXPECT_TRUE(absl::IsInvalidArgument(impossible.status()));
  EXPECT_NE(impossible.status().ToString().find("at best"), std::string::npos);
}

TEST(BloomSizing, ShapesMeetTheirRateWithFewerBitsThanOtherProbesNeed) {
  testing::Random random(5);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t keys = 1 + random.Below(uint64_t{1} << (1 + round % 34));
    const double fpr = std::exp2(-0.2 - static_cast<double>(round % 300) / 10);
    const auto shape = ShapeFor(keys, fpr);
    ASSERT_TRUE(shape.ok()) << shape.status();
    const double n = static_cast<double>(keys);
    const double m = static_cast<double>(shape->bit_count);
    ASSERT_LE(BloomFpr(n, m, shape->probe_count), fpr * (1 + 1e-9));
    for (uint32_t probes = 1; probes < 40; ++probes) {
      ASSERT_GE(BloomBits(n, fpr, probes) + 1, m) << keys << " " << fpr;
    }
  }
}

TEST(BloomSizing, ARateIsMissedByFivePercentAtMostAndAboveAHalfNotAtAll) {
  for (double fpr = 0.999; fpr > 1e-6; fpr *= 0.99) {
    EXPECT_NEAR(Solve({1'000'000, fpr}).fpr / fpr, 1, 0.05) << fpr;
    const BloomSizeRequest bits = {kNone, fpr, 10'000'000};
    EXPECT_NEAR(Solve(bits).fpr / fpr, 1, 0.05) << fpr;
    if (fpr <= 0.5) continue;
    EXPECT_LE(Solve({1'000'000, fpr}).fpr, fpr * (1 + 1e-9));
    EXPECT_LE(Solve(bits).fpr, fpr * (1 + 1e-9));
  }
  EXPECT_EQ(Solve({1'000'000, 0.9}).bit_count, 434'295u);
}

TEST(BloomSizing, RatesNextToOneHaveShapes) {
  const double fpr = 1 - std::numeric_limits<double>::epsilon() / 2;
  for (const uint64_t keys : {1, 1000}) {
    const auto shape = ShapeFor(keys, fpr);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(shape->bit_count, keys / 36 + 1);
    EXPECT_EQ(shape->probe_count, 1u);
    EXPECT_GT(Solve({keys, fpr, kNone, 2}).bit_count, keys / 36);
  }
}

TEST(BloomSizing, ValuesOutOfRangeAreInvalidAndNamed) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  const BloomSizeRequest wrong[] = {
      {0, 0.1},
      {10, 0},
      {10, -1},
      {10, 1},
      {10, 2},
      {10, kNan},
      {10, kNone, 0},
      {0, kNone, 10},
      {kHuge, 0.1},
      {1, kNone, kHuge},
      {1, kNone, 1u << 30},
      {kMaxSolvedCount, 1e-9},
      {10, std::numeric_limits<double>::min()},
      {10, kNone, 100, 0},
      {10, kNone, 100, 256},
      {},  // Nothing is given.
      {10},
      {kNone, 0.1, kNone, 3},  // Bits for each key, but no keys.
      {10, 0.1, 100, 3}};      // Everything is given.
  for (const BloomSizeRequest& request : wrong) {
    const auto size = SolveBloomSize(request);
    ASSERT_FALSE(size.ok()) << &request - wrong;
    EXPECT_TRUE(absl::IsInvalidArgument(size.status()));
    EXPECT_GT(size.status().message().size(), 10u);
  }
  EXPECT_FALSE(ShapeFor(0, 0.1).ok());
  EXPECT_FALSE(ShapeFor(10, 1).ok());
  EXPECT_FALSE(ShapeFor(kMaxFilterBits, 0.001).ok());
  EXPECT_FALSE(ValidateShape({0, 1}).ok());
  EXPECT_FALSE(ValidateShape({kMaxFilterBits + 1, 1}).ok());
  EXPECT_FALSE(ValidateShape({1, 0}).ok());
  EXPECT_FALSE(ValidateShape({1, 256}).ok());
  EXPECT_TRUE(ValidateShape({kMaxFilterBits, 255}).ok());
}

}  // namespace
}  // namespace rowbloom
