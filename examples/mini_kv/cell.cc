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

}  // namespace mini_kv
