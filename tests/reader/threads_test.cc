// SPDX-License-Identifier: Apache-2.0
//
// Tests many threads over one cache; it should also run under ThreadSanitizer.

#include "testing/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "reader/test_block.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr int kThreads = 16;

const FilterOptions kOptions =
    testing::BlockOptions("blocked_bloom", 10, 1024, BloomType::kRowCol);

TEST(FilterReaderThreads, SixteenOverACacheThatIsTooSmallAnswerRight) {
  constexpr uint64_t kRows = 4000;
  testing::TestFile file(kOptions, testing::EvenRows(kRows, 2));
  // The capacity holds the two indexes and a few of the block's chunks.
  constexpr size_t kCapacity = 20000;
  const auto cache = NewShardedLruCache({kCapacity, 0});
  FilterStats stats;
  FilterReaderOptions options =
      testing::CachedIn(cache, FilterLoading::kAlways, 3);
  options.stats = &stats;
  const auto first = file.Open(options);
  const auto second = file.Open(options);
  // All threads must answer as one thread does.
  std::vector<char> expected;
  for (uint64_t i = 0; i < 2 * kRows; ++i) {
    expected.push_back(first->MayContain(NumberedRow(i), "q1"));
  }
  std::atomic<uint64_t> wrong{0};
  testing::RunThreads(kThreads, [&](int t) {
    testing::Random random(static_cast<uint64_t>(t));
    const FilterReader& reader = t % 2 == 0 ? *first : *second;
    for (int i = 0; i < 4000; ++i) {
      const uint64_t row = random.Below(2 * kRows);
      wrong += reader.MayContain(NumberedRow(row), "q1") !=
               static_cast<bool>(expected[row]);
      wrong += !reader.MayContain(NumberedRow(row & ~uint64_t{1}));
    }
  });
  EXPECT_EQ(wrong, 0u);
  const FilterCache::Usage usage = cache->GetUsage();
  EXPECT_LE(usage.usage_bytes, kCapacity);
  EXPECT_EQ(usage.pinned_bytes,
            testing::RoleBytes(*cache, FilterCacheRole::kIndex));
  EXPECT_GT(usage.evictions, 0u);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups],
            2 * kRows + kThreads * 8000u);
}

// A thread may decide to load a chunk that another one has loaded meanwhile.
TEST(FilterReaderThreads, AfterConcurrentMissesAnEvictedChunkIsLoadedAgain) {
  testing::TestFile file(kOptions, testing::EvenRows(2000, 2));
  const auto cache = NewShardedLruCache({64 << 20});
  const auto reader = file.Open(testing::CachedIn(cache));
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  constexpr int kRounds = 5000;
  int round = 0;
  std::atomic<int> begun{0};
  std::atomic<int> done{0};
  int not_loaded = 0;
  testing::RunThreads(
      2,
      [&](int) {
        for (int i = 1; i <= kRounds; ++i) {
          while (begun < i) std::this_thread::yield();
          reader->MayContain(key);
          ++done;
        }
      },
      [&] {
        if (done < 2 * round || round == kRounds) {
          return std::this_thread::yield();
        }
        cache->EraseFile(reader->file_id());
        FilterLoad load;
        not_loaded += reader->Ask(key, &load) != FilterAnswer::kNotInMemory;
        begun = ++round;
      });
  EXPECT_EQ(not_loaded, 0);
}

TEST(FilterReaderThreads, ConcurrentMissesOfAChunkLoadItOnce) {
  testing::TestFile file(kOptions, testing::EvenRows(4000, 2));
  std::atomic<bool> is_open{true};
  const testing::HookedSource gated(&file.source, [&] {
    while (!is_open) std::this_thread::yield();
  });
  const auto reader = testing::OpenOrDie(&gated, {});
  file.source.Reset();
  is_open = false;
  std::atomic<int> lost{0};
  std::atomic<int> answered{0};
  testing::RunThreads(
      kThreads,
      [&](int) {
        lost += !reader->MayContain(NumberedRow(10));
        ++answered;
      },
      [&] {
        // The thread that reads is the only one that waits.
        if (answered == kThreads - 1) is_open = true;
        std::this_thread::yield();
      });
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(file.source.read_count(), 1u);
}

}  // namespace
}  // namespace rowbloom
