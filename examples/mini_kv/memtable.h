// SPDX-License-Identifier: Apache-2.0
//
// What was written last, sorted, in memory; the write-ahead log holds the same
// cells. A deleted cell stays as a tombstone: older values of it may lie in
// SSTs.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cell.h"

namespace mini_kv {

class Memtable {
 public:
  using Value = std::optional<std::string>;  // None: a tombstone.

  void Set(const Cell& cell) {
    const auto it = cells_.try_emplace(OwnedCellKey(cell.key)).first;
    it->second = cell.value ? Value(*cell.value) : Value();
    size_bytes_ += kCellOverhead + cell.key.row.size() +
                   cell.key.qualifier.size() +
                   (cell.value ? cell.value->size() : 0);
  }

  // nullptr: it knows nothing of the cell.
  const Value* Find(const CellKey& key) const {
    const auto it = cells_.find(key);
    return it == cells_.end() ? nullptr : &it->second;
  }

  // From the first cell that is not less than `from`. Not while cells are set.
  std::unique_ptr<CellIterator> NewIterator(const CellKey& from) const {
    return std::make_unique<Iterator>(cells_.lower_bound(from), cells_.end());
  }

  bool empty() const { return cells_.empty(); }
  // Of all that was set, overwritten cells included: as the log has it.
  size_t size_bytes() const { return size_bytes_; }

 private:
  using Map = std::map<OwnedCellKey, Value, std::less<>>;
  static constexpr size_t kCellOverhead = 64;  // About that of a map's node.

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
      if (it_ != end_) cell_ = {it_->first, it_->second};
    }

    Map::const_iterator it_;
    const Map::const_iterator end_;
    Cell cell_;
  };

  Map cells_;
  size_t size_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MEMTABLE_H_
