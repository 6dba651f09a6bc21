// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/filter_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/estimates.h"
#include "memfilter/saved_form.h"
#include "util/check.h"

namespace rowbloom {

absl::Status FilterRows::Append(size_t count) {
  const size_t size_before = size();
  for (size_t i = 0; i < count; ++i) {
    auto bits = BitArray::New(shape_.bit_count);
    if (!bits.ok()) {
      rows_.resize(size_before);
      return bits.status();
    }
    rows_.emplace_back().bits = *std::move(bits);
  }
  return absl::OkStatus();
}

void FilterRows::AnyCovers(absl::Span<const KeyDigest> digests,
                           bool* answers) const {
  memfilter::AskRows(
      digests,
      [this](KeyDigest digest) {
        for (size_t row = 0; row < size(); ++row) PrefetchFirst(row, digest);
      },
      [this](KeyDigest digest) { return AnyCovers(Key(digest, shape_)); },
      answers);
}

void FilterRows::SetAll(const FilterRows& other) {
  RB_CHECK(shape_ == other.shape_ && size() == other.size());
  for (size_t row = 0; row < size(); ++row) {
    rows_[row].bits.SetAll(other.rows_[row].bits);
    rows_[row].bits_set = rows_[row].bits.CountSet();
    // Each counted key has set a bit, which caps the sum. Keys that both have
    // count twice below the cap.
    rows_[row].key_count = std::min(
        rows_[row].key_count + other.rows_[row].key_count, rows_[row].bits_set);
  }
}

void FilterRows::Prepend(const FilterRows& other, size_t group_size) {
  RB_CHECK(shape_ == other.shape_ && other.size() % group_size == 0);
  std::vector<Row> taken;  // A copy: `other` may be *this.
  const auto has_bits = [](const Row& row) { return row.bits_set > 0; };
  for (auto group = other.rows_.begin(); group != other.rows_.end();) {
    const auto end = group + static_cast<ptrdiff_t>(group_size);
    if (std::any_of(group, end, has_bits)) {
      taken.insert(taken.end(), group, end);
    }
    group = end;
  }
  rows_.insert(rows_.begin(), std::make_move_iterator(taken.begin()),
               std::make_move_iterator(taken.end()));
}

double FilterRows::fill() const {
  if (rows_.empty()) return 0;
  double sum = 0;
  for (const Row& row : rows_) sum += memfilter::Fill(shape_, row.bits_set);
  return sum / static_cast<double>(size());
}

double FilterRows::RowFpr(size_t row) const {
  return memfilter::RateAt(shape_, rows_[row].bits_set);
}

double FilterRows::AnyFpr() const {
  double none = 1;
  for (size_t row = 0; row < size(); ++row) none *= 1 - RowFpr(row);
  return 1 - none;
}

uint64_t FilterRows::total_key_count() const {
  uint64_t sum = 0;
  for (const Row& row : rows_) sum += row.key_count;
  return sum;
}

uint64_t FilterRows::memory_usage_bytes() const {
  uint64_t sum = rows_.capacity() * sizeof(Row);
  for (const Row& row : rows_) sum += row.bits.memory_usage_bytes();
  return sum;
}

void FilterRows::Save(memfilter::SavedFormWriter* writer) const {
  writer->AddVarint(shape_.bit_count);
  writer->AddVarint(shape_.probe_count);
  writer->AddVarint(size());
  for (const Row& row : rows_) {
    writer->AddVarint(row.key_count);
    writer->AddWords(row.bits.words());
  }
}

FilterRows FilterRows::Load(memfilter::SavedFormReader* reader) {
  FilterRows rows(reader->Shape());
  const uint64_t row_count = reader->Varint();
  if (row_count == 0) reader->Refuse("0 rows");
  for (uint64_t i = 0; i < row_count; ++i) {
    Row row;
    row.key_count = reader->Varint();
    if (!reader->Bits(rows.shape_.bit_count, &row.bits)) break;
    row.bits_set = row.bits.CountSet();
    if (row.key_count > row.bits_set) {
      reader->Refuse(absl::StrCat("row ", i, " of ", row.key_count,
                                  " keys has ", row.bits_set, " bits set"));
    }
    rows.rows_.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rowbloom
