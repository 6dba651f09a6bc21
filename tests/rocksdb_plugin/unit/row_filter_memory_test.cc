// SPDX-License-Identifier: Apache-2.0
//
// Tests how much memory building and opening a filter take.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "policy/row_filter_builder.h"
#include "policy/row_filter_reader.h"
#include "rowbloom/rocksdb.h"
#include "testing/allocation_counter.h"

namespace rowbloom::plugin {
namespace {

using testing::kCountsAllocations;

std::vector<RocksDbOptions> FamilyOptions() {
  std::vector<RocksDbOptions> all;
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    for (const double bits_per_key : {5.0, 10.0, 16.0}) {
      all.emplace_back();
      all.back().bloom_type = BloomType::kRow;
      all.back().key_codec = KeyCodec::FixedRow(8);
      all.back().filter_spec = FilterSpec::BitsPerKey(family, bits_per_key);
    }
  }
  return all;
}

void AddRows(RowFilterBuilder* builder, int64_t count) {
  for (int64_t row = 0; row < count; ++row) {
    builder->AddKey(
        rdb::Slice(reinterpret_cast<const char*>(&row), sizeof(row)));
  }
}

std::string FilterOf(const RocksDbOptions& options, int64_t rows) {
  RowFilterBuilder builder(options, false);
  AddRows(&builder, rows);
  std::unique_ptr<const char[]> bytes;
  return builder.Finish(&bytes).ToString();
}

// row_filter_builder.h promises this bound.
TEST(RowFilterMemory, BuildersKeepToTheirBound) {
  if (!kCountsAllocations) GTEST_SKIP() << "nothing to count";
  for (const RocksDbOptions& options : FamilyOptions()) {
    for (const int64_t rows : {1000, 30000, 66000, 500000}) {
      SCOPED_TRACE(options.filter_spec.ToString() + " " + std::to_string(rows));
      const int64_t before = testing::LiveBytes();
      RowFilterBuilder builder(options, false);
      AddRows(&builder, rows);
      EXPECT_LE(testing::LiveBytes() - before,
                rows * 81 / 10 + RowFilterBuilder::kFixedMemoryBytes);
      testing::ResetPeakBytes();
      std::unique_ptr<const char[]> bytes;
      const auto size = static_cast<int64_t>(builder.Finish(&bytes).size());
      const int64_t peak = testing::PeakBytes() - before;
      EXPECT_LE(peak, 9 * rows + size + RowFilterBuilder::kFinishMemoryBytes);
      EXPECT_LE(peak, 100 * rows);
      // The caller owns the finished filter; digests are free again.
      EXPECT_LE(testing::LiveBytes() - before - size,
                RowFilterBuilder::kFixedMemoryBytes +
                    std::min(RowFilterBuilder::kFinishMemoryBytes, 100 * rows));
    }
  }
}

TEST(RowFilterMemory, PartitionsAreFreedOneByOne) {
  if (!kCountsAllocations) GTEST_SKIP() << "nothing to count";
  for (const RocksDbOptions& options : FamilyOptions()) {
    const int64_t before = testing::LiveBytes();
    RowFilterBuilder builder(options, false);
    testing::ResetPeakBytes();
    for (int partition = 0; partition < 200; ++partition) {
      AddRows(&builder, 3000);
      std::unique_ptr<const char[]> bytes;
      builder.Finish(&bytes);
    }
    // The peak is that of one partition, though 600,000 rows were added.
    EXPECT_LE(testing::PeakBytes() - before, 100 * 3000)
        << options.filter_spec.ToString();
  }
}

TEST(RowFilterMemory, ReadersAllocateNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "nothing to count";
  for (const RocksDbOptions& options : FamilyOptions()) {
    const std::string filter = FilterOf(options, 10000);
    const std::string row(8, 'r');
    std::vector<rdb::Slice> entries(100, row);
    std::vector<rdb::Slice*> pointers;
    for (rdb::Slice& entry : entries) pointers.push_back(&entry);
    bool may_match[100] = {};
    const size_t before = testing::AllocationCount();
    RowFilterReader reader{rdb::Slice(filter)};
    reader.MayMatch(row);
    reader.MayMatch(100, pointers.data(), may_match);
    EXPECT_EQ(testing::AllocationCount(), before);
  }
}

}  // namespace
}  // namespace rowbloom::plugin
