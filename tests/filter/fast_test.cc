// SPDX-License-Identifier: Apache-2.0

#include "filter/fast/fast.h"

#include <gtest/gtest.h>

#include <bitset>
#include <cmath>
#include <cstring>
#include <memory>

#include "absl/strings/escaping.h"
#include "filter/digest_sets.h"
#include "filter/fast/fast_kernel.h"
#include "testing/filters.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;
using testing::RandomDigests;

constexpr uint32_t kPlanes[] = {5, 6, 7, 8, 9, 10, 12, 15};
// The fewest bits per key of each number of planes.
constexpr double kMinBits[] = {6, 7.15, 8, 9.25, 10.6, 12.7, 16, 22.5};

// Implements section "fast" of docs/filter_families.md in the plainest way.
struct Spec {
  uint32_t planes;

  uint32_t groups() const { return planes == 8 ? 8 : 63 / planes; }
  uint32_t slots() const { return planes == 8 ? 63 : 8 * groups(); }
  uint32_t dense_slots() const { return std::min(slots(), 64u); }

  static uint64_t Line(uint64_t digest, uint64_t line_count) {
    return static_cast<uint64_t>(
        (static_cast<unsigned __int128>(digest) * line_count) >> 64);
  }
  static uint32_t Position(uint64_t digest, uint64_t line_count) {
    return static_cast<uint32_t>((digest * line_count) >> 57);
  }
  std::bitset<96> Equation(uint64_t digest) const {
    const unsigned __int128 product =
        static_cast<unsigned __int128>(digest) * 0x9e3779b97f4a7c15u;
    const uint64_t low = static_cast<uint64_t>(product);
    const uint64_t mixed = low ^ static_cast<uint64_t>(product >> 64);
    std::bitset<96> equation;
    for (uint32_t i = 0; i < dense_slots(); ++i) {
      equation[i] = mixed >> (planes == 8 ? i + 1 : i) & 1;
    }
    if (slots() > 64) equation.set(64 + (low >> 16) % (slots() - 64));
    return equation;
  }
  uint32_t Fingerprint(uint64_t digest) const {
    return static_cast<uint32_t>((digest * 0x9e3779b97f4a7c15u) >> 8) &
           ((1u << planes) - 1);
  }
  uint32_t Threshold(const char* line) const {
    if (planes != 8) return static_cast<uint8_t>(line[63]);
    uint32_t threshold = 0;
    for (uint32_t i = 0; i < 8; ++i) {
      threshold |= (static_cast<uint8_t>(line[56 + i]) >> 7) << i;
    }
    return threshold;
  }
  bool Matches(const char* line, uint64_t digest) const {
    const std::bitset<96> equation = Equation(digest);
    uint32_t parities = 0;
    for (uint32_t slot = 0; slot < slots(); ++slot) {
      for (uint32_t c = 0; c < planes && equation[slot]; ++c) {
        const auto byte = static_cast<uint8_t>(line[slot / 8 * planes + c]);
        parities ^= (byte >> (slot % 8) & 1u) << c;
      }
    }
    return parities == Fingerprint(digest);
  }
  bool MayContain(std::string_view lines, uint64_t digest) const {
    const uint64_t line_count = lines.size() / 64;
    const uint64_t line = Line(digest, line_count);
    const uint32_t threshold = Threshold(lines.data() + line * 64);
    if (Position(digest, line_count) >= threshold) {
      return Matches(lines.data() + line * 64, digest);
    }
    if (threshold > 128) return true;
    return Matches(lines.data() + (line + 1) % line_count * 64, digest);
  }
};

EncodedFilter BuildFast(double bits_per_key,
                        const std::vector<KeyDigest>& digests,
                        Kernel kernel = Kernel::kBest) {
  return testing::BuildFilter(FilterSpec::BitsPerKey("fast", bits_per_key),
                              digests, kernel);
}

FilterDescriptor DescriptorOf(std::string_view lines, uint64_t planes) {
  return {3, 1, planes, 1, {lines.size()}, {}};
}

TEST(Fast, EveryKernelAnswersArbitraryBytesAsTheSpecificationDoes) {
  Random random(62);
  for (const uint32_t planes : kPlanes) {
    for (const size_t line_count : {1, 2, 3, 40}) {
      // The memory has exactly this size and an odd address, for ASan.
      const size_t size = line_count * 64;
      const auto memory = std::make_unique<char[]>(size + 1);
      const std::string_view lines(memory.get() + 1, size);
      for (size_t i = 1; i <= size; ++i) {
        memory[i] = static_cast<char>(random());
      }
      // All thresholds occur; thresholds of one byte are often low.
      for (size_t i = 0; i < line_count; ++i) {
        if (random.Below(2) == 0) memory[1 + i * 64 + 63] &= 15;
      }
      const std::string_view units[] = {lines};
      for (const Kernel kernel : AvailableKernels()) {
        const auto view =
            FilterView::Parse(DescriptorOf(lines, planes), units, kernel);
        ASSERT_TRUE(view.ok()) << view.status();
        std::vector<KeyDigest> digests = RandomDigests(&random, 5000);
        digests.insert(digests.end(), {{0}, {1}, {~uint64_t{0}}});
        const auto batch = std::make_unique<bool[]>(digests.size());
        view->MayContain(digests, batch.get());
        for (size_t i = 0; i < digests.size(); ++i) {
          const uint64_t digest = digests[i].value;
          const bool expected = Spec{planes}.MayContain(lines, digest);
          ASSERT_EQ(view->MayContain(digests[i]), expected)
              << KernelName(kernel) << ", " << planes << " planes";
          ASSERT_EQ(batch[i], expected);
        }
      }
    }
  }
}

// Gaussian elimination, equation by equation.
class PlainSystem {
 public:
  explicit PlainSystem(Spec spec) : spec_(spec) {}

  // False if it contradicts the equations that were added before.
  bool Add(uint64_t digest) {
    std::bitset<96> equation = spec_.Equation(digest);
    uint32_t side = spec_.Fingerprint(digest);
    for (size_t slot = 0; slot < 96; ++slot) {
      if (!equation[slot]) continue;
      if (equations_[slot].none()) {
        equations_[slot] = equation;
        sides_[slot] = side;
        return true;
      }
      equation ^= equations_[slot];
      side ^= sides_[slot];
    }
    return side == 0;
  }

 private:
  const Spec spec_;
  std::bitset<96> equations_[96];
  uint32_t sides_[96] = {};
};

TEST(Fast, EveryKernelSolvesForTheEarlierOfContradictingEquations) {
  Random random(63);
  for (const Kernel kernel : AvailableKernels()) {
    for (const uint32_t planes : kPlanes) {
      const FastKernel functions = FastKernelFor(kernel, planes);
      const auto lines = std::make_unique<FastLines>();
      std::memset(lines.get(), 0, sizeof(*lines));
      lines->planes = planes;
      size_t contradicted_count = 0;
      for (int round = 0; round < 50; ++round) {
        for (uint32_t k = 0; k < kFastLanes; ++k) {
          lines->equation_count[k] = static_cast<uint32_t>(
              random.Below(8) == 0 ? 0
                                   : FastEquations(planes) - random.Below(5));
          for (uint64_t& digest : lines->digests[k]) {
            // Some equations are repeated, which is no contradiction.
            digest = random.Below(200) == 0 ? lines->digests[k][0] : random();
          }
        }
        functions.solve(lines.get());
        for (uint32_t k = 0; k < kFastLanes; ++k) {
          std::bitset<96> contradicted;
          for (uint32_t i = 0; i < lines->contradicted_count[k]; ++i) {
            contradicted.set(lines->contradicted[k][i]);
          }
          contradicted_count += contradicted.count();
          PlainSystem system({planes});
          std::bitset<96> sparse_slots;
          for (uint32_t i = 0; i < lines->equation_count[k]; ++i) {
            const uint64_t digest = lines->digests[k][i];
            const bool contradicts = !system.Add(digest);
            // An equation without a sparse slot of its own needs one of 64
            // places.
            sparse_slots |= Spec{planes}.Equation(digest) >> 64;
            if (i + 1 - sparse_slots.count() <= 64) {
              ASSERT_EQ(contradicted[i], contradicts) << planes;
            } else {
              ASSERT_TRUE(contradicted[i] || !contradicts) << planes;
            }
            if (contradicted[i]) continue;
            ASSERT_TRUE(Spec{planes}.Matches(lines->lines[k], digest));
          }
          ASSERT_EQ(Spec{planes}.Threshold(lines->lines[k]), 0u);
        }
      }
      EXPECT_GT(contradicted_count, 10u);
    }
  }
}

TEST(Fast, SaturatedKeysAreThoseWhoseLineSaysSo) {
  Random random(65);
  std::vector<std::vector<KeyDigest>> sets;
  for (const soak::DigestSet& set : soak::kDigestSets) {
    sets.push_back(set.draw({4000, /*home_count=*/78}, &random));
  }
  for (int i = 0; i < 300; ++i) {
    sets.push_back(RandomDigests(&random, 1 + random.Below(120)));
  }
  size_t filters_with_some = 0;
  for (const double bits : kMinBits) {
    for (const auto& set : sets) {
      const EncodedFilter filter = BuildFast(bits, set);
      const Spec spec{static_cast<uint32_t>(filter.descriptor.parameters)};
      uint64_t saturated = 0;
      KeyDigest last;
      for (size_t i = 0; i < set.size(); ++i) {
        ASSERT_TRUE(spec.MayContain(filter.units, set[i].value));
        if (i > 0 && set[i] == last) continue;  // A run counts once.
        last = set[i];
        const uint64_t line = Spec::Line(last.value, filter.units.size() / 64);
        saturated += spec.Threshold(filter.units.data() + line * 64) > 128;
      }
      ASSERT_EQ(filter.saturated_keys, saturated);
      filters_with_some += saturated > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(filters_with_some, 20u);
}

TEST(Fast, OneLineThatAllWantCostsTheOthersNothing) {
  Random random(66);
  std::vector<KeyDigest> digests = RandomDigests(&random, 20000);
  const uint64_t home = random();
  for (uint64_t i = 0; i < 1000; ++i) digests.push_back({home + (i << 20)});
  const EncodedFilter filter = BuildFast(10, digests);
  // They are these keys, and perhaps 51 others of the same line.
  EXPECT_GE(filter.saturated_keys, 1000u);
  EXPECT_LE(filter.saturated_keys, 1200u);
}

TEST(Fast, TheSameKeyManyTimesFindsItsRoom) {
  Random random(61);
  std::vector<KeyDigest> digests = RandomDigests(&random, 4000);
  for (size_t i = 0; i < digests.size(); i += 2) digests[i] = digests[0];
  EXPECT_EQ(BuildFast(10, digests).saturated_keys, 0u);
}

TEST(Fast, FewKeysManyTimesEachFindTheirRoom) {
  for (const double bits_per_key : {6.0, 8.0, 10.0, 16.0}) {
    Random random(3);
    std::vector<KeyDigest> digests;
    for (int i = 0; i < 2000; ++i) {
      // The keys alternate, because a run of one key counts once.
      const KeyDigest keys[] = {{random()}, {random()}};
      for (int again = 0; again < 32; ++again) {
        digests.insert(digests.end(), std::begin(keys), std::end(keys));
      }
    }
    EXPECT_EQ(BuildFast(bits_per_key, digests).saturated_keys, 0u)
        << bits_per_key;
  }
}

TEST(Fast, AFewKeysAreCarriedAtTheFewestBits) {
  Random random(67);
  for (size_t p = 0; p < std::size(kPlanes); ++p) {
    ASSERT_EQ(FastPlanesFor(kMinBits[p]), kPlanes[p]);
    const std::vector<KeyDigest> digests = RandomDigests(&random, 200000);
    const EncodedFilter filter = BuildFast(kMinBits[p], digests);
    const Spec spec{kPlanes[p]};
    const uint64_t line_count = filter.units.size() / 64;
    size_t carried = 0;
    for (const KeyDigest digest : digests) {
      const uint64_t line = Spec::Line(digest.value, line_count);
      const uint32_t threshold =
          spec.Threshold(filter.units.data() + line * 64);
      carried += threshold <= 128 &&
                 Spec::Position(digest.value, line_count) < threshold;
      ASSERT_TRUE(spec.MayContain(filter.units, digest.value));
    }
    EXPECT_GT(carried, digests.size() / 200) << kPlanes[p];
    EXPECT_LT(carried, digests.size() / 20) << kPlanes[p];
  }
}

TEST(Fast, RateIsThatOfThePlanesAtTheFewestBits) {
  Random random(68);
  for (size_t p = 0; p < std::size(kPlanes); ++p) {
    const EncodedFilter filter =
        BuildFast(kMinBits[p], RandomDigests(&random, 200000));
    const FilterView view = testing::ViewOf(filter);
    const double rate = std::ldexp(1, -static_cast<int>(kPlanes[p]));
    EXPECT_EQ(view.expected_fpr(), rate);
    EXPECT_EQ(kFastFamily.expected_fpr(kMinBits[p]), rate);
    constexpr uint64_t kLookups = 3000000;
    EXPECT_TRUE(testing::WithinBinomialBound(
        testing::CountPositives(view, kLookups, &random), kLookups, rate, 0.03))
        << kPlanes[p];
  }
}

TEST(Fast, AFilterOfOneLineIsExpectedToSaturate) {
  Random random(69);
  constexpr int kFilters = 20000;
  for (const size_t keys : {40, 52, 55}) {
    double expected = 0;
    uint64_t positives = 0;
    for (int i = 0; i < kFilters; ++i) {
      const EncodedFilter filter = BuildFast(9.3, RandomDigests(&random, keys));
      ASSERT_EQ(filter.units.size(), 64u);
      const FilterView view = testing::ViewOf(filter);
      expected = view.expected_fpr();
      positives += testing::CountPositives(view, 100, &random);
    }
    // A saturated filter adds 100 positives; few filters are, hence 40%.
    EXPECT_TRUE(testing::WithinBinomialBound(positives, 100 * kFilters,
                                             expected, keys > 50 ? 0.4 : 0.03))
        << keys;
  }
}

TEST(Fast, ThereIsAnOperatingPointForEachNumberOfPlanes) {
  for (size_t p = 0; p < std::size(kMinBits); ++p) {
    EXPECT_EQ(FastPlanesFor(kMinBits[p]), kPlanes[p]);
    EXPECT_EQ(FastPlanesFor(kMinBits[p] - 0.01), p == 0 ? 0 : kPlanes[p - 1]);
  }
  EXPECT_EQ(FastPlanesFor(24), 15u);
}

TEST(Fast, WithTooFewBitsItBuildsBlockedBloom) {
  Random random(70);
  const std::vector<KeyDigest> digests = RandomDigests(&random, 1000);
  for (const double bits : {1.0, 5.99}) {
    const EncodedFilter filter = BuildFast(bits, digests);
    EXPECT_EQ(filter.descriptor.family_name(), "blocked_bloom");
    EXPECT_EQ(filter.units.size(), kFastFamily.size_bytes(bits, 1000));
  }
  EXPECT_EQ(BuildFast(6, digests).descriptor.family_name(), "fast");
}

TEST(Fast, WrongPlanesAndPartsOfLinesAreRefused) {
  const std::string bytes(192, '\0');
  for (uint64_t planes = 0; planes < 70; ++planes) {
    const bool valid = std::count(std::begin(kPlanes), std::end(kPlanes),
                                  static_cast<uint32_t>(planes)) > 0;
    for (const size_t size : {0, 63, 64, 65, 127, 128, 192}) {
      const std::string_view units[] = {
          std::string_view(bytes).substr(0, size)};
      const auto view =
          FilterView::Parse(DescriptorOf(units[0], planes), units);
      EXPECT_EQ(view.ok(), valid && size > 0 && size % 64 == 0);
      if (!view.ok()) {
        EXPECT_EQ(view.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

TEST(Fast, TheSmallestFilterHasTheseBytes) {
  const EncodedFilter filter = BuildFast(10, {DigestBytes("row")});
  std::string descriptor;
  filter.descriptor.AppendTo(&descriptor);
  // docs/filter_families.md shows the same bytes.
  EXPECT_EQ(absl::BytesToHexString(descriptor + filter.units),
            "010301080140e47d7386"
            "0000020000020000"
            "0000000000000000"
            "0000000000000000"
            "0000000000000000"
            "0000000000000000"
            "0000000000000000"
            "0000000000000000"
            "0000000000000000");
}

}  // namespace
}  // namespace rowbloom::filter
