// SPDX-License-Identifier: Apache-2.0
//
// The rows and columns that every database of a run is loaded with, and rows
// and columns that are certainly not among them.
//
//   Dataset data = Dataset::FromWords("/usr/share/dict/words", 0);
//   for (size_t i = 0; i < data.row_count(); ++i)
//     for (uint32_t q : data.columns(i)) Put(data.row(i), data.qualifier(q));
//   Get(data.AbsentRow(7));              // near row 7, in no database
//   Get(data.row(7), data.AbsentQualifier(7));
//
// Rows are sorted and distinct. The same input gives the same dataset, absent
// rows and columns included. Immutable once made. Errors are thrown as
// std::runtime_error whose text says what to do.

#ifndef ROWBLOOM_BENCH_POINT_GET_DATASET_H_
#define ROWBLOOM_BENCH_POINT_GET_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace rowbloom::point_get {

// A 64-bit number that looks random but depends on its arguments alone.
uint64_t Scramble(std::string_view bytes, uint64_t seed);
uint64_t Scramble(uint64_t value, uint64_t seed);

class Dataset {
 public:
  // One word per line. Each word becomes a row that holds some of eight
  // columns, four on average, chosen by a hash of the word. `row_limit`, if
  // not 0, takes that many words spread evenly over the list.
  static Dataset FromWords(const std::string& path, uint64_t row_limit);
  // row<TAB>column lines in any order; repeated lines count once.
  static Dataset FromCells(const std::string& path, uint64_t row_limit);

  size_t row_count() const { return rows_.size(); }
  size_t cell_count() const { return columns_.size(); }
  const std::string& row(size_t i) const { return rows_[i]; }
  // Indices of the row's qualifiers, sorted.
  absl::Span<const uint32_t> columns(size_t i) const {
    return absl::MakeConstSpan(columns_.data() + first_column_[i],
                               first_column_[i + 1] - first_column_[i]);
  }
  size_t qualifier_count() const { return qualifiers_.size(); }
  const std::string& qualifier(uint32_t q) const { return qualifiers_[q]; }

  // Row i with one letter changed or added: no row of the dataset, but between
  // its first and last.
  std::string AbsentRow(size_t i) const;
  // A qualifier that row i lacks and that other rows have; if it has them all,
  // one of its own with a letter added.
  std::string AbsentQualifier(size_t i) const;

 private:
  using Cell = std::pair<std::string, uint32_t>;

  // Takes cells in any order and with repetitions.
  Dataset(std::vector<std::string> qualifiers, std::vector<Cell> cells);

  std::vector<std::string> qualifiers_;
  std::vector<std::string> rows_;
  std::vector<size_t> first_column_;  // Index in columns_; one more at the end.
  std::vector<uint32_t> columns_;
};

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_DATASET_H_
