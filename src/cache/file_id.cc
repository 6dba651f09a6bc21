// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "rowbloom/filter_cache.h"

namespace rowbloom {

uint64_t FilterCache::NewFileId() {
  // Above those that engines give, which are file numbers.
  static std::atomic<uint64_t> next{uint64_t{1} << 63};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace rowbloom
