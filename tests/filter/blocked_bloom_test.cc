// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom/blocked_bloom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_model.h"
#include "filter/digest_order.h"
#include "testing/filters.h"
#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;

// Implements section "blocked_bloom" of docs/filter_families.md in the plainest
// way.
std::bitset<512> ProbesByTheSpecification(uint64_t digest,
                                          uint32_t probe_count) {
  std::bitset<512> bits;
  uint64_t g = digest * kFirstRound;
  for (uint32_t left = probe_count; left > 0;) {
    const uint32_t round = left < 8 ? left : 8;
    const uint32_t rotation = g >> 13 & 7;
    for (uint32_t sector = 0; sector < 8; ++sector) {
      if ((sector + rotation) % 8 >= round) continue;
      bits.set(64 * sector + (g >> (16 + 6 * sector) & 63));
    }
    left -= round;
    g = (g ^ (g >> 32)) * kSecondRound;
  }
  return bits;
}

std::bitset<512> BitsOf(const char* line) {
  std::bitset<512> bits;
  for (size_t i = 0; i < 512; ++i) {
    bits[i] = static_cast<unsigned char>(line[i / 8]) >> (i % 8) & 1;
  }
  return bits;
}

class KernelTest : public ::testing::TestWithParam<Kernel> {};

INSTANTIATE_TEST_SUITE_P(All, KernelTest,
                         ::testing::ValuesIn(AvailableKernels()),
                         [](const auto& param) {
                           return std::string(KernelName(param.param));
                         });

TEST_P(KernelTest, ALineIsTheUnionOfItsKeysSpecifiedBits) {
  Random random(21);
  constexpr uint64_t kLines = 3;
  for (uint32_t probe_count = 1; probe_count <= kMaxProbeCount; ++probe_count) {
    for (const size_t keys : {0, 1, 7, 51, 200}) {
      std::vector<uint64_t> digests(keys);
      std::bitset<512> expected[kLines];
      for (uint64_t& digest : digests) {
        digest = random();
        expected[BucketOf(digest, kLines)] |=
            ProbesByTheSpecification(digest, probe_count);
      }
      char lines[kLines * kLineSize] = {};
      BlockedBloomKernelFor(GetParam(), probe_count)
          .add(digests.data(), keys, kLines, probe_count, lines);
      for (uint64_t line = 0; line < kLines; ++line) {
        ASSERT_EQ(BitsOf(lines + line * kLineSize), expected[line])
            << probe_count << " probes, " << keys;
      }
    }
  }
}

TEST_P(KernelTest, ALookupTestsTheSpecifiedBitsAndNoOthers) {
  Random random(22);
  for (uint32_t probe_count = 1; probe_count <= kMaxProbeCount; ++probe_count) {
    for (int i = 0; i < 2000; ++i) {
      const uint64_t digest = random();
      std::bitset<512> bits = ProbesByTheSpecification(digest, probe_count);
      std::vector<size_t> probes;
      for (size_t b = 0; b < 512; ++b) {
        if (bits[b]) probes.push_back(b);
      }
      const bool drop_one = random.Below(2) == 0;
      if (drop_one) bits.reset(probes[random.Below(probes.size())]);
      char line[kLineSize] = {};
      for (size_t b = 0; b < 512; ++b) {
        if (bits[b]) line[b / 8] = static_cast<char>(line[b / 8] | 1 << b % 8);
      }
      FilterState state;
      state.unit[0] = line;
      state.slot_count = 1;
      state.parameter = probe_count;
      state.unit_count = 1;
      const BlockedBloomKernel kernel =
          BlockedBloomKernelFor(GetParam(), probe_count);
      ASSERT_EQ(kernel.may_contain(state, digest), !drop_one);
      bool batch = false;
      kernel.may_contain_batch(state, &digest, 1, &batch);
      ASSERT_EQ(batch, !drop_one);
    }
  }
}

TEST(BlockedBloom, EveryAvailableKernelButAvx512HasLookupsOfItsOwn) {
  std::vector<Kernel> kernels = AvailableKernels();
  kernels.erase(std::remove(kernels.begin(), kernels.end(), Kernel::kAvx512),
                kernels.end());
  for (const uint32_t probe_count : {1u, 8u, 9u, 16u}) {
    std::set<decltype(FilterLookup::may_contain)> lookups;
    for (const Kernel kernel : kernels) {
      lookups.insert(BlockedBloomKernelFor(kernel, probe_count).may_contain);
    }
    EXPECT_EQ(lookups.size(), kernels.size());
  }
}

TEST(BlockedBloom, TheSmallestFilterHasTheseBytes) {
  const EncodedFilter filter = testing::BuildFilter(
      FilterSpec::BitsPerKey("blocked_bloom", 10), {DigestBytes("row")});
  std::string descriptor;
  filter.descriptor.AppendTo(&descriptor);
  // docs/filter_families.md shows the same bytes.
  EXPECT_EQ(absl::BytesToHexString(descriptor + filter.units),
            "0102018602014077a035c9"
            "0004000000000000"
            "0010000000000000"
            "0000000000000004"
            "0080000000000000"
            "0000020000000000"
            "0000000000000000"
            "0000000000000000"
            "0000000000002000");
}

TEST(BlockedBloom, ParametersOtherThan256AndAProbeCountAreRefused) {
  const std::string lines(128, '\0');
  const std::string_view units[] = {lines};
  FilterDescriptor descriptor = {2, 1, 0, 1, {lines.size()}, {}};
  for (uint64_t parameters = 0; parameters < 2048; ++parameters) {
    descriptor.parameters = parameters;
    EXPECT_EQ(FilterView::Parse(descriptor, units).ok(),
              parameters > 256 && parameters <= 256 + 16)
        << parameters;
  }
}

TEST(BlockedBloom, MoreKeysThanBitsAreRefused) {
  const std::string lines(128, '\0');
  const std::string_view units[] = {lines};
  FilterDescriptor descriptor = {2, 1, 256 + 7, 0, {lines.size()}, {}};
  for (const uint64_t key_count : {uint64_t{1025}, ~uint64_t{0}}) {
    descriptor.key_count = key_count;
    EXPECT_TRUE(
        absl::IsDataLoss(FilterView::Parse(descriptor, units).status()));
  }
  descriptor.key_count = 1024;
  const auto view = FilterView::Parse(descriptor, units);
  ASSERT_TRUE(view.ok());
  EXPECT_GT(view->expected_fpr(), 0.9);
}

TEST(BlockedBloom, ProbeCountHasTheSmallestRate) {
  for (double bits = 1; bits <= 24; bits += 0.25) {
    double best = 1;
    for (uint32_t k = 1; k <= kMaxProbeCount; ++k) {
      best = std::min(best, BlockedBloomFpr(bits, k));
    }
    EXPECT_LE(BlockedBloomFpr(bits, BlockedBloomProbeCount(bits)), best * 1.001)
        << bits;
  }
}

// Returns a line's rate over all absent keys: their rotations are equally
// frequent, as are the bits of a sector.
double RateOfLine(const std::bitset<512>& bits, uint32_t probe_count) {
  double share[8];  // The share of each sector's bits that are set.
  double all = 1;
  for (size_t i = 0; i < 8; ++i) {
    const std::bitset<512> sector = bits >> (64 * i) & std::bitset<512>(~0ull);
    share[i] = static_cast<double>(sector.count()) / 64;
    all *= share[i];
  }
  const bool two_rounds = probe_count > 8;
  const uint32_t last_round = two_rounds ? probe_count - 8 : probe_count;
  double rate = 0;
  for (size_t rotation = 0; rotation < 8; ++rotation) {
    double round = 1;
    for (size_t i = 0; i < last_round; ++i) round *= share[(i + rotation) % 8];
    rate += round / 8;
  }
  return two_rounds ? all * rate : rate;
}

// Computes the rates of random lines over all absent keys. There are at most 40
// comparisons for each number of probes; each fails by chance once in 100,000.
TEST(BlockedBloom, ExpectedRateOfAFewKeysIsThatOfTheirLines) {
  constexpr double kStandardErrors = 4.4;
  constexpr size_t kLines = 4000;
  constexpr size_t kMostKeys = 40;
  Random random(23);
  for (uint32_t probe_count = 1; probe_count <= 12; ++probe_count) {
    std::vector<double> sum(kMostKeys + 1);
    std::vector<double> square(kMostKeys + 1);
    for (size_t line = 0; line < kLines; ++line) {
      std::bitset<512> bits;
      for (size_t keys = 1; keys <= kMostKeys; ++keys) {
        bits |= ProbesByTheSpecification(random(), probe_count);
        const double rate = RateOfLine(bits, probe_count);
        sum[keys] += rate;
        square[keys] += rate * rate;
      }
    }
    for (size_t keys = 1; keys <= kMostKeys; ++keys) {
      const double mean = sum[keys] / kLines;
      // Lower rates have few lines that make up most of the mean, and the model
      // gives their order of magnitude only.
      if (mean < 1e-9) continue;
      const double error = std::sqrt(
          std::max(0.0, square[keys] / kLines - mean * mean) / kLines);
      // The model is an approximation for two rounds.
      const double approximate = probe_count > 8 ? 0.03 * mean : 1e-6 * mean;
      EXPECT_NEAR(BlockedBloomFpr(keys, 1, probe_count), mean,
                  kStandardErrors * error + approximate)
          << keys << " keys, " << probe_count << " probes";
    }
  }
}

TEST(BlockedBloom, ExpectedRateOfOneKeyIsExact) {
  // An absent key has its rotation once in 8 times, and each bit once in 64.
  for (uint32_t probe_count = 2; probe_count <= 6; ++probe_count) {
    const double rate = std::pow(1.0 / 64, probe_count) / 8;
    EXPECT_NEAR(BlockedBloomFpr(uint64_t{1}, 1, probe_count) / rate, 1, 1e-3);
    // An absent key falls into its line once in 10 times.
    EXPECT_NEAR(BlockedBloomFpr(uint64_t{1}, 10, probe_count) / rate, 0.1,
                1e-3);
  }
}

TEST(BlockedBloom, ModelHasNoTroubleWithExtremes) {
  EXPECT_EQ(BlockedBloomFpr(uint64_t{0}, 1, 6), 0);
  EXPECT_LT(BlockedBloomFpr(uint64_t{1}, 1, 6), 1e-9);
  EXPECT_NEAR(BlockedBloomFpr(uint64_t{1000000}, 1, 6), 1, 1e-6);
  const double rate = BlockedBloomFpr(10.0, 6);
  EXPECT_NEAR(
      BlockedBloomFpr(uint64_t{1} << 36, (uint64_t{1} << 36) * 10 / 512, 6) /
          rate,
      1, 1e-3);
}

// RocksDB's Bloom filter at 10 bits per key has 6 probes anywhere in 512 bits.
// The loop computes its exact rate: the number of keys in a line is Poisson,
// and each probe takes one of 512 bits at random.
TEST(BlockedBloom, RateAtTenBitsIsNearThatOfUniformProbesInALine) {
  const double keys = 51.2;
  double uniform = 0;
  double weight = std::exp(-keys);
  for (int j = 0; j < 200; ++j) {
    uniform += weight * std::pow(1 - std::pow(1 - 1.0 / 512, 6.0 * j), 6);
    weight *= keys / (j + 1);
  }
  EXPECT_LT(BlockedBloomFpr(10.0, 6), 1.02 * uniform);
}

}  // namespace
}  // namespace rowbloom::filter
