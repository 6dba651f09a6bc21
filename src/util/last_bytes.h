// SPDX-License-Identifier: Apache-2.0
//
// The last of many byte strings that come in order and are much like one
// another, to compare the next one with.
//
//   LastBytes last;
//   if (last.OrderOf(row) > 0) last.Assign(row);
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

#include "rowbloom/compiler.h"
#include "util/coding.h"

namespace rowbloom::util {

class LastBytes {
 public:
  std::string_view view() const { return {bytes_.get(), size_}; }

  // next.compare(view())
  int OrderOf(std::string_view next) const {
    const size_t common = std::min(next.size(), size_);
    if (common < kWord || common > kMaxByWords) return next.compare(view());
    const char* const mine = bytes_.get();
    const size_t last = common - kWord;  // Where the last word begins.
    size_t at = 0;
    while (at < last && SameWord(next.data() + at, mine + at)) at += kWord;
    at = std::min(at, last);
    if (!SameWord(next.data() + at, mine + at)) {
      return LoadBigEndian<uint64_t>(next.data() + at) <
                     LoadBigEndian<uint64_t>(mine + at)
                 ? -1
                 : 1;
    }
    return next.size() == size_ ? 0 : next.size() < size_ ? -1 : 1;
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
    const size_t last = size - kWord;
    for (size_t at = 0; at < last; at += kWord) {
      std::memcpy(to + at, bytes.data() + at, kWord);
    }
    std::memcpy(to + last, bytes.data() + last, kWord);
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static constexpr size_t kMaxByWords = 64;

  // Words are compared as they are stored, which is cheaper than in order.
  static bool SameWord(const char* a, const char* b) {
    return LoadFixed<uint64_t>(a) == LoadFixed<uint64_t>(b);
  }

  // Does not keep the bytes.
  ROWBLOOM_NOINLINE void Grow(size_t size) {
    capacity_ = std::max(size, 2 * capacity_);
    bytes_.reset(new char[capacity_]);
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_LAST_BYTES_H_
