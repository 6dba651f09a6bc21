// SPDX-License-Identifier: Apache-2.0
//
// Tests the policy in a real LevelDB: no key is lost, and reads are saved.

#include "leveldb/db.h"

#include <stdlib.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "leveldb/cache.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "rowbloom/filter.h"
#include "rowbloom/leveldb.h"

namespace rowbloom {
namespace {

using LevelDbPolicy = std::unique_ptr<const leveldb::FilterPolicy>;

constexpr int kKeys = 3000;  // Every other number below 6000.

std::string Key(int number) {
  const std::string digits = std::to_string(number);
  return "key" + std::string(6 - digits.size(), '0') + digits;
}
std::string Value(int number) { return Key(number) + std::string(100, 'v'); }

// Counts the reads of tables, so that tests can state the cost of a Get.
class CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  uint64_t read_count() const { return read_count_; }

  leveldb::Status NewRandomAccessFile(
      const std::string& path, leveldb::RandomAccessFile** result) override {
    const leveldb::Status status = target()->NewRandomAccessFile(path, result);
    if (status.ok()) *result = new File(*result, &read_count_);
    return status;
  }

 private:
  class File final : public leveldb::RandomAccessFile {
   public:
    File(leveldb::RandomAccessFile* target, std::atomic<uint64_t>* read_count)
        : target_(target), read_count_(read_count) {}

    leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                         char* scratch) const override {
      ++*read_count_;
      return target_->Read(offset, n, result, scratch);
    }

   private:
    const std::unique_ptr<leveldb::RandomAccessFile> target_;
    std::atomic<uint64_t>* const read_count_;
  };

  std::atomic<uint64_t> read_count_{0};
};

class LevelDbDatabase : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = ::testing::TempDir() + "rowbloom_leveldb_XXXXXX";
    ASSERT_NE(mkdtemp(path_.data()), nullptr);
  }
  void TearDown() override {
    db_.reset();
    leveldb::DestroyDB(path_, leveldb::Options());
  }

  LevelDbPolicy Policy(std::string_view family) {
    return *NewLevelDbFilterPolicy(FilterSpec::BitsPerKey(family, 10), &stats_);
  }

  // Opens the database; without filters if `policy` is nullptr.
  void Open(LevelDbPolicy policy) {
    db_.reset();
    policy_ = std::move(policy);
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = &env_;
    options.filter_policy = policy_.get();
    options.block_cache = no_cache_.get();
    options.compression = leveldb::kNoCompression;
    options.write_buffer_size = 64 << 10;  // Several files.
    leveldb::DB* db = nullptr;
    const leveldb::Status status = leveldb::DB::Open(options, path_, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    db_.reset(db);
  }

  // Writes all keys to files of one level that do not overlap.
  void Fill() {
    for (int i = 0; i < kKeys; ++i) Put(2 * i);
    db_->CompactRange(nullptr, nullptr);
  }
  void Put(int number) {
    const leveldb::Status status =
        db_->Put(leveldb::WriteOptions(), Key(number), Value(number));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  bool Has(int number) {
    std::string value;
    const leveldb::Status status =
        db_->Get(leveldb::ReadOptions(), Key(number), &value);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    EXPECT_TRUE(!status.ok() || value == Value(number));
    return status.ok();
  }

  void ExpectAllKeysAndNoOthers() {
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(Has(2 * i)) << Key(2 * i);
      ASSERT_FALSE(Has(2 * i + 1)) << Key(2 * i + 1);
    }
  }

  // Returns the table reads of a Get for each absent number between the first
  // key and the last, with all tables open.
  uint64_t ReadsForAbsentKeys() {
    ExpectAllKeysAndNoOthers();
    const uint64_t before = env_.read_count();
    for (int i = 0; i + 1 < kKeys; ++i) EXPECT_FALSE(Has(2 * i + 1));
    return env_.read_count() - before;
  }

  uint64_t Counted(FilterCounter counter) { return stats_.Snapshot()[counter]; }

  std::string path_;
  CountingEnv env_;
  FilterStats stats_;
  const std::unique_ptr<leveldb::Cache> no_cache_{leveldb::NewLRUCache(0)};
  LevelDbPolicy policy_;
  std::unique_ptr<leveldb::DB> db_;
};

class LevelDbDatabaseOf
    : public LevelDbDatabase,
      public ::testing::WithParamInterface<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Families, LevelDbDatabaseOf,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(LevelDbDatabaseOf, LosesNoKeyAndReadsForFalsePositivesOnly) {
  Open(Policy(GetParam()));
  Fill();
  ExpectAllKeysAndNoOthers();
  const uint64_t lookups = Counted(FilterCounter::kLookups);
  const uint64_t negatives = Counted(FilterCounter::kNegatives);
  const uint64_t reads_before = env_.read_count();
  for (int i = 0; i + 1 < kKeys; ++i) EXPECT_FALSE(Has(2 * i + 1));
  const uint64_t asked = Counted(FilterCounter::kLookups) - lookups;
  const uint64_t denied = Counted(FilterCounter::kNegatives) - negatives;
  EXPECT_GT(asked, kKeys * 9 / 10);  // Gaps between files.
  EXPECT_EQ(env_.read_count() - reads_before, asked - denied);
  if (GetParam() == "always_maybe") {
    EXPECT_EQ(denied, 0);
  } else {
    EXPECT_GT(denied, asked * 98 / 100);
  }
  EXPECT_EQ(Counted(FilterCounter::kLoadErrors), 0);
}

TEST_P(LevelDbDatabaseOf, IsReopenedWithEachOtherFamily) {
  Open(Policy(GetParam()));
  Fill();
  const uint64_t reads = ReadsForAbsentKeys();
  for (const std::string_view family : FilterFamilyNames()) {
    Open(Policy(family));
    EXPECT_EQ(ReadsForAbsentKeys(), reads);  // The same filters.
  }
  EXPECT_EQ(Counted(FilterCounter::kLoadErrors), 0);
}

TEST_F(LevelDbDatabase, WithoutFiltersReadsForEachAbsentKey) {
  Open(nullptr);
  Fill();
  EXPECT_GT(ReadsForAbsentKeys(), kKeys * 9 / 10);
}

TEST_F(LevelDbDatabase, IsReopenedWithLevelDbsPolicyAndWithNone) {
  Open(Policy("compact"));
  Fill();
  Open(LevelDbPolicy(leveldb::NewBloomFilterPolicy(10)));
  ExpectAllKeysAndNoOthers();
  Open(nullptr);
  ExpectAllKeysAndNoOthers();
}

TEST_F(LevelDbDatabase, WrittenWithLevelDbsPolicyIsReadWithoutFilters) {
  Open(LevelDbPolicy(leveldb::NewBloomFilterPolicy(10)));
  Fill();
  Open(Policy("compact"));
  ExpectAllKeysAndNoOthers();
  EXPECT_EQ(Counted(FilterCounter::kLookups), 0);
  Put(0);  // Both tables have it, so that compaction does not move them.
  db_->CompactRange(nullptr, nullptr);
  ExpectAllKeysAndNoOthers();
  EXPECT_GT(Counted(FilterCounter::kNegatives), 0);
}

TEST_F(LevelDbDatabase, DeletedAndOverwrittenKeysAnswerAsTheyAre) {
  Open(Policy("fast"));
  Fill();
  for (int i = 0; i < kKeys; i += 3) {
    ASSERT_TRUE(db_->Delete(leveldb::WriteOptions(), Key(2 * i)).ok());
    Put(2 * i + 1);
  }
  for (int pass = 0; pass < 2; ++pass) {  // Over two levels, and then one.
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_EQ(Has(2 * i), i % 3 != 0) << Key(2 * i);
      ASSERT_EQ(Has(2 * i + 1), i % 3 == 0) << Key(2 * i + 1);
    }
    db_->CompactRange(nullptr, nullptr);
  }
}

// Passes calls on, and keeps a copy of each filter that it makes.
class RecordingPolicy final : public leveldb::FilterPolicy {
 public:
  explicit RecordingPolicy(LevelDbPolicy target) : target_(std::move(target)) {}

  const char* Name() const override { return target_->Name(); }
  void CreateFilter(const leveldb::Slice* keys, int n,
                    std::string* dst) const override {
    const size_t begin = dst->size();
    target_->CreateFilter(keys, n, dst);
    made_.push_back(dst->substr(begin));
  }
  bool KeyMayMatch(const leveldb::Slice& key,
                   const leveldb::Slice& filter) const override {
    return target_->KeyMayMatch(key, filter);
  }

  const std::vector<std::string>& made() const { return made_; }

 private:
  const LevelDbPolicy target_;
  mutable std::vector<std::string> made_;  // The compaction's thread writes it.
};

TEST_F(LevelDbDatabase, FiltersDamagedOnDiskLoseNoKeyAndAreCounted) {
  auto owned = std::make_unique<RecordingPolicy>(Policy("blocked_bloom"));
  const RecordingPolicy* const recording = owned.get();
  Open(std::move(owned));
  Fill();
  db_.reset();
  const std::vector<std::string> filters = recording->made();

  // Flips one bit of each filter that a table still has; LevelDB does not
  // verify the checksum over them.
  std::vector<std::string> names;
  ASSERT_TRUE(env_.GetChildren(path_, &names).ok());
  int damaged = 0;
  for (const std::string& name : names) {
    if (name.find(".ldb") == std::string::npos) continue;
    const std::string file = path_ + "/" + name;
    std::stringstream in;
    in << std::ifstream(file, std::ios::binary).rdbuf();
    std::string bytes = in.str();
    for (const std::string& filter : filters) {
      const size_t place = bytes.find(filter);
      if (place == std::string::npos) continue;
      const size_t bit = static_cast<size_t>(damaged) % (8 * filter.size());
      bytes[place + bit / 8] =
          static_cast<char>(bytes[place + bit / 8] ^ 1 << bit % 8);
      ++damaged;
    }
    std::ofstream(file, std::ios::binary) << bytes;
  }
  ASSERT_GT(damaged, 50);

  Open(Policy("blocked_bloom"));
  ExpectAllKeysAndNoOthers();
  EXPECT_EQ(Counted(FilterCounter::kNegatives), 0);
  EXPECT_EQ(Counted(FilterCounter::kLoadErrors),
            Counted(FilterCounter::kLookups));
  EXPECT_GT(Counted(FilterCounter::kLookups), kKeys);
}

TEST_F(LevelDbDatabase, IsAskedByManyThreadsWhileItIsWritten) {
  Open(Policy("compact"));
  Fill();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      for (int i = t; !done; i = (i + 7) % kKeys) ASSERT_TRUE(Has(2 * i));
    });
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (int i = 0; i < kKeys; ++i) Put(2 * i);
    db_->CompactRange(nullptr, nullptr);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  ExpectAllKeysAndNoOthers();
}

}  // namespace
}  // namespace rowbloom
