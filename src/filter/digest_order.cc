// SPDX-License-Identifier: Apache-2.0

#include "filter/digest_order.h"

#include <algorithm>

namespace rowbloom::filter {

DigestList& DigestList::operator=(DigestList&& other) noexcept {
  blocks_ = std::move(other.blocks_);
  other.blocks_.clear();
  next_ = std::exchange(other.next_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  return *this;
}

void DigestList::AddBlock(Block block) {
  next_ = block.get();
  end_ = next_ + kBlockDigests;
  blocks_.push_back(std::move(block));
}

void DigestList::Grow() { AddBlock(NewBlock()); }

DigestOrder::DigestOrder(DigestList digests, uint64_t bucket_count,
                         size_t stretch_size)
    : bucket_count_(bucket_count) {
  // digests.size() * 2^shift <= stretch_size * bucket_count, for shift > 0, in
  // 128 bits, because both numbers may be large.
  const internal::Product limit =
      internal::Multiply(stretch_size, bucket_count);
  const auto fits = [&](uint32_t shift) {
    return shift >= 64 || limit.high >> shift != 0 ||
           digests.size() <= (limit.high << (64 - shift) | limit.low >> shift);
  };
  while (((bucket_count - 1) >> shift_) > 0 && fits(shift_ + 1)) ++shift_;
  stretches_.resize(StretchOf(bucket_count - 1) + 1);
  if (stretches_.size() == 1) {
    stretches_[0] = std::move(digests);
    return;
  }
  // Reuses blocks that have been read.
  std::vector<DigestList::Block> blocks;
  digests.Drain(
      [&](uint64_t digest) {
        DigestList& stretch =
            stretches_[StretchOf(BucketOf(digest, bucket_count_))];
        if (stretch.full()) {
          if (blocks.empty()) blocks.push_back(DigestList::NewBlock());
          stretch.AddBlock(std::move(blocks.back()));
          blocks.pop_back();
        }
        stretch.Push(digest);
      },
      [&](DigestList::Block block) { blocks.push_back(std::move(block)); });
}

DigestStretch DigestOrder::Stretch(size_t i, StretchMemory* memory) const {
  DigestStretch stretch;
  stretch.first_bucket = static_cast<uint64_t>(i) << shift_;
  stretch.bucket_count = static_cast<size_t>(
      std::min(bucket_count_, stretch.first_bucket + (uint64_t{1} << shift_)) -
      stretch.first_bucket);
  const auto bucket_of = [&](uint64_t digest) {
    return static_cast<size_t>(BucketOf(digest, bucket_count_) -
                               stretch.first_bucket);
  };
  const size_t count = stretches_[i].size();
  std::vector<uint64_t>& starts = memory->starts;
  std::unique_ptr<uint64_t[]>& ordered = memory->ordered;
  // starts[b + 1] is where the next digest of bucket b goes, so that it is the
  // end of the bucket when all are there.
  starts.assign(stretch.bucket_count + 2, 0);
  stretches_[i].ForEach(
      [&](uint64_t digest) { ++starts[bucket_of(digest) + 2]; });
  for (size_t b = 1; b < stretch.bucket_count; ++b) starts[b + 1] += starts[b];
  if (memory->capacity < count) {
    memory->capacity = count + count / 8;  // Stretches differ a little.
    ordered.reset();
    ordered.reset(new uint64_t[memory->capacity]);
  }
  stretches_[i].ForEach([&](uint64_t digest) {
    ordered[starts[bucket_of(digest) + 1]++] = digest;
  });
  stretch.digests = ordered.get();
  stretch.starts = starts.data();
  return stretch;
}

}  // namespace rowbloom::filter
