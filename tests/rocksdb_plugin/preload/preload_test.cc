// SPDX-License-Identifier: Apache-2.0
//
// Tests stock tools on a database that uses rowbloom, with the library for
// LD_PRELOAD and, as the control, without it.

#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/db.h"
#include "rocksdb_plugin/test_db.h"
#include "testing/run_program.h"

namespace rowbloom {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kNone[] = "";
constexpr int kFirstRow = 10000000;  // Rows have 8 bytes.

class Preload : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = ::testing::TempDir() + "rowbloom_preload_XXXXXX";
    ASSERT_NE(mkdtemp(base_.data()), nullptr) << base_;
    std::filesystem::create_directory(Path("run"));
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  std::string Path(const std::string& name) const { return base_ + "/" + name; }

  // `preload` is kNone or a library.
  ToolResult Run(const std::string& preload, const std::string& program,
                 std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"LD_PRELOAD=" + preload, program});
    return RunProgram("/usr/bin/env", Path("run"), std::move(arguments));
  }
  // `arguments` are a policy and perhaps an extractor.
  ToolResult FromStrings(const std::string& preload,
                         std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), Path("db"));
    return Run(preload, ROWBLOOM_FROM_STRINGS, std::move(arguments));
  }
  ToolResult Ldb(const std::string& preload,
                 std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"--db=" + Path("db"), "--try_load_options"});
    return Run(preload, ROWBLOOM_LDB, std::move(arguments));
  }

  static std::string KeyOf(const KeyCodec& codec, int row) {
    std::string key;
    EXPECT_TRUE(codec.Encode(std::to_string(row), "q", &key).ok());
    return key;
  }

  // Writes two SSTs of cells of the same 1000 rows.
  void WriteDatabase(const KeyCodec& codec = KeyCodec::Ordered()) const {
    testing::TestDb db;
    db.set_up.directory = Path("db");
    db.set_up.filter.key_codec = codec;
    db.Open();
    for (int sst = 0; sst < 2; ++sst) {
      for (int row = kFirstRow; row < kFirstRow + 1000; ++row) {
        db.Put(KeyOf(codec, row), "value");
      }
      db.Flush();
    }
  }

  // Returns name and size of the filter of each live SST.
  std::vector<std::pair<std::string, uint64_t>> Filters() const {
    testing::TestDb db;
    db.OpenBy([&](auto* opened) {
      return rdb::DB::OpenForReadOnly(rdb::Options(), Path("db"), opened);
    });
    std::vector<std::pair<std::string, uint64_t>> filters;
    for (const auto& of_sst : db.Properties()) {
      filters.emplace_back(of_sst->filter_policy_name, of_sst->filter_size);
    }
    return filters;
  }

  std::string LatestOptionsFile() const {
    std::string latest;
    for (const auto& entry : std::filesystem::directory_iterator(Path("db"))) {
      const std::string name = entry.path().filename();
      if (name.rfind("OPTIONS-", 0) == 0) latest = std::max(latest, name);
    }
    return Path("db/" + latest);
  }

 private:
  std::string base_;
};

// Skips a test whose RocksDB program was not found in the release that rowbloom
// was built for.
#define SKIP_WITHOUT(path) \
  if (std::string(path).empty()) GTEST_SKIP() << "no " #path

class PreloadLdb : public Preload {
 protected:
  void SetUp() override {
    Preload::SetUp();
    SKIP_WITHOUT(ROWBLOOM_LDB);
  }
};

class PreloadSstDump : public Preload {
 protected:
  void SetUp() override {
    Preload::SetUp();
    SKIP_WITHOUT(ROWBLOOM_SST_DUMP);
  }
};

TEST_F(PreloadLdb, GetsCells) {
  WriteDatabase();
  const auto get = [this](int row) {
    const std::string key = KeyOf(KeyCodec::Ordered(), row);
    const std::string hex = rdb::Slice(key).ToString(/*hex=*/true);
    return Ldb(ROWBLOOM_PRELOAD, {"--key_hex", "get", "0x" + hex});
  };
  const ToolResult found = get(kFirstRow);
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(found.out, "value\n");
  const ToolResult absent = get(kFirstRow - 1);
  EXPECT_THAT(absent.err + absent.out,
              AnyOf(HasSubstr("NotFound"), HasSubstr("not found")));
}

TEST_F(PreloadLdb, CompactsWithFilters) {
  WriteDatabase();
  const ToolResult result = Ldb(ROWBLOOM_PRELOAD, {"compact"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_THAT(Filters(), SizeIs(1));
  EXPECT_EQ(Filters()[0].first, "rowbloom");
  EXPECT_GT(Filters()[0].second, 2000 * 9.5 / 8);  // 1000 rows, 1000 cells.
  EXPECT_THAT(ReadFile(LatestOptionsFile()),
              HasSubstr("filter_policy={id=rowbloom;"));
  EXPECT_THAT(ReadFile(LatestOptionsFile()),
              HasSubstr("prefix_extractor=rowbloom.RowPrefix:ROWCOL:ordered"));
}

TEST_F(PreloadLdb, WithoutItCompactsTheFiltersAway) {
  WriteDatabase();
  const ToolResult result = Ldb(kNone, {"compact"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_THAT(Filters(), SizeIs(1));
  EXPECT_EQ(Filters()[0].second, 0);
  EXPECT_THAT(ReadFile(LatestOptionsFile()), Not(HasSubstr("id=rowbloom")));
}

TEST_F(PreloadSstDump, ShowsThePolicyAndReadsTheSst) {
  WriteDatabase();
  const ToolResult result =
      Run(ROWBLOOM_PRELOAD, ROWBLOOM_SST_DUMP,
          {"--file=" + Path("db"), "--command=check", "--show_properties"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("filter policy name: rowbloom"));
  EXPECT_THAT(result.out, HasSubstr("# entries for filter: 2000"));
}

// Runs db_bench with that OPTIONS file.
class PreloadDbBench : public Preload {
 protected:
  void SetUp() override {
    Preload::SetUp();
    SKIP_WITHOUT(ROWBLOOM_DB_BENCH);
  }

  // Returns how many of 2000 reads of absent keys a filter spared. To the
  // codec, the keys of db_bench are rows of 8 bytes and a qualifier.
  int Spared(const std::string& preload) const {
    WriteDatabase(KeyCodec::FixedRow(8));
    const ToolResult result =
        Run(preload, ROWBLOOM_DB_BENCH,
            {"--options_file=" + LatestOptionsFile(), "--db=" + Path("bench"),
             "--benchmarks=fillrandom,compact,readmissing", "--num=2000",
             "--statistics"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::smatch match;
    const std::string all = result.out + result.err;
    if (!std::regex_search(
            all, match,
            std::regex("rocksdb\\.bloom\\.filter\\.useful COUNT : ([0-9]+)"))) {
      ADD_FAILURE() << "db_bench prints no tickers:\n" << all;
      return -1;
    }
    return std::stoi(match[1]);
  }
};

TEST_F(PreloadDbBench, UsesTheFilterOfAnOptionsFile) {
  EXPECT_GT(Spared(ROWBLOOM_PRELOAD), 1900);
}

TEST_F(PreloadDbBench, WithoutItHasNoFilter) { EXPECT_EQ(Spared(kNone), 0); }

TEST_F(Preload, ProgramsMakePoliciesOfBothModesFromStrings) {
  const std::vector<std::pair<std::string, std::string>> policies = {
      {"rowbloom", "rowbloom:"},
      {"{id=rowbloom;bloom_type=ROW;filter_spec=compact:target_fpr=0.001}",
       "rowbloom:"},
      {"rowbloom.Composed:8", "rowbloom.Composed:"},
      {"{id=rowbloom.Composed;filter=bloom;budget=fixed}",
       "rowbloom.Composed:"}};
  for (const auto& [policy, name] : policies) {
    std::filesystem::remove_all(Path("db"));
    const ToolResult result = FromStrings(
        ROWBLOOM_PRELOAD, {policy, "rowbloom.RowPrefix:ROW:ordered"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(name));
  }
}

TEST_F(Preload, WithoutItProgramsKnowNoPolicy) {
  const ToolResult result = FromStrings(kNone, {"rowbloom"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("Could not load FilterPolicy"));
}

TEST_F(Preload, WrongStringsSayWhatIsAllowed) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"rowbloom:many", "rowbloom:BITS_PER_KEY"},
      {"{id=rowbloom;filter_spec=bloom}", "blocked_bloom"},
      {"{id=rowbloom.Composed;filter=xor}", "bloom, ribbon"}};
  for (const auto& [policy, allowed] : wrong) {
    const ToolResult result = FromStrings(ROWBLOOM_PRELOAD, {policy});
    EXPECT_EQ(result.exit_code, 1) << policy;
    EXPECT_THAT(result.err, HasSubstr(allowed));
  }
}

TEST_F(Preload, ABuildWithoutNativeModeComposesAndSaysWhatItLacks) {
  const ToolResult composed =
      FromStrings(ROWBLOOM_COMPOSED_ONLY,
                  {"rowbloom.Composed", "rowbloom.RowPrefix:ROW:ordered"});
  EXPECT_EQ(composed.exit_code, 0) << composed.err;
  const ToolResult native = FromStrings(ROWBLOOM_COMPOSED_ONLY, {"rowbloom"});
  EXPECT_EQ(native.exit_code, 1);
  EXPECT_THAT(native.err, HasSubstr("has no native mode"));
}

// RocksDB ignores listeners that it does not know.
TEST_F(Preload, ALibraryOfAnotherReleaseSaysSoAndTheProgramGoesOn) {
  const ToolResult result = FromStrings(
      ROWBLOOM_ANOTHER_RELEASE,
      {"bloomfilter:10:false", "nullptr;listeners={rowbloom.BudgetListener}"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("rowbloom was compiled for RocksDB "));
  EXPECT_THAT(result.err,
              EndsWith(" is loaded; compile it for that release; rowbloom is "
                       "not registered\n"));
}

TEST_F(Preload, ALibraryOfAnotherReleaseRegistersNothing) {
  for (const char* policy : {"rowbloom", "rowbloom.Composed"}) {
    const ToolResult result = FromStrings(ROWBLOOM_ANOTHER_RELEASE, {policy});
    EXPECT_EQ(result.exit_code, 1) << policy;
    EXPECT_THAT(result.err, HasSubstr("Could not load FilterPolicy"));
  }
  const ToolResult extractor =
      FromStrings(ROWBLOOM_ANOTHER_RELEASE,
                  {"bloomfilter:10:false", "rowbloom.RowPrefix:ROW:ordered"});
  EXPECT_EQ(extractor.exit_code, 1);
  EXPECT_THAT(extractor.err, HasSubstr("Could not load SliceTransform"));
}

}  // namespace
}  // namespace rowbloom
