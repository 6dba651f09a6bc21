// SPDX-License-Identifier: Apache-2.0
//
// Tests many threads over one cache; it should also run under ThreadSanitizer.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "reader/test_block.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"

namespace rowbloom {
namespace {

using testing::Cell;
using testing::NumberedRow;
using testing::Random;

constexpr int kThreads = 16;

std::string Block(uint64_t rows) {
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  options.chunk_size_bytes = 1024;
  return testing::WriteBlock(options, testing::EvenRows(rows, 2));
}

TEST(FilterReaderThreads, SixteenOverACacheThatIsTooSmallAnswerRight) {
  constexpr uint64_t kRows = 4000;
  const std::string block = Block(kRows);
  const auto memory = NewMemorySource(block);
  // The capacity holds the two indexes and a few of the block's chunks.
  constexpr size_t kCapacity = 20000;
  const auto cache = NewShardedLruCache({kCapacity, 0});
  FilterStats stats;
  FilterReaderOptions options;
  options.cache = cache.get();
  options.loading = FilterLoading::kAlways;
  options.stats = &stats;
  options.file_id = 3;
  const auto first = testing::OpenOrDie(memory.get(), options);
  const auto second = testing::OpenOrDie(memory.get(), options);
  // All threads must answer as one thread does.
  std::vector<char> expected;
  for (uint64_t i = 0; i < 2 * kRows; ++i) {
    expected.push_back(first->MayContain(NumberedRow(i), "q1"));
  }
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      const FilterReader& reader = t % 2 == 0 ? *first : *second;
      for (int i = 0; i < 4000; ++i) {
        const uint64_t row = random.Below(2 * kRows);
        wrong += reader.MayContain(NumberedRow(row), "q1") !=
                 static_cast<bool>(expected[row]);
        wrong += !reader.MayContain(NumberedRow(row & ~uint64_t{1}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  const FilterCache::Usage usage = cache->GetUsage();
  EXPECT_LE(usage.usage_bytes, kCapacity);
  EXPECT_EQ(usage.pinned_bytes,
            usage.role_bytes[static_cast<size_t>(FilterCacheRole::kIndex)]);
  EXPECT_GT(usage.evictions, 0u);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups],
            2 * kRows + kThreads * 8000u);
}

// Blocks reads until all threads have asked.
class GatedSource : public RandomAccessSource {
 public:
  explicit GatedSource(const RandomAccessSource* source) : source_(source) {}
  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    if (gated) opened.wait();
    return source_->Read(offset, size_bytes, scratch, result);
  }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

  std::promise<void> gate;
  const std::shared_future<void> opened{gate.get_future()};
  std::atomic<bool> gated{false};

 private:
  const RandomAccessSource* const source_;
};

// A thread may decide to load a chunk that another one has loaded meanwhile.
TEST(FilterReaderThreads, AfterConcurrentMissesAnEvictedChunkIsLoadedAgain) {
  const std::string block = Block(10);
  const auto memory = NewMemorySource(block);
  const auto cache = NewShardedLruCache({64 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  const auto reader = testing::OpenOrDie(memory.get(), options);
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  constexpr int kRounds = 20000;
  std::atomic<int> round{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= kRounds; ++i) {
        while (round.load() < i) std::this_thread::yield();
        reader->MayContain(key);
        ++done;
      }
    });
  }
  int not_loaded = 0;
  for (int i = 1; i <= kRounds; ++i) {
    cache->EraseFile(reader->file_id());
    FilterLoad load;
    not_loaded += reader->Ask(key, &load) != FilterAnswer::kNotInMemory;
    round = i;
    while (done.load() < 2 * i) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(not_loaded, 0);
}

TEST(FilterReaderThreads, ConcurrentMissesOfAChunkLoadItOnce) {
  const std::string block = Block(4000);
  const auto memory = NewMemorySource(block);
  GatedSource gated(memory.get());
  testing::CountingSource counting(&gated);
  const auto cache = NewShardedLruCache({1 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  const auto reader = testing::OpenOrDie(&counting, options);
  counting.Reset();
  gated.gated = true;
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] { lost += !reader->MayContain(NumberedRow(10)); });
  }
  while (counting.read_count() == 0) std::this_thread::yield();
  gated.gate.set_value();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(counting.read_count(), 1u);
}

TEST(FilterReaderThreads, FaultsUnderThreadsLoseNothingAndFilteringReturns) {
  constexpr uint64_t kRows = 2000;
  const std::string block = Block(kRows);
  const auto memory = NewMemorySource(block);
  testing::FaultySource faulty(memory.get());
  const auto cache = NewShardedLruCache({12000, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.loading = FilterLoading::kAlways;
  const auto reader = testing::OpenOrDie(&faulty, options);
  std::atomic<bool> done{false};
  std::atomic<uint64_t> lost{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t));
      for (int i = 0; i < 10000; ++i) {
        lost += !reader->MayContain(NumberedRow(2 * random.Below(kRows)), "q0");
      }
    });
  }
  std::thread breaker([&] {
    Random random(99);
    while (!done) {
      switch (random.Below(4)) {
        case 0:
          faulty.FailAllReads();
          break;
        case 1:
          faulty.FlipBit(random.Below(block.size()), 3);
          break;
        case 2:
          faulty.ShortenReads(1 + random.Below(100));
          break;
        case 3:
          faulty.Heal();
          break;
      }
      std::this_thread::yield();
    }
    faulty.Heal();
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  breaker.join();
  EXPECT_EQ(lost, 0u);
  // Chunks that failed again and again wait up to 254 lookups for the next try.
  for (uint64_t i = 0; i < kRows; ++i) {
    for (int time = 0; time < 10; ++time) {
      reader->MayContain(NumberedRow(2 * i + 1));
    }
  }
  uint64_t positives = 0;
  for (uint64_t i = 0; i < kRows; ++i) {
    positives += reader->MayContain(NumberedRow(2 * i + 1));
  }
  EXPECT_LT(positives, kRows / 20);
}

}  // namespace
}  // namespace rowbloom
