// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/concurrent.h"

#include <vector>

#include "memfilter/batch.h"
#include "memfilter/estimates.h"
#include "memfilter/options_text.h"

namespace rowbloom {

absl::StatusOr<ConcurrentFilter> ConcurrentFilter::New(
    const BloomShape& shape) {
  auto filter = StandardFilter::New(shape);
  if (!filter.ok()) return filter.status();
  return ConcurrentFilter(*std::move(filter));
}

void ConcurrentFilter::Add(absl::Span<const KeyDigest> digests) {
  // A batch has its own prefetches.
  const bool is_batched = internal::memfilter::IsBatched(shape());
  internal::memfilter::AddBatch(
      digests, shape(),
      [this](uint64_t i) { internal::PrefetchToWrite(AddressOf(i / 64)); },
      [this, is_batched](KeyDigest digest) {
        if (is_batched) {
          SetBits(digest);
        } else {
          Add(digest);
        }
      });
}

void ConcurrentFilter::MayContain(absl::Span<const KeyDigest> digests,
                                  bool* may_contain) const {
  internal::memfilter::AskBatch(
      digests, shape(), [this](KeyDigest digest) { return MayContain(digest); },
      [this](uint64_t i) { internal::PrefetchToRead(AddressOf(i / 64)); },
      [this](uint64_t i) { return (Word(i / 64) >> (i % 64) & 1) != 0; },
      may_contain);
}

absl::Status ConcurrentFilter::Union(const ConcurrentFilter& other) {
  if (absl::Status status =
          internal::memfilter::CheckSameOptions(shape(), other.shape());
      !status.ok()) {
    return status;
  }
  const absl::Span<uint64_t> words = filter_.bits_.mutable_words();
  for (size_t i = 0; i < words.size(); ++i) {
    internal::OrRelaxed(&words[i], other.Word(i));
  }
  return absl::OkStatus();
}

uint64_t ConcurrentFilter::CountSet() const {
  uint64_t count = 0;
  for (size_t i = 0; i < filter_.bits_.words().size(); ++i) {
    count += internal::CountOnes(Word(i));
  }
  return count;
}

double ConcurrentFilter::fill() const {
  return internal::memfilter::Fill(shape(), CountSet());
}

double ConcurrentFilter::expected_fpr() const {
  return internal::memfilter::RateAt(shape(), CountSet());
}

uint64_t ConcurrentFilter::approximate_count() const {
  return internal::memfilter::KeysThatSet(shape(), CountSet());
}

std::string ConcurrentFilter::Save() const {
  std::vector<uint64_t> words(filter_.bits_.words().size());
  for (size_t i = 0; i < words.size(); ++i) words[i] = Word(i);
  return StandardFilter::SaveBits(kKind, shape(), words);
}

absl::StatusOr<ConcurrentFilter> ConcurrentFilter::Load(
    std::string_view saved) {
  auto filter = StandardFilter::Load(saved);
  if (!filter.ok()) return filter.status();
  return ConcurrentFilter(*std::move(filter));
}

}  // namespace rowbloom
