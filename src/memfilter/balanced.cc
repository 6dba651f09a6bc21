// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/balanced.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/filter_rows_form.h"
#include "memfilter/same_options.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

absl::Status Validate(const BalancedOptions& options) {
  if (absl::Status status = ValidateShape(options.layer); !status.ok()) {
    return status;
  }
  if (options.group_size == 0 || options.group_size > 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("group_size ", options.group_size, ": must be 1 to 64"));
  }
  return absl::OkStatus();
}

}  // namespace

BalancedFilter::BalancedFilter(const BalancedOptions& options)
    : options_(options), rows_(options.layer) {}

absl::StatusOr<BalancedFilter> BalancedFilter::New(
    const BalancedOptions& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  BalancedFilter filter(options);
  if (absl::Status status = filter.rows_.Append(options.group_size);
      !status.ok()) {
    return status;
  }
  return filter;
}

size_t BalancedFilter::LeastFilled() const {
  size_t least = rows_.size() - options_.group_size;
  for (size_t row = least + 1; row < rows_.size(); ++row) {
    if (rows_.bits_set(row) < rows_.bits_set(least)) least = row;
  }
  return least;
}

absl::StatusOr<bool> BalancedFilter::Add(KeyDigest digest) {
  const FilterRows::Key key(digest, rows_.shape());
  size_t row = LeastFilled();
  if (rows_.IsSaturated(row)) {
    if (rows_.Covers(row, key)) return false;
    if (absl::Status status = rows_.Append(options_.group_size); !status.ok()) {
      return status;
    }
    row = LeastFilled();
  }
  return rows_.Put(row, key);
}

absl::Status BalancedFilter::Add(absl::Span<const KeyDigest> digests) {
  return memfilter::AddUntilFull(digests, this);
}

absl::Status BalancedFilter::Union(const BalancedFilter& other) {
  if (absl::Status status =
          memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  rows_.Prepend(other.rows_, options_.group_size);
  return absl::OkStatus();
}

std::string BalancedFilter::Save() const {
  memfilter::SavedFormWriter writer(kKind);
  writer.AddVarint(options_.group_size);
  FilterRowsForm::Save(rows_, &writer);
  return writer.Finish();
}

absl::StatusOr<BalancedFilter> BalancedFilter::Load(std::string_view saved) {
  auto reader = memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  BalancedOptions options;
  options.group_size =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
  FilterRows rows = FilterRowsForm::Load(&*reader);
  options.layer = rows.shape();
  if (const absl::Status status = Validate(options); !status.ok()) {
    reader->Refuse(status.message());
  } else if (rows.size() % options.group_size != 0) {
    reader->Refuse(
        absl::StrCat(rows.size(), " layers in groups of ", options.group_size));
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  BalancedFilter filter(options);
  filter.rows_ = std::move(rows);
  return filter;
}

}  // namespace rowbloom
