// SPDX-License-Identifier: Apache-2.0
//
// The cells and gets of a run, which depend on their arguments alone: every
// policy has the same.
//
//   const Dataset data(path, /*word_limit=*/0);
//   for (size_t i = 0; i < data.row_count(); ++i)
//     for (uint32_t q : data.columns(i)) Put(data.row(i), data.qualifier(q));
//   const Cell cell = data.Draw(Query::kAbsentRow, 7, random);
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_ROCKSDB_WORKLOAD_H_
#define ROWBLOOM_BENCH_ROCKSDB_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "bench/zipf.h"

namespace rowbloom::bench {

// A 64-bit number that looks random.
uint64_t Scramble(std::string_view bytes, uint64_t seed);
uint64_t Scramble(uint64_t value, uint64_t seed);

// The value with which `key` is stored.
std::string MakeValue(std::string_view key, size_t size_bytes);

// How gets choose among keys.
enum class Mix { kUniform, kZipf };
inline constexpr Mix kMixes[] = {Mix::kUniform, Mix::kZipf};
const char* MixName(Mix mix);

// The popular keys of a Zipf mix change after this number of gets. Otherwise a
// result would depend on whether the most popular key is a false positive.
inline constexpr uint64_t kGetsPerEpoch = 1000;

inline constexpr double kZipfExponent = 0.99;  // As in YCSB.

enum class Query {
  kAbsentRow,     // RowExists() of a row that does not exist.
  kAbsentColumn,  // GetCell() of a column that an existing row lacks.
  kPresentCell,   // GetCell() of a cell that exists.
  kPresentRow,    // RowExists() of a row that exists.
};
inline constexpr Query kQueries[] = {Query::kAbsentRow, Query::kAbsentColumn,
                                     Query::kPresentCell, Query::kPresentRow};
const char* QueryName(Query query);
// True if RowExists() answers it, false if a Get of the cell does.
bool AsksRow(Query query);

struct Cell {
  std::string row;
  std::string qualifier;  // Empty for queries of a row.
};

// The flat key of a cell.
std::string EncodeKey(std::string_view row, std::string_view qualifier);

class Dataset {
 public:
  // The file holds a word on each line, or row<TAB>column lines in any order.
  // Each word becomes a row that holds some of eight columns, four on average,
  // chosen by a hash of the word. If `word_limit` is not 0, it takes that many
  // words, spread evenly over the file.
  Dataset(const std::string& path, uint64_t word_limit);

  size_t row_count() const { return rows_.size(); }
  size_t cell_count() const { return columns_.size(); }
  const std::string& row(size_t i) const { return rows_[i]; }
  // Sorted indices of the row's qualifiers.
  absl::Span<const uint32_t> columns(size_t i) const {
    return absl::MakeConstSpan(columns_.data() + first_column_[i],
                               first_column_[i + 1] - first_column_[i]);
  }
  const std::string& qualifier(uint32_t q) const { return qualifiers_[q]; }

  // The cell for which a query of row i asks. `random` selects the column of a
  // cell that exists.
  Cell Draw(Query query, size_t i, uint64_t random) const;

 private:
  using RowAndColumn = std::pair<std::string, uint32_t>;

  std::vector<RowAndColumn> CellsOfWords(std::vector<std::string> words,
                                         uint64_t limit);
  std::vector<RowAndColumn> CellsOfLines(const std::vector<std::string>& lines);
  std::string AbsentRow(size_t i) const;
  std::string AbsentQualifier(size_t i) const;

  std::vector<std::string> qualifiers_;
  std::vector<std::string> rows_;
  std::vector<size_t> first_column_;  // Index in columns_; one more at the end.
  std::vector<uint32_t> columns_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_WORKLOAD_H_
