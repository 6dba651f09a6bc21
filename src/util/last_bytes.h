// SPDX-License-Identifier: Apache-2.0
//
// The last of many byte strings that come in order and are much like one
// another, to compare the next one with.
//
//   LastBytes last;
//   if (last.Compare(row) < 0) last.Assign(row);
//
// Keys of 8 to 64 bytes go by words, without the calls of memcmp() and
// memcpy(), which cost more than the bytes.

#ifndef ROWBLOOM_UTIL_LAST_BYTES_H_
#define ROWBLOOM_UTIL_LAST_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "util/coding.h"

namespace rowbloom::util {

class LastBytes {
 public:
  std::string_view view() const { return {bytes_.get(), size_}; }

  // As std::string_view::compare().
  int Compare(std::string_view other) const {
    const size_t common = std::min(size_, other.size());
    if (common < kWord || common > kMaxByWords) return view().compare(other);
    for (size_t at = 0;; at = std::min(at + kWord, common - kWord)) {
      const auto mine = LoadBigEndian<uint64_t>(bytes_.get() + at);
      const auto others = LoadBigEndian<uint64_t>(other.data() + at);
      if (mine != others) return mine < others ? -1 : 1;
      if (at == common - kWord) break;
    }
    return size_ == other.size() ? 0 : size_ < other.size() ? -1 : 1;
  }

  void Assign(std::string_view bytes) {
    const size_t size = bytes.size();
    if (size > capacity_) Grow(size);
    size_ = size;
    char* const to = bytes_.get();
    if (size < kWord || size > kMaxByWords) {
      std::copy(bytes.begin(), bytes.end(), to);
      return;
    }
    for (size_t at = 0;; at = std::min(at + kWord, size - kWord)) {
      std::memcpy(to + at, bytes.data() + at, kWord);
      if (at == size - kWord) break;
    }
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static constexpr size_t kMaxByWords = 64;

  // Does not keep the bytes.
  __attribute__((noinline)) void Grow(size_t size) {
    capacity_ = std::max(size, 2 * capacity_);
    bytes_.reset(new char[capacity_]);
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_LAST_BYTES_H_
