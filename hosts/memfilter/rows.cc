// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/rows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/options_text.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

using memfilter::SavedFormReader;
using memfilter::SavedFormWriter;

// Each filter has these functions: CheckOptions() beside the shape's own check,
// FirstRows() for the rows of a new filter, Put() for a key,
// SaveOptions() and LoadOptions() for what the rows do not tell.

absl::Status CheckKeysPerRow(uint64_t keys_per_row) {
  if (keys_per_row > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("keys_per_row 0: must be at least 1");
}

absl::Status CheckRowCount(uint32_t row_count) {
  if (row_count >= 1 && row_count <= kMaxRowCount) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("row_count ", row_count, ": must be 1 to ", kMaxRowCount));
}

uint32_t BoundedRowCount(const FilterRows& rows) {
  return static_cast<uint32_t>(std::min<size_t>(rows.size(), kMaxRowCount + 1));
}

// For filters whose options and state do not follow from their rows.
template <typename Options>
void SetRows(const FilterRows&, Options*, typename Options::State*) {}

// DynamicFilter

absl::Status CheckOptions(const DynamicOptions& options) {
  return CheckKeysPerRow(options.keys_per_row);
}

size_t FirstRows(const DynamicOptions&) { return 1; }

absl::StatusOr<bool> Put(const DynamicOptions& options, KeyDigest digest,
                         FilterRows* rows, DynamicOptions::State*) {
  const FilterRows::Key key(digest, rows->shape());
  const size_t newest = rows->size() - 1;
  if (rows->key_count(newest) < options.keys_per_row) {
    return rows->Put(newest, key);
  }
  if (rows->Covers(newest, key)) return false;
  if (absl::Status status = rows->Append(1); !status.ok()) return status;
  return rows->Put(newest + 1, key);
}

void SaveOptions(const DynamicOptions& options, const DynamicOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.keys_per_row);
}

void LoadOptions(SavedFormReader* reader, DynamicOptions* options,
                 DynamicOptions::State*) {
  options->keys_per_row = reader->Varint();
}

// SplitFilter

absl::Status CheckOptions(const SplitOptions& options) {
  if (absl::Status status = CheckKeysPerRow(options.keys_per_row);
      !status.ok()) {
    return status;
  }
  return CheckRowCount(options.row_count);
}

size_t FirstRows(const SplitOptions& options) { return options.row_count; }

absl::StatusOr<bool> Put(const SplitOptions& options, KeyDigest digest,
                         FilterRows* rows, SplitOptions::State* state) {
  if (state->open_rows.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("split filter is full: each of its ", options.row_count,
                     " rows has ", options.keys_per_row, " keys"));
  }
  // A linear congruential generator (Knuth's MMIX), of which the high bits are
  // used.
  state->random = state->random * 6364136223846793005u + 1442695040888963407u;
  const uint64_t choice = (state->random >> 32) * state->open_rows.size() >> 32;
  const uint32_t row = state->open_rows[static_cast<size_t>(choice)];
  const bool changed = rows->Put(row, {digest, rows->shape()});
  if (rows->key_count(row) >= options.keys_per_row) {
    // The order stays that of a filter that is loaded.
    state->open_rows.erase(state->open_rows.begin() +
                           static_cast<ptrdiff_t>(choice));
  }
  return changed;
}

void SaveOptions(const SplitOptions& options, const SplitOptions::State& state,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.keys_per_row);
  writer->AddVarint(state.random);
}

void LoadOptions(SavedFormReader* reader, SplitOptions* options,
                 SplitOptions::State* state) {
  options->keys_per_row = reader->Varint();
  state->random = reader->Varint();
}

void SetRows(const FilterRows& rows, SplitOptions* options,
             SplitOptions::State* state) {
  options->row_count = BoundedRowCount(rows);
  state->open_rows.clear();
  for (uint32_t row = 0; row < options->row_count && row < rows.size(); ++row) {
    if (rows.key_count(row) < options->keys_per_row) {
      state->open_rows.push_back(row);
    }
  }
}

// BalancedFilter

absl::Status CheckOptions(const BalancedOptions& options) {
  if (options.group_size >= 1 && options.group_size <= 64) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("group_size ", options.group_size, ": must be 1 to 64"));
}

size_t FirstRows(const BalancedOptions& options) { return options.group_size; }

size_t LeastFilledOfNewestGroup(const BalancedOptions& options,
                                const FilterRows& rows) {
  size_t least = rows.size() - options.group_size;
  for (size_t row = least + 1; row < rows.size(); ++row) {
    if (rows.bits_set(row) < rows.bits_set(least)) least = row;
  }
  return least;
}

absl::StatusOr<bool> Put(const BalancedOptions& options, KeyDigest digest,
                         FilterRows* rows, BalancedOptions::State*) {
  const FilterRows::Key key(digest, rows->shape());
  size_t row = LeastFilledOfNewestGroup(options, *rows);
  if (rows->IsSaturated(row)) {
    if (rows->Covers(row, key)) return false;
    if (absl::Status status = rows->Append(options.group_size); !status.ok()) {
      return status;
    }
    row = LeastFilledOfNewestGroup(options, *rows);
  }
  return rows->Put(row, key);
}

void SaveOptions(const BalancedOptions& options, const BalancedOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.group_size);
}

void LoadOptions(SavedFormReader* reader, BalancedOptions* options,
                 BalancedOptions::State*) {
  options->group_size =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
}

// MatrixFilter

absl::Status CheckOptions(const MatrixOptions& options) {
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
  return CheckRowCount(options.row_count);
}

size_t FirstRows(const MatrixOptions& options) { return options.row_count; }

absl::StatusOr<bool> Put(const MatrixOptions& options, KeyDigest digest,
                         FilterRows* rows, MatrixOptions::State*) {
  const FilterRows::Key key(digest, rows->shape());
  size_t chosen = rows->size();
  uint32_t most_matches = 0;
  for (uint32_t group = 0; group < options.group_count; ++group) {
    const size_t row = options.Candidate(digest, group);
    const uint32_t matches = rows->Matches(row, key);
    if (matches == rows->shape().probe_count) return false;
    if (rows->IsSaturated(row)) continue;
    if (chosen == rows->size() || matches > most_matches ||
        (matches == most_matches && options.tie == MatrixTie::kLessFilled &&
         rows->bits_set(row) < rows->bits_set(chosen))) {
      chosen = row;
      most_matches = matches;
    }
  }
  if (chosen == rows->size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "matrix filter: in each of the key's ", options.group_count,
        " rows of ", options.row.bit_count, " bits half are set"));
  }
  return rows->Put(chosen, key);
}

void SaveOptions(const MatrixOptions& options, const MatrixOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.group_count);
  writer->AddVarint(static_cast<uint64_t>(options.tie));
}

void LoadOptions(SavedFormReader* reader, MatrixOptions* options,
                 MatrixOptions::State*) {
  options->group_count =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
  options->tie =
      static_cast<MatrixTie>(std::min<uint64_t>(reader->Varint(), 255));
}

void SetRows(const FilterRows& rows, MatrixOptions* options,
             MatrixOptions::State*) {
  options->row_count = BoundedRowCount(rows);
}

// All filters

template <typename Options>
absl::Status Validate(const Options& options) {
  if (absl::Status status = ValidateShape(options.row); !status.ok()) {
    return status;
  }
  return CheckOptions(options);
}

// A filter that grows does so by groups of this many rows; 0 if it has all rows
// from the start.
size_t GrowthOf(const DynamicOptions&) { return 1; }
size_t GrowthOf(const BalancedOptions& options) { return options.group_size; }
size_t GrowthOf(const SplitOptions&) { return 0; }
size_t GrowthOf(const MatrixOptions&) { return 0; }

}  // namespace

template <typename Options>
absl::StatusOr<RowsFilter<Options>> RowsFilter<Options>::New(
    const Options& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  RowsFilter filter(options);
  if (absl::Status status = filter.rows_.Append(FirstRows(options));
      !status.ok()) {
    return status;
  }
  SetRows(filter.rows_, &filter.options_, filter.state());
  return filter;
}

template <typename Options>
absl::StatusOr<bool> RowsFilter<Options>::Add(KeyDigest digest) {
  return Put(options_, digest, &rows_, state());
}

template <typename Options>
absl::Status RowsFilter<Options>::Add(absl::Span<const KeyDigest> digests) {
  return memfilter::AddUntilFull(digests, this);
}

template <typename Options>
void RowsFilter<Options>::MayContain(absl::Span<const KeyDigest> digests,
                                     bool* may_contain) const {
  if constexpr (std::is_same_v<Options, MatrixOptions>) {
    memfilter::AskRows(
        digests,
        [this](KeyDigest digest) {
          for (uint32_t group = 0; group < options_.group_count; ++group) {
            rows_.PrefetchFirst(options_.Candidate(digest, group), digest);
          }
        },
        [this](KeyDigest digest) { return MayContain(digest); }, may_contain);
  } else {
    rows_.AnyCovers(digests, may_contain);
  }
}

template <typename Options>
absl::Status RowsFilter<Options>::Union(const RowsFilter& other) {
  if (absl::Status status =
          memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  if (const size_t group_size = GrowthOf(options_); group_size > 0) {
    rows_.Prepend(other.rows_, group_size);
  } else {
    rows_.SetAll(other.rows_);
    SetRows(rows_, &options_, state());
  }
  return absl::OkStatus();
}

template <typename Options>
double RowsFilter<Options>::expected_fpr() const {
  if constexpr (std::is_same_v<Options, MatrixOptions>) {
    // In each group an absent key meets one row, any of them alike.
    double none = 1;
    const uint32_t rows_per_group = options_.rows_per_group();
    for (uint32_t group = 0; group < options_.group_count; ++group) {
      double sum = 0;
      for (uint32_t row = 0; row < rows_per_group; ++row) {
        sum += rows_.RowFpr(size_t{group} * rows_per_group + row);
      }
      none *= 1 - sum / rows_per_group;
    }
    return 1 - none;
  } else {
    return rows_.AnyFpr();
  }
}

template <typename Options>
uint64_t RowsFilter<Options>::memory_usage_bytes() const {
  uint64_t sum = sizeof(*this) + rows_.memory_usage_bytes();
  if constexpr (std::is_same_v<Options, SplitOptions>) {
    sum += state().open_rows.capacity() * sizeof(state().open_rows[0]);
  }
  return sum;
}

template <typename Options>
std::string RowsFilter<Options>::Save() const {
  SavedFormWriter writer(kKind);
  SaveOptions(options_, state(), &writer);
  rows_.Save(&writer);
  return writer.Finish();
}

template <typename Options>
absl::StatusOr<RowsFilter<Options>> RowsFilter<Options>::Load(
    std::string_view saved) {
  auto reader = SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  Options options;
  State state;
  LoadOptions(&*reader, &options, &state);
  FilterRows rows = FilterRows::Load(&*reader);
  options.row = rows.shape();
  SetRows(rows, &options, &state);
  if (const absl::Status status = Validate(options); !status.ok()) {
    reader->Refuse(status.message());
  } else if (const size_t group_size = GrowthOf(options);
             group_size > 0 && rows.size() % group_size != 0) {
    reader->Refuse(
        absl::StrCat(rows.size(), " rows in groups of ", group_size));
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  RowsFilter filter(options);
  filter.rows_ = std::move(rows);
  *filter.state() = std::move(state);
  return filter;
}

template class RowsFilter<DynamicOptions>;
template class RowsFilter<SplitOptions>;
template class RowsFilter<BalancedOptions>;
template class RowsFilter<MatrixOptions>;

}  // namespace rowbloom
