// SPDX-License-Identifier: Apache-2.0
//
// The point gets that every policy is asked.
//
//   ZipfSampler zipf(data.row_count());
//   std::vector<PointGet> gets =
//       MakePointGets(data, Query::kAbsentRow, Mix::kZipf, zipf, 100000);
//
// The same arguments give the same gets.

#ifndef ROWBLOOM_BENCH_POINT_GET_WORKLOAD_H_
#define ROWBLOOM_BENCH_POINT_GET_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataset.h"

namespace rowbloom::point_get {

enum class Query {
  kAbsentRow,     // RowExists(), a scan: it does not.
  kAbsentColumn,  // GetCell() of a column that an existing row lacks.
  kPresentCell,   // GetCell() of one that exists.
  kPresentRow,    // RowExists(): it does. Only checked.
};
enum class Mix { kUniform, kZipf };

// Names of the JSON contract.
inline constexpr Query kReportedQueries[] = {
    Query::kAbsentRow, Query::kAbsentColumn, Query::kPresentCell};
inline constexpr Mix kMixes[] = {Mix::kUniform, Mix::kZipf};
std::string_view QueryName(Query query);
std::string_view MixName(Mix mix);
// True if a scan within the row's bounds asks it, and not a Get.
bool IsRowQuery(Query query);
bool IsPresent(Query query);

struct PointGet {
  std::string row;
  std::string qualifier;  // Not used by a row query.
};

// Ranks 0..count-1 with probability proportional to 1 / (rank + 1)^0.99.
class ZipfSampler {
 public:
  explicit ZipfSampler(size_t count);
  // `random` is uniform over all 64-bit numbers.
  size_t Rank(uint64_t random) const;

 private:
  std::vector<double> cumulative_;
};

// Which rows are popular changes every 1,000 gets of a Zipf mix, so that no
// result hangs on whether the one most popular key is a false positive.
std::vector<PointGet> MakePointGets(const Dataset& data, Query query, Mix mix,
                                    const ZipfSampler& zipf, uint64_t count);

// The level of a cell, from 1 on: a fair draw, by hash, with odds as the
// levels' sizes.
class LevelChooser {
 public:
  LevelChooser(int level_count, double level_ratio);
  int Level(std::string_view row, uint32_t qualifier) const;

 private:
  std::vector<double> limits_;
};

// The flat key of a cell, and the value it is stored with.
std::string EncodeKey(std::string_view row, std::string_view qualifier);
void MakeValue(std::string_view key, size_t size_bytes, std::string* value);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_WORKLOAD_H_
