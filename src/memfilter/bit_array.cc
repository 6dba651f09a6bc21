// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/bit_array.h"

#include "base/check.h"

namespace rowbloom {

uint64_t BitArray::CountSet() const {
  uint64_t count = 0;
  for (const uint64_t word : words_) {
    count += static_cast<uint64_t>(__builtin_popcountll(word));
  }
  return count;
}

void BitArray::SetAll(const BitArray& other) {
  RB_CHECK(bit_count_ == other.bit_count_);
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

bool BitArray::HasCleanTail() const {
  return bit_count_ % 64 == 0 || words_.back() >> (bit_count_ % 64) == 0;
}

}  // namespace rowbloom
