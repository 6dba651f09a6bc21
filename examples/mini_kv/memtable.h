// SPDX-License-Identifier: Apache-2.0
//
// The last writes, sorted, in memory; the log holds the same cells.
// A deleted cell stays as a tombstone: SSTs may hold older values of it.
//
// Place 4. A filter over its rows and cells saves searches for absent ones. Any
// number of threads may add to the filter and look up; the map allows one
// thread. Set() adds a cell to the filter before it adds it to the map: even in
// an engine with a concurrent map and several writers, a cell that a reader can
// know of is in the filter. The digests stay with the cells, and a flush passes
// them to the filter of the SST.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_

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
  // The filter is sized for cells of `size_bytes`.
  explicit Memtable(size_t size_bytes) : filter_(NewFilter(size_bytes)) {}

  void Set(const Cell& cell) {
    const auto key =
        rowbloom::FilterKey::RowCol(cell.key.row, cell.key.qualifier);
    filter_.Add(key.row_digest());
    filter_.Add(key.digest());
    Stored& stored = cells_[OwnedCellKey(cell.key)];
    stored.digests = {key.row_digest(), key.digest()};
    stored.value = std::optional<std::string>(cell.value);
    size_bytes_ += kCellOverhead + cell.key.row.size() +
                   cell.key.qualifier.size() +
                   (cell.value ? cell.value->size() : 0);
  }

  // False if it has no such cell, or no cell of such a row.
  bool MayContain(const rowbloom::FilterKey& key) const {
    return filter_.MayContain(key.digest());
  }

  // Starts at the first cell that is not less than `from`. Do not call Set()
  // while it is in use.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from) const {
    return std::make_unique<Iterator>(cells_.lower_bound(from), cells_.end());
  }

  bool empty() const { return cells_.empty(); }
  // The bytes of all Set() calls, overwritten cells included, as in the log.
  size_t size_bytes() const { return size_bytes_; }

 private:
  struct Stored {
    std::optional<std::string> value;  // None: a tombstone.
    CellDigests digests;
  };
  using Map = std::map<OwnedCellKey, Stored, std::less<>>;
  static constexpr size_t kCellOverhead = 64;  // About a map node.

  static rowbloom::ConcurrentFilter NewFilter(size_t size_bytes) {
    constexpr double kFpr = 0.01;
    const size_t cells = size_bytes / kCellOverhead + 1;
    const auto shape = rowbloom::ShapeFor(2 * cells, kFpr);
    return *rowbloom::ConcurrentFilter::New(*shape);
  }

  class Iterator : public CellIterator {
   public:
    Iterator(Map::const_iterator begin, Map::const_iterator end)
        : next_(begin), end_(end) {
      Next();
    }
    void Next() override {
      valid_ = next_ != end_;
      if (!valid_) return;
      const auto& [key, stored] = *next_++;
      cell_ = {key, stored.value, stored.digests};
    }

   private:
    Map::const_iterator next_;
    const Map::const_iterator end_;
  };

  Map cells_;
  rowbloom::ConcurrentFilter filter_;
  size_t size_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
