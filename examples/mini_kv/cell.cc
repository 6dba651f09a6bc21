// SPDX-License-Identifier: Apache-2.0

#include "cell.h"

#include "coding.h"

namespace mini_kv {

constexpr uint32_t kTombstone = 0xFFFFFFFF;  // As the size of a value.

void AppendKey(const CellKey& key, std::string* out) {
  AppendString(key.row, out);
  AppendString(key.qualifier, out);
}

bool TakeKey(std::string_view* in, CellKey* key) {
  return TakeString(in, &key->row) && TakeString(in, &key->qualifier);
}

void AppendCell(const Cell& cell, std::string* out) {
  AppendKey(cell.key, out);
  if (cell.value) {
    AppendString(*cell.value, out);
  } else {
    AppendFixed(kTombstone, out);
  }
}

bool TakeCell(std::string_view* in, Cell* cell) {
  uint32_t value_size = 0;
  if (!TakeKey(in, &cell->key) || !TakeFixed(in, &value_size)) return false;
  cell->value.reset();
  if (value_size == kTombstone) return true;
  return TakeBytes(in, value_size, &cell->value.emplace());
}

// Compares every source for each cell. There are few sources; an engine with
// many would keep them in a heap.
absl::Status MergeCells(const CellIterators& sources,
                        const CellVisitor& visit) {
  while (true) {
    CellIterator* smallest = nullptr;
    for (const auto& source : sources) {
      // The remaining cells of a failed source are unknown: to go on without
      // them could bring a deleted cell back.
      if (!source->status().ok()) return source->status();
      if (source->Valid() &&
          (smallest == nullptr || source->cell().key < smallest->cell().key)) {
        smallest = source.get();
      }
    }
    if (smallest == nullptr || !visit(smallest->cell())) {
      return absl::OkStatus();
    }
    // Older versions are passed first: they are compared with the newest, whose
    // views end with its own Next().
    for (const auto& source : sources) {
      if (source.get() != smallest && source->Valid() &&
          source->cell().key == smallest->cell().key) {
        source->Next();
      }
    }
    smallest->Next();
  }
}

}  // namespace mini_kv
