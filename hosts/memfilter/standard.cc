// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/standard.h"

#include "memfilter/batch.h"
#include "memfilter/estimates.h"
#include "memfilter/options_text.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

absl::StatusOr<StandardFilter> StandardFilter::New(const BloomShape& shape) {
  if (absl::Status status = ValidateShape(shape); !status.ok()) return status;
  auto bits = BitArray::New(shape.bit_count);
  if (!bits.ok()) return bits.status();
  return StandardFilter(shape, *std::move(bits));
}

void StandardFilter::Add(absl::Span<const KeyDigest> digests) {
  internal::memfilter::AddBatch(
      digests, shape_, [this](uint64_t i) { bits_.Prefetch(i); },
      [this](KeyDigest digest) { Add(digest); });
}

void StandardFilter::MayContain(absl::Span<const KeyDigest> digests,
                                bool* may_contain) const {
  internal::memfilter::AskBatch(
      digests, shape_, [this](KeyDigest digest) { return MayContain(digest); },
      [this](uint64_t i) { bits_.Prefetch(i); },
      [this](uint64_t i) { return bits_.Test(i); }, may_contain);
}

absl::Status StandardFilter::Union(const StandardFilter& other) {
  if (absl::Status status =
          internal::memfilter::CheckSameOptions(shape_, other.shape_);
      !status.ok()) {
    return status;
  }
  bits_.SetAll(other.bits_);
  bits_set_ = bits_.CountSet();
  return absl::OkStatus();
}

double StandardFilter::fill() const {
  return internal::memfilter::Fill(shape_, bits_set_);
}

double StandardFilter::expected_fpr() const {
  return internal::memfilter::RateAt(shape_, bits_set_);
}

uint64_t StandardFilter::approximate_count() const {
  return internal::memfilter::KeysThatSet(shape_, bits_set_);
}

std::string StandardFilter::Save() const {
  return SaveBits(kKind, shape_, bits_.words());
}

std::string StandardFilter::SaveBits(MemFilterKind kind,
                                     const BloomShape& shape,
                                     absl::Span<const uint64_t> words) {
  internal::memfilter::SavedFormWriter writer(kind);
  writer.AddVarint(shape.bit_count);
  writer.AddVarint(shape.probe_count);
  writer.AddWords(words);
  return writer.Finish();
}

absl::StatusOr<StandardFilter> StandardFilter::Load(std::string_view saved) {
  auto reader = internal::memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  const BloomShape shape = reader->Shape();
  BitArray bits;
  reader->Bits(shape.bit_count, &bits);
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  return StandardFilter(shape, std::move(bits));
}

}  // namespace rowbloom
