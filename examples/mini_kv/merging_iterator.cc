// SPDX-License-Identifier: Apache-2.0

#include "merging_iterator.h"

#include <utility>

namespace mini_kv {
namespace {

// Compares every source for each cell. There are few sources; an engine with
// many would keep them in a heap.
class MergingIterator : public CellIterator {
 public:
  explicit MergingIterator(std::vector<std::unique_ptr<CellIterator>> sources)
      : sources_(std::move(sources)) {
    FindSmallest();
  }

  bool Valid() const override { return smallest_ != nullptr; }
  const Cell& cell() const override { return smallest_->cell(); }
  absl::Status status() const override { return status_; }

  void Next() override {
    // Older versions first: they are compared with the newest, whose views
    // end with its own Next().
    const CellKey key = cell().key;
    for (const auto& source : sources_) {
      if (source.get() != smallest_ && source->Valid() &&
          source->cell().key == key) {
        source->Next();
      }
    }
    smallest_->Next();
    FindSmallest();
  }

 private:
  void FindSmallest() {
    smallest_ = nullptr;
    for (const auto& source : sources_) {
      // The remaining cells of a failed source are unknown: to go on without
      // them could bring a deleted cell back.
      status_ = source->status();
      if (!status_.ok()) {
        smallest_ = nullptr;
        return;
      }
      if (source->Valid() && (smallest_ == nullptr ||
                              source->cell().key < smallest_->cell().key)) {
        smallest_ = source.get();
      }
    }
  }

  const std::vector<std::unique_ptr<CellIterator>> sources_;
  CellIterator* smallest_ = nullptr;
  absl::Status status_;
};

}  // namespace

std::unique_ptr<CellIterator> NewMergingIterator(
    std::vector<std::unique_ptr<CellIterator>> sources) {
  return std::make_unique<MergingIterator>(std::move(sources));
}

}  // namespace mini_kv
