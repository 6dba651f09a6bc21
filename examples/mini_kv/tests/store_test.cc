// SPDX-License-Identifier: Apache-2.0
//
// Tests the promises of the store, one promise in each test.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../manifest.h"
#include "../mini_kv.h"
#include "gtest/gtest.h"
#include "random_cells.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/key_codec.h"
#include "stopping_files.h"
#include "temp_directory.h"

namespace mini_kv {
namespace {

using rowbloom::FilterCounter;

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
  void Delete(const std::string& row, const std::string& qualifier) {
    ASSERT_TRUE(store_->Delete(row, qualifier).ok());
  }
  void Flush() { ASSERT_TRUE(store_->Flush().ok()); }
  void Compact() { ASSERT_TRUE(store_->Compact().ok()); }
  // "-" for an absent cell.
  std::string Get(const std::string& row, const std::string& qualifier) {
    const auto value = store_->Get(row, qualifier);
    if (!value.ok()) return value.status().ToString();
    return value->value_or("-");
  }
  std::string Path(const std::string& name) const {
    return directory_.path() + "/" + name;
  }
  // The path of the one file with this extension.
  std::string OnlyPath(const std::string& extension) const {
    std::string found;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().extension() != extension) continue;
      EXPECT_EQ(found, "");
      found = entry.path();
    }
    return found;
  }
  uint64_t Cells() const {
    uint64_t cells = 0;
    for (const LevelStats& level : store_->levels()) cells += level.cells;
    return cells;
  }
  // Rows row0 to row<count-1>, each with two columns.
  void PutRows(int count) {
    for (int i = 0; i < count; ++i) {
      Put("row" + std::to_string(i), "name", "n" + std::to_string(i));
      Put("row" + std::to_string(i), "year", "y" + std::to_string(i));
    }
  }

  Options options_;
  TempDirectory directory_;
  std::unique_ptr<MiniKv> store_;
};

TEST_F(Store, TheMemtablesFilterSparesSearchesForWhatItDoesNotHave) {
  for (int i = 0; i < 100; ++i) Put("row" + std::to_string(i), "q", "v");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get("row" + std::to_string(i), "q"), "v");
    EXPECT_TRUE(*store_->RowExists("row" + std::to_string(i)));
  }
  EXPECT_EQ(store_->stats().memtable_skips, 0u);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get("row" + std::to_string(i), "absent"), "-");
    EXPECT_FALSE(*store_->RowExists("absent" + std::to_string(i)));
  }
  EXPECT_GT(store_->stats().memtable_skips, 180u);
  Flush();  // Now the memtable is empty.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Get("row" + std::to_string(i), "q"), "v");
  }
  EXPECT_GT(store_->stats().memtable_skips, 280u);
}

TEST_F(Store, FiltersRuleOutSstsForAbsentPrefixesOfEachLevel) {
  const auto name = [](const char* kind, int i) {
    return kind + std::to_string(100 + i) + "/";
  };
  for (const bool has_key_codec : {false, true}) {
    options_.filter.key_codec.reset();
    if (has_key_codec) {
      options_.filter.key_codec = *rowbloom::KeyCodec::Parse(
          "tenant.delimiter:/,user.delimiter:/,row.rest");
    }
    TempDirectory directory;
    store_ = *MiniKv::Open(options_, directory.path());
    // Even tenants and users, in each of three SSTs.
    for (int sst = 0; sst < 3; ++sst) {
      for (int tenant = 0; tenant < 40; tenant += 2) {
        for (int user = 0; user < 20; user += 2) {
          Put(name("t", tenant) + name("u", user) + std::to_string(sst), "q",
              "v");
        }
      }
      Flush();
    }
    uint64_t asked = 0;
    for (int tenant = 0; tenant < 38; tenant += 2) {
      int rows = 0;
      ASSERT_TRUE(store_
                      ->ScanPrefix(name("t", tenant),
                                   [&](const Cell&) { return ++rows > 0; })
                      .ok());
      EXPECT_EQ(rows, 30);
      EXPECT_TRUE(*store_->PrefixExists(name("t", tenant) + name("u", 4)));
    }
    const uint64_t before = store_->stats().reads.data_blocks;
    for (int tenant = 0; tenant < 38; tenant += 2) {
      EXPECT_FALSE(*store_->PrefixExists(name("t", tenant + 1)));
      EXPECT_FALSE(*store_->PrefixExists(name("t", tenant) +
                                         name("u", tenant / 4 * 2 + 1)));
      asked += 2;
    }
    const uint64_t reads = store_->stats().reads.data_blocks - before;
    if (has_key_codec) {
      EXPECT_LT(reads, asked / 5);
    } else {
      EXPECT_GE(reads, 3 * asked);
    }
    EXPECT_EQ(store_->Verify(), absl::OkStatus());
    store_.reset();
  }
}

TEST_F(Store, TombstonesAreDroppedAtTheLastLevelOnly) {
  PutRows(10);
  Compact();  // Into level 1.
  Delete("row5", "name");
  Flush();
  EXPECT_EQ(Cells(), 21u);  // 20 values and the tombstone that hides one.
  Compact();
  EXPECT_EQ(Cells(), 19u);
  EXPECT_EQ(Get("row5", "name"), "-");
}

TEST_F(Store, CompactionRebuildsTheFilter) {
  PutRows(1000);
  Flush();
  const uint64_t before = store_->levels()[0].filter_bytes;
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 != 0) Delete("row" + std::to_string(i), "name");
    if (i % 10 != 0) Delete("row" + std::to_string(i), "year");
  }
  Compact();
  const LevelStats level = store_->levels()[1];
  EXPECT_EQ(level.cells, 200u);
  EXPECT_LT(level.filter_bytes, before / 5);
  EXPECT_TRUE(store_->Verify().ok());
}

// 10 bits per key: about 1% of the gets, 10 of 1,000. The hashes are fixed.
TEST_F(Store, FiltersSaveReadsOfAbsentCellsAndRows) {
  PutRows(1000);
  Flush();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Get("row" + std::to_string(i), "phone"), "-");
    EXPECT_FALSE(*store_->RowExists("row" + std::to_string(i % 500) + "x"));
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

TEST_F(Store, ScanIsInOrderAndStopsWhenTold) {
  PutRows(20);
  Flush();
  Delete("row11", "name");
  std::string seen;
  ASSERT_TRUE(store_
                  ->Scan("row10",
                         [&](const Cell& cell) {
                           seen += std::string(*cell.value) + " ";
                           return cell.key.row != "row12";
                         })
                  .ok());
  EXPECT_EQ(seen, "n10 y10 y11 n12 ");
}

TEST_F(Store, TornLogTailIsCutAtEveryByte) {
  Put("row", "name", "Ada");
  const std::string wal = OnlyPath(".wal");
  const std::string one = ReadFile(wal);
  Put("row", "year", "1815");
  const std::string two = ReadFile(wal);
  for (size_t size = one.size(); size < two.size(); ++size) {
    store_.reset();
    WriteFile(wal, two.substr(0, size));
    Reopen();
    EXPECT_EQ(store_->stats().cut_wal_bytes, size - one.size());
    EXPECT_EQ(ReadFile(wal), one);
    EXPECT_EQ(Get("row", "name"), "Ada");
    EXPECT_EQ(Get("row", "year"), "-");
    Put("row", "year", "1816");
    Reopen();
    EXPECT_EQ(Get("row", "year"), "1816");
  }
}

TEST_F(Store, DamagedLastRecordIsATornTail) {
  Put("row", "name", "Ada");
  Put("row", "year", "1815");
  const std::string wal = OnlyPath(".wal");
  std::string log = ReadFile(wal);
  log.back() ^= 1;
  store_.reset();
  WriteFile(wal, log);
  Reopen();
  EXPECT_EQ(Get("row", "name"), "Ada");
  EXPECT_EQ(Get("row", "year"), "-");
}

TEST_F(Store, LogTailOfZerosIsDataLossUnlessShorterThanAHeader) {
  constexpr size_t kHeaderSize = 12;
  Put("row", "name", "Ada");
  store_.reset();
  const std::string wal = OnlyPath(".wal");
  const std::string log = ReadFile(wal);
  for (const size_t zeros : {kHeaderSize, size_t{100}, size_t{4096}}) {
    WriteFile(wal, log + std::string(zeros, '\0'));
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss) << zeros;
  }
  WriteFile(wal, log + std::string(kHeaderSize - 1, '\0'));
  Reopen();
  EXPECT_EQ(ReadFile(wal), log);
  EXPECT_EQ(Get("row", "name"), "Ada");
}

TEST_F(Store, DamagedRecordBeforeOthersIsDataLoss) {
  Put("row", "name", "Ada");
  const size_t first = ReadFile(OnlyPath(".wal")).size();
  Put("row", "year", "1815");
  const std::string wal = OnlyPath(".wal");
  const std::string log = ReadFile(wal);
  for (size_t at = 0; at < first; ++at) {
    std::string damaged = log;
    damaged[at] ^= 1;
    WriteFile(wal, damaged);
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ReadFile(wal), damaged);  // Nothing was cut.
  }
}

TEST_F(Store, FilesThatTheManifestDoesNotNameAreRemoved) {
  PutRows(10);
  Flush();
  const std::string sst = ReadFile(OnlyPath(".sst"));
  WriteFile(Path("000098.sst"), sst);  // Complete, but it is not the store's.
  WriteFile(Path("000099.sst"), sst.substr(0, sst.size() / 2));
  WriteFile(Path("000097.wal"), "");
  WriteFile(Path("MANIFEST.tmp"), "mini_kv 1\n");
  WriteFile(Path("notes.txt"), "not a file of the store");
  Reopen();
  EXPECT_EQ(ReadFile(OnlyPath(".sst")), sst);
  EXPECT_FALSE(std::filesystem::exists(Path("000097.wal")));
  EXPECT_FALSE(std::filesystem::exists(Path("MANIFEST.tmp")));
  EXPECT_TRUE(std::filesystem::exists(Path("notes.txt")));
  EXPECT_EQ(Get("row5", "name"), "n5");
}

TEST_F(Store, DamagedFilterCostsReadsAndLosesNothing) {
  PutRows(50);
  Flush();
  const std::string path = OnlyPath(".sst");
  const std::string good = ReadFile(path);
  const LevelStats level = store_->levels()[0];
  const uint64_t end = level.data_bytes + level.filter_bytes;
  for (uint64_t at = level.data_bytes; at < end; ++at) {
    std::string bad = good;
    bad[at] ^= 0x10;
    WriteFile(path, bad);
    Reopen();
    for (int i = 0; i < 50; i += 7) {
      EXPECT_EQ(Get("row" + std::to_string(i), "name"),
                "n" + std::to_string(i));
    }
    EXPECT_EQ(Get("row1", "phone"), "-");
    const Stats stats = store_->stats();
    EXPECT_EQ(stats.unreadable_filters +
                  (stats.filters[FilterCounter::kLoadErrors] != 0),
              1u)
        << "byte " << at - level.data_bytes;
    EXPECT_EQ(stats.ssts_skipped, 0u);
    EXPECT_EQ(store_->Verify().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(Store, FilterOfAnotherSstIsNotUsed) {
  PutRows(50);
  Flush();
  const std::string path = OnlyPath(".sst");
  std::string sst = ReadFile(path);
  const LevelStats own = store_->levels()[0];
  // A sound file of the same size with one cell less.
  TempDirectory other_directory;
  auto other = *MiniKv::Open(options_, other_directory.path());
  for (int i = 0; i < 49; ++i) {
    for (const char* qualifier : {"name", "year"}) {
      ASSERT_TRUE(other->Put("row" + std::to_string(i), qualifier, "").ok());
    }
  }
  ASSERT_TRUE(other->Put("row9", "yeas", "").ok());
  ASSERT_TRUE(other->Flush().ok());
  const LevelStats theirs = other->levels()[0];
  ASSERT_EQ(own.filter_bytes, theirs.filter_bytes);
  sst.replace(own.data_bytes, own.filter_bytes,
              ReadFile(other_directory.path() + "/000002.sst")
                  .substr(theirs.data_bytes, theirs.filter_bytes));
  store_.reset();
  WriteFile(path, sst);
  Reopen();
  EXPECT_EQ(store_->stats().unreadable_filters, 1u);
  EXPECT_EQ(Get("row49", "year"), "y49");
}

TEST_F(Store, DamagedDataIsNeverAWrongAnswer) {
  PutRows(10);
  Flush();
  const std::string path = OnlyPath(".sst");
  const std::string good = ReadFile(path);
  const LevelStats level = store_->levels()[0];
  store_.reset();
  for (uint64_t at = 0; at < good.size(); ++at) {
    if (at == level.data_bytes) at += level.filter_bytes;
    std::string bad = good;
    bad[at] ^= 0x10;
    WriteFile(path, bad);
    auto opened = MiniKv::Open(options_, directory_.path());
    const absl::Status status =
        opened.ok() ? (*opened)->Get("row5", "name").status() : opened.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << "byte " << at;
  }
}

TEST_F(Store, ShortSstIsDataLoss) {
  PutRows(10);
  Flush();
  const std::string path = OnlyPath(".sst");
  const std::string good = ReadFile(path);
  for (size_t size = 0; size < good.size(); ++size) {
    WriteFile(path, good.substr(0, size));
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(Store, DamagedManifestIsDataLoss) {
  PutRows(10);
  Flush();
  const std::string good = ReadFile(Path(kManifestName));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    WriteFile(Path(kManifestName), bad);
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
    WriteFile(Path(kManifestName), good.substr(0, at));
    EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(Store, FilesWithoutAManifestAreLeftAlone) {
  PutRows(10);
  const std::string wal = OnlyPath(".wal");
  std::filesystem::remove(Path(kManifestName));
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(std::filesystem::file_size(wal), 0u);
}

TEST_F(Store, OneAtATime) {
  EXPECT_EQ(MiniKv::Open(options_, directory_.path()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(Store, StoreThatIsNotThereIsMadeOnlyIfAsked) {
  options_.create_if_missing = false;
  EXPECT_EQ(MiniKv::Open(options_, Path("none")).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(Path("none")));
}

TEST_F(Store, CellsThatAreTooLargeAreRefused) {
  const std::string large(kMaxKeySize / 2 + 1, 'x');
  EXPECT_EQ(store_->Put(large, large, "").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->Put("", "", std::string(kMaxValueSize + 1, 'x')).code(),
            absl::StatusCode::kInvalidArgument);
  Put(large, "", std::string(kMaxValueSize, 'x'));
  Flush();
  Reopen();
  EXPECT_EQ(Get(large, "").size(), kMaxValueSize);
}

TEST_F(Store, BadOptionsAreRefused) {
  options_.level0_file_limit = 0;
  EXPECT_EQ(OpenError().code(), absl::StatusCode::kInvalidArgument);
  options_ = Options();
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
  options_.file_size_bytes = 20000;
  options_.level1_size_bytes = 60000;
  Reopen();
  RandomCells random(1);
  for (int i = 0; i < 30000; ++i) {
    Put("row" + std::to_string(random.Below(1000000)), "name", "value");
    if (i == 15000) Reopen();
  }
  Flush();
  double bits = 0;
  double cells = 0;
  std::vector<double> bits_per_cell;
  for (const LevelStats& level : store_->levels()) {
    if (level.cells == 0) continue;
    const double level_bits = 8 * static_cast<double>(level.filter_bytes);
    bits_per_cell.push_back(level_bits / static_cast<double>(level.cells));
    bits += level_bits;
    cells += static_cast<double>(level.cells);
  }
  // A cell adds two keys, one of its row; a block has bytes besides its
  // filters.
  EXPECT_GT(bits / cells, 18);
  EXPECT_LT(bits / cells, 24);
  ASSERT_GE(bits_per_cell.size(), 3u);
  EXPECT_GT(bits_per_cell.front(), bits_per_cell.back() + 8);
  EXPECT_TRUE(store_->Verify().ok());
  const auto waste = store_->FilterWaste();
  EXPECT_NEAR(waste->bits_per_key, 10, 2);
  EXPECT_GT(waste->percent_of_optimum(), 60);
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
  const std::vector<LevelStats> levels = store_->levels();
  EXPECT_GT(levels[0].filter_bytes, 0u);
  EXPECT_EQ(levels[1].filter_bytes, 0u);
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
  ASSERT_TRUE(other->Put("row1", "a", "").ok());
  ASSERT_TRUE(other->Put("row1", "phone", "mine").ok());
  ASSERT_TRUE(other->Put("row99", "a", "").ok());
  ASSERT_TRUE(other->Flush().ok());
  EXPECT_EQ(Get("row1", "phone"), "-");
  EXPECT_EQ(other->Get("row1", "phone")->value_or("-"), "mine");
  EXPECT_EQ(cache->GetUsage().entry_count, 4u);  // A chunk and an index each.
  other.reset();
  store_.reset();
  EXPECT_EQ(cache->GetUsage().entry_count, 0u);
}

TEST_F(Store, SyncedLogHoldsTheSame) {
  options_.sync_wal = true;
  Reopen();
  PutRows(20);
  Reopen();
  EXPECT_EQ(Get("row19", "year"), "y19");
}

// Files whose names are durable once their directory is synced.
class LaggingFiles : public Files {
 public:
  // Fails as if the process died after its next rename.
  void FailAfterRename() { fails_after_rename_ = true; }
  void LosePower() {
    for (const auto& [path, bytes] : lost_) WriteFile(path, bytes);
    lost_.clear();
  }

  absl::Status Rename(const std::string& from, const std::string& to) override {
    Lose(to);
    const absl::Status status = Files::Rename(from, to);
    return std::exchange(fails_after_rename_, false)
               ? absl::AbortedError("stopped")
               : status;
  }
  absl::Status Remove(const std::string& path) override {
    Lose(path);
    return Files::Remove(path);
  }
  absl::Status SyncDirectory(const std::string& path) override {
    lost_.clear();
    return Files::SyncDirectory(path);
  }

 private:
  void Lose(const std::string& path) {
    if (std::filesystem::exists(path)) lost_.emplace(path, ReadFile(path));
  }

  bool fails_after_rename_ = false;
  std::map<std::string, std::string>
      lost_;  // Files that come back after a loss of power.
};

TEST(StoreThatStops, BeforeItsManifestIsDurableLosesNoSyncedWriteOfTheNext) {
  const TempDirectory directory;
  LaggingFiles files;
  Options options;
  options.files = &files;
  options.sync_wal = true;
  auto store = *MiniKv::Open(options, directory.path());
  ASSERT_TRUE(store->Put("row1", "name", "n1").ok());
  files.FailAfterRename();
  ASSERT_FALSE(store->Flush().ok());
  for (const char* row : {"row2", "row3"}) {
    store.reset();
    store = *MiniKv::Open(options, directory.path());
    ASSERT_TRUE(store->Put(row, "name", "n").ok());
  }
  store.reset();
  files.LosePower();
  store = *MiniKv::Open(options, directory.path());
  for (const char* row : {"row1", "row2", "row3"}) {
    EXPECT_TRUE(store->Get(row, "name")->has_value()) << row;
  }
}

// Each file operation of flushes and compactions is the last one once; half of
// an append is written. The next store finds every acknowledged write, as after
// the end of a process.
TEST(StoreThatStops, AtAnyFileOperationLosesNothing) {
  constexpr int kWrites = 1200;
  bool stopped = true;
  for (uint64_t stop_at = 1; stopped; ++stop_at) {
    const TempDirectory directory;
    Options options = SmallOptions();
    StoppingFiles files(stop_at, [](const std::string&) {});
    options.files = &files;
    RandomCells random(stop_at % 3);
    Model model;
    std::optional<RandomWrite> failed;
    if (auto store = MiniKv::Open(options, directory.path()); store.ok()) {
      for (int i = 0; i < kWrites && !failed; ++i) {
        const RandomWrite write = random.Write();
        if (Apply(write, store->get()).ok()) {
          Apply(write, &model);
        } else {
          failed = write;
        }
      }
      if (failed) {
        // Until it is opened again it refuses writes, and reads.
        EXPECT_FALSE(Apply(*failed, store->get()).ok());
        EXPECT_EQ(*Contents(store->get()), model);
      }
    }
    stopped = files.stopped();
    options.files = nullptr;
    auto store = MiniKv::Open(options, directory.path());
    ASSERT_TRUE(store.ok()) << store.status() << " operation " << stop_at;
    EXPECT_EQ(*Contents(store->get()), model) << "operation " << stop_at;
    const absl::Status verified = (*store)->Verify();
    EXPECT_TRUE(verified.ok()) << verified << " operation " << stop_at;
    EXPECT_EQ((*store)->stats().unreadable_filters, 0u);
    if (!stopped) {
      // These are enough operations to meet every kind.
      EXPECT_GT(stop_at, 200u);
      EXPECT_GT((*store)->levels()[2].ssts, 0u);
    }
  }
}

}  // namespace
}  // namespace mini_kv
