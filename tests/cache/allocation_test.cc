// SPDX-License-Identifier: Apache-2.0
//
// Tests which cache operations allocate memory.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "testing/allocation_counter.h"

namespace rowbloom {
namespace {

using testing::AllocationCount;

class AllocationTest : public ::testing::Test {
 protected:
  AllocationTest() : cache_(NewShardedLruCache({8 << 20, 2})) {
    for (uint64_t i = 0; i < 1000; ++i) {
      auto value = std::make_unique<FilterCache::Value>();
      cache_->Release(cache_->Insert({7, i}, &value, {100}));
    }
  }

  std::unique_ptr<FilterCache> cache_;
};

TEST_F(AllocationTest, IsCounted) {
  if (!testing::kCountsAllocations) GTEST_SKIP();
  const size_t before = AllocationCount();
  auto value = std::make_unique<FilterCache::Value>();
  cache_->Release(cache_->Insert({8, 0}, &value, {100}));
  EXPECT_GE(AllocationCount(), before + 2);
}

TEST_F(AllocationTest, HitMissReleaseAndEraseNeedNone) {
  const size_t before = AllocationCount();
  uint64_t found = 0;
  for (uint64_t i = 0; i < 2000; ++i) {
    FilterCache::Handle* handle = cache_->Lookup({7, i});
    if (handle == nullptr) continue;
    ++found;
    FilterCache::Handle* second = cache_->Lookup({7, i});
    if (i % 3 == 0) cache_->Erase({7, i});
    cache_->Release(handle);
    cache_->Release(second);
  }
  cache_->GetUsage();
  EXPECT_EQ(AllocationCount(), before);
  EXPECT_EQ(found, 1000);
}

}  // namespace
}  // namespace rowbloom
