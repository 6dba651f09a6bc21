// SPDX-License-Identifier: Apache-2.0

#include "cell.h"

#include "coding.h"

namespace mini_kv {
namespace {

constexpr uint32_t kTombstone = 0xFFFFFFFF;

}  // namespace

bool operator<(const CellKey& a, const CellKey& b) {
  const int by_row = a.row.compare(b.row);
  return by_row != 0 ? by_row < 0 : a.qualifier < b.qualifier;
}

void AppendCell(const Cell& cell, std::string* out) {
  AppendFixed(static_cast<uint32_t>(cell.key.row.size()), out);
  AppendFixed(static_cast<uint32_t>(cell.key.qualifier.size()), out);
  AppendFixed(
      cell.value ? static_cast<uint32_t>(cell.value->size()) : kTombstone, out);
  out->append(cell.key.row);
  out->append(cell.key.qualifier);
  if (cell.value) out->append(*cell.value);
}

bool TakeCell(std::string_view* in, Cell* cell) {
  uint32_t row_size = 0;
  uint32_t qualifier_size = 0;
  uint32_t value_size = 0;
  if (!TakeFixed(in, &row_size) || !TakeFixed(in, &qualifier_size) ||
      !TakeFixed(in, &value_size) || !TakeBytes(in, row_size, &cell->key.row) ||
      !TakeBytes(in, qualifier_size, &cell->key.qualifier)) {
    return false;
  }
  cell->value.reset();
  if (value_size == kTombstone) return true;
  std::string_view value;
  if (!TakeBytes(in, value_size, &value)) return false;
  cell->value = value;
  return true;
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
