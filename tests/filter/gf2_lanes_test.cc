// SPDX-License-Identifier: Apache-2.0

#include "filter/gf2_lanes.h"

#include <gtest/gtest.h>

#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;

template <uint32_t kBits>
void ExpectPlanesOfEquations() {
  Random random(41);
  Lanes words[kBits];
  for (Lanes& word : words) {
    for (uint32_t k = 0; k < kLanes; ++k) word[k] = random();
  }
  Lanes planes[kBits];
  for (uint32_t i = 0; i < kBits; ++i) planes[i] = words[i];
  EquationsToPlanes<kBits>(planes);
  for (uint32_t k = 0; k < kLanes; ++k) {
    for (uint32_t equation = 0; equation < 64; ++equation) {
      for (uint32_t plane = 0; plane < kBits; ++plane) {
        ASSERT_EQ(
            planes[plane][k] >> equation & 1,
            words[equation % kBits][k] >> (equation / kBits * kBits + plane) &
                1);
      }
    }
  }
}

TEST(Gf2Lanes, EquationsBecomePlanes) {
  ExpectPlanesOfEquations<8>();
  ExpectPlanesOfEquations<16>();
  ExpectPlanesOfEquations<32>();
}

// Returns the rank of equations with this many planes; eliminates one equation
// at a time.
uint32_t Rank(std::vector<uint64_t> equations, uint32_t planes) {
  uint32_t rank = 0;
  for (uint32_t c = 0; c < planes; ++c) {
    for (size_t i = rank; i < equations.size(); ++i) {
      if ((equations[i] >> c & 1) == 0) continue;
      std::swap(equations[rank], equations[i]);
      for (size_t j = 0; j < equations.size(); ++j) {
        if (j != rank && (equations[j] >> c & 1) != 0)
          equations[j] ^= equations[rank];
      }
      ++rank;
      break;
    }
  }
  return rank;
}

// Planes 0 .. pivot_count - 1 are coefficients; the last one is the right-hand
// side. A system is solvable exactly if that side adds nothing to the rank.
TEST(Gf2Lanes, EliminateSolvesWhatCanBeSolved) {
  Random random(42);
  int solvable = 0;
  for (int round = 0; round < 2000; ++round) {
    const uint32_t pivot_count = static_cast<uint32_t>(1 + random.Below(63));
    const uint32_t equation_count = static_cast<uint32_t>(random.Below(65));
    std::vector<uint64_t> system[kLanes];
    Lanes planes[64] = {};
    Lanes equations = {};
    for (uint32_t k = 0; k < kLanes; ++k) {
      for (uint32_t r = 0; r < equation_count; ++r) {
        uint64_t equation = random() & ((uint64_t{2} << pivot_count) - 1);
        if (k == 0) equation &= random() & random();  // Often dependent.
        if (k == 1) equation = r % 3 == 0 ? equation : system[k][r - r % 3];
        system[k].push_back(equation);
        equations[k] |= uint64_t{1} << r;
        for (uint32_t c = 0; c <= pivot_count; ++c) {
          planes[c][k] |= (equation >> c & 1) << r;
        }
      }
    }
    Lanes pivots[64] = {};
    const Lanes rest =
        Eliminate(planes, pivot_count, pivot_count + 1, equations, pivots);
    for (uint32_t k = 0; k < kLanes; ++k) {
      uint64_t pivot_equations = 0;
      uint64_t solution = 0;
      for (uint32_t c = 0; c < pivot_count; ++c) {
        const uint64_t pivot = pivots[c][k];
        ASSERT_EQ(pivot & (pivot - 1), 0u);
        ASSERT_EQ(pivot & pivot_equations, 0u);
        pivot_equations |= pivot;
        if ((planes[pivot_count][k] & pivot) != 0) {
          solution |= uint64_t{1} << c;
        }
      }
      ASSERT_EQ(rest[k], equations[k] & ~pivot_equations);
      const uint32_t rank = Rank(system[k], pivot_count);
      ASSERT_EQ(__builtin_popcountll(pivot_equations), rank);
      const bool solved = (planes[pivot_count][k] & rest[k]) == 0;
      ASSERT_EQ(solved, Rank(system[k], pivot_count + 1) == rank);
      if (!solved) continue;
      ++solvable;
      for (const uint64_t equation : system[k]) {
        const uint64_t side = equation >> pivot_count & 1;
        ASSERT_EQ(__builtin_parityll(equation & solution), side);
      }
    }
  }
  EXPECT_GT(solvable, 1000);
}

}  // namespace
}  // namespace rowbloom::filter
