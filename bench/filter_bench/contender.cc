// SPDX-License-Identifier: Apache-2.0

#include "contender.h"

#include <cstring>

namespace rowbloom::filter_bench {

AlignedBytes::AlignedBytes(rocksdb::Slice bytes, size_t misalignment_bytes)
    : memory_(new char[bytes.size() + 64 + misalignment_bytes]),
      size_(bytes.size()) {
  const size_t past_boundary = reinterpret_cast<uintptr_t>(memory_.get()) % 64;
  begin_ = memory_.get() + (64 - past_boundary) % 64 + misalignment_bytes;
  std::memcpy(begin_, bytes.data(), bytes.size());
}

}  // namespace rowbloom::filter_bench
