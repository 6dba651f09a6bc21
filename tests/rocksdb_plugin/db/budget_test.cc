// SPDX-License-Identifier: Apache-2.0
//
// Tests a budget for the tree inside RocksDB: the total size of live filters.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "budget/live_tree.h"
#include "gtest/gtest.h"
#include "rocksdb/convenience.h"
#include "rocksdb_plugin/budget_db.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::testing {
namespace {

constexpr double kBits = 10;
constexpr size_t kKeysOfFlush = 2048;

RocksDbOptions NativeOptions() {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRow;
  options.key_codec = KeyCodec::FixedRow(16);
  options.filter_spec = FilterSpec::BitsPerKey("compact", kBits);
  options.budget = BudgetMode::kBalanced;
  return options;
}

std::shared_ptr<const rdb::FilterPolicy> Native() {
  return NewRocksDbFilterPolicy(NativeOptions());
}

std::shared_ptr<const rdb::FilterPolicy> ComposedPolicy() {
  return NewRocksDbComposedPolicy({});
}

enum class Inserts {
  kRandom,
  kAppend,
  kMixed,         // Four of five keys of each flush sort behind all others.
  kMostlyAppend,  // Four of five flushes do; their SSTs are mostly moved.
  kIngest,
};

class Workload {
 public:
  explicit Workload(Inserts inserts) : inserts_(inserts) {}

  void Next(BudgetDb* db) {
    switch (inserts_) {
      case Inserts::kRandom:
        db->Write(Keys(kKeysOfFlush, 0));
        break;
      case Inserts::kAppend:
        db->Write(Keys(0, kKeysOfFlush));
        break;
      case Inserts::kMixed:
        db->Write(Keys(kKeysOfFlush / 5, kKeysOfFlush * 4 / 5));
        break;
      case Inserts::kMostlyAppend:
        db->Write(turn_ % 5 == 4 ? Keys(kKeysOfFlush, 0)
                                 : Keys(0, kKeysOfFlush));
        break;
      case Inserts::kIngest:
        if (turn_ % 3 == 2) {
          db->Ingest(Keys(0, kKeysOfFlush));
        } else {
          db->Write(Keys(kKeysOfFlush, 0));
        }
        break;
    }
    ++turn_;
  }

 private:
  // Returns keys anywhere and keys behind all others, in rising order.
  std::vector<uint64_t> Keys(size_t anywhere, size_t behind) {
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < anywhere; ++i) keys.push_back(random_() % last_);
    for (size_t i = 0; i < behind; ++i) {
      keys.push_back(last_ += 1 + random_() % (uint64_t{1} << 38));
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
  }

  const Inserts inserts_;
  std::mt19937_64 random_{20261122};
  uint64_t last_ = uint64_t{1} << 50;
  size_t turn_ = 0;
};

struct Held {
  double mean = 0;  // Bits per key of live filters, in the second half.
  double most = 0;  // Their maximum after the first tenth.
};

Held Grow(BudgetDb* db, Inserts inserts, size_t flushes) {
  Workload workload(inserts);
  Held held;
  size_t count = 0;
  for (size_t i = 0; i < flushes && !::testing::Test::HasFailure(); ++i) {
    workload.Next(db);
    if (i < flushes / 10) continue;
    const double bits = db->Measure().bits_per_key;
    held.most = std::max(held.most, bits);
    if (i < flushes / 2) continue;
    held.mean += bits;
    ++count;
  }
  held.mean /= static_cast<double>(std::max<size_t>(count, 1));
  return held;
}

// A claim of docs/memory_budget.md about trees that grow.
struct Case {
  const char* name;
  bool is_dynamic;
  bool is_universal;
  Inserts inserts;
  bool is_native;
};

class DbBudgetHeld : public ::testing::TestWithParam<Case> {};

TEST_P(DbBudgetHeld, OnAverage) {
  const Case& c = GetParam();
  BudgetDb db;
  db.options.level_compaction_dynamic_level_bytes = c.is_dynamic;
  if (c.is_universal) {
    db.options.compaction_style = rdb::kCompactionStyleUniversal;
  }
  db.Open(c.is_native ? Native() : ComposedPolicy(), /*with_listener=*/true);
  const Held held = Grow(&db, c.inserts, 80);
  EXPECT_LE(held.mean, 1.05 * kBits);
  // Few SSTs of a small dynamic tree are written again: most are moved.
  EXPECT_LE(held.most, (c.is_dynamic ? 1.1 : 1.03) * kBits);
  EXPECT_GE(held.mean, 0.9 * kBits);
}

INSTANTIATE_TEST_SUITE_P(
    , DbBudgetHeld,
    ::testing::Values(
        Case{"static_random", false, false, Inserts::kRandom, true},
        Case{"static_mixed", false, false, Inserts::kMixed, false},
        Case{"static_ingest", false, false, Inserts::kIngest, true},
        Case{"static_moves", false, false, Inserts::kMostlyAppend, true},
        Case{"dynamic_append", true, false, Inserts::kAppend, true},
        Case{"dynamic_moves", true, false, Inserts::kMostlyAppend, false},
        Case{"universal_random", false, true, Inserts::kRandom, true}),
    [](const ::testing::TestParamInfo<Case>& param) {
      return std::string(param.param.name);
    });

// From the second compaction on, small or large as the last level may be beside
// the one above. Without a listener all SSTs have the average.
TEST(DbBudget, HoldsAtAnySizeRatio) {
  for (const bool with_listener : {false, true}) {
    for (const bool is_dynamic : {false, true}) {
      for (const double ratio : {3.0, 5.0, 10.0}) {
        BudgetDb db;
        db.options.level_compaction_dynamic_level_bytes = is_dynamic;
        db.options.max_bytes_for_level_multiplier = ratio;
        db.Open(Native(), with_listener);
        Workload workload(Inserts::kRandom);
        for (int i = 0; i < 60; ++i) {
          workload.Next(&db);
          if (i < 2 * db.options.level0_file_num_compaction_trigger) continue;
          const double bits = db.Measure().bits_per_key;
          EXPECT_LE(bits, 1.05 * kBits)
              << (is_dynamic ? "dynamic " : "static ") << ratio << ' ' << i;
          EXPECT_GE(bits, 0.93 * kBits) << ratio << ' ' << i;
        }
      }
    }
  }
}

TEST(DbBudget, HitsOnlyHoldsItsBudget) {
  constexpr double kHitsOnlyBits = 0.6;
  RocksDbOptions options = NativeOptions();
  options.budget = BudgetMode::kHitsOnly;
  options.budget_bits_per_key = kHitsOnlyBits;
  for (const bool is_dynamic : {false, true}) {
    BudgetDb db;
    db.options.level_compaction_dynamic_level_bytes = is_dynamic;
    db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
    const double held = Grow(&db, Inserts::kRandom, 80).mean / kHitsOnlyBits;
    EXPECT_LE(held, 1);
    EXPECT_GE(held, 0.7);
  }
}

std::vector<uint64_t> Sequence(uint64_t first, size_t count, uint64_t step) {
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back(first + i * step);
  return keys;
}

// Writes this many flushes, whose keys interleave.
void Fill(BudgetDb* db, size_t flushes) {
  for (size_t i = 0; i < flushes; ++i) {
    db->Write(Sequence(i, kKeysOfFlush, flushes));
  }
}

TEST(DbBudget, KeysAreFoundAtEveryLevel) {
  for (const bool is_native : {true, false}) {
    BudgetDb db;
    db.Open(is_native ? Native() : ComposedPolicy(), /*with_listener=*/true);
    constexpr size_t kFlushes = 20;
    Fill(&db, kFlushes);
    for (uint64_t number = 0; number < kFlushes * kKeysOfFlush; ++number) {
      std::string value;
      ASSERT_TRUE(db->Get({}, BudgetDb::Key(number), &value).ok()) << number;
    }
  }
}

// Rewrites the bottommost files; returns the bits per key of the new ones.
double BitsOfBottomAfter(BudgetDb* db, rdb::ColumnFamilyHandle* handle) {
  rdb::CompactRangeOptions compact;
  compact.bottommost_level_compaction = rdb::BottommostLevelCompaction::kForce;
  EXPECT_TRUE((*db)->CompactRange(compact, handle, nullptr, nullptr).ok());
  return db->Measure(handle).bits_per_key;
}

TEST(DbBudget, ABudgetInBytesIsKeptAsTheTreeGrows) {
  RocksDbOptions options = NativeOptions();
  options.budget_bytes = 40000;
  BudgetDb db;
  db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
  Workload workload(Inserts::kRandom);
  for (int i = 0; i < 20; ++i) workload.Next(&db);
  // 40,000 bytes would be 10 bits for each of 32,000 keys.
  EXPECT_LT(db.Measure().bits_per_key, 9.5);
  for (int i = 0; i < 30; ++i) workload.Next(&db);
  const BudgetDb::Filters filters = db.Measure();
  EXPECT_NEAR(filters.bits_per_key * static_cast<double>(filters.key_count) / 8,
              40000, 6000);
}

// A compaction of all runs does not pay back what the newer ones have above the
// average, but leaves room for those that come after it.
TEST(DbBudget, HoldsIfTheWholeTreeIsCompacted) {
  for (const bool is_universal : {false, true}) {
    for (const double bits : {2.0, 10.0}) {
      RocksDbOptions options = NativeOptions();
      options.budget_bits_per_key = bits;
      BudgetDb db;
      if (is_universal) {
        db.options.compaction_style = rdb::kCompactionStyleUniversal;
      }
      db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
      Workload workload(Inserts::kRandom);
      for (int i = 0; i < 10; ++i) workload.Next(&db);
      for (int i = 0; i < 2; ++i) {
        workload.Next(&db);
        const double held = BitsOfBottomAfter(&db, db->DefaultColumnFamily());
        EXPECT_LE(held, 1.05 * bits);
        EXPECT_GE(held, (bits < 10 ? 0.7 : 0.88) * bits);
      }
    }
  }
}

TEST(DbBudget, AnOpenedDatabaseIsLearnedFromItsFiles) {
  BudgetDb db;
  RocksDbOptions twice = NativeOptions();
  twice.filter_spec = FilterSpec::BitsPerKey("compact", 14);
  twice.budget = BudgetMode::kFixed;
  db.Open(NewRocksDbFilterPolicy(twice), /*with_listener=*/false);
  Fill(&db, 8);
  EXPECT_NEAR(db.Measure().bits_per_key, 14, 0.5);
  // Who knows the keys of the files keeps to a budget in bytes.
  RocksDbOptions limited = NativeOptions();
  limited.budget_bytes = db.Measure().key_count;  // 8 bits per key.
  db.Open(NewRocksDbFilterPolicy(limited), /*with_listener=*/true);
  const double with_listener =
      BitsOfBottomAfter(&db, db->DefaultColumnFamily());
  db.Open(NewRocksDbFilterPolicy(twice), /*with_listener=*/false);
  BitsOfBottomAfter(&db, db->DefaultColumnFamily());
  db.Open(NewRocksDbFilterPolicy(limited), /*with_listener=*/false);
  const double without = BitsOfBottomAfter(&db, db->DefaultColumnFamily());
  EXPECT_LT(with_listener, without - 1);
}

// Writes and compacts one flush; returns the bits per key of its filter.
double BitsOfOneFlush(BudgetDb* db, rdb::ColumnFamilyHandle* handle) {
  for (uint64_t i = 0; i < kKeysOfFlush; ++i) {
    EXPECT_TRUE((*db)->Put({}, handle, BudgetDb::Key(i), "value").ok());
  }
  EXPECT_TRUE((*db)->Flush({}, handle).ok());
  return BitsOfBottomAfter(db, handle);
}

// One policy and one listener serve column families that differ, and another
// database; each has its own live tree.
TEST(DbBudget, ColumnFamiliesAndDatabasesShareAPolicy) {
  BudgetDb lone;
  lone.Open(Native(), /*with_listener=*/true);
  const double alone = BitsOfOneFlush(&lone, lone->DefaultColumnFamily());
  RocksDbOptions options = NativeOptions();
  options.budget_bytes = 20000;  // 4 bits per key of 20 flushes.
  const auto policy = NewRocksDbFilterPolicy(options);
  BudgetDb db;
  db.Open(policy, /*with_listener=*/true);
  Fill(&db, 20);
  EXPECT_LT(BitsOfBottomAfter(&db, db->DefaultColumnFamily()), alone - 4);
  rdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(db.options, "other", &other).ok());
  EXPECT_NEAR(BitsOfOneFlush(&db, other), alone, 0.1);
  BudgetDb second;
  second.options.listeners = db.options.listeners;
  second.Open(policy, /*with_listener=*/true);
  EXPECT_NEAR(BitsOfOneFlush(&second, second->DefaultColumnFamily()), alone,
              0.1);
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
}

// A new column family of its name is another tree, once the list of files has
// been read.
TEST(DbBudget, ADroppedColumnFamilyIsForgotten) {
  BudgetDb db;
  db.Open(Native(), /*with_listener=*/true);
  for (int i = 0; i < 3; ++i) {
    rdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db.options, "brief", &family).ok());
    const double bits = BitsOfOneFlush(&db, family);
    EXPECT_GT(bits, kBits - 3);
    EXPECT_LT(bits, 1.4 * kBits);
    ASSERT_TRUE(db->DropColumnFamily(family).ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
}

TEST(DbBudget, AReopenedDatabaseGoesOn) {
  BudgetDb db;
  Workload workload(Inserts::kRandom);
  for (int i = 0; i < 4; ++i) {
    db.Open(Native(), /*with_listener=*/true);
    for (int j = 0; j < 10; ++j) workload.Next(&db);
  }
  EXPECT_NEAR(db.Measure().bits_per_key, kBits, 1);
}

TEST(DbBudget, OptionsFilesKeepPolicyAndListener) {
  RegisterRocksDb();
  BudgetDb db;
  RocksDbOptions options = NativeOptions();
  options.budget_bytes = 123456;
  db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
  rdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  const rdb::Options loaded = db.LoadOptions(config);
  ASSERT_EQ(loaded.listeners.size(), 1);
  EXPECT_STREQ(loaded.listeners[0]->Name(), "rowbloom.BudgetListener");
  const auto expected = ExpectedRocksDbFilter(loaded);
  ASSERT_TRUE(expected.rowbloom.has_value());
  EXPECT_EQ(expected.rowbloom->budget, BudgetMode::kBalanced);
  EXPECT_EQ(expected.rowbloom->budget_bytes, 123456);
}

// RocksDB before 9.9 tells no properties of what a remote worker has written.
TEST(DbBudget, ACompactionMayTellNoProperties) {
  BudgetDb db;
  db.Open(Native(), /*with_listener=*/true);
  db.Write({1, 2, 3});
  rdb::CompactionJobInfo info;
  info.cf_name = rdb::kDefaultColumnFamilyName;
  info.cf_id = 0;
  info.output_files = {"/000099.sst"};
  info.output_file_infos.emplace_back();
  info.output_file_infos[0].file_number = 99;
  info.table_properties["/000099.sst"] = nullptr;
  db.options.listeners[0]->OnCompactionCompleted(db.get(), info);
  const auto tree =
      plugin::LiveTrees::Find(*db.get(), *db->DefaultColumnFamily());
  ASSERT_NE(tree, nullptr);
  db.Write({4});  // Lists the SSTs.
  EXPECT_EQ(tree->ViewFor({0, true})->live.key_count, 4);
}

// Moves all SSTs to level 2, which RocksDB does not report, and writes until
// the listener has listed them: it pauses between lists.
void MoveToLevel2(BudgetDb* db) {
  rdb::CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 2;
  move.bottommost_level_compaction = rdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db->get()->CompactRange(move, nullptr, nullptr).ok());
  const auto tree =
      plugin::LiveTrees::Find(*db->get(), *db->get()->DefaultColumnFamily());
  ASSERT_NE(tree, nullptr);
  constexpr int kTurns = 200;
  for (int i = 0; i < kTurns && tree->ViewFor({1, false})->level_count < 3;
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    db->Write({1});
  }
  EXPECT_EQ(tree->ViewFor({1, false})->level_count, 3);
}

TEST(DbBudget, CompactRangeMayChangeTheLevel) {
  BudgetDb db;
  db.options.num_levels = 4;
  db.options.disable_auto_compactions = true;
  RocksDbOptions options = NativeOptions();
  options.budget = BudgetMode::kHitsOnly;
  db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
  std::vector<uint64_t> numbers(20000);
  for (uint64_t i = 0; i < numbers.size(); ++i) numbers[i] = 2 * i;
  db.Write(numbers);
  MoveToLevel2(&db);
  ASSERT_TRUE(db->EnableAutoCompaction({db->DefaultColumnFamily()}).ok());
  for (const uint64_t odd : {1, 3}) {
    for (uint64_t& number : numbers) number = 10 * (number / 10) + odd;
    db.Write({numbers.begin(), numbers.begin() + 2000});
  }
  const auto report = VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  std::map<int, double> bits;
  for (const RocksDbFilterFile& file : report->files) {
    bits[file.level] = file.bits_per_key();
  }
  EXPECT_EQ(bits[2], 0) << "gets find their key there at the latest";
  EXPECT_GT(bits[1], 8);
}

// RocksDB lists the dropped one, too, as long as its handle is open.
TEST(DbBudget, AColumnFamilyIsNotMistakenForADroppedOne) {
  BudgetDb db;
  db.Open(Native(), /*with_listener=*/true);
  rdb::Options options = db.options;
  options.disable_auto_compactions = true;
  rdb::ColumnFamilyHandle* dropped = nullptr;
  rdb::ColumnFamilyHandle* family = nullptr;
  const auto write = [&](rdb::ColumnFamilyHandle* to) {
    ASSERT_TRUE(db->Put({}, to, BudgetDb::Key(1), "value").ok());
    ASSERT_TRUE(db->Flush({}, to).ok());
  };
  ASSERT_TRUE(db->CreateColumnFamily(options, "family", &dropped).ok());
  write(dropped);
  ASSERT_TRUE(db->DropColumnFamily(dropped).ok());
  ASSERT_TRUE(db->CreateColumnFamily(options, "family", &family).ok());
  constexpr uint64_t kSsts = 20;
  for (uint64_t i = 0; i < kSsts; ++i) write(family);
  db.Write({2});
  MoveToLevel2(&db);  // All column families were listed.
  const auto tree = plugin::LiveTrees::Find(*db.get(), *family);
  ASSERT_NE(tree, nullptr);
  EXPECT_EQ(tree->ViewFor({0, true})->estimator.sums().key_count, kSsts);
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(dropped).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

// Flushes, compactions and ingestion run on several threads, in two column
// families: no key is lost, and no thread deadlocks.
TEST(DbBudget, ThreadsMeetInTheListener) {
  BudgetDb db;
  db.options.IncreaseParallelism(4);
  db.options.max_subcompactions = 2;
  db.options.write_buffer_size = 64 << 10;
  db.Open(Native(), /*with_listener=*/true);
  rdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(db.options, "other", &other).ok());
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kKeys = 10000;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      rdb::ColumnFamilyHandle* family =
          t % 2 == 0 ? db->DefaultColumnFamily() : other;
      for (uint64_t i = 0; i < kKeys; ++i) {
        const std::string key = BudgetDb::Key(i * kThreads + t);
        ASSERT_TRUE(db->Put({}, family, key, "value").ok());
        if (i % 1000 == 999) {
          ASSERT_TRUE(db->Flush({}, family).ok());
        }
        if (i % 5000 == 4999) {
          ASSERT_TRUE(db->CompactRange({}, family, nullptr, nullptr).ok());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t t = 0; t < kThreads; ++t) {
    rdb::ColumnFamilyHandle* family =
        t % 2 == 0 ? db->DefaultColumnFamily() : other;
    for (uint64_t i = 0; i < kKeys; ++i) {
      std::string value;
      ASSERT_TRUE(
          db->Get({}, family, BudgetDb::Key(i * kThreads + t), &value).ok());
    }
  }
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
}

}  // namespace
}  // namespace rowbloom::testing
