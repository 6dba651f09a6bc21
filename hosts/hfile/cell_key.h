// SPDX-License-Identifier: Apache-2.0
//
// The keys of cells: their layout, and the orders in which HBase keeps them.
//
//   row size (2) | row | family size (1) | family | qualifier | timestamp (8)
//   | type (1)
//
// The qualifier has no size field: it takes the bytes that remain. A filter of
// type ROWCOL holds such keys too, with no family, the latest timestamp and
// type Maximum.

#ifndef ROWBLOOM_HFILE_CELL_KEY_H_
#define ROWBLOOM_HFILE_CELL_KEY_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace rowbloom::hfile {

inline constexpr size_t kMaxRowSize = 32767;
inline constexpr size_t kMaxFamilySize = 127;
inline constexpr size_t kRowSizeSize = 2;

inline constexpr uint8_t kTypeMinimum = 0;
inline constexpr uint8_t kTypeMaximum = 255;
inline constexpr int64_t kLatestTimestamp = std::numeric_limits<int64_t>::max();

struct CellKey {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = kLatestTimestamp;
  uint8_t type = kTypeMaximum;
};

// Returns false if `bytes` are not a key. *key views into them.
bool ParseCellKey(std::string_view bytes, CellKey* key);
void AppendCellKey(const CellKey& key, std::string* out);

// The key by which a ROWCOL filter hashes and sorts.
inline CellKey RowColKey(std::string_view row, std::string_view qualifier) {
  return {row, {}, qualifier, kLatestTimestamp, kTypeMaximum};
}

// The order of a file's rows.
enum class RowOrder : uint8_t {
  kBytes,
  // The order of the table hbase:meta: by table, start row and region id, which
  // commas separate; a part that ends is before one that goes on.
  kMeta,
};

// Negative, zero or positive.
int CompareRows(RowOrder order, std::string_view a, std::string_view b);
// Compares by row, family and qualifier; newer timestamps and higher types are
// first. A key of type Minimum without family and qualifier is the last of its
// row.
int CompareCellKeys(RowOrder order, const CellKey& a, const CellKey& b);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_CELL_KEY_H_
