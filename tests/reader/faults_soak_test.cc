// SPDX-License-Identifier: Apache-2.0
//
// Tests readers of every family over sources that break at random, with caches
// of many sizes that are resized and erased meanwhile: no row is lost, every
// fault is counted, and when the source has healed, so has the filter.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/soak.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;
using testing::Random;

constexpr uint64_t kLookupsOfARound = 10000;

struct SoakCounts {
  uint64_t lookups = 0;
  uint64_t failures = 0;
  uint64_t flips = 0;
  uint64_t negatives = 0;
};

// One file, one cache, one reader at a time.
class SoakRound {
 public:
  SoakRound(uint64_t seed, SoakCounts* counts)
      : random_(seed), counts_(counts) {
    const auto families = FilterFamilyNames();
    const double bits_per_key = 2 + static_cast<double>(random_.Below(16));
    const BloomType type =
        random_.Below(2) == 0 ? BloomType::kRow : BloomType::kRowCol;
    const uint32_t chunk_size_bytes = 256u << random_.Below(5);
    rows_ = 100 + random_.Below(3000);
    file_ = std::make_unique<testing::TestFile>(
        testing::BlockOptions(families[seed % families.size()], bits_per_key,
                              chunk_size_bytes, type),
        testing::EvenRows(rows_));
    clean_ = testing::OpenOrDie(file_->memory.get(), {});

    // The capacity is a share of the file's need, from nothing to more than
    // enough.
    const uint64_t need =
        2 * file_->bytes.size() + 200 * clean_->Chunks().size();
    capacity_ = need * random_.Below(5) / 3;
    cache_ =
        NewShardedLruCache({capacity_, static_cast<int>(random_.Below(2))});
    options_.stats = &stats_;
    options_.cache = random_.Below(6) == 0 ? nullptr : cache_.get();
    if (random_.Below(2) == 0) options_.file_id = 12;
    if (random_.Below(3) == 0) options_.loading = FilterLoading::kAlways;
  }

  void Run() {
    Reopen();
    // In half of the rounds every read is for one chunk, so that every fault is
    // one error.
    const bool batches = random_.Below(2) == 0;
    const uint64_t one_in = std::vector<uint64_t>{2, 10, 100}[random_.Below(3)];
    const uint64_t failures = file_->source.random_failures();
    const uint64_t flips = file_->source.random_flips();
    file_->source.BreakAtRandom(random_(), one_in);
    for (uint64_t i = 0; i < kLookupsOfARound; ++i) {
      switch (random_.Below(2000)) {
        case 0:
          cache_->SetCapacity(random_.Below(capacity_ + 1));
          break;
        case 1:
          cache_->SetCapacity(capacity_);
          break;
        case 2:
          cache_->EraseFile(reader_->file_id());
          break;
        case 3:
          file_->source.Heal();
          Reopen();
          file_->source.BreakAtRandom(random_(), one_in);
          break;
      }
      if (batches && random_.Below(100) == 0) {
        AskBatch();
      } else {
        AskOne();
      }
      if (::testing::Test::HasFatalFailure()) return;
    }
    const uint64_t failed = file_->source.random_failures() - failures;
    const uint64_t flipped = file_->source.random_flips() - flips;
    const uint64_t errors = stats_.Snapshot()[FilterCounter::kLoadErrors];
    if (batches) {
      // A read for many chunks fails all of them; bits between two chunks
      // belong to none.
      EXPECT_GE(errors, failed);
      EXPECT_LE(errors, (failed + flipped) * clean_->Chunks().size());
    } else {
      EXPECT_EQ(errors, failed + flipped);
    }
    counts_->failures += failed;
    counts_->flips += flipped;
    OpenAndVerifyBroken();
    file_->source.Heal();
    ExpectFilteringReturns();
    counts_->negatives += stats_.Snapshot()[FilterCounter::kNegatives];
  }

 private:
  void Reopen() {
    reader_.reset();
    reader_ = testing::OpenOrDie(&file_->source, options_);
  }
  bool IsThere(uint64_t number) const {
    return number % 2 == 0 && number < 2 * rows_;
  }
  FilterKey KeyOf(const std::string& row) {
    return random_.Below(2) == 0 ? FilterKey::Row(row)
                                 : FilterKey::RowCol(row, "q0");
  }
  void Check(uint64_t number, const FilterKey& key, bool answer) {
    ++counts_->lookups;
    ASSERT_TRUE(answer || !IsThere(number)) << "lost " << key.row();
    if (answer && random_.Below(2) == 0) {
      reader_->TellOutcome(IsThere(number), 4096);
    }
  }
  void AskOne() {
    const uint64_t number = random_.Below(2 * rows_ + 2);
    const std::string row = NumberedRow(number);
    const FilterKey key = KeyOf(row);
    if (random_.Below(2) == 0) {
      Check(number, key, reader_->MayContain(key));
      return;
    }
    // The caller itself reads what Ask() wants, and may change the cache
    // meanwhile.
    FilterLoad load;
    FilterAnswer answer = reader_->Ask(key, &load);
    if (answer == FilterAnswer::kNotInMemory) {
      std::string scratch(static_cast<size_t>(load.size_bytes), '\0');
      std::string_view bytes;
      const absl::Status status = file_->source.Read(
          load.offset, scratch.size(), scratch.data(), &bytes);
      if (random_.Below(50) == 0) cache_->EraseFile(reader_->file_id());
      answer = status.ok() ? reader_->Offer(load, bytes, key)
                           : reader_->Offer(load, status, key);
    }
    Check(number, key, answer == FilterAnswer::kMaybe);
  }
  void AskBatch() {
    constexpr size_t kSize = 100;
    std::vector<uint64_t> numbers(kSize);
    std::vector<std::string> rows;
    for (uint64_t& number : numbers) {
      number = random_.Below(2 * rows_ + 2);
      rows.push_back(NumberedRow(number));
    }
    std::vector<FilterKey> keys;
    for (const std::string& row : rows) keys.push_back(KeyOf(row));
    const std::vector<char> answers = testing::Ask(*reader_, keys);
    for (size_t i = 0; i < kSize; ++i) Check(numbers[i], keys[i], answers[i]);
  }

  // Strict calls fail or succeed; a reader that they open loses nothing either.
  void OpenAndVerifyBroken() {
    FilterReaderOptions options = options_;
    options.stats = nullptr;
    options.prefetch = true;
    for (int i = 0; i < 10; ++i) {
      const auto other = FilterReader::Open(&file_->source, {}, options);
      (void)reader_->Verify();
      if (!other.ok()) continue;
      for (uint64_t row = 0; row < 20; ++row) {
        ASSERT_TRUE((*other)->MayContain(NumberedRow(2 * row)));
      }
    }
  }

  // Asks until every answer equals that of a reader of the same bytes without
  // faults, which must happen if there is room.
  void ExpectFilteringReturns() {
    cache_->SetCapacity(4 * capacity_ + (1 << 20));
    bool same = false;
    for (int time = 0; time < 1000 && !same; ++time) {
      same = true;
      for (uint64_t i = 0; i < rows_; ++i) {
        const std::string there = NumberedRow(2 * i);
        const std::string absent = NumberedRow(2 * i + 1);
        ASSERT_TRUE(reader_->MayContain(there));
        counts_->lookups += 2;
        const bool may = reader_->MayContain(absent);
        if (may != clean_->MayContain(absent)) same = false;
      }
    }
    EXPECT_TRUE(same);
  }

  Random random_;
  SoakCounts* const counts_;
  uint64_t rows_;
  std::unique_ptr<testing::TestFile> file_;
  std::unique_ptr<FilterReader> clean_;
  size_t capacity_;
  std::unique_ptr<FilterCache> cache_;
  FilterStats stats_;
  FilterReaderOptions options_;
  std::unique_ptr<FilterReader> reader_;
};

TEST(FaultsSoak, LosesNoRowCountsEveryFaultAndHeals) {
  SoakCounts counts;
  const uint64_t lookups = testing::Operations(500000);
  for (uint64_t seed = testing::TestSeed(); counts.lookups < lookups; ++seed) {
    SCOPED_TRACE(seed);
    SoakRound(seed, &counts).Run();
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.failures, 0u);
  EXPECT_GT(counts.flips, 0u);
  EXPECT_GT(counts.negatives, 0u);
}

}  // namespace
}  // namespace rowbloom
