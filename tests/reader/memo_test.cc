// SPDX-License-Identifier: Apache-2.0
//
// The memo of false positives: a key that the engine did not find is "no" from
// then on, and no other key ever is.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

size_t MemoBytes(const FilterCache& memo) {
  return memo.GetUsage()
      .role_bytes[static_cast<size_t>(FilterCacheRole::kMemo)];
}

// Counts the walks over all entries.
class CountingMemo final : public FilterCache {
 public:
  Handle* Lookup(const FilterCacheKey& key, Hint* hint) override {
    return memo_->Lookup(key, hint);
  }
  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    return memo_->Insert(key, value, options);
  }
  Value* ValueOf(Handle* handle) const override {
    return memo_->ValueOf(handle);
  }
  void Release(Handle* handle) override { memo_->Release(handle); }
  void Erase(const FilterCacheKey& key) override { memo_->Erase(key); }
  void EraseFile(uint64_t file_id) override {
    ++walks_;
    memo_->EraseFile(file_id);
  }
  void DropHint(const FilterCacheKey& key, Hint* hint) override {
    memo_->DropHint(key, hint);
  }
  void SetCapacity(size_t capacity_bytes) override {
    memo_->SetCapacity(capacity_bytes);
  }
  Usage GetUsage() const override { return memo_->GetUsage(); }

  int walks() const { return walks_; }

 private:
  const std::unique_ptr<FilterCache> memo_ = NewShardedLruCache({1 << 20, 0});
  int walks_ = 0;
};

class MemoTest : public ::testing::TestWithParam<bool> {
 protected:
  // One bit per key: every other lookup is a false positive.
  static std::string Block(BloomType type) {
    FilterOptions options;
    options.bloom_type = type;
    options.policy = FilterPolicy::BitsPerKey("blocked_bloom", 1);
    options.chunk_size_bytes = 256;
    return testing::WriteBlock(options, testing::EvenRows(2000));
  }

  std::unique_ptr<FilterReader> Open() {
    FilterReaderOptions options;
    options.cache = cache_.get();
    options.false_positive_memo = memo_.get();
    options.file_id = 5;  // Shared: remembered is by reader all the same.
    return testing::OpenOrDie(memory_.get(), options);
  }

  // Alone, or in a batch.
  static bool Ask(const FilterReader& reader, const FilterKey& key) {
    if (!GetParam()) return reader.MayContain(key);
    bool answer = false;
    reader.MayContain(absl::MakeConstSpan(&key, 1), &answer);
    return answer;
  }

  // Rows that are not there and yet "maybe".
  static std::vector<std::string> FalsePositives(const FilterReader& reader) {
    std::vector<std::string> rows;
    for (uint64_t i = 0; i < 2000; ++i) {
      const std::string row = NumberedRow(2 * i + 1);
      if (reader.MayContain(row)) rows.push_back(row);
    }
    EXPECT_GT(rows.size(), 200u);
    return rows;
  }

  const std::string block_ = Block(BloomType::kRow);
  const std::unique_ptr<RandomAccessSource> memory_ = NewMemorySource(block_);
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({1 << 20, 0});
  std::unique_ptr<FilterCache> memo_ = NewShardedLruCache({1 << 20, 0});
};

INSTANTIATE_TEST_SUITE_P(All, MemoTest, ::testing::Bool(),
                         [](const auto& param) {
                           return std::string(param.param ? "Batch" : "Single");
                         });

TEST_P(MemoTest, TheCacheOfTheChunksIsRefused) {
  FilterReaderOptions options;
  options.cache = cache_.get();
  options.false_positive_memo = cache_.get();
  const auto reader = FilterReader::Open(memory_.get(), {}, options);
  EXPECT_EQ(reader.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(MemoTest, TheSecondLookupOfAFalsePositiveIsNo) {
  const auto reader = Open();
  const std::vector<std::string> rows = FalsePositives(*reader);
  const FilterStatsSnapshot before = reader->stats();
  for (const std::string& row : rows) {
    const FilterKey key = FilterKey::Row(row);
    ASSERT_TRUE(Ask(*reader, key));
    reader->TellOutcome(key, false);
    ASSERT_FALSE(Ask(*reader, key));
  }
  const FilterStatsSnapshot after = reader->stats();
  EXPECT_EQ(after[FilterCounter::kMemoNegatives], rows.size());
  EXPECT_EQ(
      after[FilterCounter::kNegatives] - before[FilterCounter::kNegatives],
      rows.size());
  EXPECT_EQ(after[FilterCounter::kFalsePositives], rows.size());
  for (uint64_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(Ask(*reader, FilterKey::Row(NumberedRow(2 * i))));
  }
}

TEST_P(MemoTest, WhatWasThereIsNotRemembered) {
  const auto reader = Open();
  const std::string row = NumberedRow(0);
  reader->TellOutcome(FilterKey::Row(row), true);
  EXPECT_TRUE(Ask(*reader, FilterKey::Row(row)));
  EXPECT_EQ(MemoBytes(*memo_), 0u);
  EXPECT_EQ(reader->stats()[FilterCounter::kTruePositives], 1u);
}

TEST_P(MemoTest, AnotherReadersKeysAreNotRemembered) {
  const auto reader = Open();
  const auto other = Open();
  for (const std::string& row : FalsePositives(*reader)) {
    reader->TellOutcome(FilterKey::Row(row), false);
    ASSERT_TRUE(Ask(*other, FilterKey::Row(row)));
  }
}

TEST_P(MemoTest, ARowAndItsColumnsAreDifferentQuestions) {
  const auto reader = Open();
  for (const std::string& row : FalsePositives(*reader)) {
    const FilterKey key = FilterKey::Row(row);
    const FilterKey cell = FilterKey::RowCol(key, "q");
    reader->TellOutcome(cell, false);
    ASSERT_FALSE(Ask(*reader, cell));
    ASSERT_TRUE(Ask(*reader, key));
    ASSERT_TRUE(Ask(*reader, FilterKey::RowCol(key, "")));
    ASSERT_TRUE(Ask(*reader, FilterKey::RowCol(key, "p")));
    reader->TellOutcome(key, false);
    ASSERT_FALSE(Ask(*reader, key));
    ASSERT_TRUE(Ask(*reader, FilterKey::RowCol(key, "p")));
  }
}

// Two cells with the same digest, found by search: one is there, the other a
// false positive for certain.
TEST_P(MemoTest, AnotherKeyOfTheSameDigestIsNotLost) {
  const FilterKey there = FilterKey::RowCol("417603", "abc");
  const FilterKey absent = FilterKey::RowCol("874397", "\x96\x3c\x3a");
  ASSERT_EQ(there.digest(), absent.digest());
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  options.policy = FilterPolicy::BitsPerKey("blocked_bloom", 24);
  const std::string block =
      testing::WriteBlock(options, {{"1", "a"}, {"417603", "abc"}, {"9", "z"}});
  const auto memory = NewMemorySource(block);
  FilterReaderOptions reader_options;
  reader_options.false_positive_memo = memo_.get();
  const auto reader = testing::OpenOrDie(memory.get(), reader_options);
  ASSERT_TRUE(Ask(*reader, absent));
  reader->TellOutcome(absent, false);
  EXPECT_FALSE(Ask(*reader, absent));
  EXPECT_TRUE(Ask(*reader, there));
}

TEST_P(MemoTest, IsBoundedByItsCapacity) {
  memo_->SetCapacity(20000);
  const auto reader = Open();
  const std::vector<std::string> rows = FalsePositives(*reader);
  for (int round = 0; round < 3; ++round) {
    for (const std::string& row : rows) {
      const std::string long_qualifier(100, 'q');
      reader->TellOutcome(FilterKey::RowCol(row, long_qualifier), false);
      ASSERT_LE(memo_->GetUsage().usage_bytes, 20000u);
    }
  }
  EXPECT_GT(memo_->GetUsage().evictions, 0u);
  EXPECT_GT(MemoBytes(*memo_), 10000u);
}

TEST_P(MemoTest, IsForgottenWithTheReader) {
  auto reader = Open();
  const auto other = Open();
  const std::vector<std::string> rows = FalsePositives(*reader);
  for (const std::string& row : rows) {
    reader->TellOutcome(FilterKey::Row(row), false);
  }
  other->TellOutcome(FilterKey::Row(rows[0]), false);
  EXPECT_EQ(memo_->GetUsage().entry_count, rows.size() + 1);
  EXPECT_TRUE(other->Verify().ok());  // Opens the block once more.
  EXPECT_EQ(memo_->GetUsage().entry_count, rows.size() + 1);
  reader.reset();
  EXPECT_EQ(memo_->GetUsage().entry_count, 1u);
  EXPECT_FALSE(Ask(*other, FilterKey::Row(rows[0])));
}

TEST_P(MemoTest, IsNotWalkedForAReaderThatRememberedNothing) {
  auto memo = std::make_unique<CountingMemo>();
  const CountingMemo& counting = *memo;
  memo_ = std::move(memo);
  for (const bool remembers : {false, true}) {
    const auto reader = Open();
    const std::string row = FalsePositives(*reader)[0];
    reader->TellOutcome(FilterKey::Row(row), !remembers);
    EXPECT_EQ(counting.walks(), 0);
  }
  EXPECT_EQ(counting.walks(), 1);
  EXPECT_EQ(memo_->GetUsage().entry_count, 0u);
}

}  // namespace
}  // namespace rowbloom
