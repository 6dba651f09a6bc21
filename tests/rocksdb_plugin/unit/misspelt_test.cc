// SPDX-License-Identifier: Apache-2.0
//
// Options strings with typing errors are refused. RocksDB's defaults report
// success, and go on with a policy of defaults or with none; the program, and
// whoever opens the database, must hear of it all the same.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "open_db.h"
#include "rdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb_plugin/rocksdb_release.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Misspelt {
  std::string policy;
  std::string name;     // The option, or the whole text of a short form.
  std::string allowed;  // A part of what the error says is allowed.
};

std::vector<Misspelt> AllMisspelt() {
  const std::string known = "known: rowbloom, rowbloom.Composed";
  return {
      {"{id=rowbloom;key_codec=fixd:8;filter_spec=compact:bits_per_key=12}",
       "key_codec=fixd:8", "fixed:N"},
      {"{id=rowbloom;filter_spec=compct}", "filter_spec=compct", "compact"},
      {"{id=rowbloom;filter_spec=compact:bits_per_key=30}",
       "filter_spec=compact:bits_per_key=30", "1 to 24"},
      {"{id=rowbloom;filter_spec=compact:bits_per_key=250}",
       "filter_spec=compact:bits_per_key=250", "1 to 24"},
      {"{id=rowbloom;filter_spec=compact:target_fpr=2}",
       "filter_spec=compact:target_fpr=2", "to"},
      {"{id=rowbloom;bloom_type=ROWCOLS}", "bloom_type=ROWCOLS", "ROWCOL"},
      {"{id=rowbloom;budget=balancd;filter_spec=compact}", "budget=balancd",
       "balanced"},
      {"{id=rowbloom;budget=balanced;budget_bits_per_key=30}",
       "budget_bits_per_key=30", "at most 24"},
      {"{id=rowbloom;budget=balanced;missing_share=1.5}", "missing_share=1.5",
       "0.01 to 1"},
      {"{id=rowbloom;fliter_spec=compact}", "fliter_spec=compact",
       "known: auto_bits, bloom_type, budget,"},
      {"{id=rowbloom;bloom_type=ROWCOL}", "bloom_type ROWCOL", "fixed:N"},
      {"{id=rowbloom:12;max_bits_per_key=8}", "max_bits_per_key",
       "limits of auto_bits"},
      {"{id=rowbloom.Composed:auto;max_bits_per_key=25}", "max_bits_per_key=25",
       "0 to 24"},
      {"{id=rowbloom.Composed;filter=ribon}", "filter=ribon", "ribbon"},
      {"{id=rowbloom.Composed;bits_per_key=ten}", "bits_per_key=ten",
       "not a number"},
      {"{id=rowbloom.Composed;bits_per_key=30}", "bits_per_key=30",
       "at most 24"},
      {"{id=rowbloom.Composed;budget=hitsonly}", "budget=hitsonly",
       "hits_only"},
      {"rowbloom:1024", "rowbloom:1024", "1024 is not within 1 to 24"},
      {"rowbloom:ten", "rowbloom:ten", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:10:3", "rowbloom:10:3", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:10:false", "rowbloom:10:false", "rowbloom:BITS_PER_KEY"},
      {"rowbloom.Composed:10:3", "rowbloom.Composed:10:3",
       "rowbloom.Composed:BITS_PER_KEY"},
      {"rowblom:10", "rowblom:10", known},
      {"rowblooom:10", "rowblooom:10", known},
      {"rowbolom", "rowbolom", known},
      {"Rowbloom:10", "Rowbloom:10", known},
      {"row_bloom:10", "row_bloom:10", known},
      {"rowbloomfilter:10", "rowbloomfilter:10", known},
      {"RowBloom:10", "RowBloom:10", known},
      {"ROWBLOOM:10", "ROWBLOOM:10", known},
      {"rowbloom10", "rowbloom10", known},
      {"rowbloom.10", "rowbloom.10", known},
      {"rowbloom.Ribbon:10", "rowbloom.Ribbon:10", known},
      {"rowbloom.composed:10", "rowbloom.composed:10", known},
      {"rowblom.Composed:10", "rowblom.Composed:10", known},
      {"rowbloomComposed", "rowbloomComposed", known},
      {"{id=rowbloom.Compose;filter=bloom}", "rowbloom.Compose", known},
  };
}

rdb::ColumnFamilyOptions Parsed(const std::string& policy,
                                const rdb::ConfigOptions& config,
                                rdb::Status* status) {
  rdb::ColumnFamilyOptions parsed;
  *status = rdb::GetColumnFamilyOptionsFromString(
      config, rdb::ColumnFamilyOptions(),
      "block_based_table_factory={filter_policy=" + policy + "}", &parsed);
  return parsed;
}

TEST(MisspeltPolicy, TheCheckNamesOptionValueAndWhatIsAllowed) {
  RegisterRocksDb();
  for (const Misspelt& m : AllMisspelt()) {
    rdb::Status status;
    const auto options = Parsed(m.policy, rdb::ConfigOptions(), &status);
    EXPECT_TRUE(status.ok()) << status.ToString();  // RocksDB's defaults.
    const rdb::Status check = CheckRocksDbOptions(options);
    EXPECT_TRUE(check.IsInvalidArgument()) << m.policy;
    EXPECT_THAT(check.ToString(),
                AllOf(HasSubstr(m.name), HasSubstr(m.allowed)));
  }
}

TEST(MisspeltPolicy, ParsingIsStrictWithStringsThatAreNotEscaped) {
  RegisterRocksDb();
  rdb::ConfigOptions config;
  config.input_strings_escaped = false;
  for (const Misspelt& m : AllMisspelt()) {
    rdb::Status status;
    Parsed(m.policy, config, &status);
    EXPECT_FALSE(status.ok()) << m.policy;
  }
}

TEST(MisspeltPolicy, ADatabaseDoesNotOpenWithIt) {
  RegisterRocksDb();
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  for (const Misspelt& m : AllMisspelt()) {
    rdb::Status status;
    rdb::Options options(rdb::DBOptions(),
                         Parsed(m.policy, rdb::ConfigOptions(), &status));
    options.create_if_missing = true;
    options.env = env.get();
    std::unique_ptr<rdb::DB> db;
    status = OpenDb(
        [&](auto* opened) { return rdb::DB::Open(options, "/db", opened); },
        &db);
    EXPECT_TRUE(status.IsInvalidArgument()) << m.policy;
    EXPECT_THAT(status.ToString(),
                AllOf(HasSubstr(m.name), HasSubstr(m.allowed)));
  }
}

TEST(MisspeltPolicy, ParseRocksDbFilterPolicyRefusesIt) {
  for (const Misspelt& m : AllMisspelt()) {
    std::shared_ptr<const rdb::FilterPolicy> policy;
    const rdb::Status status = ParseRocksDbFilterPolicy(m.policy, &policy);
    EXPECT_TRUE(status.IsInvalidArgument()) << m.policy;
    EXPECT_THAT(status.ToString(),
                AllOf(HasSubstr(m.name), HasSubstr(m.allowed)));
    EXPECT_EQ(policy, nullptr);
  }
  std::shared_ptr<const rdb::FilterPolicy> policy;
  EXPECT_TRUE(
      ParseRocksDbFilterPolicy("robloms:10", &policy).IsInvalidArgument());
}

TEST(MisspeltPolicy, RightTextIsRead) {
  for (const std::string text :
       {"rowbloom", "rowbloom:10", "{id=rowbloom;key_codec=ordered}",
        "{id=rowbloom:8;filter_spec=compact;budget=balanced}",
        "{id=rowbloom;rowbloom.key_codec=ordered}", "rowbloom.Composed:8",
        "{id=rowbloom.Composed;filter=bloom}", "bloomfilter:10:false",
        "ribbonfilter:10"}) {
    std::shared_ptr<const rdb::FilterPolicy> policy;
    rdb::Status status = ParseRocksDbFilterPolicy(text, &policy);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
    EXPECT_NE(policy, nullptr);
    const auto options = Parsed(text, rdb::ConfigOptions(), &status);
    EXPECT_TRUE(status.ok());
    EXPECT_TRUE(CheckRocksDbOptions(options).ok())
        << CheckRocksDbOptions(options).ToString();
  }
}

// RocksDB reads the text of an option on top of what the option was.
TEST(MisspeltPolicy, NoOptionIsSetThatNobodyNamed) {
  RegisterRocksDb();
  rdb::ColumnFamilyOptions options;
  for (const char* policy :
       {"rowbloom:10", "{id=rowbloom;key_codec=fixed:8}"}) {
    const rdb::ColumnFamilyOptions base = options;
    const rdb::Status status = rdb::GetColumnFamilyOptionsFromString(
        rdb::ConfigOptions(), base,
        std::string("block_based_table_factory={filter_policy=") + policy + "}",
        &options);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  const RocksDbExpectedFilter expected = ExpectedRocksDbFilter(options);
  ASSERT_TRUE(expected.rowbloom.has_value());
  EXPECT_EQ(expected.rowbloom->effective_bloom_type(), BloomType::kRowCol);
  EXPECT_TRUE(expected.rowbloom->key_codec == KeyCodec::FixedRow(8));
  EXPECT_EQ(expected.error, "");
}

TEST(MisspeltPolicy, AMisspeltChangeIsRefusedOrNamedByTheCheck) {
  RegisterRocksDb();
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  rdb::Status status;
  rdb::Options options(rdb::DBOptions(),
                       Parsed("rowbloom:10", rdb::ConfigOptions(), &status));
  options.create_if_missing = true;
  options.env = env.get();
  const auto open = [&options](std::unique_ptr<rdb::DB>* db) {
    return OpenDb(
        [&](auto* opened) { return rdb::DB::Open(options, "/db", opened); },
        db);
  };
  std::unique_ptr<rdb::DB> db;
  ASSERT_TRUE(open(&db).ok());
  status = db->SetOptions({{"block_based_table_factory",
                            "{filter_policy={id=rowbloom;"
                            "key_codec=fixd:8}}"}});
  if (testing::kRocksDbRelease < 908) {
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(CheckRocksDbOptions(db->GetOptions()).ok());
  } else {
    // RocksDB makes a new policy and drops the error, as its parsers do.
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_THAT(CheckRocksDbOptions(db->GetOptions()).ToString(),
                HasSubstr("key_codec=fixd:8"));
  }
  EXPECT_TRUE(db->Put({}, "key", "value").ok());
  EXPECT_TRUE(db->Flush({}).ok());
  db.reset();
  status = open(&db);
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// CreateColumnFamily() does not ask policies; the OPTIONS file keeps the text.
TEST(MisspeltPolicy, AColumnFamilyIsRefusedWhenItIsOpenedAgain) {
  RegisterRocksDb();
  const std::unique_ptr<rdb::Env> env(rdb::NewMemEnv(rdb::Env::Default()));
  rdb::Options options;
  options.create_if_missing = true;
  options.env = env.get();
  std::unique_ptr<rdb::DB> db;
  ASSERT_TRUE(
      OpenDb(
          [&](auto* opened) { return rdb::DB::Open(options, "/db", opened); },
          &db)
          .ok());
  rdb::Status status;
  rdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(
                    Parsed("rowblom:10", rdb::ConfigOptions(), &status),
                    "misspelt", &handle)
                  .ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  db.reset();
  rdb::ConfigOptions config;
  config.env = env.get();
  rdb::DBOptions db_options;
  std::vector<rdb::ColumnFamilyDescriptor> families;
  ASSERT_TRUE(
      rdb::LoadLatestOptions(config, "/db", &db_options, &families).ok());
  ASSERT_EQ(families.size(), 2u);
  EXPECT_THAT(CheckRocksDbOptions(families[1].options).ToString(),
              HasSubstr("rowblom:10"));
}

// All errors of a text are told at once.
TEST(MisspeltPolicy, EachErrorIsNamed) {
  std::shared_ptr<const rdb::FilterPolicy> policy;
  const rdb::Status status = ParseRocksDbFilterPolicy(
      "{id=rowbloom;key_codec=fixd:8;filter_spec=compct;missing_share=0}",
      &policy);
  EXPECT_THAT(status.ToString(), AllOf(HasSubstr("key_codec=fixd:8"),
                                       HasSubstr("filter_spec=compct"),
                                       HasSubstr("missing_share=0")));
}

}  // namespace
}  // namespace rowbloom::plugin
