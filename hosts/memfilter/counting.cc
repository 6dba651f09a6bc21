// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/counting.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/estimates.h"
#include "memfilter/options_text.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

bool IsCounterWidth(uint64_t bits) {
  return bits == 2 || bits == 4 || bits == 8 || bits == 16;
}

// Counters in a word, as a power of two.
uint32_t PerWordLog2(uint32_t counter_bits) {
  return internal::LowestOne(64 / counter_bits);
}

// No overflow: bit_count is at most kMaxFilterBits.
uint64_t CounterBits(const CountingOptions& options) {
  return options.shape.bit_count * options.counter_bits;
}

}  // namespace

CountingFilter::CountingFilter(const CountingOptions& options,
                               BitArray counters)
    : options_(options),
      per_word_log2_(PerWordLog2(options.counter_bits)),
      counters_(std::move(counters)) {
  Recount();
}

absl::StatusOr<CountingFilter> CountingFilter::New(
    const CountingOptions& options) {
  if (absl::Status status = ValidateShape(options.shape); !status.ok()) {
    return status;
  }
  if (!IsCounterWidth(options.counter_bits)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "counter_bits ", options.counter_bits, ": must be 2, 4, 8 or 16"));
  }
  auto counters = BitArray::New(CounterBits(options));
  if (!counters.ok()) return counters.status();
  return CountingFilter(options, *std::move(counters));
}

void CountingFilter::Increment(uint64_t i) {
  const uint64_t count = Counter(i);
  if (count == max_counter()) {
    ++overflows_;
    return;
  }
  counters_.data()[WordOf(i)] += uint64_t{1} << Shift(i);
  counters_set_ += count == 0;
  stuck_counters_ += count + 1 == max_counter();
}

// Returns false if the counter is 0. A stuck counter stays as it is.
bool CountingFilter::Decrement(uint64_t i) {
  const uint64_t count = Counter(i);
  if (count == 0) return false;
  if (count == max_counter()) return true;
  counters_.data()[WordOf(i)] -= uint64_t{1} << Shift(i);
  counters_set_ -= count == 1;
  return true;
}

bool CountingFilter::Add(KeyDigest digest) {
  const uint64_t set_before = counters_set_;
  BloomProbes probes(digest, options_.shape.bit_count);
  for (uint32_t i = 0; i < options_.shape.probe_count; ++i) {
    Increment(probes.Next());
  }
  return counters_set_ != set_before;
}

void CountingFilter::Add(absl::Span<const KeyDigest> digests) {
  internal::memfilter::AddBatch(
      digests, options_.shape, [this](uint64_t i) { Prefetch(i); },
      [this](KeyDigest digest) { Add(digest); });
}

bool CountingFilter::Remove(KeyDigest digest) {
  BloomProbes probes(digest, options_.shape.bit_count);
  for (uint32_t i = 0; i < options_.shape.probe_count; ++i) {
    if (Decrement(probes.Next())) continue;
    // Restores the counters before it, but not those at the maximum: these were
    // stuck, and Decrement() left them as they are.
    BloomProbes again(digest, options_.shape.bit_count);
    for (uint32_t j = 0; j < i; ++j) {
      const uint64_t position = again.Next();
      if (Counter(position) != max_counter()) Increment(position);
    }
    ++refused_removals_;
    return false;
  }
  return true;
}

void CountingFilter::MayContain(absl::Span<const KeyDigest> digests,
                                bool* may_contain) const {
  internal::memfilter::AskBatch(
      digests, options_.shape,
      [this](KeyDigest digest) { return MayContain(digest); },
      [this](uint64_t i) { Prefetch(i); },
      [this](uint64_t i) { return Counter(i) != 0; }, may_contain);
}

absl::Status CountingFilter::Union(const CountingFilter& other) {
  if (absl::Status status =
          internal::memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  overflows_ += other.overflows_;
  refused_removals_ += other.refused_removals_;
  for (uint64_t i = 0; i < options_.shape.bit_count; ++i) {
    const uint64_t theirs = other.Counter(i);
    const uint64_t ours = Counter(i);
    const uint64_t sum = std::min(ours + theirs, max_counter());
    overflows_ += ours + theirs - sum;
    counters_.data()[WordOf(i)] += (sum - ours) << Shift(i);
  }
  Recount();
  return absl::OkStatus();
}

void CountingFilter::Recount() {
  counters_set_ = 0;
  stuck_counters_ = 0;
  for (uint64_t i = 0; i < options_.shape.bit_count; ++i) {
    counters_set_ += Counter(i) != 0;
    stuck_counters_ += Counter(i) == max_counter();
  }
}

double CountingFilter::fill() const {
  return internal::memfilter::Fill(options_.shape, counters_set_);
}

double CountingFilter::expected_fpr() const {
  return internal::memfilter::RateAt(options_.shape, counters_set_);
}

uint64_t CountingFilter::approximate_count() const {
  return internal::memfilter::KeysThatSet(options_.shape, counters_set_);
}

uint64_t CountingFilter::memory_usage_bytes() const {
  return sizeof(*this) + counters_.memory_usage_bytes();
}

std::string CountingFilter::Save() const {
  internal::memfilter::SavedFormWriter writer(kKind);
  writer.AddVarint(options_.shape.bit_count);
  writer.AddVarint(options_.shape.probe_count);
  writer.AddVarint(options_.counter_bits);
  writer.AddVarint(overflows_);
  writer.AddVarint(refused_removals_);
  writer.AddWords(counters_.words());
  return writer.Finish();
}

absl::StatusOr<CountingFilter> CountingFilter::Load(std::string_view saved) {
  auto reader = internal::memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  CountingOptions options;
  options.shape = reader->Shape();
  const uint64_t counter_bits = reader->Varint();
  if (!IsCounterWidth(counter_bits)) {
    reader->Refuse(absl::StrCat("counters of ", counter_bits, " bits"));
  } else {
    options.counter_bits = static_cast<uint32_t>(counter_bits);
  }
  const uint64_t overflows = reader->Varint();
  const uint64_t refused_removals = reader->Varint();
  BitArray counters;
  reader->Bits(CounterBits(options), &counters);
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  CountingFilter filter(options, std::move(counters));
  filter.overflows_ = overflows;
  filter.refused_removals_ = refused_removals;
  return filter;
}

}  // namespace rowbloom
