// SPDX-License-Identifier: Apache-2.0
//
// A lookup on a cache hit does no I/O and allocates nothing.

#include <gtest/gtest.h>

#include "reader/test_block.h"
#include "testing/allocation_counter.h"
#include "testing/counting_source.h"

namespace rowbloom {
namespace {

TEST(FilterReaderAllocation, ALookupOnACacheHitDoesNoIoAndAllocatesNothing) {
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  options.chunk_size_bytes = 4096;
  const std::string block =
      testing::WriteBlock(options, testing::EvenRows(20000));
  const auto memory = NewMemorySource(block);
  testing::CountingSource counting(memory.get());
  const auto cache = NewShardedLruCache({64 << 20});
  FilterStats stats;
  FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  reader_options.stats = &stats;
  const auto reader = testing::OpenOrDie(&counting, reader_options);
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < 40000; ++i) rows.push_back(testing::NumberedRow(i));
  for (const std::string& row : rows) reader->MayContain(row);  // Warm.
  counting.Reset();
  const size_t before = testing::AllocationCount();
  for (const std::string& row : rows) {
    reader->MayContain(row);
    reader->MayContain(row, "q0");
  }
  EXPECT_EQ(testing::AllocationCount() - before, 0u);
  EXPECT_EQ(counting.read_count(), 0u);
}

}  // namespace
}  // namespace rowbloom
