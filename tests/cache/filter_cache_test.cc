// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cache.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace rowbloom {
namespace {

TEST(FilterCacheUsage, IsOneNameAndValueInEachLine) {
  FilterCache::Usage usage;
  usage.capacity_bytes = 1;
  usage.usage_bytes = 2;
  usage.pinned_bytes = 3;
  usage.retired_bytes = 15;
  usage.entry_count = 4;
  usage.role_bytes = {5, 6, 7, 8};
  usage.hits = 9;
  usage.misses = 10;
  usage.inserts = 11;
  usage.evictions = 12;
  usage.shrinks = 13;
  usage.rejections = 14;
  EXPECT_EQ(
      usage.ToString(),
      "capacity_bytes 1\nusage_bytes 2\npinned_bytes 3\nretired_bytes 15\n"
      "entry_count 4\nchunk_bytes 5\nindex_bytes 6\nmemo_bytes 7\n"
      "other_bytes 8\nhits 9\nmisses 10\ninserts 11\nevictions 12\n"
      "shrinks 13\nrejections 14\n");
}

TEST(FileId, IsNeverZeroAndGrows) {
  const uint64_t first = FilterCache::NewFileId();
  EXPECT_GE(first, 1);
  EXPECT_EQ(FilterCache::NewFileId(), first + 1);
}

TEST(FileId, IsUniqueAcrossThreads) {
  std::mutex mutex;
  std::set<uint64_t> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const uint64_t id = FilterCache::NewFileId();
        std::lock_guard<std::mutex> lock(mutex);
        ids.insert(id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ids.size(), 8000);
}

}  // namespace
}  // namespace rowbloom
