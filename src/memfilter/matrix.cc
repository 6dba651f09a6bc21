// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/matrix.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/filter_rows_form.h"
#include "memfilter/same_options.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

absl::Status Validate(const MatrixOptions& options) {
  if (absl::Status status = ValidateShape(options.row); !status.ok()) {
    return status;
  }
  if (options.group_count == 0 || options.group_count > 64 ||
      options.row_count % options.group_count != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "group_count ", options.group_count,
        ": must be 1 to 64 and divide row_count ", options.row_count));
  }
  if (options.tie > MatrixTie::kLessFilled) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tie ", static_cast<int>(options.tie), ": must be 0 or 1"));
  }
  return ValidateRowCount(options.row_count);
}

}  // namespace

MatrixFilter::MatrixFilter(const MatrixOptions& options)
    : options_(options), rows_(options.row) {}

absl::StatusOr<MatrixFilter> MatrixFilter::New(const MatrixOptions& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  MatrixFilter filter(options);
  if (absl::Status status = filter.rows_.Append(options.row_count);
      !status.ok()) {
    return status;
  }
  return filter;
}

absl::StatusOr<bool> MatrixFilter::Add(KeyDigest digest) {
  const FilterRows::Key key(digest, rows_.shape());
  size_t chosen = rows_.size();
  uint32_t most_matches = 0;
  for (uint32_t group = 0; group < options_.group_count; ++group) {
    const size_t row = Candidate(digest, group);
    const uint32_t matches = rows_.Matches(row, key);
    if (matches == rows_.shape().probe_count) return false;
    if (rows_.IsSaturated(row)) continue;
    if (chosen == rows_.size() || matches > most_matches ||
        (matches == most_matches && options_.tie == MatrixTie::kLessFilled &&
         rows_.bits_set(row) < rows_.bits_set(chosen))) {
      chosen = row;
      most_matches = matches;
    }
  }
  if (chosen == rows_.size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "matrix filter: in each of the key's ", options_.group_count,
        " rows of ", options_.row.bit_count, " bits half are set"));
  }
  return rows_.Put(chosen, key);
}

absl::Status MatrixFilter::Add(absl::Span<const KeyDigest> digests) {
  return memfilter::AddUntilFull(digests, this);
}

void MatrixFilter::MayContain(absl::Span<const KeyDigest> digests,
                              bool* may_contain) const {
  memfilter::AskRows(
      digests,
      [this](KeyDigest digest) {
        for (uint32_t group = 0; group < options_.group_count; ++group) {
          rows_.PrefetchFirst(Candidate(digest, group), digest);
        }
      },
      [this](KeyDigest digest) { return MayContain(digest); }, may_contain);
}

absl::Status MatrixFilter::Union(const MatrixFilter& other) {
  if (absl::Status status =
          memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  rows_.SetAll(other.rows_);
  return absl::OkStatus();
}

// In each group an absent key probes one row, and each is equally likely.
double MatrixFilter::expected_fpr() const {
  double none = 1;
  for (uint32_t group = 0; group < options_.group_count; ++group) {
    double sum = 0;
    for (uint32_t row = 0; row < rows_per_group(); ++row) {
      sum += rows_.RowFpr(size_t{group} * rows_per_group() + row);
    }
    none *= 1 - sum / rows_per_group();
  }
  return 1 - none;
}

std::string MatrixFilter::Save() const {
  memfilter::SavedFormWriter writer(kKind);
  writer.AddVarint(options_.group_count);
  writer.AddVarint(static_cast<uint64_t>(options_.tie));
  FilterRowsForm::Save(rows_, &writer);
  return writer.Finish();
}

absl::StatusOr<MatrixFilter> MatrixFilter::Load(std::string_view saved) {
  auto reader = memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  MatrixOptions options;
  options.group_count =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
  options.tie =
      static_cast<MatrixTie>(std::min<uint64_t>(reader->Varint(), 255));
  FilterRows rows = FilterRowsForm::Load(&*reader);
  options.row = rows.shape();
  options.row_count =
      static_cast<uint32_t>(std::min<size_t>(rows.size(), kMaxRowCount + 1));
  if (const absl::Status status = Validate(options); !status.ok()) {
    reader->Refuse(status.message());
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  MatrixFilter filter(options);
  filter.rows_ = std::move(rows);
  return filter;
}

}  // namespace rowbloom
