// SPDX-License-Identifier: Apache-2.0
//
// Tests that a lookup on a cache hit does no I/O and allocates nothing.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "reader/test_block.h"
#include "testing/allocation_counter.h"
#include "testing/counting_source.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

class FilterReaderAllocation
    : public ::testing::TestWithParam<std::string_view> {
 protected:
  FilterReaderAllocation() {
    FilterOptions options;
    options.bloom_type = BloomType::kRowCol;
    options.filter_spec = FilterSpec::BitsPerKey(GetParam(), 10);
    options.chunk_size_bytes = 4096;
    block_ = testing::WriteBlock(options, testing::EvenRows(20000));
    memory_ = NewMemorySource(block_);
    counting_ = std::make_unique<testing::CountingSource>(memory_.get());
    FilterReaderOptions reader_options;
    reader_options.cache = cache_.get();
    reader_options.stats = &stats_;
    reader_ = testing::OpenOrDie(counting_.get(), reader_options);
    for (uint64_t i = 0; i < 40000; ++i) rows_.push_back(NumberedRow(i));
  }

  void AskAll() const {
    for (const std::string& row : rows_) {
      reader_->MayContain(row);
      reader_->MayContain(row, "q0");
    }
  }

  std::string block_;
  std::unique_ptr<RandomAccessSource> memory_;
  std::unique_ptr<testing::CountingSource> counting_;
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({64 << 20});
  FilterStats stats_;
  std::unique_ptr<FilterReader> reader_;
  std::vector<std::string> rows_;
};

INSTANTIATE_TEST_SUITE_P(Families, FilterReaderAllocation,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST_P(FilterReaderAllocation, ALookupOnACacheHitDoesNoIoAndAllocatesNothing) {
  AskAll();  // Warm.
  counting_->Reset();
  const size_t before = testing::AllocationCount();
  AskAll();
  EXPECT_EQ(testing::AllocationCount() - before, 0u);
  EXPECT_EQ(counting_->read_count(), 0u);
}

TEST_P(FilterReaderAllocation, NorDoesOneOfAnotherThreadAfterItsFirst) {
  AskAll();
  counting_->Reset();
  size_t allocations = 1;
  std::thread([&] {
    reader_->MayContain(rows_[0]);
    const size_t before = testing::AllocationCount();
    AskAll();
    allocations = testing::AllocationCount() - before;
  }).join();
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(counting_->read_count(), 0u);
}

}  // namespace
}  // namespace rowbloom
