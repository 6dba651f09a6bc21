// SPDX-License-Identifier: Apache-2.0

#include "filter/gf2_lanes.h"

#include <gtest/gtest.h>

#include "testing/keys.h"

namespace rowbloom::filter {
namespace {

using testing::Random;

template <uint32_t kBits>
void ExpectColumnsOfRows() {
  Random random(41);
  Lanes words[kBits];
  for (Lanes& word : words) {
    for (uint32_t k = 0; k < kLanes; ++k) word[k] = random();
  }
  Lanes columns[kBits];
  for (uint32_t i = 0; i < kBits; ++i) columns[i] = words[i];
  RowsToColumns<kBits>(columns);
  for (uint32_t k = 0; k < kLanes; ++k) {
    for (uint32_t row = 0; row < 64; ++row) {
      for (uint32_t column = 0; column < kBits; ++column) {
        ASSERT_EQ(columns[column][k] >> row & 1,
                  words[row % kBits][k] >> (row / kBits * kBits + column) & 1);
      }
    }
  }
}

TEST(Gf2Lanes, RowsBecomeColumns) {
  ExpectColumnsOfRows<8>();
  ExpectColumnsOfRows<16>();
  ExpectColumnsOfRows<32>();
}

// Returns the rank of rows with this many columns; eliminates one row at a
// time.
uint32_t Rank(std::vector<uint64_t> rows, uint32_t columns) {
  uint32_t rank = 0;
  for (uint32_t c = 0; c < columns; ++c) {
    for (size_t i = rank; i < rows.size(); ++i) {
      if ((rows[i] >> c & 1) == 0) continue;
      std::swap(rows[rank], rows[i]);
      for (size_t j = 0; j < rows.size(); ++j) {
        if (j != rank && (rows[j] >> c & 1) != 0) rows[j] ^= rows[rank];
      }
      ++rank;
      break;
    }
  }
  return rank;
}

// Columns 0 .. pivot_count - 1 are coefficients; the last one is the right-hand
// side. A system is solvable exactly if that side adds nothing to the rank.
TEST(Gf2Lanes, EliminateSolvesWhatCanBeSolved) {
  Random random(42);
  int solvable = 0;
  for (int round = 0; round < 2000; ++round) {
    const uint32_t pivot_count = static_cast<uint32_t>(1 + random.Below(63));
    const uint32_t row_count = static_cast<uint32_t>(random.Below(65));
    std::vector<uint64_t> system[kLanes];
    Lanes columns[64] = {};
    Lanes rows = {};
    for (uint32_t k = 0; k < kLanes; ++k) {
      for (uint32_t r = 0; r < row_count; ++r) {
        uint64_t row = random() & ((uint64_t{2} << pivot_count) - 1);
        if (k == 0) row &= random() & random();  // Often dependent.
        if (k == 1) row = r % 3 == 0 ? row : system[k][r - r % 3];
        system[k].push_back(row);
        rows[k] |= uint64_t{1} << r;
        for (uint32_t c = 0; c <= pivot_count; ++c) {
          columns[c][k] |= (row >> c & 1) << r;
        }
      }
    }
    Lanes pivots[64] = {};
    const Lanes rest =
        Eliminate(columns, pivot_count, pivot_count + 1, rows, pivots);
    for (uint32_t k = 0; k < kLanes; ++k) {
      uint64_t pivot_rows = 0;
      uint64_t solution = 0;
      for (uint32_t c = 0; c < pivot_count; ++c) {
        const uint64_t pivot = pivots[c][k];
        ASSERT_EQ(pivot & (pivot - 1), 0u);
        ASSERT_EQ(pivot & pivot_rows, 0u);
        pivot_rows |= pivot;
        if ((columns[pivot_count][k] & pivot) != 0) {
          solution |= uint64_t{1} << c;
        }
      }
      ASSERT_EQ(rest[k], rows[k] & ~pivot_rows);
      const uint32_t rank = Rank(system[k], pivot_count);
      ASSERT_EQ(__builtin_popcountll(pivot_rows), rank);
      const bool solved = (columns[pivot_count][k] & rest[k]) == 0;
      ASSERT_EQ(solved, Rank(system[k], pivot_count + 1) == rank);
      if (!solved) continue;
      ++solvable;
      for (const uint64_t row : system[k]) {
        const uint64_t side = row >> pivot_count & 1;
        ASSERT_EQ(__builtin_parityll(row & solution), side);
      }
    }
  }
  EXPECT_GT(solvable, 1000);
}

}  // namespace
}  // namespace rowbloom::filter
