// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/dynamic.h"

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/filter_rows_form.h"
#include "memfilter/same_options.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

DynamicFilter::DynamicFilter(const DynamicOptions& options)
    : options_(options), rows_(options.layer) {}

absl::StatusOr<DynamicFilter> DynamicFilter::New(
    const DynamicOptions& options) {
  if (absl::Status status = ValidateShape(options.layer); !status.ok()) {
    return status;
  }
  if (options.keys_per_layer == 0) {
    return absl::InvalidArgumentError("keys_per_layer 0: must be at least 1");
  }
  DynamicFilter filter(options);
  if (absl::Status status = filter.rows_.Append(1); !status.ok()) {
    return status;
  }
  return filter;
}

absl::StatusOr<bool> DynamicFilter::Add(KeyDigest digest) {
  const FilterRows::Key key(digest, rows_.shape());
  const size_t newest = rows_.size() - 1;
  if (rows_.key_count(newest) < options_.keys_per_layer) {
    return rows_.Put(newest, key);
  }
  if (rows_.Covers(newest, key)) return false;
  if (absl::Status status = rows_.Append(1); !status.ok()) {
    return status;
  }
  return rows_.Put(newest + 1, key);
}

absl::Status DynamicFilter::Add(absl::Span<const KeyDigest> digests) {
  return memfilter::AddUntilFull(digests, this);
}

absl::Status DynamicFilter::Union(const DynamicFilter& other) {
  if (absl::Status status =
          memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  rows_.Prepend(other.rows_, 1);
  return absl::OkStatus();
}

std::string DynamicFilter::Save() const {
  memfilter::SavedFormWriter writer(kKind);
  writer.AddVarint(options_.keys_per_layer);
  FilterRowsForm::Save(rows_, &writer);
  return writer.Finish();
}

absl::StatusOr<DynamicFilter> DynamicFilter::Load(std::string_view saved) {
  auto reader = memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  DynamicOptions options;
  options.keys_per_layer = reader->Varint();
  if (options.keys_per_layer == 0) reader->Refuse("0 keys per layer");
  FilterRows rows = FilterRowsForm::Load(&*reader);
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  options.layer = rows.shape();
  DynamicFilter filter(options);
  filter.rows_ = std::move(rows);
  return filter;
}

}  // namespace rowbloom
