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
    for (size_t at = 0;; at = std::min(at + kWord, common - kWord)) {
      const auto nexts = LoadBigEndian<uint64_t>(next.data() + at);
      const auto mine = LoadBigEndian<uint64_t>(bytes_.get() + at);
      if (nexts != mine) return nexts < mine ? -1 : 1;
      if (at == common - kWord) break;
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
    for (size_t at = 0;; at = std::min(at + kWord, size - kWord)) {
      std::memcpy(to + at, bytes.data() + at, kWord);
      if (at == size - kWord) break;
    }
  }

 private:
  static constexpr size_t kWord = sizeof(uint64_t);
  static constexpr size_t kMaxByWords = 64;

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
