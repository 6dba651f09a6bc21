// SPDX-License-Identifier: Apache-2.0
//
// A rowbloom that was compiled for a minor release other than that of the
// loaded RocksDB refuses to work. Only the release number differs here, so that
// a function that forgets to refuse succeeds.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "release.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_refresh.h"
#include "rowbloom/rocksdb_rows.h"
#include "rowbloom/rocksdb_stats.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom {
namespace {

using rdb::Status;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Message() {
  return "rowbloom was compiled for RocksDB " +
         plugin::CompiledRocksDbVersion() + " but RocksDB " +
         plugin::RunningRocksDbVersion() +
         " is loaded; compile it for that release";
}

bool IsRefused(const Status& status) {
  return status.IsInvalidArgument() &&
         status.ToString().find(Message()) != std::string::npos;
}
bool IsRefused(const absl::Status& status) {
  return status.code() == absl::StatusCode::kFailedPrecondition &&
         status.message() == Message();
}

TEST(AnotherRelease, DiffersInTheMinorNumber) {
  EXPECT_THAT(plugin::CompiledRocksDbVersion(), HasSubstr(".99."));
}

// `make` makes an object, or returns null and sets its argument, unless null.
template <typename Make>
void ExpectRefused(const Make& make) {
  Status error;
  EXPECT_EQ(make(&error), nullptr);
  EXPECT_TRUE(IsRefused(error)) << error.ToString();
  EXPECT_EQ(make(nullptr), nullptr);
}

TEST(AnotherRelease, PoliciesExtractorAndListenerAreRefused) {
  ExpectRefused([](Status* e) { return NewRocksDbFilterPolicy({}, e); });
  ExpectRefused([](Status* e) { return NewRocksDbComposedPolicy({}, e); });
  ExpectRefused([](Status* e) { return NewRowPrefixExtractor({}, e); });
  ExpectRefused([](Status* e) { return NewRocksDbBudgetListener(e); });
}

// Expects that the registry makes no object of this class from its id.
template <typename T>
void ExpectIdRefused(const std::string& id) {
  std::shared_ptr<T> object;
  const Status status = T::CreateFromString({}, id, &object);
  EXPECT_TRUE(IsRefused(status)) << id << ": " << status.ToString();
  EXPECT_EQ(object, nullptr) << id;
}

TEST(AnotherRelease, OptionsStringsAreRefused) {
  RegisterRocksDb();
  ExpectIdRefused<const rdb::FilterPolicy>("rowbloom");
  ExpectIdRefused<const rdb::FilterPolicy>("rowbloom.Composed");
  ExpectIdRefused<const rdb::SliceTransform>("rowbloom.RowPrefix:ROW:ordered");
  ExpectIdRefused<rdb::EventListener>("rowbloom.BudgetListener");
}

TEST(AnotherRelease, OptionsAreNotChecked) {
  const Status status = CheckRocksDbOptions(rdb::ColumnFamilyOptions());
  EXPECT_TRUE(IsRefused(status)) << status.ToString();
}

TEST(AnotherRelease, ScansAreRefused) {
  const KeyCodec codec = KeyCodec::Ordered();
  EXPECT_TRUE(IsRefused(RocksDbScan::OfRow(codec, "row").status()));
  EXPECT_TRUE(IsRefused(RocksDbScan::OfColumn(codec, "row", "q").status()));
}

// A database with a filter of RocksDB's own and one cell.
class AnotherReleaseDb : public ::testing::Test {
 protected:
  void SetUp() override {
    db_.set_up.other_policy = testing::StockBloom();
    db_.set_up.extractor = false;
    db_.Open();
    db_.Put(db_.Key("row", "q"), "value");
    db_.Flush();
  }

  rdb::ColumnFamilyHandle* column_family() const {
    return db_->DefaultColumnFamily();
  }
  rdb::DB* db() const { return db_.get(); }
  rdb::Options options() const { return db_->GetOptions(column_family()); }

  testing::TestDb db_;
};

TEST_F(AnotherReleaseDb, RowsAreNotRead) {
  for (const KeyCodec& codec : {KeyCodec::Ordered(), KeyCodec::FixedRow(3)}) {
    const RocksDbRows rows(db(), column_family(), codec);
    bool exists = true;
    EXPECT_TRUE(IsRefused(rows.RowExists({}, "row", &exists)));
    EXPECT_FALSE(exists);
    std::vector<RocksDbCell> cells(1);
    EXPECT_TRUE(IsRefused(rows.GetRow({}, "row", &cells)));
    EXPECT_THAT(cells, IsEmpty());
    rdb::PinnableSlice value;
    value.PinSelf("another");
    EXPECT_TRUE(IsRefused(rows.GetCell({}, "row", "q", &value)));
    EXPECT_EQ(value.ToString(), "");
    EXPECT_TRUE(IsRefused(rows.GetNewestCell({}, "row", "q", &value)));
  }
}

// Without the refusal, the constructor would read comparator and options.
TEST(AnotherRelease, RowsCallNeitherDatabaseNorColumnFamily) {
  const RocksDbRows rows(nullptr, nullptr, KeyCodec::Ordered());
  bool exists = true;
  EXPECT_TRUE(IsRefused(rows.RowExists({}, "row", &exists)));
}

TEST_F(AnotherReleaseDb, SamplesCountNothing) {
  FilterStats stats;
  {
    const RocksDbLookupSample sample({&stats, 1});
    EXPECT_TRUE(db_.Has(db_.Key("row", "q")));
  }
  EXPECT_THAT(stats.Snapshot().values, Each(0));
}

TEST_F(AnotherReleaseDb, FiltersAreNotVerified) {
  EXPECT_TRUE(IsRefused(VerifyRocksDbFilters(db(), column_family()).status()));
}

TEST_F(AnotherReleaseDb, SstsAreNotRead) {
  EXPECT_TRUE(
      IsRefused(ReadRocksDbSst(db_.PathOfOnlySst(), options()).status()));
  EXPECT_TRUE(
      IsRefused(VerifyRocksDbSstChecksums(db_.PathOfOnlySst(), options())));
  const RocksDbFilterFile file =
      VerifyRocksDbSst(db_.PathOfOnlySst(), options());
  EXPECT_TRUE(IsRefused(file.status)) << file.status;
  EXPECT_EQ(file.state, RocksDbFilterState::kUnreadable);
  EXPECT_EQ(file.note, Message());
}

TEST_F(AnotherReleaseDb, NothingIsExpectedOfFilters) {
  EXPECT_EQ(ExpectedRocksDbFilter(options()).filter_policy, "");
}

TEST_F(AnotherReleaseDb, FiltersAreNotRefreshed) {
  EXPECT_TRUE(IsRefused(RefreshRocksDbFilters(db(), column_family()).status()));
}

TEST_F(AnotherReleaseDb, BudgetIsNotReported) {
  EXPECT_TRUE(IsRefused(ReportRocksDbBudget(db(), column_family()).status()));
}

}  // namespace
}  // namespace rowbloom
