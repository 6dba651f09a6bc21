// SPDX-License-Identifier: Apache-2.0
//
// Tests databases that are opened, or whose files are written, in other ways
// than by DB::Open() alone: every row is found, and the filters are asked.

#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/utilities/checkpoint.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"
#include "rocksdb/utilities/transaction_db.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_rows.h"

namespace rowbloom::testing {
namespace {

using rdb::DB;
using rdb::Status;

constexpr int kOpenRows = 400;

// Two handles to the same file system. Each way to open a database leaves
// `reader` open, with all rows in it.
struct Handles {
  ~Handles() {
    reader.Close();
    writer.Close();
    if (!directory.empty()) std::filesystem::remove_all(directory);
  }

  std::string directory;  // Empty if there are no real files.
  TestDb writer;
  TestDb reader{&writer};
};

// Writes every other row, beginning with `first`: the ranges of two such files
// overlap.
void WriteFile(TestDb* db, int first) {
  for (int row = first; row < kOpenRows; row += 2) {
    db->Put(db->Key(Row(row), "q"), "value of " + Row(row));
  }
  db->Flush();
}
void WriteFiles(TestDb* db) {
  WriteFile(db, 0);
  WriteFile(db, 1);
}

void OpenAt(const std::string& path, TestDb* db) {
  db->OpenBy(
      [&](auto* opened) { return DB::Open(db->MakeOptions(), path, opened); });
}

void ReadOnly(Handles* handles) {
  handles->writer.Open();
  WriteFiles(&handles->writer);
  handles->writer.Close();
  handles->reader.OpenBy([&](auto* opened) {
    return DB::OpenForReadOnly(handles->reader.MakeOptions(), TestDb::path(),
                               opened);
  });
}

void Secondary(Handles* handles) {
  handles->writer.Open();
  WriteFile(&handles->writer, 0);
  handles->reader.OpenBy([&](auto* opened) {
    return DB::OpenAsSecondary(handles->reader.MakeOptions(), TestDb::path(),
                               "/secondary", opened);
  });
  if (::testing::Test::HasFatalFailure()) return;
  WriteFile(&handles->writer, 1);
  const Status status = handles->reader->TryCatchUpWithPrimary();
  ASSERT_TRUE(status.ok()) << status.ToString();
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 903
// Followers need hard links, so these files are real.
void Follower(Handles* handles) {
  handles->directory = ::testing::TempDir() + "rowbloom_follower_XXXXXX";
  ASSERT_NE(mkdtemp(handles->directory.data()), nullptr);
  const std::string leader = handles->directory + "/leader";
  const std::string follower = handles->directory + "/follower";
  handles->writer.set_up.directory = leader;
  handles->reader.set_up.directory = follower;
  handles->writer.Open();
  WriteFile(&handles->writer, 0);
  rdb::Options options = handles->reader.MakeOptions();
  options.follower_refresh_catchup_period_ms = 10;
  // It takes a unique_ptr in all releases, unlike DB::Open().
  std::unique_ptr<DB> opened;
  const Status status = DB::OpenAsFollower(options, follower, leader, &opened);
  ASSERT_TRUE(status.ok()) << status.ToString();
  handles->reader.Adopt(std::move(opened));
  WriteFile(&handles->writer, 1);
  const std::string last = handles->reader.Key(Row(kOpenRows - 1), "q");
  for (int tries = 0; tries < 3000 && !handles->reader.Has(last); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}
#endif

void FromCheckpoint(Handles* handles) {
  handles->writer.Open();
  WriteFiles(&handles->writer);
  rdb::Checkpoint* checkpoint = nullptr;
  Status status = rdb::Checkpoint::Create(handles->writer.get(), &checkpoint);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::unique_ptr<rdb::Checkpoint> owner(checkpoint);
  status = checkpoint->CreateCheckpoint("/checkpoint");
  ASSERT_TRUE(status.ok()) << status.ToString();
  OpenAt("/checkpoint", &handles->reader);
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 905
// RocksDB 11.12 never writes a sequence number into an ingested file.
template <typename Options>
auto KeepBytesOf(Options* options, int /*preferred*/)
    -> decltype(options->write_global_seqno = false, void()) {
  options->write_global_seqno = false;
}
template <typename Options>
void KeepBytesOf(Options* /*options*/, long /*otherwise*/) {}

void WithIngestedFilesOfAnotherDb(Handles* handles) {
  handles->writer.Open();
  WriteFiles(&handles->writer);
  // Before 10.6 all keys must have sequence number 0.
  handles->writer.Compact();
  std::vector<std::string> paths;
  for (const auto& file : handles->writer.Files()) {
    paths.push_back(file.directory + "/" + file.relative_filename);
  }
  OpenAt("/ingested", &handles->reader);
  if (::testing::Test::HasFatalFailure()) return;
  rdb::IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  options.snapshot_consistency = false;
  KeepBytesOf(&options, 0);
  const Status status = handles->reader->IngestExternalFile(paths, options);
  ASSERT_TRUE(status.ok()) << status.ToString();
}
#endif

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 901
// Compacts with its own options, as a worker on another machine does. It runs
// one compaction at a time.
class InProcessWorker : public rdb::CompactionService {
 public:
  explicit InProcessWorker(const rdb::Options& options) {
    options_.env = options.env;
    options_.prefix_extractor = options.prefix_extractor;
    options_.table_factory = options.table_factory;
  }

  const char* Name() const override { return "test.InProcessWorker"; }
  rdb::CompactionServiceScheduleResponse Schedule(
      const rdb::CompactionServiceJobInfo& info,
      const std::string& input) override {
    db_name_ = info.db_name;
    input_ = input;
    return {"job", rdb::CompactionServiceJobStatus::kSuccess};
  }
  rdb::CompactionServiceJobStatus Wait(const std::string& /*job*/,
                                       std::string* result) override {
    const Status status = DB::OpenAndCompact(
        db_name_, db_name_ + "/remote" + std::to_string(compactions_), input_,
        result, options_);
    EXPECT_TRUE(status.ok()) << status.ToString();
    ++compactions_;
    return status.ok() ? rdb::CompactionServiceJobStatus::kSuccess
                       : rdb::CompactionServiceJobStatus::kFailure;
  }
  int compactions() const { return compactions_; }

 private:
  rdb::CompactionServiceOptionsOverride options_;
  std::string db_name_, input_;
  std::atomic<int> compactions_{0};
};

void WithRemoteCompaction(Handles* handles) {
  RegisterRocksDb();  // The worker reads the OPTIONS file.
  rdb::Options options = handles->reader.MakeOptions();
  const auto worker =
      std::make_shared<InProcessWorker>(handles->writer.MakeOptions());
  options.compaction_service = worker;
  handles->reader.Open(options);
  WriteFiles(&handles->reader);
  handles->reader.Compact();
  EXPECT_GT(worker->compactions(), 0);
  std::string level0_files;
  EXPECT_TRUE(handles->reader->GetProperty("rocksdb.num-files-at-level0",
                                           &level0_files));
  EXPECT_EQ(level0_files, "0") << "not all files are the worker's";
}
#endif

template <typename TransactionDb>
void WriteInTransactions(TransactionDb* db, const TestDb& keys) {
  for (int first = 0; first < 2; ++first) {
    const std::unique_ptr<rdb::Transaction> transaction(
        db->BeginTransaction(rdb::WriteOptions()));
    for (int row = first; row < kOpenRows; row += 2) {
      ASSERT_TRUE(
          transaction->Put(keys.Key(Row(row), "q"), "value of " + Row(row))
              .ok());
    }
    ASSERT_TRUE(transaction->Commit().ok());
    ASSERT_TRUE(db->Flush({}).ok());
  }
}

void PessimisticTransactions(Handles* handles) {
  rdb::TransactionDB* db = nullptr;
  const Status status = rdb::TransactionDB::Open(handles->reader.MakeOptions(),
                                                 {}, TestDb::path(), &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  handles->reader.Adopt(std::unique_ptr<DB>(db));
  WriteInTransactions(db, handles->reader);
}

void OptimisticTransactions(Handles* handles) {
  rdb::OptimisticTransactionDB* db = nullptr;
  const Status status = rdb::OptimisticTransactionDB::Open(
      handles->reader.MakeOptions(), TestDb::path(), &db);
  ASSERT_TRUE(status.ok()) << status.ToString();
  handles->reader.Adopt(std::unique_ptr<DB>(db));
  WriteInTransactions(db, handles->reader);
}

struct Way {
  const char* name;
  void (*open)(Handles* handles);
};

const Way kWays[] = {
    {"ReadOnly", ReadOnly},
    {"Secondary", Secondary},
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 903
    {"Follower", Follower},
#endif
    {"FromCheckpoint", FromCheckpoint},
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 905
    {"WithIngestedFilesOfAnotherDb", WithIngestedFilesOfAnotherDb},
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 901
    {"WithRemoteCompaction", WithRemoteCompaction},
#endif
    {"PessimisticTransactions", PessimisticTransactions},
    {"OptimisticTransactions", OptimisticTransactions},
};

using DbOpenParameters =
    std::tuple<Way, /*composed=*/bool, /*partitioned=*/bool>;

class DbOpen : public ::testing::TestWithParam<DbOpenParameters> {
 protected:
  void Open() {
    const auto& [way, composed, partitioned] = GetParam();
    DbSetUp set_up;
    set_up.partitioned = partitioned;
    if (composed) {
      set_up.other_policy = NewRocksDbComposedPolicy({});
      set_up.extractor_type = BloomType::kRow;
    }
    handles_.writer.set_up = handles_.reader.set_up = set_up;
    ASSERT_TRUE(CheckRocksDbOptions(db_.MakeOptions()).ok());
    way.open(&handles_);
  }

  Handles handles_;
  TestDb& db_ = handles_.reader;
};

TEST_P(DbOpen, RowsAreFoundAndFiltersAreAsked) {
  Open();
  if (HasFatalFailure()) return;
  const RocksDbRows rows = db_.Rows();
  const uint64_t useful_before = db_.Ticker(rdb::BLOOM_FILTER_USEFUL);
  const uint64_t prefix_useful_before = db_.PrefixUseful();
  for (int row = 0; row < kOpenRows; ++row) {
    EXPECT_TRUE(db_.Has(db_.Key(Row(row), "q"))) << Row(row);
    EXPECT_FALSE(db_.Has(db_.Key(Row(row), "absent"))) << Row(row);
    bool exists = false;
    EXPECT_TRUE(rows.RowExists({}, Row(row), &exists).ok());
    EXPECT_TRUE(exists) << Row(row);
    EXPECT_TRUE(rows.RowExists({}, Row(row) + "absent", &exists).ok());
    EXPECT_FALSE(exists) << Row(row);
    rdb::PinnableSlice value;
    EXPECT_TRUE(rows.GetCell({}, Row(row), "q", &value).ok()) << Row(row);
    EXPECT_EQ(value.ToString(), "value of " + Row(row));
  }
  // At ten bits per key, one absent key in a hundred passes.
  EXPECT_GT(db_.Ticker(rdb::BLOOM_FILTER_USEFUL) - useful_before,
            kOpenRows * 9 / 10);
  EXPECT_GT(db_.PrefixUseful() - prefix_useful_before, kOpenRows * 9 / 10);
}

TEST_P(DbOpen, FilesHaveFiltersOfThePolicy) {
  Open();
  if (HasFatalFailure()) return;
  ASSERT_FALSE(db_.Properties().empty());
  for (const auto& properties : db_.Properties()) {
    EXPECT_EQ(properties->filter_policy_name,
              db_.TableOptions().filter_policy->Name());
    EXPECT_GT(properties->num_filter_entries, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    EachWay, DbOpen,
    ::testing::Combine(::testing::ValuesIn(kWays), ::testing::Bool(),
                       ::testing::Bool()),
    [](const ::testing::TestParamInfo<DbOpenParameters>& test) {
      return std::string(std::get<0>(test.param).name) +
             (std::get<1>(test.param) ? "Composed" : "Native") +
             (std::get<2>(test.param) ? "Partitioned" : "Full");
    });

}  // namespace
}  // namespace rowbloom::testing
