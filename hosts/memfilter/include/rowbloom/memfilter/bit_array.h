// SPDX-License-Identifier: Apache-2.0
//
// The bits of a filter: a fixed number, all clear at first. Bit i is bit i mod
// 64 of word i div 64; the last word's bits beyond them stay clear.
//
//   absl::StatusOr<BitArray> bits = BitArray::New(shape.bit_count);
//   if (bits->Set(position)) ++bits_set;     // It was clear.
//
// Thread-compatible, as a std::vector is. Copies end the program if there is no
// memory, as its copies do. Positions are below bit_count(). A BitArray that
// was moved from may only be destroyed or assigned to.

#ifndef ROWBLOOM_MEMFILTER_BIT_ARRAY_H_
#define ROWBLOOM_MEMFILTER_BIT_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/compiler.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class BitArray {
 public:
  BitArray() = default;
  // ResourceExhausted if there is no memory for the bits.
  static absl::StatusOr<BitArray> New(uint64_t bit_count);
  BitArray(const BitArray& other);
  BitArray& operator=(const BitArray& other);
  BitArray(BitArray&&) = default;
  BitArray& operator=(BitArray&&) = default;
  ~BitArray() = default;

  static size_t WordCount(uint64_t bit_count) {
    return static_cast<size_t>(bit_count / 64 + (bit_count % 64 != 0));
  }

  uint64_t bit_count() const { return bit_count_; }

  bool Test(uint64_t i) const {
    return (words_[static_cast<size_t>(i / 64)] >> (i % 64) & 1) != 0;
  }
  // Returns true if the bit was clear.
  bool Set(uint64_t i) {
    uint64_t& word = words_[static_cast<size_t>(i / 64)];
    const uint64_t bit = uint64_t{1} << (i % 64);
    const bool was_clear = (word & bit) == 0;
    word |= bit;
    return was_clear;
  }
  void Prefetch(uint64_t i) const {
    internal::PrefetchToRead(&words_[static_cast<size_t>(i / 64)]);
  }

  // The number of set bits; O(bit_count).
  uint64_t CountSet() const;
  // Sets the bits that are set in `other`, which has the same bit_count.
  void SetAll(const BitArray& other);
  // True if the last word is clear beyond the bits: a check of loaded words.
  bool HasCleanTail() const;

  absl::Span<const uint64_t> words() const {
    return {words_.get(), WordCount(bit_count_)};
  }
  absl::Span<uint64_t> mutable_words() {
    return {words_.get(), WordCount(bit_count_)};
  }
  // Gives the words to callers for whom a span's index checks would cost too
  // much.
  const uint64_t* data() const { return words_.get(); }
  uint64_t* data() { return words_.get(); }
  uint64_t memory_usage_bytes() const {
    return WordCount(bit_count_) * sizeof(uint64_t);
  }

 private:
  BitArray(uint64_t bit_count, std::unique_ptr<uint64_t[]> words)
      : bit_count_(bit_count), words_(std::move(words)) {}

  uint64_t bit_count_ = 0;
  std::unique_ptr<uint64_t[]> words_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_BIT_ARRAY_H_
