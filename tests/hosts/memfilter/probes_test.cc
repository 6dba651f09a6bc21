// SPDX-License-Identifier: Apache-2.0
//
// Saved filters depend on these positions: no value here ever changes.

#include "rowbloom/memfilter/probes.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/keys.h"

namespace rowbloom {
namespace {

std::vector<uint64_t> Positions(uint64_t digest, uint64_t bits, int count) {
  BloomProbes probes(KeyDigest{digest}, bits);
  std::vector<uint64_t> positions;
  for (int i = 0; i < count; ++i) positions.push_back(probes.Next());
  return positions;
}

TEST(BloomProbes, PositionsArePinned) {
  EXPECT_EQ(Positions(0, 1000, 4), (std::vector<uint64_t>{0, 0, 645, 583}));
  EXPECT_EQ(Positions(0x0123456789abcdef, uint64_t{1} << 40, 4),
            (std::vector<uint64_t>{4886718345, 116796407605, 938717172032,
                                   981636831242}));
}

TEST(BloomProbes, PositionsAreThoseOfTheFormula) {
  testing::Random random(3);
  for (int round = 0; round < 1000; ++round) {
    const uint64_t digest = random();
    const uint64_t bits = 1 + random.Below(uint64_t{1} << (1 + round % 46));
    const unsigned __int128 product =
        static_cast<unsigned __int128>(digest) * 0x3c6ef372fe94f82bu;
    const uint64_t step =
        static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    const std::vector<uint64_t> positions = Positions(digest, bits, 30);
    for (uint64_t i = 0; i < 30; ++i) {
      const uint64_t at =
          digest + i * step + 0xa54ff53a5f1d36f1u * ((i * i * i - i) / 6);
      ASSERT_EQ(positions[i],
                static_cast<uint64_t>(
                    static_cast<unsigned __int128>(at) * bits >> 64));
      ASSERT_LT(positions[i], bits);
    }
  }
}

}  // namespace
}  // namespace rowbloom
