// SPDX-License-Identifier: Apache-2.0

#include "cache/cached_chunks.h"

#include <cstddef>
#include <memory>

#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "util/epoch.h"

namespace rowbloom::internal::cache {
namespace {

constexpr size_t kChunks = 3;
constexpr size_t kChunkCharge = 1000;
// Two chunks fit, three do not.
constexpr size_t kRoomForTwo = 2 * kChunkCharge + kChunkCharge / 2;

class AnyFilter : public CachedFilter {
  const void* internal_kind() const override { return KindOf<AnyFilter>(); }
};

class CachedChunksTest : public ::testing::Test {
 protected:
  // The number of lookups that answer without a try after a failure.
  int PauseAfterFailure() {
    chunks_.PauseAfterFailure(0);
    int pause = 0;
    while (chunks_.IsPausedCountingDown(0)) ++pause;
    return pause;
  }
  void Put(size_t chunk) {
    chunks_.Put(chunk, std::make_unique<AnyFilter>(), kChunkCharge);
  }
  bool IsFound(size_t chunk) {
    const util::EpochGuard guard;
    return chunks_.Find(chunk) != nullptr;
  }

  const std::unique_ptr<FilterCache> cache_ =
      NewShardedLruCache({kRoomForTwo, 0});
  CachedChunks chunks_{{cache_.get(), 1, true}, kChunks};
};

TEST_F(CachedChunksTest, ALoadThatSucceedsEndsTheFailuresInARow) {
  EXPECT_EQ(PauseAfterFailure(), 0);
  EXPECT_EQ(PauseAfterFailure(), 2);
  EXPECT_EQ(PauseAfterFailure(), 6);
  chunks_.EndLoad(0);
  EXPECT_EQ(PauseAfterFailure(), 0);
  EXPECT_EQ(PauseAfterFailure(), 2);
}

TEST_F(CachedChunksTest, AChunkThatWasFoundStaysAndOneThatWasNotIsEvicted) {
  Put(0);
  Put(1);
  EXPECT_TRUE(IsFound(0));
  Put(2);
  EXPECT_TRUE(IsFound(0));
  EXPECT_FALSE(IsFound(1));
  EXPECT_TRUE(IsFound(2));
}

TEST_F(CachedChunksTest, AFilterOfAnotherClassIsNotFound) {
  class OtherFilter : public CachedFilter {};
  Put(0);
  FilterCache::Handle* const handle = chunks_.Lookup<AnyFilter>(0);
  ASSERT_NE(handle, nullptr);
  chunks_.Release(handle);
  EXPECT_EQ(chunks_.Lookup<OtherFilter>(0), nullptr);
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<FilterCache::Value>();  // An engine's own.
  cache_->Release(cache_->Insert({1, 1}, &value, {}));
  EXPECT_EQ(chunks_.Lookup<AnyFilter>(1), nullptr);
}

}  // namespace
}  // namespace rowbloom::internal::cache
