// SPDX-License-Identifier: Apache-2.0
//
// Collects the digests of a filter and hands them back in order of bucket:
// the line or stripe that a family stores a key in. Buckets cut the range of
// digests into equal parts, so a stretch of buckets is a range of digests;
// builders work stretch by stretch, in the processor's cache.
//
//   DigestList list;
//   list.Add(digest);
//   DigestOrder order(std::move(list), bucket_count, 16384);
//   StretchMemory memory;
//   for (size_t i = 0; i < order.stretch_count(); ++i) {
//     DigestStretch s = order.Stretch(i, &memory);
//   }
//
// Takes 8 bytes per digest, and a block for each stretch.

#ifndef ROWBLOOM_FILTER_DIGEST_ORDER_H_
#define ROWBLOOM_FILTER_DIGEST_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rowbloom/compiler.h"

namespace rowbloom::filter {

inline uint64_t BucketOf(uint64_t digest, uint64_t bucket_count) {
  return internal::Multiply(digest, bucket_count).high;
}

// A list that grows without moving its elements.
class DigestList {
 public:
  using Block = std::unique_ptr<uint64_t[]>;
  static constexpr size_t kBlockDigests = 512;

  void Add(uint64_t digest) {
    if (full()) Grow();
    Push(digest);
  }
  size_t size() const {
    return blocks_.size() * kBlockDigests - static_cast<size_t>(end_ - next_);
  }
  bool empty() const { return blocks_.empty(); }
  bool EndsWith(uint64_t digest) const {
    return !empty() && next_[-1] == digest;
  }
  size_t memory_usage_bytes() const {
    return blocks_.size() * kBlockDigests * sizeof(uint64_t);
  }

  // function(const uint64_t* digests, size_t count)
  template <typename Function>
  void ForEachBlock(Function function) const {
    for (const Block& block : blocks_) {
      function(block.get(), static_cast<size_t>(EndOf(block) - block.get()));
    }
  }
  template <typename Function>
  void ForEach(Function function) const {
    for (const Block& block : blocks_) ForEachOf(block, function);
  }
  // Works as ForEach(), but gives each block that has been read to done(Block).
  template <typename Function, typename Done>
  void Drain(Function function, Done done) {
    for (Block& block : blocks_) {
      ForEachOf(block, function);
      done(std::move(block));
    }
    *this = DigestList();
  }

  // The parts of Add(), for callers that have blocks of their own.
  static Block NewBlock() { return Block(new uint64_t[kBlockDigests]); }
  bool full() const { return next_ == end_; }
  void AddBlock(Block block);  // The list must be full.
  void Push(uint64_t digest) { *next_++ = digest; }

  DigestList() = default;
  DigestList(DigestList&& other) noexcept { *this = std::move(other); }
  DigestList& operator=(DigestList&& other) noexcept;

 private:
  void Grow();
  template <typename Function>
  void ForEachOf(const Block& block, const Function& function) const {
    const uint64_t* end = EndOf(block);
    for (const uint64_t* digest = block.get(); digest != end; ++digest) {
      function(*digest);
    }
  }
  const uint64_t* EndOf(const Block& block) const {
    return &block == &blocks_.back() ? next_ : block.get() + kBlockDigests;
  }

  std::vector<Block> blocks_;  // All full but the last.
  uint64_t* next_ = nullptr;   // In the last.
  uint64_t* end_ = nullptr;
};

// The digests of consecutive buckets, in order of bucket.
struct DigestStretch {
  uint64_t first_bucket = 0;
  size_t bucket_count = 0;
  uint64_t* digests = nullptr;
  // Bucket first_bucket + i holds digests[starts[i] .. starts[i + 1] - 1].
  const uint64_t* starts = nullptr;

  uint64_t size() const { return starts[bucket_count]; }
};

// Memory in which a stretch is ordered; another stretch may reuse it.
struct StretchMemory {
  std::vector<uint64_t> starts;
  std::unique_ptr<uint64_t[]> ordered;
  size_t capacity = 0;  // The size of `ordered`.

  size_t memory_usage_bytes() const {
    return (starts.capacity() + capacity) * sizeof(uint64_t);
  }
};

class DigestOrder {
 public:
  // Makes stretches of 2^k buckets, with the largest k that gives them at most
  // `stretch_size` digests on average.
  DigestOrder(DigestList digests, uint64_t bucket_count, size_t stretch_size);

  size_t stretch_count() const { return stretches_.size(); }
  size_t StretchOf(uint64_t bucket) const {
    return static_cast<size_t>(bucket >> shift_);
  }
  // Valid as long as *memory is not used for another.
  DigestStretch Stretch(size_t i, StretchMemory* memory) const;

 private:
  const uint64_t bucket_count_;
  uint32_t shift_ = 0;  // Buckets of a stretch: 2^shift_.
  std::vector<DigestList> stretches_;
};

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_DIGEST_ORDER_H_
