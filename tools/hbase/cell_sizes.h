// SPDX-License-Identifier: Apache-2.0
//
// The distribution of the sizes of an HFile's cells and rows.
//
//   SizeCounts sizes;
//   for (cell : cells) sizes.Add(cell.value.size());
//   Json row = sizes.Row("value_bytes");

#ifndef ROWBLOOM_TOOLS_HBASE_CELL_SIZES_H_
#define ROWBLOOM_TOOLS_HBASE_CELL_SIZES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "rowbloom/hfile.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

// Counts sizes. Percentiles of sizes from 32 on are up to a sixteenth too
// large; it keeps a count for each step of that.
class SizeCounts {
 public:
  void Add(uint64_t size);
  // {"size": name, "count", "min", "mean", "p50", "p75", "p95", "p99", "max"}
  Json Row(const std::string& name) const;

 private:
  uint64_t Percentile(double share) const;

  std::map<uint64_t, uint64_t> counts_;  // By the largest size of a step.
  uint64_t count_ = 0;
  uint64_t min_ = UINT64_MAX;
  uint64_t max_ = 0;
  double sum_ = 0;
};

// Reads all cells. Sets *table to a row for each of key_bytes, value_bytes,
// row_bytes (keys and values) and row_cells.
absl::Status CountCellSizes(const HFileReader& reader, Json* table);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_CELL_SIZES_H_
