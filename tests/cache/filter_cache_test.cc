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
