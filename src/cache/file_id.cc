// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>

#include "rowbloom/filter_cache.h"

namespace rowbloom {

uint64_t FilterCache::NewFileId() {
  static std::atomic<uint64_t> next{1};  // 0 means "no id" to a reader.
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace rowbloom
