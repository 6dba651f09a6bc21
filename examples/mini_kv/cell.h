// SPDX-License-Identifier: Apache-2.0
//
// A cell: (row, qualifier) and a value, or a tombstone that hides the values
// below it. The log and the SSTs hold cells in the same bytes:
//
//   row size (4) | row | qualifier size (4) | qualifier | value size (4) |
//   value
//
// where a tombstone has the value size 0xFFFFFFFF; a cell is smaller than that.
// Cells and keys are views: what they view must outlive them.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_CELL_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_CELL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/filter_key.h"

namespace mini_kv {

// Ordered by row, then by qualifier, both bytewise.
struct CellKey {
  std::string_view row;
  std::string_view qualifier;
};

inline bool operator<(const CellKey& a, const CellKey& b) {
  return std::tie(a.row, a.qualifier) < std::tie(b.row, b.qualifier);
}
inline bool operator==(const CellKey& a, const CellKey& b) {
  return a.row == b.row && a.qualifier == b.qualifier;
}

struct OwnedCellKey {
  std::string row;
  std::string qualifier;

  OwnedCellKey() = default;
  explicit OwnedCellKey(const CellKey& key)
      : row(key.row), qualifier(key.qualifier) {}
  operator CellKey() const { return {row, qualifier}; }
};

// The digests of a cell for filters: of its row and of the cell itself.
struct CellDigests {
  rowbloom::KeyDigest row;
  rowbloom::KeyDigest cell;
};

struct Cell {
  CellKey key;
  std::optional<std::string_view> value;  // None: a tombstone.
  // Set for cells from the memtable, which were hashed when they were written.
  std::optional<CellDigests> digests = std::nullopt;
};

// As in coding.h. A key is the part of a cell before its value.
void AppendKey(const CellKey& key, std::string* out);
bool TakeKey(std::string_view* in, CellKey* key);
void AppendCell(const Cell& cell, std::string* out);
bool TakeCell(std::string_view* in, Cell* cell);

// Iterates over cells in order, from the first.
class CellIterator {
 public:
  virtual ~CellIterator() = default;
  virtual void Next() = 0;

  // False after the last cell, and after an error.
  bool Valid() const { return valid_; }
  // The views last until Next().
  const Cell& cell() const { return cell_; }
  const absl::Status& status() const { return status_; }

 protected:
  bool valid_ = false;
  Cell cell_;
  absl::Status status_;
};

using CellIterators = std::vector<std::unique_ptr<CellIterator>>;
// Returns false to see no more cells. The cell lasts until it returns.
using CellVisitor = std::function<bool(const Cell&)>;

// Visits the cells of all sources in order, tombstones too. The sources are
// newest first: if several have a cell, only that of the first is seen.
absl::Status MergeCells(const CellIterators& sources, const CellVisitor& visit);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_CELL_H_
