// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/bit_array.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "util/check.h"

namespace rowbloom {

absl::StatusOr<BitArray> BitArray::New(uint64_t bit_count) {
  std::unique_ptr<uint64_t[]> words(new (std::nothrow)
                                        uint64_t[WordCount(bit_count)]());
  if (words == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bit_count, " bits"));
  }
  return BitArray(bit_count, std::move(words));
}

BitArray::BitArray(const BitArray& other)
    : bit_count_(other.bit_count_),
      words_(new uint64_t[WordCount(other.bit_count_)]) {
  std::copy(other.words().begin(), other.words().end(), words_.get());
}

BitArray& BitArray::operator=(const BitArray& other) {
  return *this = BitArray(other);
}

uint64_t BitArray::CountSet() const {
  uint64_t count = 0;
  for (const uint64_t word : words()) {
    count += internal::CountOnes(word);
  }
  return count;
}

void BitArray::SetAll(const BitArray& other) {
  RB_CHECK(bit_count_ == other.bit_count_,
           "BitArray::SetAll(): the sizes differ");
  const absl::Span<const uint64_t> theirs = other.words();
  for (size_t i = 0; i < theirs.size(); ++i) words_[i] |= theirs[i];
}

bool BitArray::HasCleanTail() const {
  return bit_count_ % 64 == 0 || words().back() >> (bit_count_ % 64) == 0;
}

}  // namespace rowbloom
