// SPDX-License-Identifier: Apache-2.0
//
// Tests exit codes, damage, JSON and help of the tool. golden_test.cc pins its
// output.

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tool_runner.h"

namespace rowbloom {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

class CliTest : public ToolTest {
 protected:
  static ToolResult Run(const std::vector<std::string>& arguments) {
    return RunTool(inputs(), arguments);
  }
  static Json RunJson(const std::vector<std::string>& arguments) {
    const ToolResult result = Run(arguments);
    Json parsed = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << result.out << result.err;
    return parsed;
  }
  // Writes a damaged copy of an input and returns its name.
  static std::string WithFlippedByte(const std::string& name, size_t offset) {
    std::string bytes = ReadFile(InputPath(name));
    bytes.at(offset) ^= 0x10;
    WriteFile(InputPath("damaged." + name), bytes);
    return "damaged." + name;
  }
  // Verifies files of these contents in one run, which must report damage.
  // Returns their entries in the same order.
  static Json VerifyVariants(const std::vector<std::string>& variants) {
    const std::string directory = InputPath("variants");
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
    for (size_t i = 0; i < variants.size(); ++i) {
      // The names sort by number.
      WriteFile(directory + "/" + std::to_string(1000000 + i), variants[i]);
    }
    const ToolResult result = Run({"verify", "--json", "variants"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    Json files = Json::parse(result.out)["files"];
    EXPECT_EQ(files.size(), variants.size());
    return files;
  }
  // Returns the files of a directory by name.
  static std::map<std::string, std::string> Listing(const std::string& name) {
    std::map<std::string, std::string> files;
    for (const auto& file :
         std::filesystem::directory_iterator(InputPath(name))) {
      files[file.path().string()] = ReadFile(file.path().string());
    }
    return files;
  }
};

// --- Usage -----------------------------------------------------------------

TEST_F(CliTest, WrongUsageExitsWith2AndSaysWhy) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"inspect"},
      {"verify"},
      {"lookup"},
      {"lookup", "row.filter"},
      {"lookup", "row.filter", "a", "b", "c"},
      {"verify", "--frobnicate", "row.filter"},
      {"inspect", "--hex", "row.filter"},
      {"lookup", "--hex", "row.filter", "abc"},
      {"lookup", "--hex", "row.filter", "zz"},
      {"lookup", "--hex", "row.filter", "00", "0"},
      {"choose"},
      {"choose", "--keys", "1000"},
      {"choose", "--target_fpr", "0.01"},
      {"choose", "--keys", "-1", "--target_fpr", "0.01"},
      {"choose", "--keys", "many", "--target_fpr", "0.01"},
      {"choose", "--keys", "1000", "--target_fpr", "0"},
      {"choose", "--keys", "1000", "--target_fpr", "nan"},
      {"choose", "--keys", "1000", "--bits_per_key", "1000"},
      {"choose", "--keys", "1000", "--bits_per_key", "8", "--target_fpr", "1"},
      {"choose", "--keys", "1000", "--bits_per_key", "8", "--preference", "x"},
      {"choose", "--chart", "--keys", "1000"},
      {"choose", "--chart", "--target_fpr", "0.01"},
      {"choose", "--chart", "row.filter"},
      {"plan"},
      {"plan", "--keys", "many"},
      {"plan", "--keys", "1000", "--runs", "1,2"},
      {"plan", "--runs", "1,2", "--levels", "3"},
      {"plan", "--runs", "18446744073709551615"},
      {"plan", "--runs", "1152921504606846976,1"},
      {"plan", "--keys", "1000", "--levels", "0"},
      {"plan", "--keys", "1000", "--size_ratio", "1"},
      {"plan", "--keys", "1000", "--tree", "flat"},
      {"plan", "--keys", "1000", "--bits_per_key", "-1"},
      {"plan", "--keys", "1000", "--bits_per_key", "8", "--budget_bytes", "1"},
      {"plan", "--keys", "1000", "--budget_bytes", "0"},
      {"plan", "--keys", "1000", "--missing_share", "0"},
      {"plan", "--keys", "1000", "--missing_share", "nan"},
      {"plan", "--keys", "1000", "--budget", "best"},
      {"plan", "--keys", "1000", "--filter", "always_maybe"},
      {"plan", "--runs", "1,2", "--block_miss_shares", "1"},
      {"plan", "--runs", "1,2", "--block_miss_shares", "1,2"},
      {"size"},
      {"size", "--keys", "1000"},
      {"size", "--target_fpr", "0.1", "--probes", "3"},
      {"size", "--keys", "0", "--target_fpr", "0.1"},
      {"size", "--keys", "10", "--target_fpr", "1"},
      {"size", "--keys", "10", "--target_fpr", "nan"},
      {"size", "--keys", "10", "--bits", "10", "--probes", "256"},
      {"size", "--keys", "10", "--bits", "10", "--target_fpr", "0.001"},
      {"size", "--keys", "10", "--bits", "9", "--vary", "keys"},
      {"size", "--keys", "10", "--bits", "9", "--to", "100"},
      {"size", "--keys", "10", "--bits", "9", "--plot"},
      {"size", "--keys", "10", "--bits", "9", "--vary", "probes", "--to", "9"},
      {"size", "--keys", "9", "--bits", "9", "--probes", "1", "--vary",
       "probes", "--to", "300"},
      {"size", "--keys", "9", "--bits", "9", "--vary", "keys", "--to", "20",
       "--plot", "--json"},
      {"size", "--keys", "10", "--bits", "9", "--vary", "x", "--to", "9"},
      {"size", "--keys", "10", "--bits", "9", "--vary", "keys", "--to", "0"},
      {"size", "--keys", "10", "--bits", "9", "--vary", "keys", "--to", "1e30"},
      {"size", "--keys", "9", "--bits", "9", "--vary", "target_fpr", "--to",
       "0.1"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const ToolResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(result.out, IsEmpty()) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, Not(IsEmpty()))
        << testing::PrintToString(arguments);
  }
}

TEST_F(CliTest, WhatIsNotUnderstoodIsNamedInItsOrder) {
  EXPECT_THAT(Run({"frobnicate"}).err, HasSubstr("expected: frobnicate"));
  EXPECT_THAT(Run({"size", "--kees", "10"}).err,
              HasSubstr("expected: --kees 10"));
  EXPECT_THAT(Run({"verify", "--frobnicate"}).err, HasSubstr("--frobnicate"));
  EXPECT_THAT(Run({}).err, HasSubstr("A subcommand is required"));
}

TEST_F(CliTest, WholeNumbersAreRefusedByTheirOwnText) {
  const std::vector<std::vector<std::string>> options = {
      {"size", "--target_fpr", "0.1", "--keys"},
      {"size", "--target_fpr", "0.1", "--bits"},
      {"size", "--keys", "10", "--probes"},
      {"size", "--keys", "9", "--bits", "9", "--vary", "keys", "--to", "20",
       "--steps"},
      {"choose", "--target_fpr", "0.1", "--keys"},
      {"plan", "--keys"},
      {"plan", "--runs"},
      {"plan", "--keys", "1000", "--levels"},
      {"plan", "--keys", "1000", "--runs_per_level"},
      {"plan", "--keys", "1000", "--flush_runs"},
      {"plan", "--keys", "1000", "--budget_bytes"},
      {"verify", "db", "--block_cache_bytes"},
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
      {"rebuild", "in", "out", "--prefix_length"},
      {"rebuild", "in", "out", "--block_size"},
#endif
  };
  for (const std::vector<std::string>& option : options) {
    for (const std::string wrong :
         {"-5", "99999999999999999999", "1e30", "1.5", "nan", "many"}) {
      std::vector<std::string> arguments = option;
      arguments.back() += "=" + wrong;
      const ToolResult result = Run(arguments);
      EXPECT_EQ(result.exit_code, 2) << testing::PrintToString(arguments);
      EXPECT_THAT(result.err, HasSubstr(option.back() + ":"));
      EXPECT_THAT(result.err, HasSubstr("'" + wrong + "' is not a whole"));
    }
  }
  EXPECT_EQ(RunJson({"size", "--json", "--keys", "1e6", "--bits",
                     "9.6e6"})["sizes"][0]["bit_count"],
            9600000);
  EXPECT_THAT(Run({"choose", "--keys", "1e14", "--target_fpr", "0.1"}).err,
              HasSubstr("100000000000000 not in range"));
}

TEST_F(CliTest, RatesTooSmallForADoubleArePlotted) {
  const ToolResult result =
      Run({"size", "--keys", "1000", "--probes", "255", "--bits", "1000000",
           "--vary", "bits", "--to", "1e18", "--plot"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("  0  "));
}

TEST_F(CliTest, HelpOfEachVerbNamesItsArguments) {
  const ToolResult help = Run({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"inspect", "verify", "lookup"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
    const ToolResult verb_help = Run({verb, "--help"});
    EXPECT_EQ(verb_help.exit_code, 0);
    EXPECT_THAT(verb_help.out, HasSubstr("PATH"));
    EXPECT_THAT(verb_help.out, HasSubstr("--json"));
  }
  EXPECT_THAT(Run({"lookup", "--help"}).out, HasSubstr("QUALIFIER"));
  EXPECT_THAT(help.out, HasSubstr("choose"));
  EXPECT_THAT(Run({"choose", "--help"}).out, HasSubstr("--preference"));
  EXPECT_THAT(help.out, HasSubstr("plan"));
  EXPECT_THAT(Run({"plan", "--help"}).out, HasSubstr("--missing_share"));
}

TEST_F(CliTest, ManPageNamesEveryVerbAndOption) {
  const std::string page = ReadFile(ROWBLOOM_MAN_PAGE);
  for (const char* word : {"inspect",
                           "verify",
                           "lookup",
                           "choose",
                           "\\-\\-json",
                           "\\-\\-hex",
                           "\\-\\-version",
                           "\\-\\-help",
                           "\\-\\-keys",
                           "\\-\\-bits_per_key",
                           "\\-\\-target_fpr",
                           "\\-\\-preference",
                           "\\-\\-chart",
                           "plan",
                           "\\-\\-runs",
                           "\\-\\-tree",
                           "\\-\\-levels",
                           "\\-\\-size_ratio",
                           "\\-\\-runs_per_level",
                           "\\-\\-flush_runs",
                           "\\-\\-budget_bytes",
                           "\\-\\-budget",
                           "\\-\\-missing_share",
                           "\\-\\-max_bits_per_key",
                           "\\-\\-block_miss_shares",
                           "\\-\\-filter",
                           "\\-\\-bloom_bits",
                           "\\-\\-strict",
                           "\\-\\-block_cache_bytes",
                           "size",
                           "\\-\\-bits",
                           "\\-\\-probes",
                           "\\-\\-vary",
                           "\\-\\-to",
                           "\\-\\-steps",
                           "\\-\\-plot",
                           "rebuild",
                           "\\-\\-cells",
                           "\\-\\-family_delete",
                           "\\-\\-bloom_type",
                           "\\-\\-prefix_length",
                           "\\-\\-error_rate",
                           "\\-\\-chunk_size",
                           "\\-\\-max_fold",
                           "\\-\\-hash",
                           "\\-\\-compression",
                           "\\-\\-block_size",
                           "\\-\\-widest",
                           "advise",
                           "\\-\\-column_family",
                           "\\-\\-statistics",
                           "\\-\\-gets",
                           "\\-\\-cache_bytes",
                           "\\-\\-read_us",
                           "\\-\\-zipf"}) {
    EXPECT_THAT(page, HasSubstr(word));
  }
}

TEST_F(CliTest, VersionIsPrinted) {
  const ToolResult result = Run({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("rowbloom "));
}

// --- Files that cannot be read ---------------------------------------------

TEST_F(CliTest, FilesThatCannotBeReadExitWith2PathAndReason) {
  ASSERT_EQ(symlink("loop", InputPath("loop").c_str()), 0);
  ASSERT_EQ(mkfifo(InputPath("fifo").c_str(), 0600), 0);
  const std::map<std::string, std::string> reasons = {
      {"no/such/file", "No such file or directory"},
      {"row.filter/x", "Not a directory"},
      {"loop", "Too many levels of symbolic links"},
      {"fifo", "not a file or directory"},
  };
  for (const auto& [path, reason] : reasons) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"inspect", path},
          {"verify", path},
          {"lookup", path, "row00001"}}) {
      const ToolResult result = Run(arguments);
      EXPECT_EQ(result.exit_code, 2) << path;
      EXPECT_THAT(result.err, HasSubstr(path));
      EXPECT_THAT(result.err, HasSubstr(reason));
      EXPECT_THAT(result.out, Not(HasSubstr("ok")));
    }
  }
}

TEST_F(CliTest, AFileOfNoKnownFormatSaysSo) {
  for (const char* verb : {"inspect", "verify"}) {
    const ToolResult result = Run({verb, "notes.txt"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out, HasSubstr("neither a filter block nor an SST"));
  }
  EXPECT_EQ(RunJson({"verify", "--json", "notes.txt"})["files"][0]["status"],
            "unknown");
}

TEST_F(CliTest, DamageOutweighsFilesThatCannotBeRead) {
  const std::string damaged = WithFlippedByte("row.filter", 0);
  EXPECT_EQ(Run({"verify", damaged, "no/such/file"}).exit_code, 1);
  EXPECT_EQ(Run({"verify", "no/such/file", damaged}).exit_code, 1);
  EXPECT_EQ(Run({"verify", "no/such/file", "row.filter"}).exit_code, 2);
  EXPECT_EQ(Run({"verify", "row.filter", "rowcol.filter"}).exit_code, 0);
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAnError) {
  const ToolResult result =
      RunTool(inputs(), {"inspect", "row.filter"}, "/dev/full");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("standard output"));
}

// --- Damage ----------------------------------------------------------------

TEST_F(CliTest, VerifyFindsEveryFlippedByteOfAFilterBlock) {
  for (const char* name : {"small.filter", "small_compact.filter"}) {
    const std::string whole = ReadFile(InputPath(name));
    std::vector<std::string> variants;
    for (size_t offset = 0; offset < whole.size(); ++offset) {
      variants.push_back(whole);
      variants.back()[offset] ^= 0x10;
    }
    const Json files = VerifyVariants(variants);
    const size_t magic = whole.size() - 8;
    for (size_t offset = 0; offset < whole.size(); ++offset) {
      const Json& file = files[offset];
      ASSERT_EQ(file["status"], offset < magic ? "damaged" : "unknown")
          << name << " byte " << offset;
      if (offset >= magic) continue;
      ASSERT_THAT(file["error"].get<std::string>(), HasSubstr("offset "))
          << name << " byte " << offset;
    }
  }
}

TEST_F(CliTest, VerifyFindsEveryTruncationOfAFilterBlock) {
  const std::string whole = ReadFile(InputPath("small.filter"));
  std::vector<std::string> variants;
  for (size_t size = 0; size < whole.size(); ++size) {
    variants.push_back(whole.substr(0, size));
  }
  for (const Json& file : VerifyVariants(variants)) {
    ASSERT_NE(file["status"], "ok") << file["path"];
  }
}

TEST_F(CliTest, VerifyFindsDamageOfASavedMemFilter) {
  const std::string whole = ReadFile(InputPath("standard.mem"));
  std::vector<std::string> variants;
  for (size_t offset = 0; offset < whole.size(); ++offset) {
    variants.push_back(whole);
    variants.back()[offset] ^= 0x10;
  }
  for (size_t size = 8; size < whole.size(); ++size) {
    variants.push_back(whole.substr(0, size));
  }
  const Json files = VerifyVariants(variants);
  for (size_t i = 0; i < files.size(); ++i) {
    ASSERT_EQ(files[i]["status"], i < 8 ? "unknown" : "damaged") << i;
  }
}

TEST_F(CliTest, VerifyNamesTheDamagedChunksOffset) {
  const Json whole = RunJson({"inspect", "--json", "row.filter"});
  const uint64_t offset = whole["files"][0]["chunks"][1]["offset"];
  const std::string damaged = WithFlippedByte("row.filter", offset + 5);
  const ToolResult result = Run({"verify", damaged});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr(damaged + ": damaged: offset " +
                                    std::to_string(offset)));
  // The other chunk is still shown, and still answers.
  const ToolResult inspected = Run({"inspect", damaged});
  EXPECT_EQ(inspected.exit_code, 1);
  EXPECT_THAT(inspected.out, HasSubstr("chunk_count        2"));
  EXPECT_EQ(Run({"lookup", damaged, "row00001"}).exit_code, 0);
}

TEST_F(CliTest, LookupInADamagedChunkSaysMaybeAndExitsWith1) {
  const ToolResult absent = Run({"lookup", "row.filter", "row01000x"});
  EXPECT_EQ(absent.exit_code, 0);
  ASSERT_THAT(absent.out, HasSubstr(": no ("));

  const Json whole = RunJson({"inspect", "--json", "row.filter"});
  const uint64_t offset = whole["files"][0]["chunks"][1]["offset"];
  const std::string damaged = WithFlippedByte("row.filter", offset + 5);
  const ToolResult result = Run({"lookup", damaged, "row01000x"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr(": maybe ("));
}

// --- Lookups ---------------------------------------------------------------

TEST_F(CliTest, LookupFindsEveryRowItsWriterAdded) {
  for (int i = 0; i < 700; i += 23) {
    char row[16];
    std::snprintf(row, sizeof(row), "row%05d", i);
    if (i % 2 == 0) continue;  // Even rows end in a zero byte and need --hex.
    const ToolResult result = Run({"lookup", "rowcol.filter", row, "name"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr(": maybe (column: chunk "));
  }
}

TEST_F(CliTest, HexArgumentsAreBytes) {
  // The arguments are row00000\0x and a\xff.
  const ToolResult result =
      Run({"lookup", "rowcol.filter", "--hex", "726f7730303030300078", "61FF"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr(": maybe (column: chunk 0)"));
  const Json answer = RunJson({"lookup", "rowcol.filter", "--hex", "--json",
                               "726f7730303030300078", "61FF"});
  EXPECT_EQ(answer["row"], "row00000\\x00x");
  EXPECT_EQ(answer["qualifier"], "a\\xff");
}

TEST_F(CliTest, ArgumentsAreTakenLiterally) {
  for (const char* text : {"", "{}", "[a,b]", "%%", "'a'", "\"b\"", "a=b"}) {
    const Json answer = RunJson({"lookup", "--json", "row.filter", text, text});
    EXPECT_EQ(answer["row"], text);
    EXPECT_EQ(answer["qualifier"], text);
  }
  const Json dashes =
      RunJson({"lookup", "--json", "--", "row.filter", "-r", "--hex"});
  EXPECT_EQ(dashes["row"], "-r");
  EXPECT_EQ(dashes["qualifier"], "--hex");
}

TEST_F(CliTest, AnEmptyQualifierIsNotAnAbsentOne) {
  EXPECT_EQ(RunJson({"lookup", "--json", "rowcol.filter", "row00001",
                     ""})["files"][0]["asked"],
            "column");
  EXPECT_EQ(RunJson({"lookup", "--json", "rowcol.filter",
                     "row00001"})["files"][0]["asked"],
            "row");
}

// --- JSON ------------------------------------------------------------------

TEST_F(CliTest, JsonNamesItsFormatAndVersion) {
  const std::map<std::string, Json> documents = {
      {"rowbloom-inspect", RunJson({"inspect", "--json", "row.filter"})},
      {"rowbloom-verify", RunJson({"verify", "--json", "row.filter"})},
      {"rowbloom-lookup", RunJson({"lookup", "--json", "row.filter", "a"})}};
  for (const auto& [format, document] : documents) {
    EXPECT_EQ(document["format"], format);
    EXPECT_EQ(document["version"], 1);
    ASSERT_EQ(document["files"].size(), 1U) << format;
    EXPECT_EQ(document["files"][0]["path"], "row.filter");
    EXPECT_EQ(document["files"][0]["kind"], "filter_block");
    EXPECT_EQ(document["files"][0]["status"], "ok");
    EXPECT_EQ(document["summary"]["files"], 1);
    EXPECT_EQ(document["summary"]["ok"], 1);
    EXPECT_EQ(document["summary"]["damaged"], 0);
  }
}

TEST_F(CliTest, InspectJsonHasThePromisedFields) {
  const Json file = RunJson({"inspect", "--json", "rowcol.filter"})["files"][0];
  for (const char* field :
       {"bloom_type", "has_row_keys", "filter_spec", "writer", "cell_count",
        "chunk_count", "key_count", "filter_size_bytes", "bits_per_key",
        "expected_fpr", "first_row", "first_qualifier", "last_row",
        "last_qualifier"}) {
    EXPECT_TRUE(file.contains(field)) << field;
  }
  EXPECT_EQ(file["chunks"].size(), file["chunk_count"]);
  uint64_t key_count = 0;
  for (const Json& chunk : file["chunks"]) {
    for (const char* field :
         {"chunk", "offset", "size_bytes", "family", "unit_count",
          "unit_size_bytes", "key_count", "bits_per_key", "expected_fpr",
          "first_row", "first_qualifier"}) {
      EXPECT_TRUE(chunk.contains(field)) << field;
    }
    key_count += chunk["key_count"].get<uint64_t>();
    EXPECT_GT(chunk["expected_fpr"].get<double>(), 0);
    EXPECT_LT(chunk["expected_fpr"].get<double>(), 0.05);
  }
  EXPECT_EQ(key_count, file["key_count"]);
}

TEST_F(CliTest, InspectShowsTheUnitsOfACompactFilter) {
  const Json file =
      RunJson({"inspect", "--json", "compact.filter"})["files"][0];
  EXPECT_NEAR(file["expected_fpr"].get<double>(), 0.0005, 0.00005);
  for (const Json& chunk : file["chunks"]) {
    EXPECT_EQ(chunk["family"], "compact");
    // The chunk has eleven planes; a unit has up to four.
    EXPECT_EQ(chunk["unit_count"], 3);
    EXPECT_EQ(chunk["unit_size_bytes"].size(), 3U);
    uint64_t size_bytes = 0;
    for (const Json& unit : chunk["unit_size_bytes"]) {
      size_bytes += unit.get<uint64_t>();
    }
    EXPECT_EQ(chunk["size_bytes"], size_bytes);
  }
}

TEST_F(CliTest, JsonOfDamagedAndMissingFilesIsWhole) {
  const std::string damaged = WithFlippedByte("row.filter", 3);
  const Json document =
      RunJson({"verify", "--json", damaged, "no/such/file", "row.filter"});
  EXPECT_EQ(document["files"][0]["status"], "damaged");
  EXPECT_THAT(document["files"][0]["error"].get<std::string>(),
              HasSubstr("offset 0"));
  EXPECT_EQ(document["files"][1]["status"], "unreadable");
  EXPECT_EQ(document["files"][2]["status"], "ok");
  EXPECT_EQ(document["summary"]["damaged"], 1);
  EXPECT_EQ(document["summary"]["unreadable"], 1);
  EXPECT_EQ(document["summary"]["ok"], 1);
}

TEST_F(CliTest, PathsThatAreNotUtf8StillGiveJson) {
  const std::string name = "odd\xff\n.filter";
  WriteFile(InputPath(name), ReadFile(InputPath("row.filter")));
  const Json document = RunJson({"verify", "--json", name});
  EXPECT_EQ(document["files"][0]["status"], "ok");
  EXPECT_THAT(Run({"verify", name}).out, HasSubstr("\\x0a"));
}

// --- Choices ---------------------------------------------------------------

TEST_F(CliTest, SizesAreThoseOfTheUsualTable) {
  const Json document = RunJson(
      {"size", "--json", "--keys", "1000000", "--target_fpr", "0.0001"});
  EXPECT_EQ(document["format"], "rowbloom-size");
  const Json& size = document["sizes"][0];
  EXPECT_EQ(size["bit_count"], 19170116);
  EXPECT_EQ(size["probe_count"], 13);
  EXPECT_EQ(size["size_bytes"], 2396265);
}

TEST_F(CliTest, ATableOfSizesGoesFromTheFirstValueToTheLast) {
  const Json sizes =
      RunJson({"size", "--json", "--keys", "1000", "--target_fpr", "0.01",
               "--vary", "keys", "--to", "1000000", "--steps", "4"})["sizes"];
  ASSERT_EQ(sizes.size(), 4u);
  uint64_t keys = 1000;
  for (const Json& size : sizes) {
    EXPECT_EQ(size["key_count"], keys);
    EXPECT_NEAR(size["fpr"].get<double>(), 0.01, 0.0002);
    keys *= 10;
  }
}

TEST_F(CliTest, ChooseReachesTheGoalAndMarksTheFirst) {
  for (const char* preference : {"cpu", "balanced", "space"}) {
    const Json document =
        RunJson({"choose", "--json", "--keys", "100000", "--target_fpr", "0.01",
                 "--preference", preference});
    EXPECT_EQ(document["format"], "rowbloom-choose");
    EXPECT_EQ(document["version"], 1);
    EXPECT_EQ(document["key_count"], 100000);
    EXPECT_EQ(document["target_fpr"], 0.01);
    EXPECT_EQ(document["preference"], preference);
    ASSERT_GE(document["candidates"].size(), 3U);
    EXPECT_EQ(document["chosen"], document["candidates"][0]["filter_spec"]);
    for (const Json& candidate : document["candidates"]) {
      EXPECT_LE(candidate["expected_fpr"].get<double>(), 0.01);
      EXPECT_EQ(candidate["bits_per_key"].get<double>(),
                candidate["size_bytes"].get<double>() * 8 / 100000);
      EXPECT_GT(candidate["lookup_cost"].get<double>(), 0);
      EXPECT_GT(candidate["build_cost"].get<double>(), 0);
    }
  }
  // There are no keys to divide by.
  EXPECT_TRUE(RunJson({"choose", "--json", "--keys", "0", "--bits_per_key",
                       "10"})["candidates"][0]["bits_per_key"]
                  .is_null());
}

TEST_F(CliTest, ChartAgreesWithTheChoices) {
  const Json chart = RunJson({"choose", "--json", "--chart"})["chart"];
  EXPECT_GE(chart.size(), 42U);
  for (const Json& row : chart) {
    if (row["key_count"] != 10000 || row["target_fpr"] != 0.001) continue;
    for (const char* preference : {"cpu", "balanced", "space"}) {
      const Json chosen =
          RunJson({"choose", "--json", "--keys", "10000", "--target_fpr",
                   "0.001", "--preference", preference})["candidates"][0];
      const std::string family = row[preference];
      EXPECT_EQ(chosen["filter_spec"].get<std::string>(),
                family + ":target_fpr=0.001");
      EXPECT_EQ(chosen["bits_per_key"], row[family]);
      EXPECT_GT(row[family].get<double>(), row["limit"].get<double>());
    }
    return;
  }
  FAIL() << "10,000 keys at 0.001 are not in the chart";
}

// --- Plans -----------------------------------------------------------------

TEST_F(CliTest, APlanSpendsItsBudgetAndNoMore) {
  for (const char* tree : {"leveled", "tiered", "lazy_leveled", "universal"}) {
    const Json document =
        RunJson({"plan", "--json", "--keys", "100000000", "--tree", tree,
                 "--budget_bytes", "100000000", "--flush_runs", "2"});
    EXPECT_EQ(document["format"], "rowbloom-plan");
    EXPECT_EQ(document["version"], 1);
    uint64_t size = 0;
    double wasted_reads = 0;
    for (const Json& run : document["runs"]) {
      size += run["size_bytes"].get<uint64_t>();
      wasted_reads +=
          run["absent_asks"].get<double>() * run["expected_fpr"].get<double>();
    }
    EXPECT_LE(size, 100000000U) << tree;
    EXPECT_GT(size, 99000000U) << tree;
    EXPECT_NEAR(document["wasted_reads"].get<double>(), wasted_reads, 1e-9);
  }
}

TEST_F(CliTest, APlanComparesAtTheSameMemoryAndAtTheSameReads) {
  const Json document = RunJson({"plan", "--json", "--keys", "100000000",
                                 "--missing_share", "1", "--bloom_bits", "10"});
  const double bloom_wasted_reads = document["bloom_wasted_reads"];
  EXPECT_GE(document["filters"].size(), 10U);
  for (const Json& filter : document["filters"]) {
    EXPECT_LE(filter["bits_per_key"].get<double>(), 10.000001);
    EXPECT_NEAR(filter["times_fewer"].get<double>(),
                bloom_wasted_reads / filter["wasted_reads"].get<double>(),
                1e-6);
    if (filter["filter"] == "rocksdb_bloom" && filter["mode"] == "fixed") {
      EXPECT_NEAR(filter["times_fewer"].get<double>(), 1, 1e-9);
      EXPECT_NEAR(filter["equal_reads_bits"].get<double>(), 10, 0.001);
    }
    if (filter["filter"] == "compact" && filter["mode"] == "by run") {
      EXPECT_EQ(filter["wasted_reads"], document["wasted_reads"]);
      EXPECT_LT(filter["equal_reads_bits"].get<double>(), 6);
    }
  }
  EXPECT_GT(document["bloom_bits_for_as_few"].get<double>(), 15);
}

TEST_F(CliTest, HitsOnlyHasNoFilterInTheOldestRunAndSaysWhatAMissWastes) {
  const Json document =
      RunJson({"plan", "--json", "--runs", "10,100,1000", "--budget",
               "hits_only", "--bits_per_key", "1"});
  EXPECT_EQ(document["runs"][2]["policy_bits"], 0.0);
  EXPECT_GT(document["runs"][1]["policy_bits"], 5);
  EXPECT_GE(document["wasted_reads_of_miss"].get<double>(), 1);
  EXPECT_EQ(document["wasted_reads"], document["wasted_reads_of_hit"]);
}

// --- Directories -----------------------------------------------------------

TEST_F(CliTest, ADirectoryStandsForItsFilesByName) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("blocks")));
  for (const char* name : {"c", "a", "b"}) {
    WriteFile(InputPath("blocks/" + std::string(name)),
              ReadFile(InputPath("row.filter")));
  }
  const ToolResult result = Run({"verify", "blocks"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "blocks/a: ok\nblocks/b: ok\nblocks/c: ok\n3 files: 3 ok\n");
  EXPECT_THAT(result.err, IsEmpty());  // Progress is for terminals.
}

#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB

// --- SSTs ------------------------------------------------------------------

// RocksDB's data and filter blocks come first in an SST, in that order.
TEST_F(CliTest, VerifyFindsFlippedBytesOfDataAndFilterBlocks) {
  for (const char* name : {"full.sst", "compact.sst", "partitioned.sst"}) {
    const std::string whole = ReadFile(InputPath(name));
    std::vector<std::string> variants;
    for (size_t offset = 0; offset < whole.size() / 2; offset += 11) {
      variants.push_back(whole);
      variants.back()[offset] ^= 0x10;
    }
    for (const Json& file : VerifyVariants(variants)) {
      ASSERT_EQ(file["status"], "damaged") << name << file["path"];
      ASSERT_THAT(file["error"].get<std::string>(), HasSubstr("offset "));
    }
  }
}

// The last byte of a filter blob and the one before it: version and magic.
size_t EndOfLastFilter(const std::string& sst) {
  return sst.rfind("\x01\xb7") + 2;
}

TEST_F(CliTest, ADamagedFilterIsReportedByEveryVerb) {
  for (const char* name : {"full.sst", "partitioned.sst"}) {
    const size_t end = EndOfLastFilter(ReadFile(InputPath(name)));
    const std::string damaged = WithFlippedByte(name, end - 40);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"inspect", damaged},
          {"verify", damaged},
          {"lookup", "--json", damaged, "row00001"}}) {
      const ToolResult result = Run(arguments);
      EXPECT_EQ(result.exit_code, 1) << testing::PrintToString(arguments);
      EXPECT_THAT(result.out, HasSubstr("block checksum mismatch"));
      EXPECT_THAT(result.out, HasSubstr("offset "));
    }
    EXPECT_EQ(RunJson({"lookup", "--json", damaged,
                       "row00001"})["files"][0]["answer"],
              "maybe");
  }
}

TEST_F(CliTest, InspectTellsKindsOfFiltersApart) {
  const std::map<std::string, std::string> kinds = {
      {"full.sst", "full"},
      {"compact.sst", "full"},
      {"partitioned.sst", "partitioned"},
      {"row_fixed.sst", "full"},
      {"no_filter.sst", "none"},
      {"anothers.sst", "foreign"}};
  for (const auto& [name, kind] : kinds) {
    const Json file = RunJson({"inspect", "--json", name})["files"][0];
    EXPECT_EQ(file["filter_kind"], kind) << name;
    EXPECT_EQ(file["status"], "ok") << name;
  }
  EXPECT_GT(RunJson({"inspect", "--json",
                     "partitioned.sst"})["files"][0]["chunk_count"],
            2);
  const auto is_partitioned = [](const char* name) {
    return RunJson({"inspect", "--json", name})["files"][0]["is_partitioned"];
  };
  EXPECT_EQ(is_partitioned("partitioned.sst"), true);
  EXPECT_EQ(is_partitioned("full.sst"), false);
  EXPECT_EQ(is_partitioned("anothers.sst"), false);
  EXPECT_EQ(is_partitioned("no_filter.sst"), nullptr);
}

TEST_F(CliTest, LookupInAnSstFindsEveryRowAndColumn) {
  for (const char* name :
       {"full.sst", "compact.sst", "partitioned.sst", "row_fixed.sst"}) {
    for (int i = 0; i < 1000; i += 37) {
      char row[16];
      std::snprintf(row, sizeof(row), "row%05d", i);
      EXPECT_THAT(Run({"lookup", name, row}).out, HasSubstr(": maybe (row: "));
      EXPECT_THAT(Run({"lookup", name, row, "age"}).out,
                  HasSubstr(": maybe ("));
    }
  }
}

TEST_F(CliTest, LookupWithoutAFilterIsMaybe) {
  for (const char* name : {"no_filter.sst", "anothers.sst"}) {
    const ToolResult result = Run({"lookup", name, "absent"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("maybe (no filter of rowbloom's)"));
  }
  // The codec cannot hold this row.
  const ToolResult result = Run({"lookup", "row_fixed.sst", "short"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("maybe ("));
}

TEST_F(CliTest, ADatabaseStandsForItsLiveSsts) {
  const Json document = RunJson({"inspect", "--json", "database"});
  const Json& files = document["files"];
  ASSERT_EQ(files.size(), 3U);
  const std::vector<std::pair<std::string, int>> expected = {
      {"default", 0}, {"default", 1}, {"events", 0}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(files[i]["column_family"], expected[i].first);
    EXPECT_EQ(files[i]["level"], expected[i].second);
    EXPECT_EQ(files[i]["filter_kind"], "full");
  }
  const Json lookup = RunJson({"lookup", "--json", "database", "row00150"});
  EXPECT_EQ(lookup["files"][0]["answer"], "no");
  EXPECT_EQ(lookup["files"][1]["answer"], "maybe");
  EXPECT_EQ(lookup["files"][2]["answer"], "no");
}

TEST_F(CliTest, VerifySaysWhichFilesLackTheExpectedFilter) {
  const ToolResult fine = Run({"verify", "--strict", "database"});
  EXPECT_EQ(fine.exit_code, 0) << fine.out;
  EXPECT_THAT(fine.out,
              HasSubstr("column family default: rowbloom ROWCOL ordered "
                        "blocked_bloom:bits_per_key=10\n"
                        "2 files, 300 entries: 2 expected\n"));
  EXPECT_THAT(fine.out, Not(HasSubstr("warning")));

  const ToolResult mixed = Run({"verify", "mixed"});
  EXPECT_EQ(mixed.exit_code, 0);
  for (const char* text :
       {": ok, filter none: written without a filter policy\n",
        ": ok, filter foreign: written with policy bloomfilter\n",
        "3 files, 3000 entries: 1 expected, 1 foreign, 1 none\n",
        "warning: 1 file with a filter that the configured policy does not "
        "read",
        "warning: 1 file without a filter (compact"}) {
    EXPECT_THAT(mixed.out, HasSubstr(text));
  }
  EXPECT_EQ(Run({"verify", "--strict", "mixed"}).exit_code, 1);

  EXPECT_THAT(mixed.out, HasSubstr("% of the optimum of this tree"));

  const Json document = RunJson({"verify", "--json", "mixed"});
  EXPECT_EQ(document["files"][0]["filter"], "none");
  EXPECT_EQ(document["files"][0]["note"], "written without a filter policy");
  EXPECT_EQ(document["files"][1]["filter"], "foreign");
  EXPECT_EQ(document["files"][1]["family"], "rocksdb_bloom");
  EXPECT_EQ(document["files"][1]["chunk_count"], 1);
  EXPECT_EQ(document["files"][2]["filter"], "expected");
  EXPECT_EQ(document["files"][2]["key_count"], 2000);
  EXPECT_NEAR(document["files"][2]["observed_fpr"].get<double>(),
              document["files"][2]["expected_fpr"].get<double>(), 0.006);
  ASSERT_EQ(document["column_families"].size(), 1U);
  const Json& family = document["column_families"][0];
  EXPECT_EQ(family["column_family"], "default");
  EXPECT_EQ(family["states"]["none"], 1);
  EXPECT_EQ(family["states"]["expected"], 1);
  EXPECT_EQ(family["warnings"].size(), 2U);
  // RocksDB asks one filter of three: lookups always read the SSTs of the
  // others.
  const Json& budget = family["budget"];
  EXPECT_EQ(budget["filter"], "blocked_bloom");
  uint64_t files = 0;
  for (const Json& level : budget["levels"]) {
    files += level["files"].get<uint64_t>();
  }
  EXPECT_EQ(files, 3U);
  EXPECT_GT(budget["wasted_reads"].get<double>(), 0.3);
  EXPECT_LT(budget["percent_of_optimum"].get<double>(), 50);
}

TEST_F(CliTest, VerifySaysThatAProgramWithoutThePluginWasHere) {
  const ToolResult result = Run({"verify", "plugin_absent"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("column family default: no filter\n"));
  EXPECT_THAT(result.out, HasSubstr("RegisterRocksDb"));
  EXPECT_EQ(Run({"verify", "--strict", "plugin_absent"}).exit_code, 1);
}

TEST_F(CliTest, VerifyReportsOversizedPartitions) {
  const Json document = RunJson({"verify", "--json", "oversized"});
  const Json& file = document["files"][0];
  EXPECT_EQ(file["filter"], "expected");
  EXPECT_EQ(file["is_partitioned"], true);
  // Since 10.0, RocksDB cuts filter partitions within data blocks, too.
  if (ROWBLOOM_CLI_TEST_ROCKSDB_RELEASE >= 1000) {
    EXPECT_LE(file["largest_chunk_bytes"], 200);
    EXPECT_TRUE(document["column_families"][0]["warnings"].empty());
    return;
  }
  EXPECT_GT(file["largest_chunk_bytes"], 400);
  EXPECT_THAT(document["column_families"][0]["warnings"][0].get<std::string>(),
              HasSubstr("metadata_block_size asks for 200"));
}

TEST_F(CliTest, VerifyWarnsOfWholeFiltersThatTheBlockCacheCannotHold) {
  // The filter is smaller than any default block cache.
  EXPECT_EQ(Run({"verify", "--strict", "whole_in_cache"}).exit_code, 0);
  Json document = RunJson({"verify", "--json", "whole_in_cache"});
  Json whole = document["column_families"][0]["evictable_whole_filters"];
  EXPECT_EQ(whole["filters"], 1);
  EXPECT_EQ(whole["bytes"], document["files"][0]["filter_size_bytes"]);
  EXPECT_EQ(whole["largest_bytes"], whole["bytes"]);
  EXPECT_EQ(whole["block_cache_bytes"], nullptr);

  const std::vector<std::string> small = {"--strict", "--block_cache_bytes",
                                          "1000", "whole_in_cache"};
  std::vector<std::string> arguments = {"verify"};
  arguments.insert(arguments.end(), small.begin(), small.end());
  const ToolResult result = Run(arguments);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out,
              HasSubstr("warning: 1 filter is read whole into the block cache, "
                        "which may evict it: " +
                        whole["bytes"].dump() + " bytes"));
  EXPECT_THAT(result.out, HasSubstr("has a capacity of 1000 bytes"));
  EXPECT_THAT(result.out, HasSubstr("set partition_filters=true"));
  arguments.insert(arguments.begin() + 1, "--json");
  document = RunJson(arguments);
  whole = document["column_families"][0]["evictable_whole_filters"];
  EXPECT_EQ(whole["block_cache_bytes"], 1000);
  EXPECT_EQ(document["column_families"][0]["warnings"].size(), 1U);

  // The block cache does not hold these filters.
  EXPECT_EQ(Run({"verify", "--strict", "--block_cache_bytes", "1000",
                 "database", "timestamps"})
                .exit_code,
            0);
}

// RocksDB checks a footer's format_version before its checksum. Since version
// 6, footers hold an extended magic.
std::string OfFormatVersion(std::string sst, char version) {
  const size_t footer = sst.size() - 53;
  sst.replace(footer + 1, 4, std::string("\x3e\0\x7a\0", 4));
  sst.replace(sst.size() - 12, 4, std::string{version, 0, 0, 0});
  return sst;
}

TEST_F(CliTest, AnSstOfANewerFormatIsNotDamaged) {
  std::filesystem::copy(InputPath("database"), InputPath("newer"));
  const std::string name =
      RunJson({"inspect", "--json", "newer"})["files"][0]["path"];
  WriteFile(InputPath(name), OfFormatVersion(ReadFile(InputPath(name)), 99));
  WriteFile(InputPath("newer.sst"),
            OfFormatVersion(ReadFile(InputPath("full.sst")), 99));
  for (const char* verb : {"inspect", "verify"}) {
    const ToolResult result = Run({verb, "newer.sst"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.out,
                HasSubstr("newer.sst: newer: format_version 99 is newer"));
    EXPECT_THAT(result.out, Not(HasSubstr("damaged")));
    EXPECT_THAT(result.out, Not(HasSubstr("Corrupt")));
  }
  EXPECT_EQ(RunJson({"lookup", "--json", "newer.sst",
                     "row00001"})["files"][0]["answer"],
            "maybe");
  const Json document = RunJson({"verify", "--json", "newer"});
  EXPECT_EQ(document["files"][0]["status"], "newer");
  EXPECT_EQ(document["summary"]["newer"], 1);
  EXPECT_EQ(document["summary"]["damaged"], 0);
  const Json& states = document["column_families"][0]["states"];
  EXPECT_EQ(states["newer"], 1);
  EXPECT_EQ(states["unreadable"], 0);
  EXPECT_THAT(document["column_families"][0]["warnings"][0].get<std::string>(),
              HasSubstr("1 file of a newer format"));
}

TEST_F(CliTest, DatabasesWithTimestampsAreRead) {
  const ToolResult result = Run({"verify", "--strict", "timestamps"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 file, 1000 entries: 1 expected"));
}

TEST_F(CliTest, WithoutItsOptionsFileADatabaseIsComparedWithNothing) {
  std::filesystem::copy(InputPath("mixed"), InputPath("no_options"));
  std::string options;  // The latest OPTIONS file.
  for (const auto& file :
       std::filesystem::directory_iterator(InputPath("no_options"))) {
    const std::string path = file.path().string();
    if (path.find("/OPTIONS-") == std::string::npos) continue;
    if (options.size() < path.size() || options < path) options = path;
  }
  ASSERT_FALSE(options.empty());
  // The tool does not know this policy.
  std::string text = ReadFile(options);
  const std::string key = "\n  filter_policy=";
  const size_t at = text.find(key);
  ASSERT_NE(at, std::string::npos);
  const size_t value = at + key.size();
  text.replace(value, text.find('\n', value) - value, "{id=acme.Filter;}");
  WriteFile(options, text);
  ToolResult result = Run({"verify", "no_options"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out,
              HasSubstr("warning: filter_policy {id=acme.Filter;} of the "
                        "OPTIONS file is not known to this tool\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("filter none")));

  for (const auto& [path, bytes] : Listing("no_options")) {
    if (path.find("/OPTIONS-") != std::string::npos) {
      std::filesystem::remove(path);
    }
  }
  result = Run({"verify", "--strict", "no_options"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("warning: what filters are asked for is "
                                    "not known"));
}

TEST_F(CliTest, LookingAtADatabaseChangesNothingInIt) {
  const std::map<std::string, std::string> before = Listing("database");
  EXPECT_EQ(Run({"verify", "database"}).exit_code, 0);
  EXPECT_EQ(Listing("database"), before);
}

// The counter `name` of the statistics in a LOG.
uint64_t Ticker(const std::string& log, const std::string& name) {
  const std::string line = "rocksdb." + name + " COUNT : ";
  const size_t at = log.rfind(line);
  EXPECT_NE(at, std::string::npos) << name;
  if (at == std::string::npos) return 0;
  return std::stoull(log.substr(at + line.size()));
}

TEST_F(CliTest, AdviseCountsWhatRocksDbCounted) {
  const std::map<std::string, std::string> before = Listing("reads");
  const std::string log = ReadFile(InputPath("reads/LOG"));
  const Json by_log = RunJson({"advise", "reads", "--json"});
  const Json by_gets =
      RunJson({"advise", "reads", "--gets", "reads.keys", "--json"});
  EXPECT_EQ(Listing("reads"), before);
  EXPECT_EQ(by_log["format"], "rowbloom-advise");
  EXPECT_EQ(by_log["source"], "reads/LOG");
  EXPECT_EQ(by_gets["source"], "reads.keys");
  for (const Json& document : {by_log, by_gets}) {
    EXPECT_EQ(document["cache_bytes"], 128 << 10);
    const Json& measured = document["measured"];
    EXPECT_EQ(measured["gets"], 5000);
    EXPECT_EQ(measured["memtable_hits"], 0);
    EXPECT_EQ(measured["sst_hits"],
              Ticker(log, "l0.hit") + Ticker(log, "l1.hit"));
    EXPECT_EQ(measured["false_positives"],
              Ticker(log, "bloom.filter.full.positive") -
                  Ticker(log, "bloom.filter.full.true.positive"));
    EXPECT_GT(measured["false_positives"], 0);
    // The caches differ by what was read when the database was opened.
    const auto near = [&](const char* field, const char* ticker) {
      const auto counted = static_cast<double>(Ticker(log, ticker));
      EXPECT_NEAR(measured[field].get<double>(), counted, 20 + counted / 50)
          << field;
    };
    near("data_reads", "block.cache.data.miss");
    near("filter_reads", "block.cache.filter.miss");
    near("index_reads", "block.cache.index.miss");
    EXPECT_GT(measured["data_reads"], 1000);
    EXPECT_GT(measured["wasted_reads"], 0);
    EXPECT_LT(measured["wasted_reads"], measured["false_positives"]);
    EXPECT_EQ(document["missing_share"], measured["missing_share"]);
    // The model agrees with the counts.
    const Json& now = document["filters"][0];
    EXPECT_NEAR(now["data_reads"].get<double>(),
                measured["data_reads"].get<double>() / 5000, 0.1);
  }
  EXPECT_EQ(by_log["measured"]["data_reads"],
            Ticker(log, "block.cache.data.miss"));
}

TEST_F(CliTest, AdviceIsCheaperAndNamesItsOption) {
  const Json document = RunJson({"advise", "reads", "--json"});
  const Json& runs = document["runs"];
  ASSERT_EQ(runs.size(), 2);
  EXPECT_EQ(runs[0]["entries"], 1000);
  EXPECT_EQ(runs[1]["entries"], 4000);
  EXPECT_EQ(runs[0]["entry_bytes"], 9 + 8 + 100);
  EXPECT_EQ(runs[0]["partitioned"], true);
  // The smaller run has more bits.
  EXPECT_GT(runs[0]["best_bits"], runs[1]["best_bits"]);
  const Json& filters = document["filters"];
  ASSERT_EQ(filters.size(), 3);
  EXPECT_EQ(filters[0]["filters"], "now");
  EXPECT_LT(filters[1]["us"], filters[0]["us"]);
  EXPECT_EQ(document["best"], "compact");
  EXPECT_THAT(document["option"].get<std::string>(),
              HasSubstr("{id=rowbloom;filter_spec=compact;budget=balanced;"
                        "budget_bits_per_key="));
}

TEST_F(CliTest, WithoutStatisticsTheModelAdvises) {
  std::filesystem::copy(InputPath("reads"), InputPath("no_log"));
  std::filesystem::remove(InputPath("no_log/LOG"));
  const ToolResult refused = Run({"advise", "no_log"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no_log/LOG: does not tell the capacity "
                                     "of the block cache; give it with "
                                     "--cache_bytes"));
  const Json document = RunJson({"advise", "no_log", "--cache_bytes", "1e5",
                                 "--missing_share", "0.9", "--json"});
  EXPECT_TRUE(document["measured"].is_null());
  EXPECT_EQ(document["missing_share"], 0.9);
  EXPECT_EQ(document["filters"].size(), 3);
  EXPECT_THAT(document["notes"][0].get<std::string>(),
              HasSubstr("no_log/LOG does not exist or has no statistics"));
}

TEST_F(CliTest, CountsThatStatisticsLackAreUnknown) {
  std::string text = ReadFile(InputPath("reads/LOG"));
  // Only the last dump counts, and only its whole lines.
  text +=
      "STATISTICS:\n rocksdb.number.keys.read COUNT : 7\n"
      "rocksdb.memtable.hit COUNT : many\n"
      "rocksdb.l0.hit COUNT : 99999999999999999999\n"
      "rocksdb.bloom.filter.full.positive COUNT\n" +
      std::string("\0\xff\n", 3) + "rocksdb.block.cache.data.miss COUNT : 12";
  WriteFile(InputPath("torn.log"), text);
  const std::vector<std::string> arguments = {"advise", "reads", "--statistics",
                                              "torn.log", "--json"};
  const Json document = RunJson(arguments);
  EXPECT_EQ(document["missing_share"], 0.5);
  for (const auto& [field, count] : document["measured"].items()) {
    if (field == "gets") {
      EXPECT_EQ(count, 7);
    } else {
      EXPECT_TRUE(count.is_null()) << field;
    }
  }
  EXPECT_THAT(Run({"advise", "reads", "--statistics", "torn.log"}).out,
              HasSubstr("Of 7 gets, an unknown number of"));
}

TEST_F(CliTest, AdviseNamesWhatItCannotUse) {
  WriteFile(InputPath("one.keys"), "a\n");
  WriteFile(InputPath("bad.keys"), "00\n0g\n");
  const std::map<std::string, std::vector<std::string>> wrong = {
      {"column family \"x\" does not exist; known: default",
       {"reads", "--column_family", "x"}},
      {"nowhere/CURRENT", {"nowhere"}},
      {"nowhere.log: No such file", {"reads", "--statistics", "nowhere.log"}},
      {"row.filter: has no line like", {"reads", "--statistics", "row.filter"}},
      {"one.keys: has 1 keys", {"reads", "--gets", "one.keys"}},
      {"nowhere.keys: cannot be read", {"reads", "--gets", "nowhere.keys"}},
      {"--gets: not hexadecimal: 0g", {"reads", "--gets", "bad.keys", "--hex"}},
      {"--zipf", {"reads", "--zipf", "5"}},
      {"read_us", {"reads", "--read_us", "-1"}}};
  for (const auto& [reason, rest] : wrong) {
    std::vector<std::string> arguments = {"advise", "--cache_bytes", "1000"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const ToolResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << reason;
    EXPECT_THAT(result.err, HasSubstr(reason));
  }
}

TEST_F(CliTest, AnEmptyDatabaseNeedsNoAdvice) {
  const ToolResult result = Run({"advise", "no_ssts"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("has no SSTs: there is no advice"));
  const Json document = RunJson({"advise", "no_ssts", "--json"});
  EXPECT_THAT(document["runs"], IsEmpty());
  EXPECT_TRUE(document["option"].is_null());
}

TEST_F(CliTest, AdviseKnowsDatabasesWithoutFilters) {
  const Json document =
      RunJson({"advise", "plugin_absent", "--cache_bytes", "10000", "--json"});
  // One run has a filter that the options do not read.
  EXPECT_EQ(document["runs"][1]["filter_policy"], "rowbloom");
  EXPECT_EQ(document["filters"][0]["bits_per_key"], 0);
  EXPECT_GT(document["filters"][0]["data_reads"],
            document["filters"][1]["data_reads"]);
}

TEST_F(CliTest, AdviseNamesADamagedSst) {
  std::filesystem::copy(InputPath("reads"), InputPath("damaged_reads"));
  for (const auto& [path, bytes] : Listing("damaged_reads")) {
    if (path.find(".sst") == std::string::npos) continue;
    std::string damaged = bytes;
    damaged.at(damaged.find("bloomfilter")) ^= 1;  // The properties block.
    WriteFile(path, damaged);
  }
  const ToolResult result = Run({"advise", "damaged_reads"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("damaged_reads/0000"));
}

TEST_F(CliTest, DamagedAndMissingSstsOfADatabaseAreNamed) {
  std::filesystem::copy(InputPath("database"), InputPath("broken"));
  const Json whole = RunJson({"inspect", "--json", "broken"})["files"];
  const std::string no_magic = whole[0]["path"];
  const std::string missing = whole[1]["path"];
  const std::string damaged = whole[2]["path"];
  std::string bytes = ReadFile(InputPath(no_magic));
  bytes.back() ^= 1;
  WriteFile(InputPath(no_magic), bytes);
  std::filesystem::remove(InputPath(missing));
  bytes = ReadFile(InputPath(damaged));
  bytes[7] ^= 1;
  WriteFile(InputPath(damaged), bytes);

  const ToolResult result = Run({"verify", "broken"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr(no_magic + ": unknown"));
  EXPECT_THAT(result.out, HasSubstr(damaged + ": damaged"));
  EXPECT_THAT(result.out, HasSubstr(missing + ": damaged: missing, and the "
                                              "database needs it\n"));
  EXPECT_THAT(result.out, HasSubstr("2 files, 0 entries: 2 unreadable\n"));
  EXPECT_THAT(result.out, HasSubstr("1 file, 100 entries: 1 unreadable\n"));
}

TEST_F(CliTest, ADamagedFilterIsToldFromADamagedSst) {
  // RocksDB does not open a table at level 0 with a damaged partition.
  std::filesystem::copy(InputPath("oversized"), InputPath("bad_partition"));
  const std::string sst =
      RunJson({"inspect", "--json", "bad_partition"})["files"][0]["path"];
  std::string bytes = ReadFile(InputPath(sst));
  bytes[EndOfLastFilter(bytes) - 40] ^= 1;
  WriteFile(InputPath(sst), bytes);
  Json document = RunJson({"verify", "--json", "bad_partition"});
  EXPECT_EQ(document["files"][0]["status"], "damaged");
  EXPECT_EQ(document["column_families"][0]["states"]["unusable"], 1);
  EXPECT_EQ(document["column_families"][0]["states"]["unreadable"], 0);

  bytes[bytes.size() - 4] ^= 1;  // The footer.
  WriteFile(InputPath(sst), bytes);
  document = RunJson({"verify", "--json", "bad_partition"});
  EXPECT_EQ(document["column_families"][0]["states"]["unusable"], 0);
  EXPECT_EQ(document["column_families"][0]["states"]["unreadable"], 1);
}

// The tool lists all files before it reads the first one; its output about the
// files that precede the database's is more than a pipe holds.
TEST_F(CliTest, SstsThatACompactionRemovesMeanwhileAreLeftOut) {
  for (const std::string verb : {"verify", "inspect"}) {
    const std::string database = "live_" + verb;
    std::filesystem::copy(InputPath("mixed"), InputPath(database));
    const std::string pipe = InputPath(database + ".pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::vector<std::string> arguments = {verb};
    const std::string long_path =
        InputPath("") + std::string(200, '/') + "small.filter";
    arguments.insert(arguments.end(), 1000, long_path);
    arguments.push_back(database);
    ToolResult result;
    std::thread tool([&] { result = RunTool(inputs(), arguments, pipe); });
    std::ifstream out(pipe);
    std::string line;
    ASSERT_TRUE(std::getline(out, line));
    const ToolResult compacted =
        RunProgram(ROWBLOOM_MAKE_INPUTS, InputPath(database),
                   {"--compact", InputPath(database)});
    EXPECT_EQ(compacted.exit_code, 0) << compacted.err;
    const std::string rest(std::istreambuf_iterator<char>(out), {});
    tool.join();
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(rest, HasSubstr("\n1000 files: 1000 ok\n"));
    EXPECT_THAT(rest,
                HasSubstr(verb == "verify" ? "\n0 files, 0 entries" : ""));
    EXPECT_THAT(rest, Not(HasSubstr(".sst")));
    EXPECT_THAT(result.err, HasSubstr(".sst: gone since it was listed"));
    EXPECT_THAT(result.err, Not(HasSubstr("unreadable")));
  }
}

TEST_F(CliTest, ADirectoryThatOnlyClaimsToBeADatabaseIsAnError) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("claims")));
  WriteFile(InputPath("claims/CURRENT"), "MANIFEST-000001\n");
  const ToolResult result = Run({"verify", "claims"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("claims/MANIFEST-000001"));
}

#else

TEST_F(CliTest, WithoutRocksDbAnSstIsNamedForWhatItIs) {
  WriteFile(InputPath("x.sst"),
            std::string(100, 'x') + "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88");
  const ToolResult result = Run({"verify", "x.sst"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("built without RocksDB"));

  ASSERT_TRUE(std::filesystem::create_directory(InputPath("claims")));
  WriteFile(InputPath("claims/CURRENT"), "MANIFEST-000001\n");
  EXPECT_EQ(Run({"verify", "claims"}).exit_code, 2);
}

#endif  // ROWBLOOM_CLI_TEST_WITH_ROCKSDB

}  // namespace
}  // namespace rowbloom
