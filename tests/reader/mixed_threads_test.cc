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
#include "testing/faulty_source.h"

namespace rowbloom {
namespace {

using testing::FaultySource;
using testing::NumberedRow;
using testing::Random;

constexpr uint64_t kRows = 3000;
constexpr int kRounds = 6000;

class MixedThreads : public ::testing::TestWithParam<FilterLoading> {
 protected:
  struct File {
    std::string block;
    std::unique_ptr<RandomAccessSource> memory;
    std::unique_ptr<FaultySource> faulty;
    std::unique_ptr<FilterReader> reader;
  };

  MixedThreads() {
    for (const char* family : {"compact", "blocked_bloom", "compact", "fast"}) {
      FilterOptions options;
      options.filter_spec = FilterSpec::BitsPerKey(family, 12);
      options.chunk_size_bytes = 1024;
      auto file = std::make_unique<File>();
      file->block = testing::WriteBlock(options, testing::EvenRows(kRows));
      file->memory = NewMemorySource(file->block);
      file->faulty = std::make_unique<FaultySource>(file->memory.get());
      need_ += 2 * file->block.size();
      files_.push_back(std::move(file));
    }
    cache_ = NewShardedLruCache({need_, 1});
    for (size_t i = 0; i < files_.size(); ++i) {
      files_[i]->reader =
          testing::OpenOrDie(files_[i]->memory.get(), Options(i));
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
    const uint64_t number = random->Below(2 * kRows);
    const std::string row = NumberedRow(number);
    const FilterKey key = FilterKey::Row(row);
    const bool answer = reader.MayContain(key);
    ++lookups_;
    if (number % 2 == 0) {
      lost_ += !answer;
    } else if (answer) {
      reader.TellOutcome(key, false, 4096);
    }
  }

  void AskBatch(Random* random) {
    constexpr size_t kSize = 64;
    std::vector<std::string> rows;
    for (size_t i = 0; i < kSize; ++i) {
      rows.push_back(NumberedRow(2 * random->Below(kRows)));
    }
    std::vector<FilterKey> keys;
    for (const std::string& row : rows) keys.push_back(FilterKey::Row(row));
    std::vector<FilterQuestion> questions;
    for (const FilterKey& key : keys) {
      questions.push_back(
          {files_[random->Below(files_.size())]->reader.get(), &key});
    }
    bool answers[kSize];
    FilterReader::MayContain(questions, answers);
    lookups_ += kSize;
    for (const bool answer : answers) lost_ += !answer;
  }

  void OpenAndClose(Random* random) {
    const size_t file = random->Below(files_.size());
    FilterReaderOptions options = Options(file);
    options.prefetch = random->Below(4) == 0;
    const auto reader =
        FilterReader::Open(files_[file]->faulty.get(), {}, options);
    if (!reader.ok()) return;
    for (int i = 0; i < 50; ++i) Ask(**reader, random);
  }

  void Drop(Random* random) {
    cache_->EraseFile(files_[random->Below(files_.size())]->reader->file_id());
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
    EXPECT_GE(stats_.Files().size(), files_.size());
    for (const auto& file : files_) {
      const auto chunks = file->reader->properties().chunk_count;
      EXPECT_EQ(file->reader->LoadedSteps().size(), chunks);
      file->reader->stats();
    }
    cache_->GetUsage();
    std::this_thread::yield();
  }

  std::vector<std::unique_ptr<File>> files_;
  size_t need_ = 0;
  std::unique_ptr<FilterCache> cache_;
  FilterStats stats_;
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> lost_{0};
};

INSTANTIATE_TEST_SUITE_P(Loading, MixedThreads,
                         ::testing::Values(FilterLoading::kWhenItPays,
                                           FilterLoading::kAlways));

TEST_P(MixedThreads, LoseNoRowAndNoCount) {
  for (size_t i = 0; i < files_.size(); ++i) {
    files_[i]->faulty->BreakAtRandom(i, 30);
  }
  std::vector<std::thread> threads;
  const auto start = [&](uint64_t seed, int rounds,
                         const std::function<void(Random*)>& act) {
    threads.emplace_back([=] {
      Random random(seed);
      for (int i = 0; i < rounds; ++i) act(&random);
    });
  };
  for (uint64_t t = 0; t < 3; ++t) {
    start(t, 5 * kRounds, [this](Random* random) {
      Ask(*files_[random->Below(files_.size())]->reader, random);
    });
  }
  start(10, kRounds / 20, [this](Random* random) { AskBatch(random); });
  start(11, kRounds / 20, [this](Random* random) { OpenAndClose(random); });
  start(12, kRounds / 20, [this](Random* random) { OpenAndClose(random); });
  start(13, kRounds / 20, [this](Random* random) { Drop(random); });
  start(14, kRounds / 20, [this](Random* random) { Resize(random); });
  start(15, kRounds / 60, [this](Random*) { Look(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost_, 0u);
  EXPECT_EQ(stats_.Snapshot()[FilterCounter::kLookups], lookups_);
  EXPECT_GT(stats_.Snapshot()[FilterCounter::kNegatives], 0u);
  // All pinned bytes belong to the open readers' indexes.
  FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_EQ(usage.pinned_bytes,
            usage.role_bytes[static_cast<size_t>(FilterCacheRole::kIndex)]);
  for (const auto& file : files_) file->reader.reset();
  cache_->SetCapacity(0);
  usage = cache_->GetUsage();
  EXPECT_EQ(usage.usage_bytes, 0u);
  EXPECT_EQ(usage.entry_count, 0u);
  EXPECT_EQ(stats_.Snapshot()[FilterCounter::kLookups], lookups_);
  EXPECT_TRUE(stats_.Files().empty());
}

}  // namespace
}  // namespace rowbloom
