// SPDX-License-Identifier: Apache-2.0
//
// The promises of the memtable and of the store, one in each test.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../mini_kv.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/filter_stats.h"
#include "test_util.h"

namespace mini_kv {
namespace {

using rowbloom::FilterCounter;

std::atomic<int> read_count{0};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// The bytes with one bit changed.
std::string Damaged(std::string bytes, size_t at) {
  bytes[at] ^= 0x10;
  return bytes;
}

std::string Row(int i) { return "row" + std::to_string(i); }

double BitsPerCell(const LevelStats& level) {
  return 8 * static_cast<double>(level.filter_bytes) /
         static_cast<double>(level.cells);
}

}  // namespace
}  // namespace mini_kv

// All reads of SSTs are this one's.
extern "C" ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  ++mini_kv::read_count;
  return syscall(SYS_pread64, fd, bytes, size, offset);
}

namespace mini_kv {
namespace {

class Store : public testing::Test {
 protected:
  void SetUp() override { Reopen(); }

  void Reopen() {
    store_.reset();
    store_ = *MiniKv::Open(options_, directory_.path());
  }
  absl::Status OpenError() {
    store_.reset();
    return MiniKv::Open(options_, directory_.path()).status();
  }
  void Put(const std::string& row, const std::string& qualifier,
           const std::string& value) {
    ASSERT_EQ(store_->Put(row, qualifier, value), absl::OkStatus());
  }
  void Flush() { ASSERT_TRUE(store_->Flush().ok()); }
  void Compact() { ASSERT_TRUE(store_->Compact().ok()); }
  // "-" for an absent cell.
  std::string Get(const std::string& row, const std::string& qualifier) {
    const auto value = store_->Get(row, qualifier);
    return value.ok() ? value->value_or("-") : value.status().ToString();
  }
  std::string Path(const std::string& name) const {
    return directory_.path() + "/" + name;
  }
  // Rows 0 to count-1, each with two columns.
  void PutRows(int count) {
    for (int i = 0; i < count; ++i) {
      Put(Row(i), "name", "n" + std::to_string(i));
      Put(Row(i), "year", "y" + std::to_string(i));
    }
  }

  Options options_;
  TempDirectory directory_;
  std::unique_ptr<MiniKv> store_;
};

// Other threads ask the filter while one thread sets cells. Also run it under
// ThreadSanitizer.
TEST(MemtableThreads, ACellThatAReaderMayKnowOfIsInTheFilter) {
  constexpr int kCells = 20000;
  Memtable memtable(kCells * 128);
  std::atomic<int> known{0};
  std::atomic<int> lost{0};
  std::atomic<int> skipped{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      for (int asked = 0; asked < 1000 || known < kCells;) {
        const int count = known.load(std::memory_order_acquire);
        if (count == 0) continue;
        const std::string row = Row(++asked % count);
        lost += !memtable.MayContain(rowbloom::FilterKey::Row(row));
        lost += !memtable.MayContain(rowbloom::FilterKey::RowCol(row, "name"));
        skipped += !memtable.MayContain(rowbloom::FilterKey::RowCol(row, "?"));
      }
    });
  }
  for (int i = 0; i < kCells; ++i) {
    const std::string row = Row(i);
    memtable.Set({{row, "name"}, "value"});
    known.store(i + 1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(skipped, 0);
}

TEST_F(Store, TheMemtablesFilterSparesSearchesForWhatItDoesNotHave) {
  PutRows(100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(Get(Row(i), "name"), "-");
    EXPECT_TRUE(*store_->RowExists(Row(i)));
  }
  EXPECT_EQ(store_->stats().memtable_skips, 0u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get(Row(i), "absent"), "-");
    EXPECT_FALSE(*store_->RowExists(Row(i) + "x"));
  }
  EXPECT_GT(store_->stats().memtable_skips, 180u);
  Flush();  // Now the memtable is empty.
  for (int i = 0; i < 100; ++i) EXPECT_NE(Get(Row(i), "name"), "-");
  EXPECT_GT(store_->stats().memtable_skips, 280u);
}

TEST_F(Store, TombstonesAreDroppedAtTheLastLevelOnly) {
  PutRows(1);
  Compact();  // Into the last level.
  ASSERT_TRUE(store_->Delete(Row(0), "name").ok());
  Flush();
  EXPECT_EQ(store_->levels()[0].cells, 1u);  // It hides a value.
  Compact();
  EXPECT_EQ(store_->levels().back().cells, 1u);
  EXPECT_EQ(Get(Row(0), "name"), "-");
  ASSERT_TRUE(store_->Delete(Row(0), "year").ok());
  Compact();
  EXPECT_EQ(store_->levels().back().ssts, 0u);  // Nothing is left to write.
}

TEST_F(Store, CompactionRebuildsTheFilter) {
  PutRows(1000);
  Flush();
  const uint64_t before = store_->levels()[0].filter_bytes;
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 == 0) continue;
    ASSERT_TRUE(store_->Delete(Row(i), "name").ok());
    ASSERT_TRUE(store_->Delete(Row(i), "year").ok());
  }
  Compact();
  const LevelStats level = store_->levels().back();
  EXPECT_EQ(level.cells, 200u);
  EXPECT_LT(level.filter_bytes, before / 5);
}

TEST_F(Store, AFlushAndTheFirstGetOfAnAbsentCellReadNothing) {
  PutRows(1000);
  read_count = 0;
  Flush();
  EXPECT_EQ(Get(Row(500), "phone"), "-");
  EXPECT_EQ(read_count, 0);
  EXPECT_EQ(store_->stats().ssts_skipped, 1u);
  EXPECT_EQ(Get(Row(500), "name"), "n500");
  EXPECT_EQ(read_count, 1);  // The data block.
}

// 10 bits per key: about 1% of the gets, 10 of 1,000. The hashes are fixed.
TEST_F(Store, FiltersSaveReadsOfAbsentCellsAndRows) {
  PutRows(1000);
  Flush();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Get(Row(i), "phone"), "-");
    EXPECT_FALSE(*store_->RowExists(Row(i % 500) + "x"));
  }
  const Stats stats = store_->stats();
  // Some rows lie after the last one, where no filter is asked.
  EXPECT_GT(stats.ssts_considered, 1990u);
  EXPECT_LT(stats.reads.data_blocks, 60u);
  EXPECT_EQ(stats.reads.data_blocks,
            stats.ssts_considered - stats.ssts_skipped);
  EXPECT_EQ(stats.filters[FilterCounter::kLookups], stats.ssts_considered);
  EXPECT_EQ(stats.filters[FilterCounter::kNegatives], stats.ssts_skipped);
  EXPECT_EQ(stats.filters[FilterCounter::kFalsePositives],
            stats.reads.data_blocks);
  EXPECT_EQ(stats.filters[FilterCounter::kTruePositives], 0u);
}

TEST_F(Store, GetOfAPresentCellReadsOneBlockOfItsSst) {
  PutRows(1000);
  Flush();
  EXPECT_EQ(Get("row77", "name"), "n77");
  const Stats stats = store_->stats();
  EXPECT_EQ(stats.reads.data_blocks, 1u);
  EXPECT_GE(stats.reads.data_bytes, options_.block_size_bytes);
  EXPECT_LT(stats.reads.data_bytes, 2 * options_.block_size_bytes);
  EXPECT_EQ(stats.filters[FilterCounter::kTruePositives], 1u);
}

TEST_F(Store, WithoutFiltersEachSstIsRead) {
  options_.filter.bloom_type = rowbloom::BloomType::kNone;
  Reopen();
  PutRows(100);
  Flush();
  PutRows(100);
  Flush();
  EXPECT_EQ(Get("row5", "phone"), "-");
  EXPECT_EQ(store_->stats().reads.data_blocks, 2u);
  EXPECT_EQ(store_->levels()[0].filter_bytes, 0u);
}

TEST_F(Store, TheLogEndsAtARecordThatIsNotWholeAndNeedsItsFirst) {
  const std::string path = Path("LOG");
  const std::string none = ReadFile(path);
  Put("row", "name", "Ada");
  const std::string one = ReadFile(path);
  Put("row", "year", "1815");
  const std::string two = ReadFile(path);
  for (size_t at = one.size(); at < two.size(); ++at) {
    for (const std::string& log : {two.substr(0, at), Damaged(two, at)}) {
      WriteFile(path, log);
      Reopen();
      EXPECT_EQ(ReadFile(path), one);
      EXPECT_EQ(Get("row", "name"), "Ada");
      EXPECT_EQ(Get("row", "year"), "-");
      Put("row", "year", "1816");
      Reopen();
      EXPECT_EQ(Get("row", "year"), "1816");
    }
  }
  for (size_t at = 0; at < none.size(); ++at) {
    const std::string damaged = Damaged(two, at);
    WriteFile(path, damaged);
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ReadFile(path), damaged);  // Nothing was cut.
  }
}

TEST_F(Store, SstsWithoutALogAreLeftAlone) {
  PutRows(10);
  Flush();
  std::filesystem::remove(Path("LOG"));
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(std::filesystem::exists(Path("1.sst")));
}

TEST_F(Store, OneProcessAtATime) {
  EXPECT_EQ(MiniKv::Open(options_, directory_.path()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(Store, DamagedOrShortSstsAreNeverAWrongAnswer) {
  PutRows(10);
  Flush();
  const std::string good = ReadFile(Path("1.sst"));
  const LevelStats level = store_->levels()[0];
  store_.reset();
  for (uint64_t at = 0; at < good.size(); ++at) {
    WriteFile(Path("1.sst"), good.substr(0, at));
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
    if (at == level.data_bytes) at += level.filter_bytes;
    WriteFile(Path("1.sst"), Damaged(good, at));
    auto opened = MiniKv::Open(options_, directory_.path());
    const absl::Status status =
        opened.ok() ? (*opened)->Get("row5", "name").status() : opened.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << "byte " << at;
  }
}

TEST_F(Store, DamagedFilterCostsReadsAndLosesNothing) {
  PutRows(50);
  Flush();
  const std::string good = ReadFile(Path("1.sst"));
  const LevelStats level = store_->levels()[0];
  for (uint64_t at = 0; at < level.filter_bytes; ++at) {
    SCOPED_TRACE("byte " + std::to_string(at));
    WriteFile(Path("1.sst"), Damaged(good, level.data_bytes + at));
    Reopen();
    for (int i = 0; i < 50; i += 7) {
      EXPECT_EQ(Get(Row(i), "name"), "n" + std::to_string(i));
    }
    EXPECT_EQ(Get("row1", "phone"), "-");
    const Stats stats = store_->stats();
    EXPECT_NE(stats.unreadable_filters,
              stats.filters[FilterCounter::kLoadErrors] != 0);
    EXPECT_EQ(stats.ssts_skipped, 0u);
  }
}

TEST_F(Store, BadOptionsAreRefused) {
  options_.filter.chunk_size_bytes = 1;
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kInvalidArgument);
  options_ = Options();
  options_.filter_budget = rowbloom::FileBudgetOptions();
  options_.filter_budget->size_ratio = 0;
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kInvalidArgument);
  options_.filter_budget = rowbloom::FileBudgetOptions();
  options_.filter.filter_spec =
      rowbloom::FilterSpec::BitsPerKey("always_maybe", 10);
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Store, ABudgetGivesTheLastLevelTheFewestBitsAndKeepsTheTotal) {
  options_.filter.filter_spec = rowbloom::FilterSpec::BitsPerKey("compact", 10);
  options_.filter_budget = rowbloom::FileBudgetOptions();
  options_.memtable_size_bytes = 20000;
  options_.level1_size_bytes = 60000;
  Reopen();
  RandomCells random(1);
  for (int i = 0; i < 30000; ++i) {
    Put("row" + std::to_string(random.Below(1000000)), "name", "value");
    if (i == 15000) Reopen();
  }
  Flush();
  LevelStats all;
  std::vector<double> bits_per_cell;  // One for each level that has cells.
  for (const LevelStats& level : store_->levels()) {
    if (level.cells == 0) continue;
    bits_per_cell.push_back(BitsPerCell(level));
    all.filter_bytes += level.filter_bytes;
    all.cells += level.cells;
  }
  // A cell adds two keys, one of its row; a block has bytes besides its
  // filters.
  EXPECT_GT(BitsPerCell(all), 18);
  EXPECT_LT(BitsPerCell(all), 24);
  ASSERT_GE(bits_per_cell.size(), 3u);
  EXPECT_GT(bits_per_cell.front(), bits_per_cell.back() + 8);
}

TEST_F(Store, HitsOnlyHasNoFilterInTheLastLevelAndLosesNothing) {
  options_.filter_budget = rowbloom::FileBudgetOptions();
  options_.filter_budget->budget.mode = rowbloom::BudgetMode::kHitsOnly;
  options_.filter_budget->budget.memory = rowbloom::FilterMemory::BitsPerKey(1);
  Reopen();
  PutRows(100);
  Compact();
  Put("row5", "name", "newer");
  Flush();
  EXPECT_GT(store_->levels()[0].filter_bytes, 0u);
  EXPECT_EQ(store_->levels().back().filter_bytes, 0u);
  EXPECT_EQ(Get("row5", "name"), "newer");
  EXPECT_EQ(Get("row6", "name"), "n6");
  EXPECT_EQ(Get("row6", "none"), "-");
}

TEST_F(Store, FiltersOfManyStoresShareACache) {
  const auto cache = rowbloom::NewShardedLruCache({1 << 20});
  options_.filter_cache = cache.get();
  Reopen();
  PutRows(100);
  Flush();
  TempDirectory other_directory;
  auto other = *MiniKv::Open(options_, other_directory.path());
  ASSERT_TRUE(other->Put("row1", "phone", "mine").ok());
  ASSERT_TRUE(other->Flush().ok());
  EXPECT_EQ(Get("row1", "phone"), "-");
  EXPECT_EQ(other->Get("row1", "phone")->value_or("-"), "mine");
  EXPECT_EQ(cache->GetUsage().entry_count, 2u);  // A chunk each.
  other.reset();
  store_.reset();
  EXPECT_EQ(cache->GetUsage().entry_count, 0u);
}

}  // namespace
}  // namespace mini_kv
