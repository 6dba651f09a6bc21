// SPDX-License-Identifier: Apache-2.0
//
// Tests VerifyRocksDbFilters() on databases whose filters are as they should
// be, and on others.

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/forgetful_policy.h"
#include "rocksdb_plugin/stock_registry.h"
#include "rocksdb_plugin/tampering_policy.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using State = RocksDbFilterState;

constexpr int kRows = 500;

using namespace std::string_view_literals;

RocksDbFilterReport Verify(const TestDb& db,
                           const RocksDbVerifyOptions& verify = {}) {
  auto report =
      VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily(), verify);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : RocksDbFilterReport();
}

std::vector<State> StatesOf(const RocksDbFilterReport& report) {
  std::vector<State> states;
  for (const RocksDbFilterFile& file : report.files) {
    states.push_back(file.state);
  }
  return states;
}

// --- As it should be ---------------------------------------------------------

TEST(DbVerify, ExpectedFiltersAreDescribed) {
  for (const FilterSpec& policy : SpecsOfEachFamily()) {
    for (bool partitioned : {false, true}) {
      TestDb db;
      db.set_up.filter.filter_spec = policy;
      db.set_up.partitioned = partitioned;
      db.set_up.extractor =
          !partitioned;  // See OversizedPartitionsAreReported.
      db.set_up.metadata_block_size_bytes = 700;
      db.Open();
      for (const char* qualifier : {"a", "b", "c"}) {
        db.PutRows(kRows, qualifier);
      }
      db.Flush();
      const RocksDbFilterReport report = Verify(db);
      EXPECT_EQ(report.column_family, "default");
      EXPECT_EQ(report.expected.ToString(),
                "rowbloom ROWCOL ordered " + policy.ToString());
      ASSERT_THAT(StatesOf(report), ElementsAre(State::kExpected));
      EXPECT_THAT(report.warnings(), IsEmpty());
      const RocksDbFilterFile& file = report.files[0];
      EXPECT_EQ(file.level, 0);
      EXPECT_EQ(file.filter_policy, "rowbloom");
      EXPECT_EQ(file.prefix_extractor,
                partitioned ? "nullptr" : "rowbloom.RowPrefix:ROWCOL:ordered");
      EXPECT_EQ(file.owner, RocksDbFilterOwner::kRowbloom);
      EXPECT_EQ(file.family, policy.family());
      EXPECT_EQ(file.bloom_type, BloomType::kRowCol);
      EXPECT_TRUE(*file.key_codec == KeyCodec::Ordered());
      EXPECT_EQ(file.entry_count, 3 * kRows);
      EXPECT_EQ(file.is_partitioned, partitioned);
      EXPECT_EQ(file.filter_count > 2, partitioned);
      EXPECT_LE(file.filter_size_bytes, db.FilterBytes());
      EXPECT_LE(file.largest_filter_bytes, file.filter_size_bytes);
      EXPECT_GE(file.filter_key_count, 4 * kRows);  // Rows and columns.
      EXPECT_EQ(file.bits_per_key(),
                8.0 * static_cast<double>(file.filter_size_bytes) /
                    static_cast<double>(file.filter_key_count));
      EXPECT_THAT(file.path, HasSubstr("000"));
      EXPECT_EQ(report.CountOf(State::kExpected), 1);
      EXPECT_GT(file.neighbour_count, 0);
    }
  }
}

// The bounds are five standard deviations of the binomial plus the error of the
// model for such small filters; digests are the same in each run.
TEST(DbVerify, ObservedRatesOfProbesAndGetsAreTheExpectedOne) {
  constexpr int kMany = 20000;
  constexpr int kLookups = 200000;
  std::vector<FilterSpec> policies = SpecsOfEachFamily();
  for (const double bits_per_key : {8.0, 12.5}) {
    policies.push_back(FilterSpec::BitsPerKey("blocked_bloom", bits_per_key));
  }
  for (const FilterSpec& policy : policies) {
    for (bool partitioned : {false, true}) {
      TestDb db;
      db.set_up.filter.filter_spec = policy;
      db.set_up.partitioned = partitioned;
      db.set_up.metadata_block_size_bytes = 4096;
      db.OpenAndFill(kMany);
      SCOPED_TRACE(SetUpName(db.set_up));
      RocksDbVerifyOptions verify;
      verify.neighbours_per_file = kLookups;
      const RocksDbFilterReport report = Verify(db, verify);
      ASSERT_EQ(report.files.size(), 1);
      const RocksDbFilterFile& file = report.files[0];
      const double probes = static_cast<double>(file.neighbour_count);
      EXPECT_GT(probes, kLookups / 20);
      const double rate = *file.expected_fpr;
      const auto error = [rate](double lookups) {
        return 5 * std::sqrt(rate * (1 - rate) / lookups) + rate / 50;
      };
      EXPECT_NEAR(*file.observed_fpr(), rate, error(probes));
      EXPECT_EQ(file.warning(), "");
      if (partitioned) continue;
      for (int i = 0; i < kLookups; ++i) {
        ASSERT_FALSE(db.Has(db.Key(Row(i % kMany), std::to_string(i))));
      }
      const auto positives =
          static_cast<double>(db.Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE));
      EXPECT_NEAR(positives / kLookups, rate, error(kLookups));
      EXPECT_EQ(db.Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE) +
                    db.Ticker(rdb::BLOOM_FILTER_USEFUL),
                kLookups);
    }
  }
}

TEST(DbVerify, RangeTombstonesNeedNoFilter) {
  TestDb db;
  db.OpenAndFill(kRows);
  db.DeleteRange("row1", "row2");
  db.Flush();
  const RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report),
              ElementsAre(State::kExpected, State::kExpected));
  EXPECT_THAT(report.warnings(), IsEmpty());
}

TEST(DbVerify, WithoutAPolicyNoFilterIsExpectedButWarnedOf) {
  TestDb db;
  rdb::Options options = db.MakeOptions({});
  options.prefix_extractor = nullptr;
  db.Open(options);
  EXPECT_THAT(Verify(db).warnings(), IsEmpty());  // There is no SST yet.
  db.Fill(kRows);
  const RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kExpected));
  EXPECT_EQ(report.expected.ToString(), "no filter");
  std::vector<std::string> of_options;
  ASSERT_TRUE(CheckRocksDbOptions(options, &of_options).ok());
  EXPECT_THAT(of_options, ElementsAre(HasSubstr("filter_policy is nullptr")));
  EXPECT_THAT(report.warnings(),
              ElementsAre(AllOf(HasSubstr("1 file without a filter"),
                                HasSubstr(of_options.at(0)))));
}

TEST(DbVerify, EachColumnFamilyIsReportedByItself) {
  TestDb db;
  db.OpenAndFill(kRows);
  rdb::ColumnFamilyHandle* handle = nullptr;
  db.set_up.other_policy = StockBloom();
  ASSERT_TRUE(db->CreateColumnFamily(db.MakeOptions(), "stock", &handle).ok());
  ASSERT_TRUE(db->Put({}, handle, "key", "value").ok());
  ASSERT_TRUE(db->Flush({}, handle).ok());
  const auto report = VerifyRocksDbFilters(db.get(), handle);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->column_family, "stock");
  EXPECT_EQ(report->expected.ToString(), "bloomfilter");
  ASSERT_THAT(StatesOf(*report), ElementsAre(State::kExpected));
  EXPECT_EQ(report->files[0].family, "rocksdb_bloom");
  EXPECT_EQ(report->files[0].filter_key_count, 1);
  EXPECT_FALSE(report->files[0].observed_fpr().has_value());
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kExpected));
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

// RocksDB opens NNNNNN.ldb where NNNNNN.sst is not there.
TEST(DbVerify, SstsByLevelDbsNameAreFound) {
  TestDb db;
  db.Open();
  for (int i = 0; i < 4; ++i) db.Fill(kRows);
  std::vector<std::string> names;
  for (const auto& file : db.Files()) names.push_back(db.path() + file.name);
  db.Close();
  const auto ldb_of = [](const std::string& sst) {
    return sst.substr(0, sst.size() - 4) + ".ldb";
  };
  for (const std::string& name : names) {
    ASSERT_TRUE(db.env()->RenameFile(name, ldb_of(name)).ok());
  }
  rdb::Options options = db.MakeOptions();
  options.max_open_files = 20;  // Not all of them are open.
  options.paranoid_checks = false;
  db.Open(options);
  const RocksDbFilterReport report = Verify(db);
  EXPECT_EQ(report.CountOf(State::kExpected), 4);
  for (const RocksDbFilterFile& file : report.files) {
    EXPECT_THAT(file.path, HasSubstr(".ldb"));
  }
  const auto budget = ReportRocksDbBudget(db.get(), db->DefaultColumnFamily());
  ASSERT_TRUE(budget.ok()) << budget.status();
  ASSERT_EQ(budget->files.size(), 4);
  for (const RocksDbBudgetFile& file : budget->files) {
    EXPECT_THAT(file.path, HasSubstr(".ldb"));
    EXPECT_GE(file.key_count, 2 * kRows);
  }

  // Without either name it is still damage.
  db.Close();
  ASSERT_TRUE(db.env()->DeleteFile(ldb_of(names[0])).ok());
  db.Open(options);
  EXPECT_EQ(Verify(db).CountOf(State::kUnreadable), 1);
  const auto lacking = ReportRocksDbBudget(db.get(), db->DefaultColumnFamily());
  EXPECT_THAT(std::string(lacking.status().message()),
              HasSubstr(names[0] + ": missing"));
}

TEST(DbVerify, AnEncryptedDatabaseIsVerifiedThroughItsEnv) {
  std::string directory = ::testing::TempDir() + "encrypted_XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  std::shared_ptr<rdb::EncryptionProvider> provider;
  ASSERT_TRUE(rdb::EncryptionProvider::CreateFromString(rdb::ConfigOptions(),
                                                        "CTR://test", &provider)
                  .ok());
  const std::unique_ptr<rdb::Env> env(
      rdb::NewEncryptedEnv(rdb::Env::Default(), provider));
  {
    TestDb db;
    db.set_up.directory = directory;
    rdb::Options options = db.MakeOptions();
    options.env = env.get();
    db.Open(options);
    db.Fill(kRows);
    EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kExpected));
    EXPECT_TRUE(ReportRocksDbBudget(db.get(), db->DefaultColumnFamily()).ok());
  }
  ASSERT_TRUE(rdb::DestroyDB(directory, rdb::Options()).ok());
}

// --- Filters that are missing, or not the ones asked for ---------------------

TEST(DbVerify, ATableOfLevelDbHasNoFilterForRocksDb) {
  const std::string path =
      ROWBLOOM_SOURCE_DIR "/tests/tools/data/leveldb/000005.ldb";
  RocksDbFilterReport report;
  report.expected.filter_policy = "rowbloom";
  report.files.push_back(VerifyRocksDbSst(path, rdb::Options()));
  CompareWithExpected(report.expected, &report.files[0]);
  EXPECT_EQ(report.files[0].state, State::kNone);
  EXPECT_EQ(report.files[0].status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadRocksDbSst(path).status(), report.files[0].status);
  EXPECT_THAT(report.warnings(),
              ElementsAre(AllOf(HasSubstr("1 file without a filter (compact"),
                                HasSubstr(path + ": a table of LevelDB"))));
}

TEST(DbVerify, TablesThatAreNotBlockBasedAreNotDamaged) {
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  rdb::Options options;
  options.env = env.get();
  options.prefix_extractor.reset(rdb::NewFixedPrefixTransform(1));
  options.table_factory.reset(rdb::NewPlainTableFactory());
  rdb::SstFileWriter writer(rdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open("/plain.sst").ok());
  ASSERT_TRUE(writer.Put("key", "value").ok());
  ASSERT_TRUE(writer.Finish().ok());
  const RocksDbFilterFile file = VerifyRocksDbSst("/plain.sst", options);
  EXPECT_EQ(file.state, State::kNone);
  EXPECT_TRUE(absl::IsInvalidArgument(file.status));
  EXPECT_THAT(file.status.ToString(), HasSubstr("of PlainTableFactory, which"));
}

TEST(DbVerify, FilesWrittenWithoutThePluginAreNamed) {
  TestDb db;
  db.Open(db.MakeOptions({}));
  db.Fill(kRows);
  db.OpenAndFill(kRows);
  RocksDbFilterReport report = Verify(db);
  EXPECT_EQ(report.CountOf(State::kNone), 1);
  EXPECT_EQ(report.CountOf(State::kExpected), 1);
  EXPECT_EQ(report.files[0].note, "written without a filter policy");
  ASSERT_EQ(report.warnings().size(), 1);
  EXPECT_THAT(report.warnings()[0],
              AllOf(HasSubstr("1 file without a filter"), HasSubstr("compact"),
                    HasSubstr("written without a filter policy")));
  db.Compact();
  report = Verify(db);
  EXPECT_THAT(report.warnings(), IsEmpty());
}

TEST(DbVerify, AFactoryThatWasNotRegisteredIsGuessed) {
  TestDb db;
  db.OpenAndFill(kRows);
  db.Close();
  rdb::ConfigOptions config;
  config.registry = StockRegistry();
  db.Open(db.LoadOptions(config));
  const RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kForeign));
  ASSERT_EQ(report.warnings().size(), 1);
  EXPECT_THAT(report.warnings()[0],
              AllOf(HasSubstr("RegisterRocksDb"),
                    HasSubstr("written with policy rowbloom")));
}

TEST(DbVerify, FiltersOfAnotherPolicyAreToldApart) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.OpenAndFill(kRows);
  db.set_up.other_policy = StockBloom();
  db.OpenAndFill(kRows);
  RocksDbFilterReport report = Verify(db);
  EXPECT_EQ(report.CountOf(State::kForeign), 1);
  EXPECT_EQ(report.CountOf(State::kExpected), 1);
  EXPECT_EQ(report.files[0].note, "written with policy rowbloom");
  EXPECT_EQ(report.files[1].family, "rocksdb_bloom");

  // RocksDB's policies read each other's filters.
  db.set_up.other_policy = StockRibbon();
  db.Open();
  report = Verify(db);
  EXPECT_EQ(report.CountOf(State::kForeign), 1);
  EXPECT_EQ(report.CountOf(State::kOtherOptions), 1);

  db.set_up.other_policy.reset();
  db.Open();
  report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kExpected, State::kForeign));
  EXPECT_THAT(report.warnings()[0], HasSubstr("policy bloomfilter"));
}

TEST(DbVerify, AnotherBloomTypeOrCodecIsOtherOptions) {
  TestDb db;
  db.set_up.extractor = false;
  db.OpenAndFill(kRows);
  db.set_up.filter.bloom_type = BloomType::kRow;
  db.Open();
  RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kOtherOptions));
  EXPECT_EQ(report.files[0].note, "built for ROWCOL ordered");
  db.set_up.filter.bloom_type = BloomType::kRowCol;
  db.set_up.filter.key_codec = KeyCodec::FixedRow(3);
  db.Open();
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kOtherOptions));
}

TEST(DbVerify, AnotherFamilyOrOtherBitsAreOtherOptions) {
  TestDb db;
  db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("fast", 10);
  db.OpenAndFill(3000);
  const auto note_under = [&db](const FilterSpec& policy) {
    db.set_up.filter.filter_spec = policy;
    db.Open();
    const RocksDbFilterReport report = Verify(db);
    EXPECT_EQ(StatesOf(report)[0] == State::kOtherOptions,
              !report.files[0].note.empty());
    return report.files[0].note;
  };
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("compact", 10)),
            "built as fast, not compact");
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 12)),
            "built with 9.90 bits per key, not 12.03");
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 8)),
            "built with 9.90 bits per key, not 8.02");
  EXPECT_EQ(note_under(FilterSpec::TargetFpr("fast", 0.0001)).substr(0, 30),
            "built with 9.90 bits per key, ");
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 10)), "");
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 10.5)), "");
  db.Compact();
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 12)).empty(), false);
  db.Compact();
  EXPECT_EQ(note_under(FilterSpec::BitsPerKey("fast", 12)), "");
}

// This holds for few keys, few bits and small partitions, too.
TEST(DbVerify, FiltersOfThePolicyAreNeverOtherOptions) {
  std::vector<FilterSpec> policies;
  for (const FilterSpec& any : SpecsOfEachFamily()) {
    for (const double bits : {1.0, 4.0, 10.0, 24.0}) {
      policies.push_back(FilterSpec::BitsPerKey(any.family(), bits));
    }
    policies.push_back(FilterSpec::TargetFpr(any.family(), 0.01));
  }
  for (const FilterSpec& policy : policies) {
    for (const uint64_t partition_bytes : {0, 100, 2000}) {
      TestDb db;
      db.set_up.filter.filter_spec = policy;
      db.set_up.partitioned = partition_bytes > 0;
      db.set_up.metadata_block_size_bytes = partition_bytes;
      db.Open();
      for (const int key_count : {1, 30, 55, 501, 2000}) {
        db.Fill(key_count);
      }
      for (const RocksDbFilterFile& file : Verify(db).files) {
        EXPECT_EQ(file.state, State::kExpected)
            << policy.ToString() << ": " << file.filter_key_count << " keys, "
            << file.filter_count << " filters, " << file.note;
      }
    }
  }
}

// Partitions with few keys are rounded up to whole lines.
TEST(DbVerify, SmallPartitionsAreNeverOtherOptions) {
  for (const char* family : {"blocked_bloom", "fast", "compact"}) {
    TestDb db;
    db.set_up.filter.filter_spec = FilterSpec::BitsPerKey(family, 1);
    db.set_up.partitioned = true;
    db.set_up.metadata_block_size_bytes = 2000;
    db.Open();
    for (size_t value_size = 5; value_size < 60; value_size += 2) {
      for (int row = 0; row < 2500; ++row) {
        db.Put(db.Key(Row(row), "q", ""), std::string(value_size, 'v'));
      }
      db.Flush();
    }
    for (const RocksDbFilterFile& file : Verify(db).files) {
      EXPECT_EQ(file.state, State::kExpected)
          << family << ": " << file.filter_key_count << " keys, "
          << file.filter_count << " filters, " << file.note;
    }
  }
}

TEST(DbVerify, FilesOfAnotherExtractorAreOtherOptions) {
  TestDb db;
  db.set_up.extractor = false;
  db.OpenAndFill(kRows);
  db.set_up.extractor = true;
  db.set_up.extractor_type = BloomType::kRow;
  db.OpenAndFill(kRows);
  RocksDbFilterReport report = Verify(db);
  EXPECT_EQ(report.CountOf(State::kExpected), 1);
  EXPECT_EQ(report.files[0].note, "written with prefix_extractor nullptr");
  db.set_up.extractor_type = BloomType::kRowCol;
  db.Open();
  report = Verify(db);
  EXPECT_THAT(StatesOf(report),
              ElementsAre(State::kOtherOptions, State::kOtherOptions));
  EXPECT_EQ(report.files[1].note,
            "written with prefix_extractor rowbloom.RowPrefix:ROW:ordered");
  // No lookup asks by prefix, whatever extractor the files were written with.
  db.set_up.extractor = false;
  db.Open();
  EXPECT_THAT(StatesOf(Verify(db)),
              ElementsAre(State::kExpected, State::kExpected));
}

// Writes a flush of few keys, one of many, and the oldest run.
void FillThreeRuns(TestDb* db) {
  db->set_up.extractor = false;
  db->Open();
  db->Fill(5000);
  db->Compact();
  db->Fill(2000);
  db->Fill(10);
}

void FillComposed(TestDb* db, const RocksDbComposedOptions& options) {
  db->set_up.other_policy = NewRocksDbComposedPolicy(options);
  FillThreeRuns(db);
}

TEST(DbVerify, WhateverABudgetGivesIsExpected) {
  for (const char* family : {"blocked_bloom", "fast", "compact"}) {
    for (const BudgetMode mode :
         {BudgetMode::kBalanced, BudgetMode::kHitsOnly, BudgetMode::kFixed}) {
      for (const double bits : {0.5, 2.0, 10.0, 20.0}) {
        TestDb db;
        db.set_up.filter.filter_spec = FilterSpec::BitsPerKey(family, 10);
        db.set_up.filter.budget = mode;
        db.set_up.filter.budget_bits_per_key = bits;
        FillThreeRuns(&db);
        const RocksDbFilterReport report = Verify(db);
        EXPECT_EQ(report.CountOf(State::kExpected), 3);
        EXPECT_THAT(report.expected.ToString(), HasSubstr("by a budget"));
      }
    }
  }
}

TEST(DbVerify, ABudgetThatIsTooSmallForFiltersIsWarnedOf) {
  for (const double bits_per_key : {0.5, 10.0}) {
    TestDb db;
    db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 10);
    db.set_up.filter.budget = BudgetMode::kBalanced;
    db.set_up.filter.budget_bits_per_key = bits_per_key;
    FillThreeRuns(&db);
    db.Compact();
    const RocksDbFilterReport report = Verify(db);
    EXPECT_EQ(report.CountOf(State::kExpected), 1);
    if (bits_per_key == 0.5) {
      EXPECT_THAT(report.warnings(),
                  ElementsAre(HasSubstr("gets of absent keys read a block of "
                                        "each: no filter by the budget")));
    } else {
      EXPECT_THAT(report.warnings(), IsEmpty());
    }
  }
}

TEST(DbVerify, WarnsIfRocksDbAsksAutoForNoFilterAtTheLastLevel) {
  for (const bool is_auto : {false, true}) {
    TestDb db;
    db.set_up.filter.auto_bits = is_auto;
    db.set_up.extractor = false;
    rdb::Options options = db.MakeOptions();
    options.optimize_filters_for_hits = true;
    db.Open(options);
    db.Fill(5000);
    db.Compact();
    const RocksDbFilterReport report = Verify(db);
    EXPECT_EQ(report.CountOf(State::kExpected), 1);
    if (is_auto) {
      EXPECT_THAT(report.warnings(),
                  ElementsAre(HasSubstr("each: optimize_filters_for_hits")));
    } else {
      EXPECT_THAT(report.warnings(), IsEmpty());
    }
  }
}

TEST(DbVerify, AutoBitsAreByABudget) {
  TestDb db;
  db.set_up.filter.auto_bits = true;
  FillThreeRuns(&db);
  EXPECT_THAT(Verify(db).expected.ToString(), HasSubstr("by a budget"));
}

TEST(DbVerify, BitsThatTheBudgetCannotHaveGivenAreOther) {
  TestDb db;
  db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 3);
  FillThreeRuns(&db);
  db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 10);
  db.set_up.filter.budget = BudgetMode::kBalanced;
  db.Open();
  EXPECT_EQ(Verify(db).CountOf(State::kOtherOptions), 2);
  db.set_up.filter.budget_bytes = 5000;  // It may lower any filter's bits.
  db.Open();
  EXPECT_EQ(Verify(db).CountOf(State::kOtherOptions), 0);
}

TEST(DbVerify, WhateverComposedModeGivesIsExpected) {
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    for (const BudgetMode mode :
         {BudgetMode::kBalanced, BudgetMode::kHitsOnly, BudgetMode::kFixed}) {
      for (const double bits : {2.0, 10.0, 20.0}) {
        RocksDbComposedOptions options;
        options.filter = filter;
        options.budget = mode;
        options.bits_per_key = bits;
        TestDb db;
        FillComposed(&db, options);
        const RocksDbFilterReport report = Verify(db);
        EXPECT_EQ(report.CountOf(State::kExpected), 3);
      }
    }
  }
}

TEST(DbVerify, ComposedModeKnowsFilesOfAnotherBudget) {
  RocksDbComposedOptions options;
  options.filter = RocksDbFilter::kBloom;
  TestDb db;
  FillComposed(&db, options);
  const auto notes_under = [&db](const RocksDbComposedOptions& other) {
    db.set_up.other_policy = NewRocksDbComposedPolicy(other);
    db.Open();
    std::string notes;
    for (const RocksDbFilterFile& file : Verify(db).files) {
      if (file.state == State::kOtherOptions) notes += file.note + "; ";
    }
    return notes;
  };
  EXPECT_EQ(notes_under(options), "");
  options.bits_per_key = 24;
  EXPECT_THAT(notes_under(options),
              ::testing::MatchesRegex("(built with [0-9.]+ bits per key, not "
                                      "16.2 to 37.5; ){2}"));
  options.budget = BudgetMode::kFixed;
  options.bits_per_key = 4;
  EXPECT_THAT(notes_under(options), HasSubstr("not 3 to 5; "));
  options = RocksDbComposedOptions();
  options.filter = RocksDbFilter::kRibbon;
  EXPECT_EQ(notes_under(options),
            "built as rocksdb_bloom; built as rocksdb_bloom; ");
}

TEST(DbVerify, PrefixesAloneAreExpectedToMakeRowFilters) {
  TestDb db;
  db.set_up.whole_key_filtering = false;
  db.OpenAndFill(kRows);
  const RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kExpected));
  EXPECT_THAT(report.expected.ToString(), HasSubstr("rowbloom ROW ordered"));
  db.set_up.whole_key_filtering = true;
  db.Open();
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kOtherOptions));
}

TEST(DbVerify, FilesAtTheBottomNeedNoFilterIfGetsNeverMiss) {
  TestDb db;
  rdb::Options options = db.MakeOptions();
  options.optimize_filters_for_hits = true;
  db.Open(options);
  db.Fill(kRows);
  db.Compact();
  RocksDbFilterReport report = Verify(db);
  ASSERT_THAT(StatesOf(report), ElementsAre(State::kExpected));
  EXPECT_EQ(report.files[0].filter_count, 0);
  EXPECT_EQ(report.files[0].note, "optimize_filters_for_hits");
  EXPECT_THAT(report.warnings(), IsEmpty());
  db.Open();
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kNone));
}

TEST(DbVerify, APolicyThatIsFedNothingIsNamed) {
  TestDb db;
  db.set_up.whole_key_filtering = false;
  db.set_up.extractor = false;
  db.OpenAndFill(kRows);
  const RocksDbFilterReport report = Verify(db);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kNone));
  EXPECT_EQ(report.files[0].note, "policy rowbloom made none");
}

// Before 9.6, RocksDB misses the moment to cut if it adds a whole key and a
// prefix at once.
TEST(DbVerify, OversizedPartitionsAreReported) {
  TestDb db;
  db.set_up.partitioned = true;
  db.set_up.metadata_block_size_bytes = 500;
  db.set_up.extractor_type = BloomType::kRow;
  db.set_up.other_policy = StockBloom();
  db.OpenAndFill(4000);
  const RocksDbFilterReport report = Verify(db);
  ASSERT_EQ(report.files.size(), 1);
  const RocksDbFilterFile& file = report.files[0];
  EXPECT_TRUE(file.is_partitioned);
  if (kRocksDbRelease >= 906) {  // It cuts partitions in time.
    EXPECT_LE(file.largest_filter_bytes, 500);
    EXPECT_THAT(report.warnings(), IsEmpty());
    return;
  }
  EXPECT_GT(file.largest_filter_bytes, 1000);
  ASSERT_EQ(report.warnings().size(), 1);
  EXPECT_THAT(report.warnings()[0],
              AllOf(HasSubstr(std::to_string(file.largest_filter_bytes)),
                    HasSubstr("asks for 500")));
}

// --- Damage ------------------------------------------------------------------

// The policy of a database whose last filter is kept.
std::shared_ptr<const rdb::FilterPolicy> Keeping(std::string* filter) {
  return std::make_shared<TamperingPolicy>(
      [filter](std::string* bytes) { *filter = *bytes; });
}

TEST(DbVerify, DamagedFiltersAreFoundWhereRocksDbIsSilent) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    db.set_up.cache_filter_blocks = true;
    std::string filter;
    db.set_up.other_policy = Keeping(&filter);
    db.OpenAndFill(kRows);
    db.Compact();  // At level 0 RocksDB reads all partitions when it opens.
    db.DamageOnDisk({filter});
    db.set_up.other_policy.reset();
    db.Open();
    // RocksDB verifies whole filters, but not partitions.
    EXPECT_EQ(db->VerifyChecksum().ok(), partitioned);
    RocksDbFilterReport report = Verify(db);
    ASSERT_THAT(StatesOf(report), ElementsAre(State::kUnusable));
    EXPECT_TRUE(absl::IsDataLoss(report.files[0].status));
    EXPECT_THAT(
        report.files[0].note,
        AllOf(HasSubstr("block checksum mismatch"), HasSubstr("offset ")));
    EXPECT_THAT(report.warnings()[0],
                HasSubstr("1 file with a filter that cannot be used"));
    db.Compact();
    report = Verify(db);
    EXPECT_THAT(StatesOf(report), ElementsAre(State::kExpected));
  }
}

// RocksDB reads all partitions of a file at level 0 when it opens it.
TEST(DbVerify, ADamagedPartitionThatKeepsADatabaseShutIsNamedAndCured) {
  for (bool cached : {false, true}) {
    TestDb db;
    db.set_up.partitioned = true;
    db.set_up.cache_filter_blocks = cached;
    std::string filter;
    db.set_up.other_policy = Keeping(&filter);
    db.OpenAndFill(kRows);
    const std::string path = db.PathOfOnlySst();
    db.DamageOnDisk({filter});
    db.set_up.other_policy.reset();
    const rdb::Options options = db.MakeOptions();
    EXPECT_TRUE(db.TryOpen(options).IsCorruption());
    const RocksDbFilterFile file = VerifyRocksDbSst(path, options);
    EXPECT_EQ(file.state, State::kUnusable);
    EXPECT_THAT(file.note, HasSubstr(path));

    rdb::BlockBasedTableOptions table = db.TableOptions();
    table.filter_policy = nullptr;
    db.Open(db.MakeOptions(table));
    db.Compact();  // It builds no filter, but removes the damage.
    db.Open();
    db.Compact();
    EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kExpected));
    EXPECT_TRUE(db.Has(db.Key(Row(0), "q")));
  }
}

// Damages the index, the properties and the footer, except unused bytes.
TEST(DbVerify, DamageBehindTheFilterIsNotTheFilters) {
  TestDb db;
  std::string filter;
  db.set_up.other_policy = Keeping(&filter);
  db.OpenAndFill(kRows);
  const std::string path = db.PathOfOnlySst();
  const rdb::Options options = db.MakeOptions();
  db.Close();
  const std::string whole = db.ReadSst(path);
  const size_t at = whole.find(filter);
  ASSERT_NE(at, std::string::npos);
  const auto state_of = [&](const std::string& bytes) {
    db.WriteSst(path, bytes);
    return VerifyRocksDbSst(path, options).state;
  };
  EXPECT_EQ(state_of(whole), State::kExpected);
  constexpr size_t kTrailerBytes = 5;
  int damages = 0;
  int found = 0;
  for (size_t i = at + filter.size() + kTrailerBytes; i < whole.size();
       i += 3) {
    std::string damaged = whole;
    damaged[i] ^= 0x40;
    const State state = state_of(damaged);
    EXPECT_NE(state, State::kUnusable) << i << " of " << whole.size();
    ++damages;
    found += state == State::kUnreadable;
  }
  EXPECT_GT(found, damages * 9 / 10);
  EXPECT_EQ(state_of(whole.substr(0, whole.size() - 1)), State::kUnreadable);
  EXPECT_EQ(state_of(""), State::kUnreadable);
}

TEST(DbVerify, DamageInMemoryBeforeTheChecksumIsFound) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    db.set_up.other_policy = std::make_shared<TamperingPolicy>(
        [](std::string* filter) { (*filter)[0] ^= 1; });
    db.OpenAndFill(kRows);
    EXPECT_TRUE(db->VerifyChecksum().ok());
    const RocksDbFilterReport report = Verify(db);
    ASSERT_THAT(StatesOf(report), ElementsAre(State::kUnusable));
    EXPECT_THAT(report.files[0].note,
                AllOf(HasSubstr("filter chunk 0"), HasSubstr("may deny rows")));
  }
}

// A filter that was built of wrong keys has a right checksum.
TEST(DbVerify, FiltersThatDenyStoredKeysAreFound) {
  constexpr int kManyRows = 5000;
  for (const auto& policy :
       {NewRocksDbFilterPolicy(RocksDbOptions()), StockBloom(), StockRibbon(),
        NewRocksDbComposedPolicy(RocksDbComposedOptions())}) {
    for (bool partitioned : {false, true}) {
      SCOPED_TRACE(absl::StrCat(policy->Name(), " ", partitioned));
      TestDb db;
      db.set_up.extractor = false;
      db.set_up.partitioned = partitioned;
      db.set_up.metadata_block_size_bytes = 1000;
      // Each tenth row, and in another file one of 5000.
      const std::string lone = db.Key(Row(1230), "q");
      bool is_second_file = false;
      db.set_up.other_policy = std::make_shared<ForgetfulPolicy>(
          policy, [&](std::string_view entry) {
            return is_second_file ? entry == lone
                                  : entry.find("0\0\1"sv) != entry.npos;
          });
      rdb::BlockBasedTableOptions table = db.TableOptions();
      table.detect_filter_construct_corruption = false;
      db.Open(db.MakeOptions(table));
      db.Fill(kManyRows);
      is_second_file = true;
      db.Fill(kManyRows);
      db.set_up.other_policy = policy;
      db.Open();
      EXPECT_FALSE(db.Has(lone));  // It is lost.
      EXPECT_TRUE(db->VerifyChecksum().ok());

      RocksDbFilterReport report = Verify(db);
      EXPECT_EQ(report.CountOf(State::kUnusable), 1);
      RocksDbVerifyOptions full;
      full.read_data_blocks = true;
      report = Verify(db, full);
      EXPECT_EQ(report.CountOf(State::kUnusable), 2);
      for (const RocksDbFilterFile& file : report.files) {
        EXPECT_TRUE(absl::IsDataLoss(file.status)) << file.status;
        EXPECT_THAT(file.note, HasSubstr(file.path + ": the filter"));
        EXPECT_EQ(file.asked_key_count, kManyRows);
        EXPECT_GT(file.denied_key_count, 0);
      }
      // The newer file lacks one key.
      EXPECT_THAT(
          report.files[1].note,
          HasSubstr(partitioned ? "partitions deny stored keys, the first at "
                                  "or before \"row"
                                : "denies 1 of 5000 stored keys, the first is "
                                  "\"row2230\\x00"));
      EXPECT_THAT(report.warnings()[0],
                  HasSubstr("2 files with a filter that cannot be used"));

      db.Compact();
      EXPECT_TRUE(db.Has(lone));
      EXPECT_EQ(Verify(db, full).CountOf(State::kExpected), 1);
    }
  }
}

TEST(DbVerify, DamagedStockFiltersAreFoundToo) {
  TestDb db;
  db.set_up.extractor = false;
  db.set_up.other_policy = StockBloom();
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.optimize_filters_for_memory = false;  // Else probes may differ.
  db.Open(db.MakeOptions(table));
  db.Fill(kRows);
  // The filter lies between the data blocks of "value"s and the index; its
  // trailer marks a new Bloom filter of six probes.
  db.DamageOnDisk({std::string("\xff\0\x06\0\0", 5)});
  db.Open();
  const RocksDbFilterReport report = Verify(db);
  ASSERT_THAT(StatesOf(report), ElementsAre(State::kUnusable));
  EXPECT_THAT(report.files[0].note, HasSubstr("block checksum mismatch"));
}

TEST(DbVerify, FiltersOfANewerVersionAreToldFromDamage) {
  TestDb db;
  db.set_up.other_policy = std::make_shared<TamperingPolicy>(MakeNewer);
  db.OpenAndFill(kRows);
  const RocksDbFilterReport report = Verify(db);
  ASSERT_THAT(StatesOf(report), ElementsAre(State::kUnusable));
  EXPECT_TRUE(absl::IsUnimplemented(report.files[0].status));
}

// RocksDB checks a footer's format_version before its checksum. Since version
// 6, footers hold an extended magic.
TEST(DbVerify, SstsOfANewerFormatVersionAreNotDamaged) {
  TestDb db;
  db.OpenAndFill(kRows);
  const std::string path = db.PathOfOnlySst();
  const std::string whole = db.ReadSst(path);
  const auto report_of = [&](const std::string& bytes) {
    db.WriteSst(path, bytes);
    return Verify(db);
  };
  std::string newer = whole;
  newer.replace(newer.size() - 52, 4, std::string("\x3e\0\x7a\0", 4));
  newer.replace(newer.size() - 12, 4, std::string("\x63\0\0\0", 4));
  for (const bool read_data_blocks : {false, true}) {
    RocksDbVerifyOptions verify;
    verify.read_data_blocks = read_data_blocks;
    report_of(newer);
    const RocksDbFilterReport report = Verify(db, verify);
    ASSERT_THAT(StatesOf(report), ElementsAre(State::kNewer));
    EXPECT_TRUE(absl::IsUnimplemented(report.files[0].status));
    EXPECT_THAT(report.files[0].note,
                AllOf(HasSubstr(path), HasSubstr("format_version 99 is newer"),
                      HasSubstr("RocksDB " + std::to_string(ROCKSDB_MAJOR) +
                                "." + std::to_string(ROCKSDB_MINOR) + "."),
                      HasSubstr("use one built with")));
    EXPECT_THAT(report.warnings(),
                ElementsAre(HasSubstr("1 file of a newer format")));
    EXPECT_EQ(report.CountOf(State::kNewer), 1);
  }
  EXPECT_TRUE(
      absl::IsUnimplemented(VerifyRocksDbSstChecksums(path, db.MakeOptions())));
  rdb::Options options = db.MakeOptions();
  options.paranoid_checks = false;
  db.Open(options);
  const auto budget = ReportRocksDbBudget(db.get(), db->DefaultColumnFamily());
  EXPECT_TRUE(absl::IsUnimplemented(budget.status())) << budget.status();
  EXPECT_THAT(std::string(budget.status().message()),
              HasSubstr(path + ": format_version 99 is newer"));

  // No release uses this number for its format.
  std::string damaged = newer;
  damaged[damaged.size() - 9] ^= 1;
  EXPECT_THAT(StatesOf(report_of(damaged)), ElementsAre(State::kUnreadable));
  // No footer since version 6 has this magic.
  damaged = newer;
  damaged[damaged.size() - 52] ^= 1;
  EXPECT_THAT(StatesOf(report_of(damaged)), ElementsAre(State::kUnreadable));
  EXPECT_THAT(StatesOf(report_of(whole)), ElementsAre(State::kExpected));
}

TEST(DbVerify, DataBlocksAreReadIfAsked) {
  TestDb db;
  db.Open();
  db.Put(db.Key("row", "q"), "a value that is somewhere in the file");
  db.Flush();
  db.DamageOnDisk({"a value that is somewhere in the file"});
  db.Open();
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kExpected));
  RocksDbVerifyOptions verify;
  verify.read_data_blocks = true;
  const RocksDbFilterReport report = Verify(db, verify);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kUnreadable));
  EXPECT_TRUE(absl::IsDataLoss(report.files[0].status));
}

// --- Files that come and go --------------------------------------------------

TEST(DbVerify, FilesCompactedAwayMeanwhileAreLeftOut) {
  TestDb db;
  db.OpenAndFill(kRows, "a");
  db.Fill(kRows, "b");
  db.Fill(kRows, "c");
  RocksDbVerifyOptions verify;
  size_t last = 0;
  verify.progress = [&](size_t done, size_t total) {
    EXPECT_EQ(total, 3);
    last = done;
    if (done == 1) db.Compact();
  };
  const RocksDbFilterReport report = Verify(db, verify);
  EXPECT_EQ(last, 2);
  EXPECT_THAT(StatesOf(report), ElementsAre(State::kExpected));
}

TEST(DbVerify, FilesThatAreGoneButLiveAreUnreadable) {
  TestDb db;
  db.OpenAndFill(kRows);
  const auto path = db.PathOfOnlySst();
  ASSERT_TRUE(db.env()->DeleteFile(path).ok());
  const RocksDbFilterReport report = Verify(db);
  ASSERT_THAT(StatesOf(report), ElementsAre(State::kUnreadable));
  EXPECT_THAT(report.files[0].note, HasSubstr(path));
  EXPECT_THAT(report.warnings()[0], HasSubstr("cannot be read"));
}

TEST(DbVerify, ADatabaseOpenForReadingCanBeVerified) {
  TestDb db;
  db.OpenAndFill(kRows);
  const rdb::Options options = db.MakeOptions();
  db.Close();
  db.OpenBy([&](auto* opened) {
    return rdb::DB::OpenForReadOnly(options, TestDb::path(), opened);
  });
  EXPECT_THAT(StatesOf(Verify(db)), ElementsAre(State::kExpected));
}

}  // namespace
}  // namespace rowbloom::testing
