// SPDX-License-Identifier: Apache-2.0
//
// What was written last, sorted, in memory; the write-ahead log holds the same
// cells. A deleted cell stays as a tombstone: older values of it may lie in
// SSTs.
//
// A filter over its rows and cells spares the search for those that it does not
// have. It may be added to and asked by any number of threads; the map beside
// it is for one that sets. Each Set() adds to the filter, and before the cell
// is there: in an engine whose map is concurrent too, a cell that a reader may
// know of is in the filter, whichever of several writers put it into the map.
// The digests stay with the cells, and a flush gives them to the filter of the
// SST.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cell.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/sizing.h"

namespace mini_kv {

class Memtable {
 public:
  using Value = std::optional<std::string>;  // None: a tombstone.

  // The filter is made for cells of so many bytes.
  explicit Memtable(size_t size_bytes) : filter_(NewFilter(size_bytes)) {}

  void Set(const Cell& cell) {
    const auto key =
        rowbloom::FilterKey::RowCol(cell.key.row, cell.key.qualifier);
    filter_.Add(key.row_digest());
    filter_.Add(key.digest());
    Stored& stored = cells_[OwnedCellKey(cell.key)];
    stored.digests = {key.row_digest(), key.digest()};
    stored.value = cell.value ? Value(*cell.value) : Value();
    size_bytes_ += kCellOverhead + cell.key.row.size() +
                   cell.key.qualifier.size() +
                   (cell.value ? cell.value->size() : 0);
  }

  // nullptr: it knows nothing of the cell.
  const Value* Find(const CellKey& key) const {
    const auto it = cells_.find(key);
    return it == cells_.end() ? nullptr : &it->second.value;
  }

  // No: it has no such cell, or no cell of such a row.
  bool MayContain(const rowbloom::FilterKey& key) const {
    return filter_.MayContain(key.digest());
  }

  // From the first cell that is not less than `from`. Not while cells are set.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from) const {
    return std::make_unique<Iterator>(cells_.lower_bound(from), cells_.end());
  }

  bool empty() const { return cells_.empty(); }
  // Of all that was set, overwritten cells included: as the log has it.
  size_t size_bytes() const { return size_bytes_; }

 private:
  struct Stored {
    Value value;
    CellDigests digests;
  };
  using Map = std::map<OwnedCellKey, Stored, std::less<>>;
  static constexpr size_t kCellOverhead = 64;  // About that of a map's node.
  // Filters of larger memtables grow no further: their rate does.
  static constexpr size_t kMostFilterKeys = 1 << 20;

  static rowbloom::ConcurrentFilter NewFilter(size_t size_bytes) {
    constexpr double kFpr = 0.01;
    const size_t cells = size_bytes / kCellOverhead + 1;
    const auto shape =
        rowbloom::ShapeFor(std::min(2 * cells, kMostFilterKeys), kFpr);
    return *rowbloom::ConcurrentFilter::New(*shape);
  }

  class Iterator : public CellIterator {
   public:
    Iterator(Map::const_iterator it, Map::const_iterator end)
        : it_(it), end_(end) {
      SetCell();
    }
    bool Valid() const override { return it_ != end_; }
    const Cell& cell() const override { return cell_; }
    void Next() override {
      ++it_;
      SetCell();
    }
    absl::Status status() const override { return absl::OkStatus(); }

   private:
    void SetCell() {
      if (it_ == end_) return;
      cell_ = {it_->first, it_->second.value, it_->second.digests};
    }

    Map::const_iterator it_;
    const Map::const_iterator end_;
    Cell cell_;
  };

  Map cells_;
  rowbloom::ConcurrentFilter filter_;
  size_t size_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
