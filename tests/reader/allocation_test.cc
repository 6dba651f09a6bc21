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

namespace rowbloom {
namespace {

using testing::NumberedRow;

class FilterReaderAllocation
    : public ::testing::TestWithParam<std::string_view> {
 protected:
  FilterReaderAllocation() {
    FilterReaderOptions options;
    options.stats = &stats_;
    reader_ = file_.Open(options);
    for (uint64_t i = 0; i < 40000; ++i) rows_.push_back(NumberedRow(i));
  }

  void AskAll() const {
    for (const std::string& row : rows_) {
      reader_->MayContain(row);
      reader_->MayContain(row, "q0");
    }
  }

  testing::TestFile file_{
      testing::BlockOptions(GetParam(), 10, 4096, BloomType::kRowCol),
      testing::EvenRows(20000)};
  FilterStats stats_;
  std::unique_ptr<FilterReader> reader_;
  std::vector<std::string> rows_;
};

INSTANTIATE_TEST_SUITE_P(Families, FilterReaderAllocation,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         testing::FamilyOf);

TEST_P(FilterReaderAllocation, ALookupOnACacheHitDoesNoIoAndAllocatesNothing) {
  AskAll();  // Warm.
  file_.source.Reset();
  const size_t before = testing::AllocationCount();
  AskAll();
  EXPECT_EQ(testing::AllocationCount() - before, 0u);
  EXPECT_EQ(file_.source.read_count(), 0u);
}

TEST_P(FilterReaderAllocation, NorDoesABatch) {
  AskAll();
  const std::vector<FilterKey> keys = testing::RowKeys(rows_);
  const auto answers = std::make_unique<bool[]>(keys.size());
  std::vector<FilterQuestion> questions;
  for (const FilterKey& key : keys) questions.push_back({reader_.get(), &key});
  file_.source.Reset();
  const size_t before = testing::AllocationCount();
  reader_->MayContain(keys, answers.get());
  for (const size_t size : {size_t{1}, size_t{4}, size_t{64}, keys.size()}) {
    FilterReader::MayContain(absl::MakeConstSpan(questions).subspan(0, size),
                             answers.get());
  }
  EXPECT_EQ(testing::AllocationCount() - before, 0u);
  EXPECT_EQ(file_.source.read_count(), 0u);
}

TEST_P(FilterReaderAllocation, NorDoesOneOfAnotherThreadAfterItsFirst) {
  AskAll();
  file_.source.Reset();
  size_t allocations = 1;
  std::thread([&] {
    reader_->MayContain(rows_[0]);
    const size_t before = testing::AllocationCount();
    AskAll();
    allocations = testing::AllocationCount() - before;
  }).join();
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(file_.source.read_count(), 0u);
}

}  // namespace
}  // namespace rowbloom
