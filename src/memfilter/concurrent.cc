// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/concurrent.h"

#include "memfilter/batch.h"

namespace rowbloom {

absl::StatusOr<ConcurrentFilter> ConcurrentFilter::New(
    const BloomShape& shape) {
  auto filter = StandardFilter::New(shape);
  if (!filter.ok()) return filter.status();
  return ConcurrentFilter(*std::move(filter));
}

void ConcurrentFilter::Add(absl::Span<const KeyDigest> digests) {
  memfilter::AddBatch(
      digests, shape(), [this](uint64_t i) { PrefetchWord(i / 64); },
      [this](KeyDigest digest) { Add(digest); });
}

void ConcurrentFilter::MayContain(absl::Span<const KeyDigest> digests,
                                  bool* may_contain) const {
  memfilter::AskBatch(
      digests, shape(), [this](KeyDigest digest) { return MayContain(digest); },
      [this](uint64_t i) { __builtin_prefetch(words_ + i / 64); },
      [this](uint64_t i) { return (Word(i / 64) >> (i % 64) & 1) != 0; },
      may_contain);
}

absl::Status ConcurrentFilter::Union(const ConcurrentFilter& other) {
  if (shape() != other.shape()) {
    return absl::InvalidArgumentError("union of filters of different shapes");
  }
  const size_t word_count = BitArray::WordCount(shape().bit_count);
  for (size_t i = 0; i < word_count; ++i) {
    __atomic_fetch_or(words_ + i, other.Word(i), __ATOMIC_RELAXED);
  }
  return absl::OkStatus();
}

StandardFilter ConcurrentFilter::Snapshot() const {
  BitArray bits(shape().bit_count);
  const absl::Span<uint64_t> words = bits.mutable_words();
  for (size_t i = 0; i < words.size(); ++i) words[i] = Word(i);
  return StandardFilter(shape(), std::move(bits));
}

absl::StatusOr<ConcurrentFilter> ConcurrentFilter::Load(
    std::string_view saved) {
  auto filter = StandardFilter::Load(saved);
  if (!filter.ok()) return filter.status();
  return ConcurrentFilter(*std::move(filter));
}

}  // namespace rowbloom
