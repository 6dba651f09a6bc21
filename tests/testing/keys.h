// SPDX-License-Identifier: Apache-2.0
//
// Makes rows, cells and digests for tests: from a seed, the same everywhere.
//
//   Random random(1);
//   std::vector<Cell> cells = SortedCells(&random, 1000);

#ifndef ROWBLOOM_TESTS_TESTING_KEYS_H_
#define ROWBLOOM_TESTS_TESTING_KEYS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "rowbloom/filter_key.h"

namespace rowbloom::testing {

// SplitMix64: a counter through a mixer. Satisfies UniformRandomBitGenerator.
class Random {
 public:
  using result_type = uint64_t;

  explicit Random(uint64_t seed) : state_(seed) {}

  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t{0}; }
  uint64_t operator()() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t limit) { return (*this)() % limit; }
  // Bytes that are special to codecs and orderings are frequent.
  std::string Bytes(size_t max_size) {
    static constexpr char kFrequent[] = {'\x00', '\x01', '\x02', '\x7f',
                                         '\xfe', '\xff', 'a',    '|'};
    std::string bytes(Below(max_size + 1), '\0');
    for (char& c : bytes) {
      c = Below(2) == 0 ? kFrequent[Below(sizeof(kFrequent))]
                        : static_cast<char>(Below(256));
    }
    return bytes;
  }

 private:
  uint64_t state_;
};

struct Cell {
  std::string row;
  std::string qualifier;

  friend bool operator<(const Cell& a, const Cell& b) {
    return std::tie(a.row, a.qualifier) < std::tie(b.row, b.qualifier);
  }
  friend bool operator==(const Cell& a, const Cell& b) {
    return a.row == b.row && a.qualifier == b.qualifier;
  }
};

// Returns "r" and eight digits; these rows sort in the order of i.
inline std::string NumberedRow(uint64_t i) {
  std::string digits = std::to_string(i);
  return "r" + std::string(8 - std::min<size_t>(8, digits.size()), '0') +
         digits;
}

// Returns distinct cells in order, one to five of them in a row.
inline std::vector<Cell> SortedCells(Random* random, size_t rows) {
  std::vector<Cell> cells;
  for (size_t i = 0; i < rows; ++i) {
    const std::string row = random->Bytes(12);
    const uint64_t columns = 1 + random->Below(5);
    for (uint64_t c = 0; c < columns; ++c) {
      cells.push_back({row, random->Bytes(6)});
    }
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  return cells;
}

inline std::vector<KeyDigest> RandomDigests(Random* random, size_t count) {
  std::vector<KeyDigest> digests(count);
  for (KeyDigest& digest : digests) digest.value = (*random)();
  return digests;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_KEYS_H_
