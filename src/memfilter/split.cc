// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/split.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/filter_rows_form.h"
#include "memfilter/same_options.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

absl::Status Validate(const SplitOptions& options) {
  if (absl::Status status = ValidateShape(options.row); !status.ok()) {
    return status;
  }
  if (options.keys_per_row == 0) {
    return absl::InvalidArgumentError("keys_per_row 0: must be at least 1");
  }
  return ValidateRowCount(options.row_count);
}

}  // namespace

SplitFilter::SplitFilter(const SplitOptions& options)
    : options_(options), rows_(options.row) {}

absl::StatusOr<SplitFilter> SplitFilter::New(const SplitOptions& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  SplitFilter filter(options);
  if (absl::Status status = filter.rows_.Append(options.row_count);
      !status.ok()) {
    return status;
  }
  filter.FindOpenRows();
  return filter;
}

void SplitFilter::FindOpenRows() {
  open_rows_.clear();
  for (uint32_t row = 0; row < options_.row_count; ++row) {
    if (rows_.key_count(row) < options_.keys_per_row) open_rows_.push_back(row);
  }
}

absl::StatusOr<bool> SplitFilter::Add(KeyDigest digest) {
  if (open_rows_.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("split filter is full: each of its ", options_.row_count,
                     " rows has ", options_.keys_per_row, " keys"));
  }
  // A linear congruential generator (Knuth's MMIX), of which the high bits are
  // used.
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  const uint64_t choice = (random_ >> 32) * open_rows_.size() >> 32;
  const uint32_t row = open_rows_[static_cast<size_t>(choice)];
  const bool changed = rows_.Put(row, {digest, rows_.shape()});
  if (rows_.key_count(row) >= options_.keys_per_row) {
    // Keeps the rows in order, as in a loaded filter.
    open_rows_.erase(open_rows_.begin() + static_cast<ptrdiff_t>(choice));
  }
  return changed;
}

absl::Status SplitFilter::Add(absl::Span<const KeyDigest> digests) {
  return memfilter::AddUntilFull(digests, this);
}

absl::Status SplitFilter::Union(const SplitFilter& other) {
  if (absl::Status status =
          memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  rows_.SetAll(other.rows_);
  FindOpenRows();
  return absl::OkStatus();
}

std::string SplitFilter::Save() const {
  memfilter::SavedFormWriter writer(kKind);
  writer.AddVarint(options_.keys_per_row);
  writer.AddVarint(random_);
  FilterRowsForm::Save(rows_, &writer);
  return writer.Finish();
}

absl::StatusOr<SplitFilter> SplitFilter::Load(std::string_view saved) {
  auto reader = memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  SplitOptions options;
  options.keys_per_row = reader->Varint();
  const uint64_t random = reader->Varint();
  FilterRows rows = FilterRowsForm::Load(&*reader);
  options.row = rows.shape();
  options.row_count =
      static_cast<uint32_t>(std::min<size_t>(rows.size(), kMaxRowCount + 1));
  if (const absl::Status status = Validate(options); !status.ok()) {
    reader->Refuse(status.message());
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  SplitFilter filter(options);
  filter.rows_ = std::move(rows);
  filter.random_ = random;
  filter.FindOpenRows();
  return filter;
}

}  // namespace rowbloom
