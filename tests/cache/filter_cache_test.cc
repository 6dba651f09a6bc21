// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cache.h"

#include <cstdint>
#include <mutex>
#include <set>

#include "gtest/gtest.h"
#include "testing/threads.h"

namespace rowbloom {
namespace {

TEST(FilterCacheUsage, IsOneNameAndValueInEachLine) {
  FilterCache::Usage usage;
  usage.capacity_bytes = 1;
  usage.usage_bytes = 2;
  usage.pinned_bytes = 3;
  usage.retired_bytes = 4;
  usage.index_bytes_outside = 5;
  usage.entry_count = 6;
  usage.role_bytes = {7, 8, 9};
  usage.hits = 10;
  usage.misses = 11;
  usage.inserts = 12;
  usage.evictions = 13;
  usage.shrinks = 14;
  usage.rejections = 15;
  usage.resident_bytes = 16;
  EXPECT_EQ(usage.ToString(),
            "capacity_bytes 1\nusage_bytes 2\npinned_bytes 3\nretired_bytes 4\n"
            "index_bytes_outside 5\nresident_bytes 16\nentry_count 6\n"
            "chunk_bytes 7\nindex_bytes 8\n"
            "other_bytes 9\nhits 10\nmisses 11\ninserts 12\nevictions 13\n"
            "shrinks 14\nrejections 15\n");
}

TEST(FileId, IsAboveThoseOfEnginesAndUniqueAcrossThreads) {
  std::mutex mutex;
  std::set<uint64_t> ids;
  testing::RunThreads(8, [&](int) {
    for (int i = 0; i < 1000; ++i) {
      const uint64_t id = FilterCache::NewFileId();
      std::lock_guard<std::mutex> lock(mutex);
      ids.insert(id);
    }
  });
  EXPECT_EQ(ids.size(), 8000);
  EXPECT_GE(*ids.begin(), uint64_t{1} << 63);
}

}  // namespace
}  // namespace rowbloom
