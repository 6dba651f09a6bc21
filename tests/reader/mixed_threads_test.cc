// SPDX-License-Identifier: Apache-2.0
//
// Tests everything at once: lookups and batches, readers that come and go,
// erased files, a cache that is resized, chunks that shrink and grow, faults,
// and snapshots of all counters. It should also run under ThreadSanitizer.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/threads.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;
using testing::Random;
using testing::TestFile;

constexpr uint64_t kMixedRows = 3000;
constexpr int kRounds = 6000;

class MixedThreads : public ::testing::TestWithParam<FilterLoading> {
 protected:
  MixedThreads() {
    for (const char* family : {"compact", "blocked_bloom", "compact", "fast"}) {
      files_.push_back(
          std::make_unique<TestFile>(testing::BlockOptions(family, 12, 1024),
                                     testing::EvenRows(kMixedRows)));
      need_ += 2 * files_.back()->bytes.size();
    }
    cache_ = NewShardedLruCache({need_, 1});
    for (size_t i = 0; i < files_.size(); ++i) {
      readers_.push_back(files_[i]->Open(Options(i)));
    }
  }

  // Some files have an id that readers share; readers of the others have their
  // own.
  FilterReaderOptions Options(size_t file) {
    FilterReaderOptions options;
    options.cache = cache_.get();
    options.stats = &stats_;
    options.loading = GetParam();
    options.level = static_cast<int>(file);
    if (file % 2 == 0) options.file_id = 1 + file;
    return options;
  }

  void Ask(const FilterReader& reader, Random* random) {
    const uint64_t number = random->Below(2 * kMixedRows);
    const std::string row = NumberedRow(number);
    const FilterKey key = FilterKey::Row(row);
    const bool answer = reader.MayContain(key);
    ++lookups_;
    if (number % 2 == 0) {
      lost_ += !answer;
    } else if (answer) {
      reader.TellOutcome(false, 4096);
    }
  }

  void AskBatch(Random* random) {
    constexpr size_t kSize = 64;
    std::vector<std::string> rows(kSize);
    for (std::string& row : rows) {
      row = NumberedRow(2 * random->Below(kMixedRows));
    }
    const std::vector<FilterKey> keys = testing::RowKeys(rows);
    std::vector<FilterQuestion> questions;
    for (const FilterKey& key : keys) {
      questions.push_back(
          {readers_[random->Below(readers_.size())].get(), &key});
    }
    lookups_ += kSize;
    for (const bool answer : testing::Ask(questions)) lost_ += !answer;
  }

  void OpenAndClose(Random* random) {
    const size_t file = random->Below(files_.size());
    FilterReaderOptions options = Options(file);
    options.prefetch = random->Below(4) == 0;
    const auto reader = FilterReader::Open(&files_[file]->source, {}, options);
    if (!reader.ok()) return;
    for (int i = 0; i < 50; ++i) Ask(**reader, random);
  }

  void Drop(Random* random) {
    cache_->EraseFile(readers_[random->Below(readers_.size())]->file_id());
    std::this_thread::yield();
  }

  void Resize(Random* random) {
    cache_->SetCapacity(random->Below(8) == 0 ? 0
                                              : need_ / (1 + random->Below(6)));
    std::this_thread::yield();
  }

  void Look() {
    const FilterStatsSnapshot now = stats_.Snapshot();
    EXPECT_LE(now.positives(), now[FilterCounter::kLookups]);
    EXPECT_FALSE(stats_.ToPrometheus().empty());
    for (const auto& reader : readers_) {
      EXPECT_EQ(testing::LoadedSteps(*reader).size(),
                reader->properties().chunk_count);
      reader->stats();
    }
    cache_->GetUsage();
    std::this_thread::yield();
  }

  std::vector<std::unique_ptr<TestFile>> files_;
  size_t need_ = 0;
  std::unique_ptr<FilterCache> cache_;
  FilterStats stats_;
  std::vector<std::unique_ptr<FilterReader>> readers_;
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> lost_{0};
};

INSTANTIATE_TEST_SUITE_P(Loading, MixedThreads,
                         ::testing::Values(FilterLoading::kWhenItPays,
                                           FilterLoading::kAlways));

TEST_P(MixedThreads, LoseNoRowAndNoCountAndHeal) {
  for (size_t i = 0; i < files_.size(); ++i) {
    files_[i]->source.BreakAtRandom(i, 30);
  }
  struct Role {
    int threads;
    int rounds;
    std::function<void(Random*)> act;
  };
  const std::vector<Role> roles = {
      {3, 5 * kRounds,
       [this](Random* random) {
         Ask(*readers_[random->Below(readers_.size())], random);
       }},
      {1, kRounds / 20, [this](Random* random) { AskBatch(random); }},
      {2, kRounds / 20, [this](Random* random) { OpenAndClose(random); }},
      {1, kRounds / 20, [this](Random* random) { Drop(random); }},
      {1, kRounds / 20, [this](Random* random) { Resize(random); }},
      {1, kRounds / 60, [this](Random*) { Look(); }}};
  std::vector<const Role*> role_of;
  for (const Role& role : roles) {
    role_of.insert(role_of.end(), role.threads, &role);
  }
  testing::RunThreads(static_cast<int>(role_of.size()), [&](int t) {
    Random random(static_cast<uint64_t>(t));
    for (int i = 0; i < role_of[t]->rounds; ++i) role_of[t]->act(&random);
  });
  EXPECT_EQ(lost_, 0u);
  EXPECT_EQ(stats_.Snapshot()[FilterCounter::kLookups], lookups_);
  EXPECT_GT(stats_.Snapshot()[FilterCounter::kNegatives], 0u);
  // All pinned bytes belong to the open readers' indexes.
  FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_EQ(usage.pinned_bytes,
            testing::RoleBytes(*cache_, FilterCacheRole::kIndex));

  cache_->SetCapacity(8 * need_);
  for (const auto& file : files_) file->source.Heal();
  for (const auto& reader : readers_) {
    // Chunks that failed again and again wait for the next try.
    for (int i = 0; i < 10; ++i) {
      testing::CountFalsePositives(*reader, kMixedRows);
    }
    EXPECT_LT(testing::CountFalsePositives(*reader, kMixedRows),
              kMixedRows / 20);
    lookups_ += 11 * (2 * kMixedRows - 1);
  }
  readers_.clear();
  cache_->SetCapacity(0);
  usage = cache_->GetUsage();
  EXPECT_EQ(usage.usage_bytes, 0u);
  EXPECT_EQ(usage.entry_count, 0u);
  EXPECT_EQ(stats_.Snapshot()[FilterCounter::kLookups], lookups_);
}

}  // namespace
}  // namespace rowbloom
