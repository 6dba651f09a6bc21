// SPDX-License-Identifier: Apache-2.0

#include "hfile/cell_key.h"

#include "hfile/vlong.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

template <typename T>
int CompareNumbers(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// The parts of a row before and after a comma.
struct Split {
  std::string_view front;
  std::string_view back;
  bool has_comma;
};

Split SplitAt(std::string_view row, size_t comma) {
  if (comma == std::string_view::npos) return {row, {}, false};
  return {row.substr(0, comma), row.substr(comma + 1), true};
}

// Compares the front parts; if they are equal, the one without a comma is
// first.
int CompareFronts(const Split& a, const Split& b) {
  if (const int order = a.front.compare(b.front); order != 0) return order;
  return CompareNumbers(a.has_comma, b.has_comma);
}

int CompareMetaRows(std::string_view a, std::string_view b) {
  const Split table_a = SplitAt(a, a.find(','));
  const Split table_b = SplitAt(b, b.find(','));
  const int tables = CompareFronts(table_a, table_b);
  if (tables != 0 || !table_a.has_comma) return tables;
  // The start row may have commas in it: the region id follows the last one.
  const Split start_a = SplitAt(table_a.back, table_a.back.rfind(','));
  const Split start_b = SplitAt(table_b.back, table_b.back.rfind(','));
  const int starts = CompareFronts(start_a, start_b);
  return starts != 0 ? starts : start_a.back.compare(start_b.back);
}

bool IsLastOfRow(const CellKey& key) {
  return key.type == kTypeMinimum && key.family.empty() &&
         key.qualifier.empty();
}

}  // namespace

bool ParseCellKey(std::string_view bytes, CellKey* key) {
  int16_t row_size;
  int8_t family_size;
  return util::ReadBigEndian(&bytes, &row_size) &&
         ReadBytes(&bytes, row_size, &key->row) &&
         util::ReadBigEndian(&bytes, &family_size) &&
         ReadBytes(&bytes, family_size, &key->family) && bytes.size() >= 9 &&
         ReadBytes(&bytes, static_cast<int64_t>(bytes.size() - 9),
                   &key->qualifier) &&
         util::ReadBigEndian(&bytes, &key->timestamp) &&
         util::ReadBigEndian(&bytes, &key->type);
}

void AppendCellKey(const CellKey& key, std::string* out) {
  util::AppendBigEndian(static_cast<uint16_t>(key.row.size()), out);
  out->append(key.row);
  util::AppendBigEndian(static_cast<uint8_t>(key.family.size()), out);
  out->append(key.family);
  out->append(key.qualifier);
  util::AppendBigEndian(key.timestamp, out);
  util::AppendBigEndian(key.type, out);
}

int CompareRows(RowOrder order, std::string_view a, std::string_view b) {
  return order == RowOrder::kMeta ? CompareMetaRows(a, b) : a.compare(b);
}

int CompareCellKeys(RowOrder order, const CellKey& a, const CellKey& b) {
  if (const int rows = CompareRows(order, a.row, b.row); rows != 0) return rows;
  if (IsLastOfRow(a) || IsLastOfRow(b)) {
    return CompareNumbers(IsLastOfRow(a), IsLastOfRow(b));
  }
  if (const int f = a.family.compare(b.family); f != 0) return f;
  if (const int q = a.qualifier.compare(b.qualifier); q != 0) return q;
  if (a.timestamp != b.timestamp) {
    return CompareNumbers(b.timestamp, a.timestamp);
  }
  return CompareNumbers(b.type, a.type);
}

}  // namespace rowbloom::hfile
