// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/cell_sizes.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace rowbloom::tools {

void SizeCounts::Add(uint64_t size) {
  constexpr uint64_t kExact = 32;
  uint64_t step = 1;
  while (size / step >= kExact) step *= 2;
  ++counts_[size / step * step + step - 1];
  ++count_;
  min_ = std::min(min_, size);
  max_ = std::max(max_, size);
  sum_ += static_cast<double>(size);
}

uint64_t SizeCounts::Percentile(double share) const {
  const double wanted = std::ceil(share * static_cast<double>(count_));
  double seen = 0;
  for (const auto& [size, count] : counts_) {
    seen += static_cast<double>(count);
    if (seen >= wanted) return std::min(size, max_);
  }
  return max_;
}

Json SizeCounts::Row(const std::string& name) const {
  Json row{{"size", name}, {"count", count_}};
  const bool has = count_ > 0;
  row["min"] = has ? Json(min_) : Json();
  row["mean"] = Ratio(sum_, count_);
  for (const auto& [label, share] :
       {std::pair("p50", 0.5), {"p75", 0.75}, {"p95", 0.95}, {"p99", 0.99}}) {
    row[label] = has ? Json(Percentile(share)) : Json();
  }
  row["max"] = has ? Json(max_) : Json();
  return row;
}

absl::Status CountCellSizes(const HFileReader& reader, Json* table) {
  SizeCounts keys;
  SizeCounts values;
  SizeCounts row_bytes;
  SizeCounts row_cells;
  std::string row;
  uint64_t bytes = 0;
  uint64_t cell_count = 0;
  const auto end_row = [&] {
    if (cell_count == 0) return;
    row_bytes.Add(bytes);
    row_cells.Add(cell_count);
    bytes = cell_count = 0;
  };
  const std::unique_ptr<HFileCellReader> cells = reader.NewCellReader();
  for (HFileCell cell; cells->Next(&cell);) {
    if (cell.row != row) end_row();
    row = cell.row;
    // The sizes of row and family, timestamp and type take 12 bytes.
    const uint64_t key =
        cell.row.size() + cell.family.size() + cell.qualifier.size() + 12;
    keys.Add(key);
    values.Add(cell.value.size());
    bytes += key + cell.value.size();
    ++cell_count;
  }
  end_row();
  *table = {keys.Row("key_bytes"), values.Row("value_bytes"),
            row_bytes.Row("row_bytes"), row_cells.Row("row_cells")};
  return cells->status();
}

}  // namespace rowbloom::tools
