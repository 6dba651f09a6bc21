// SPDX-License-Identifier: Apache-2.0
//
// Tests exit codes, damage, JSON and help of the tool. golden_test.cc pins its
// output.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tool_runner.h"

namespace rowbloom {
namespace {

using testing::_;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::json;

class CliTest : public ToolTest {
 protected:
  // Writes a damaged copy of an input and returns its name.
  static std::string WithFlippedByte(const std::string& name, size_t offset) {
    WriteFile(InputPath("damaged." + name), ReadFile(InputPath(name)));
    FlipByte("damaged." + name, offset);
    return "damaged." + name;
  }
  static void FlipByte(const std::string& name, size_t offset) {
    std::string bytes = ReadFile(InputPath(name));
    bytes.at(offset) ^= 0x10;
    WriteFile(InputPath(name), bytes);
  }
  // Runs the line in a shell that redirects streams: ">&-" closes one.
  static ToolResult RunInShell(const std::string& line,
                               const std::string& streams) {
    return RunProgram(
        "/bin/sh", inputs(),
        {"-c", std::string(ROWBLOOM_TOOL) + " " + line + " " + streams});
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

  // In the latest OPTIONS file of a database.
  static void ReplaceInOptions(const std::string& database,
                               const std::string& from, const std::string& to) {
    std::string options;
    for (const auto& [path, bytes] : Listing(database)) {
      if (path.find("/OPTIONS-") != std::string::npos) options = path;
    }
    std::string text = ReadFile(options);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    WriteFile(options, text.replace(at, from.size(), to));
  }
  // Writes a database of 50,000 keys, or rewrites its SSTs with these options.
  static void MakeTree(const std::string& name, const std::string& kind,
                       const std::string& table_options,
                       const std::string& db_options = "") {
    const ToolResult made =
        RunProgram(ROWBLOOM_MAKE_INPUTS, inputs(),
                   {"--tree", name, kind, table_options, db_options});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
};

// --- Usage -----------------------------------------------------------------

TEST_F(CliTest, WholeNumbersAreRefusedByTheirOwnText) {
  const std::vector<std::string> lines = {
      "plan --target_fpr 0.1 --keys",
      "plan --target_fpr 0.1 --bits",
      "plan --keys 10 --probes",
      "plan --keys",
      "plan --runs",
      "plan --keys 1000 --tree leveled --levels",
      "plan --keys 1000 --tree tiered --runs_per_level",
      "plan --keys 1000 --tree leveled --flush_runs",
      "plan --keys 1000 --tree leveled --cache_bytes",
      "advise reads --cache_bytes",
      "verify db --block_cache_bytes",
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
      "rebuild in out --prefix_length",
      "rebuild in out --block_size",
#endif
  };
  for (const std::string& line : lines) {
    const std::string option = line.substr(line.rfind(' ') + 1);
    for (const std::string wrong :
         {"-5", "99999999999999999999", "1e30", "1.5", "nan", "many"}) {
      EXPECT_THAT(Run(line + "=" + wrong),
                  Exits(2, IsEmpty(),
                        AllOf(HasSubstr(option + ":"),
                              HasSubstr("'" + wrong + "' is not a whole"))))
          << line;
    }
  }
  EXPECT_EQ(RunJson("plan --keys 1e6 --bits 9.6e6")["format"], "rowbloom-plan");
  EXPECT_EQ(RunJson("plan --runs 1e3,0,1e6")["format"], "rowbloom-plan");
}

TEST_F(CliTest, APlanOfTheTotalMemoryIsTheCheapestOfItsSweep) {
  const Json document = RunJson(
      "plan --keys 100000000 --tree leveled --cache_bytes 100000000 "
      "--entry_bytes 100 --zipf 0.8");
  EXPECT_EQ(document["format"], "rowbloom-plan");
  const Json& chosen = document["plans"][0];
  EXPECT_EQ(chosen["bits_per_key"], document["bits_per_key"]);
  bool is_in_sweep = false;
  for (const Json& step : document["sweep"]) {
    EXPECT_LE(chosen["total_us"].get<double>(),
              1.0011 * step["total_us"].get<double>());
    is_in_sweep |= chosen["bits_per_key"] == step["bits_per_key"];
  }
  EXPECT_TRUE(is_in_sweep);
  for (const Json& plan : document["plans"]) {
    EXPECT_NEAR(plan["reads"].get<double>(),
                plan["filter_reads"].get<double>() +
                    plan["index_reads"].get<double>() +
                    plan["data_reads"].get<double>(),
                1e-9);
    EXPECT_LE(chosen["total_us"].get<double>(),
              1.0011 * plan["total_us"].get<double>());
  }
}

TEST_F(CliTest, ManPageNamesEveryVerbAndOption) {
  const std::string page = ReadFile(ROWBLOOM_MAN_PAGE);
  size_t options = 0;
  for (const std::string verb :
       {"", "inspect", "verify", "lookup", "plan", "advise",
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
        "refresh",
#endif
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
        "rebuild"
#endif
       }) {
    EXPECT_THAT(page, HasSubstr(verb));
    for (std::string word : SplitWords(Run(verb + " --help").out)) {
      if (word.rfind("--", 0) != 0) continue;
      ++options;
      word = word.substr(
          2, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 2) - 2);
      EXPECT_THAT(page, HasSubstr("\\-\\-" + word)) << verb;
    }
  }
  EXPECT_GT(options, 40U);
}

TEST_F(CliTest, ExamplesOfTheManPageHaveOptionsThatAreThere) {
  std::string page = ReadFile(ROWBLOOM_MAN_PAGE);
  page = page.substr(page.find(".SH EXAMPLES"));
  size_t options = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("rowbloom ", 0) != 0) continue;
    const std::vector<std::string> words = SplitWords(line);
    const std::string help = Run(words[1] + " --help").out;
    if (help.empty()) continue;  // A part that was not built.
    for (std::string word : words) {
      if (word.rfind("\\-\\-", 0) != 0) continue;
      ++options;
      EXPECT_THAT(help, HasSubstr("--" + word.substr(4))) << line;
    }
  }
  EXPECT_GT(options, 10U);
}

TEST_F(CliTest, AnEmptyValueIsNotOneThatWasLeftOut) {
  const std::vector<std::vector<std::string>> lines = {
      {"lookup", "row.filter", "--rows", ""},
      {"inspect", "row.filter", "--html", ""},
      {"advise", "reads", "--gets", ""},
      {"advise", "reads", "--key_codec", ""},
      {"plan", "--keys", "10", "--target_fpr", ""},
      {"plan", "--keys", "10", "--target_fpr=", "0.1"},
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
      {"refresh", "reads", "--filter_policy", ""},
#endif
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
      {"rebuild", "--into", "", "in", "out"},
      {"rebuild", "--into=", "in", "out"},
#endif
  };
  for (const std::vector<std::string>& line : lines) {
    const ToolResult result = RunArguments(line);
    EXPECT_EQ(result.exit_code, 2) << line[0];
    EXPECT_THAT(result.err, HasSubstr("--")) << line[0];
  }
  EXPECT_EQ(RunArguments({"lookup", "row.filter", ""}).exit_code, 0);
}

TEST_F(CliTest, NanIsNoNumber) {
  for (const std::string line :
       {"advise row.filter --missing_share", "advise row.filter --column_share",
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
        "refresh reads --filter_policy rowbloom:10 --min_gain",
#endif
        "plan --keys 1000 --bits_per_key"}) {
    EXPECT_EQ(Run(line + " nan").exit_code, 2) << line;
  }
}

TEST_F(CliTest, LinesOfKeysEndWithLfOrCrLf) {
  std::vector<std::string> advice;
  for (const std::string end : {"\n", "\r\n"}) {
    std::string keys;
    for (int i = 100; i < 400; ++i) keys += std::to_string(i) + end;
    WriteFile(InputPath("some.keys"), keys);
    advice.push_back(Run("advise some.keys --key_codec fixed:1,-rest").out);
    EXPECT_THAT(advice.back(), Not(IsEmpty()));
  }
  EXPECT_EQ(advice[0], advice[1]);
  WriteFile(InputPath("some.keys"), "1\n\n2\n");
  EXPECT_THAT(Run("advise some.keys --key_codec fixed:1,-rest"),
              Exits(2, _, HasSubstr("line 2 has no key")));
}

TEST_F(CliTest, APasswordOfAUrlIsNotPrinted) {
  const std::string url = "redis://:secret@127.0.0.1:1/f";
  for (const std::string line :
       {"inspect ", "verify --json ", "rebuild out ", "rebuild --json out ",
        "rebuild --into out ", "plan ", "refresh ", "lookup row.filter --rows ",
        "advise --cache_bytes 5 ", "advise --key_codec fixed:1 "}) {
    for (const std::string& given : {url, "rediss" + url.substr(5)}) {
      const ToolResult result = Run(line + given);
      EXPECT_EQ(result.exit_code, 2) << line;
      EXPECT_THAT(result.out + result.err, Not(HasSubstr("secret"))) << line;
    }
  }
  EXPECT_THAT(Run("rebuild out " + url + " " + url).err,
              Not(HasSubstr("secret")));
}

TEST_F(CliTest, ErrorsOfUsageShowControlCharactersEscaped) {
  const std::string control = "\x1b[31m\x07";
  const std::vector<std::vector<std::string>> lines = {
      {control},
      {"verify", "row.filter", "--" + control},
      {"verify", "row.filter", "--db_path", control},
      {"plan", "--keys", "1", "--tree", control},
      {"plan", "--keys", "1", "--bits_per_key", control}};
  for (const std::vector<std::string>& line : lines) {
    EXPECT_THAT(RunArguments(line),
                Exits(2, IsEmpty(),
                      AllOf(HasSubstr("\\x1b[31m\\x07"), Not(HasSubstr("\x1b")),
                            Not(HasSubstr("\x07")))));
  }
}

TEST_F(CliTest, VersionIsPrintedAndAVerbIsRequired) {
  EXPECT_THAT(Run(""),
              Exits(2, IsEmpty(), HasSubstr("A subcommand is required")));
  EXPECT_THAT(Run("--version"), Exits(0, HasSubstr("rowbloom ")));
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
    for (const std::string& line : {"inspect " + path, "verify " + path,
                                    "lookup " + path + " row00001"}) {
      EXPECT_THAT(Run(line), Exits(2, Not(HasSubstr("ok")),
                                   AllOf(HasSubstr(path), HasSubstr(reason))))
          << line;
    }
  }
}

TEST_F(CliTest, DamageOutweighsFilesThatCannotBeRead) {
  const std::string damaged = WithFlippedByte("row.filter", 0);
  EXPECT_THAT(Run("verify " + damaged + " no/such/file"), Exits(1));
  EXPECT_THAT(Run("verify no/such/file " + damaged), Exits(1));
  EXPECT_THAT(Run("verify no/such/file row.filter"), Exits(2));
  EXPECT_THAT(Run("verify row.filter rowcol.filter"), Exits(0));
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(RunTool(inputs(), {"inspect", "row.filter"}, "/dev/full"),
              Exits(2, _, HasSubstr("standard output")));
}

TEST_F(CliTest, ClosedStreamsAreErrorsOfTheTool) {
  for (const std::string streams : {">&-", "0<&- >&-"}) {
    EXPECT_THAT(RunInShell("inspect row.filter", streams),
                Exits(2, IsEmpty(), HasSubstr("standard output")))
        << streams;
  }
}

TEST_F(CliTest, RowsOfAnInputThatCannotBeReadAreAnError) {
  for (const std::string input : {"0<&-", "< ."}) {
    EXPECT_THAT(RunInShell("lookup row.filter --rows -", input),
                Exits(2, IsEmpty(), HasSubstr("--rows: -: cannot be read")))
        << input;
  }
  EXPECT_THAT(RunInShell("lookup row.filter --rows -", "< notes.txt"),
              Exits(0, HasSubstr("no\n")));
}

// --- Pages -----------------------------------------------------------------

// Returns the document that the page carries.
nlohmann::json DocumentOfPage(const std::string& page) {
  const std::string begin =
      "<script type=\"application/json\" id=\"document\">";
  const size_t from = page.find(begin) + begin.size();
  const size_t to = page.find("</script>", from);
  EXPECT_NE(to, std::string::npos);
  EXPECT_EQ(page.find("<script", from), std::string::npos);
  return nlohmann::json::parse(page.substr(from, to - from), nullptr,
                               /*allow_exceptions=*/false);
}

TEST_F(CliTest, PagesHoldTheDocumentOfJson) {
  for (const std::string line :
       {"inspect row.filter rowcol.filter", "verify row.filter notes.txt",
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
        "verify reads", "advise reads --statistics reads.statistics",
#endif
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
        "advise row.hfile",
#endif
        "advise log.keys --key_codec at.rest"}) {
    const ToolResult text = Run(line);
    const ToolResult with_page = Run(line + " --html page.html");
    EXPECT_EQ(with_page.out, text.out) << line;
    EXPECT_EQ(with_page.exit_code, text.exit_code) << line;
    const std::string page = ReadFile(InputPath("page.html"));
    EXPECT_EQ(DocumentOfPage(page), RunJson(line)) << line;
    // Nothing is loaded from elsewhere.
    EXPECT_THAT(page, Not(HasSubstr("http"))) << line;
  }
}

TEST_F(CliTest, PagesShowMarkupOfFileNamesAsText) {
  const std::string name = "<script>a&b</script>.filter";
  std::filesystem::create_directories(InputPath("<script>a&b<"));
  std::filesystem::copy_file(InputPath("row.filter"), InputPath(name));
  ASSERT_EQ(RunArguments({"inspect", name, "--html", "page.html"}).exit_code,
            0);
  const std::string page = ReadFile(InputPath("page.html"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;a&amp;b&lt;/script&gt;.filter"));
  EXPECT_EQ(DocumentOfPage(page)["files"][0]["path"], name);
}

TEST_F(CliTest, PagesThatCannotBeWrittenAreAnError) {
  EXPECT_THAT(Run("inspect row.filter --html no/such/page.html"),
              Exits(2, HasSubstr("row.filter"),
                    AllOf(HasSubstr("no/such/page.html"),
                          HasSubstr("No such file or directory"))));
  // FILE was forgotten.
  const std::string bytes = ReadFile(InputPath("row.filter"));
  WriteFile(InputPath("copy.filter"), bytes);
  EXPECT_THAT(Run("inspect --html copy.filter row.filter"),
              Exits(2, _, HasSubstr("copy.filter is a file, but no page")));
  EXPECT_EQ(ReadFile(InputPath("copy.filter")), bytes);
  EXPECT_THAT(Run("inspect row.filter --html /dev/full"),
              Exits(2, _, HasSubstr("No space left")));
}

// --- Damage ----------------------------------------------------------------

// The tests of the readers damage each byte.
TEST_F(CliTest, DamageIsToldFromAnUnknownFormat) {
  const auto expect = [](const std::string& name, size_t offset,
                         const std::string& status) {
    const int exit_code = status == ": unknown: " ? 3 : 1;
    EXPECT_THAT(Run("verify " + WithFlippedByte(name, offset)),
                Exits(exit_code, HasSubstr(status)))
        << name << " byte " << offset;
  };
  for (const std::string name : {"small.filter", "small_compact.filter"}) {
    const size_t magic = ReadFile(InputPath(name)).size() - 8;
    for (const size_t offset : {size_t{0}, magic / 2, magic - 1}) {
      expect(name, offset, ": damaged: offset ");
    }
    expect(name, magic, ": unknown: ");
    expect(name, magic + 7, ": unknown: ");
  }
  const std::string saved = "standard.mem";
  expect(saved, 7, ": unknown: ");
  expect(saved, 8, ": damaged: ");
  expect(saved, ReadFile(InputPath(saved)).size() - 1, ": damaged: ");
}

TEST_F(CliTest, TruncatedFilesAreNotOk) {
  for (const std::string name : {"small.filter", "standard.mem"}) {
    const std::string whole = ReadFile(InputPath(name));
    for (const size_t size : {size_t{0}, size_t{7}, size_t{8}, whole.size() / 2,
                              whole.size() - 1}) {
      WriteFile(InputPath("cut"), whole.substr(0, size));
      // Without the end of a filter block, nothing says what the file is.
      EXPECT_THAT(Run("verify cut").exit_code, AnyOf(1, 3))
          << name << " of " << size;
    }
  }
}

TEST_F(CliTest, ADamagedChunkIsNamedAndAnswersMaybe) {
  const uint64_t offset =
      RunJsonOfFile("inspect row.filter")["chunks"][1]["offset"];
  const std::string damaged = WithFlippedByte("row.filter", offset + 5);
  EXPECT_THAT(Run("verify " + damaged),
              Exits(1, HasSubstr(damaged + ": damaged: offset " +
                                 std::to_string(offset))));
  EXPECT_THAT(Run("lookup row.filter row01000x"),
              Exits(0, HasSubstr(": no (")));
  EXPECT_THAT(Run("lookup " + damaged + " row01000x"),
              Exits(1, HasSubstr(": maybe (")));
  // The other chunk is still shown, and still answers.
  EXPECT_THAT(Run("inspect " + damaged),
              Exits(1, HasSubstr("chunk_count        2")));
  EXPECT_THAT(Run("lookup " + damaged + " row00001"), Exits(0));
}

// --- Lookups ---------------------------------------------------------------

std::string RowName(int number) {
  char row[16];
  std::snprintf(row, sizeof(row), "row%05d", number);
  return row;
}

TEST_F(CliTest, LookupFindsEveryRowItsWriterAdded) {
  // Even rows end in a zero byte and need --hex.
  for (int i = 23; i < 700; i += 46) {
    EXPECT_THAT(Run("lookup rowcol.filter " + RowName(i) + " name"),
                Exits(0, HasSubstr(": maybe (column: chunk ")));
  }
}

TEST_F(CliTest, ArgumentsAreTakenLiterally) {
  for (const char* text : {"", "{}", "[a,b]", "%%", "'a'", "\"b\"", "a=b"}) {
    const Json answer =
        Json::parse(RunArguments({"lookup", "--json", "row.filter", text, text})
                        .out)["files"][0]["answers"][0];
    EXPECT_EQ(answer["row"], text);
    EXPECT_EQ(answer["qualifier"], text);
  }
  const Json dashes = Json::parse(Run("lookup --json -- row.filter -r --hex")
                                      .out)["files"][0]["answers"][0];
  EXPECT_EQ(dashes["row"], "-r");
  EXPECT_EQ(dashes["qualifier"], "--hex");
}

TEST_F(CliTest, AnEmptyQualifierIsNotAnAbsentOne) {
  EXPECT_THAT(RunArguments({"lookup", "rowcol.filter", "row00001", ""}).out,
              HasSubstr("(column: "));
  EXPECT_THAT(Run("lookup rowcol.filter row00001").out, HasSubstr("(row: "));
}

// --- JSON ------------------------------------------------------------------

TEST_F(CliTest, InspectJsonHasThePromisedFields) {
  const auto expect_fields = [](const Json& entry, const std::string& names) {
    for (const std::string& name : SplitWords(names)) {
      EXPECT_TRUE(entry.contains(name)) << name;
    }
  };
  const Json document = RunJson("inspect rowcol.filter");
  EXPECT_EQ(document["format"], "rowbloom-inspect");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["summary"]["ok"], 1);
  const Json& file = document["files"][0];
  EXPECT_EQ(file["path"], "rowcol.filter");
  EXPECT_EQ(file["kind"], "filter_block");
  EXPECT_EQ(file["status"], "ok");
  expect_fields(file,
                "bloom_type has_row_keys filter_spec writer cell_count "
                "chunk_count key_count filter_size_bytes bits_per_key "
                "expected_fpr first_row first_qualifier last_row "
                "last_qualifier");
  EXPECT_EQ(file["chunks"].size(), file["chunk_count"]);
  uint64_t key_count = 0;
  for (const Json& chunk : file["chunks"]) {
    expect_fields(chunk,
                  "chunk offset size_bytes family unit_count unit_size_bytes "
                  "key_count bits_per_key expected_fpr first_row "
                  "first_qualifier");
    key_count += chunk["key_count"].get<uint64_t>();
    EXPECT_GT(chunk["expected_fpr"].get<double>(), 0);
    EXPECT_LT(chunk["expected_fpr"].get<double>(), 0.05);
  }
  EXPECT_EQ(key_count, file["key_count"]);
}

TEST_F(CliTest, JsonOfDamagedAndMissingFilesIsWhole) {
  const std::string damaged = WithFlippedByte("row.filter", 3);
  const Json document =
      RunJson("verify " + damaged + " no/such/file row.filter");
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
  const Json document =
      Json::parse(RunArguments({"verify", "--json", name}).out);
  EXPECT_EQ(document["files"][0]["status"], "ok");
  EXPECT_THAT(RunArguments({"verify", name}).out, HasSubstr("\\x0a"));
}

// --- Directories -----------------------------------------------------------

TEST_F(CliTest, ADirectoryStandsForItsFilesByName) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("blocks")));
  for (const char* name : {"c", "a", "b"}) {
    WriteFile(InputPath("blocks/" + std::string(name)),
              ReadFile(InputPath("row.filter")));
  }
  const ToolResult result = Run("verify blocks");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "blocks/a: ok\nblocks/b: ok\nblocks/c: ok\n3 files: 3 ok\n");
  EXPECT_THAT(result.err, IsEmpty());  // Progress is for terminals.
}

TEST_F(CliTest, ATableOfPebbleIsNamed) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("of_pebble")));
  WriteFile(InputPath("of_pebble/000004.sst"),
            std::string(100, 'x') + "\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3");
  for (const std::string name : {"of_pebble/000004.sst", "of_pebble"}) {
    for (const std::string& line :
         {"inspect " + name, "verify " + name, "lookup " + name + " row"}) {
      EXPECT_THAT(
          Run(line),
          Exits(3, HasSubstr("000004.sst: unknown: a table of Pebble")));
    }
  }
}

#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB

// --- SSTs ------------------------------------------------------------------

// RocksDB's data and filter blocks come first in an SST, in that order.
TEST_F(CliTest, VerifyFindsFlippedBytesOfDataAndFilterBlocks) {
  for (const std::string name :
       {"full.sst", "compact.sst", "partitioned.sst"}) {
    const size_t size = ReadFile(InputPath(name)).size();
    for (size_t offset = 0; offset < size / 2; offset += size / 30) {
      EXPECT_THAT(
          Run("verify " + WithFlippedByte(name, offset)),
          Exits(1, AllOf(HasSubstr(": damaged: "), HasSubstr("offset "))))
          << name << " byte " << offset;
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
    for (const std::string& line : {"inspect " + damaged, "verify " + damaged,
                                    "lookup --json " + damaged + " row00001"}) {
      EXPECT_THAT(Run(line),
                  Exits(1, AllOf(HasSubstr("block checksum mismatch"),
                                 HasSubstr("offset "))))
          << line;
    }
    EXPECT_EQ(RunJsonOfFile("lookup " + damaged + " row00001")["maybe"], 1);
  }
}

// The golden session for this file needs an older RocksDB.
TEST_F(CliTest, InspectTellsAPartitionedFilter) {
  const Json file = RunJsonOfFile("inspect partitioned.sst");
  EXPECT_EQ(file["filter_kind"], "partitioned");
  EXPECT_EQ(file["status"], "ok");
  EXPECT_EQ(file["is_partitioned"], true);
  EXPECT_GT(file["chunk_count"], 2);
}

TEST_F(CliTest, InspectCallsNoFilterForeignThatAPolicyOfRowbloomWrites) {
  EXPECT_EQ(RunJsonOfFile("inspect composed.sst")["filter_kind"], "rocksdb");
  EXPECT_EQ(RunJsonOfFile("inspect anothers.sst")["filter_kind"], "rocksdb");
}

TEST_F(CliTest, LookupInAnSstFindsEveryRowAndColumn) {
  for (const std::string name :
       {"full.sst", "compact.sst", "partitioned.sst", "row_fixed.sst"}) {
    for (int i = 0; i < 1000; i += 37) {
      const std::string line = "lookup " + name + " " + RowName(i);
      EXPECT_THAT(Run(line).out, HasSubstr(": maybe (row: "));
      EXPECT_THAT(Run(line + " age").out, HasSubstr(": maybe ("));
    }
  }
}

TEST_F(CliTest, ADatabaseStandsForItsLiveSsts) {
  const Json document = RunJson("inspect database");
  const Json& files = document["files"];
  ASSERT_EQ(files.size(), 3U);
  const std::vector<std::pair<std::string, int>> expected = {
      {"default", 0}, {"default", 1}, {"events", 0}};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(files[i]["column_family"], expected[i].first);
    EXPECT_EQ(files[i]["level"], expected[i].second);
    EXPECT_EQ(files[i]["filter_kind"], "full");
  }
  const Json lookup = RunJson("lookup database row00150");
  EXPECT_EQ(lookup["files"][0]["no"], 1);
  EXPECT_EQ(lookup["files"][1]["maybe"], 1);
  EXPECT_EQ(lookup["files"][2]["no"], 1);
}

TEST_F(CliTest, VerifySaysWhichFilesLackTheExpectedFilter) {
  EXPECT_THAT(
      Run("verify --strict database"),
      Exits(0, AllOf(HasSubstr("column family default: rowbloom ROWCOL ordered "
                               "blocked_bloom:bits_per_key=10\n"
                               "2 files, 300 entries: 2 expected\n"),
                     Not(HasSubstr("warning")))));

  const ToolResult mixed = Run("verify mixed");
  EXPECT_EQ(mixed.exit_code, 0);
  for (const char* text :
       {": ok, filter none: written without a filter policy\n",
        ": ok, filter foreign: written with policy bloomfilter\n",
        "3 files, 3000 entries: 1 expected, 1 foreign, 1 none\n",
        "warning: 1 file with a filter that the configured policy does not "
        "read",
        "warning: 1 file without a filter (compact", "percent_of_optimum"}) {
    EXPECT_THAT(mixed.out, HasSubstr(text));
  }
  EXPECT_THAT(Run("verify --strict mixed"), Exits(1));

  const Json document = RunJson("verify mixed");
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
  EXPECT_THAT(Run("verify plugin_absent"),
              Exits(0, AllOf(HasSubstr("column family default: no filter\n"),
                             HasSubstr("RegisterRocksDb"))));
  EXPECT_THAT(Run("verify --strict plugin_absent"), Exits(1));
}

TEST_F(CliTest, VerifyWarnsOfADatabaseThatAsksForNoFilter) {
  MakeTree("unfiltered", "names", "filter_policy=nullptr;partition_filters=0");
  EXPECT_THAT(Run("verify unfiltered"),
              Exits(0, AllOf(HasSubstr("1 file, 50000 entries: 1 expected"),
                             HasSubstr("warning: 1 file without a filter"),
                             HasSubstr("filter_policy is nullptr"))));
  EXPECT_THAT(Run("verify --strict unfiltered"), Exits(1));
}

TEST_F(CliTest, VerifyReportsOversizedPartitions) {
  const Json document = RunJson("verify oversized");
  const Json& file = document["files"][0];
  EXPECT_EQ(file["filter"], "expected");
  EXPECT_EQ(file["is_partitioned"], true);
  // Since 10.6, RocksDB cuts filter partitions within data blocks, too.
  if (ROWBLOOM_CLI_TEST_ROCKSDB_RELEASE >= 1006) {
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
  EXPECT_THAT(Run("verify --strict whole_in_cache"), Exits(0));
  Json document = RunJson("verify whole_in_cache");
  Json whole = document["column_families"][0]["evictable_whole_filters"];
  EXPECT_EQ(whole["filters"], 1);
  EXPECT_EQ(whole["bytes"], document["files"][0]["filter_size_bytes"]);
  EXPECT_EQ(whole["largest_bytes"], whole["bytes"]);
  EXPECT_EQ(whole["block_cache_bytes"], nullptr);

  const std::string small =
      "verify --strict --block_cache_bytes 1000 whole_in_cache";
  EXPECT_THAT(
      Run(small),
      Exits(1, AllOf(HasSubstr("warning: 1 filter is read whole into the block "
                               "cache, which may evict it: " +
                               whole["bytes"].dump() + " bytes"),
                     HasSubstr("has a capacity of 1000 bytes"),
                     HasSubstr("set partition_filters=true"))));
  document = RunJson(small);
  whole = document["column_families"][0]["evictable_whole_filters"];
  EXPECT_EQ(whole["block_cache_bytes"], 1000);
  EXPECT_EQ(document["column_families"][0]["warnings"].size(), 1U);

  // The block cache does not hold these filters.
  EXPECT_THAT(
      Run("verify --strict --block_cache_bytes 1000 database timestamps"),
      Exits(0));
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
  const std::string name = RunJsonOfFile("inspect newer")["path"];
  WriteFile(InputPath(name), OfFormatVersion(ReadFile(InputPath(name)), 99));
  WriteFile(InputPath("newer.sst"),
            OfFormatVersion(ReadFile(InputPath("full.sst")), 99));
  for (const char* line : {"inspect newer.sst", "verify newer.sst"}) {
    EXPECT_THAT(
        Run(line),
        Exits(3,
              AllOf(HasSubstr("newer.sst: newer: format_version 99 is newer"),
                    Not(HasSubstr("damaged")), Not(HasSubstr("Corrupt")))));
  }
  EXPECT_EQ(RunJsonOfFile("lookup newer.sst row00001")["maybe"], 1);
  for (const char* line :
       {"inspect newer", "verify newer", "lookup newer row00001"}) {
    EXPECT_THAT(Run(line),
                Exits(3, HasSubstr(name + ": newer: format_version 99")));
  }
  EXPECT_THAT(
      Run("advise newer --cache_bytes 1000"),
      Exits(3, IsEmpty(),
            AllOf(HasSubstr("newer: newer: " + name +
                            ": format_version 99 is newer than"),
                  HasSubstr("use one built with the release that wrote"),
                  Not(HasSubstr("Corrupt")))));
  const Json document = RunJson("verify newer");
  EXPECT_EQ(document["files"][0]["status"], "newer");
  EXPECT_EQ(document["summary"]["newer"], 1);
  EXPECT_EQ(document["summary"]["damaged"], 0);
  const Json& states = document["column_families"][0]["states"];
  EXPECT_EQ(states["newer"], 1);
  EXPECT_EQ(states["unreadable"], 0);
  EXPECT_THAT(document["column_families"][0]["warnings"][0].get<std::string>(),
              HasSubstr("1 file of a newer format"));
}

TEST_F(CliTest, AnSstOfAnotherSizeThanListedIsDamaged) {
  std::filesystem::copy(InputPath("reads"), InputPath("longer"));
  std::string sst;
  for (const auto& [path, bytes] : Listing("longer")) {
    if (path.find(".sst") != std::string::npos) sst = path;
  }
  const std::string bytes = ReadFile(sst);
  WriteFile(sst, bytes + bytes.substr(bytes.size() - 100));
  EXPECT_THAT(
      Run("verify longer"),
      Exits(1, HasSubstr(absl::StrCat(bytes.size() + 100, " bytes, and the ",
                                      "MANIFEST says ", bytes.size()))));
}

TEST_F(CliTest, DatabasesWithTimestampsAreRead) {
  EXPECT_THAT(Run("verify --strict timestamps"),
              Exits(0, HasSubstr("1 file, 1000 entries: 1 expected")));
}

TEST_F(CliTest, WithoutItsOptionsFileADatabaseIsComparedWithNothing) {
  std::filesystem::copy(InputPath("mixed"), InputPath("no_options"));
  std::string options;  // The latest OPTIONS file.
  for (const auto& [path, bytes] : Listing("no_options")) {
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
  EXPECT_THAT(
      Run("verify no_options"),
      Exits(0, AllOf(HasSubstr("warning: filter_policy {id=acme.Filter;} of "
                               "the OPTIONS file is not known to this tool\n"),
                     Not(HasSubstr("filter none")))));

  for (const auto& [path, bytes] : Listing("no_options")) {
    if (path.find("/OPTIONS-") != std::string::npos) {
      std::filesystem::remove(path);
    }
  }
  EXPECT_THAT(Run("verify --strict no_options"),
              Exits(1, HasSubstr("warning: what filters are asked for is not "
                                 "known")));
}

TEST_F(CliTest, LookingAtADatabaseChangesNothingInIt) {
  const std::map<std::string, std::string> before = Listing("database");
  EXPECT_THAT(Run("verify database"), Exits(0));
  EXPECT_EQ(Listing("database"), before);
}

TEST_F(CliTest, RefreshGivesADatabaseTheFiltersOfItsPolicy) {
  std::filesystem::copy(InputPath("mixed"), InputPath("refreshed"));
  const std::map<std::string, std::string> before = Listing("refreshed");
  const Json plan = RunJson("refresh refreshed --dry_run");
  EXPECT_EQ(Listing("refreshed"), before);
  EXPECT_EQ(plan["summary"]["planned"], 2);
  EXPECT_EQ(plan["summary"]["kept"], 1);
  EXPECT_EQ(plan["files"].size(), 2U);
  EXPECT_EQ(plan["files"][0]["result"], "planned");

  const Json done = RunJson("refresh refreshed --max_bytes_per_second 1e9");
  EXPECT_EQ(done["summary"]["rewritten"], 2);
  EXPECT_EQ(done["summary"]["read_bytes"], plan["summary"]["read_bytes"]);
  EXPECT_GT(done["summary"]["seconds"], 0);
  EXPECT_THAT(Run("verify --strict refreshed"),
              Exits(0, HasSubstr("3 files, 3000 entries: 3 expected\n")));
  EXPECT_EQ(RunJson("refresh refreshed")["summary"]["rewritten"], 0);
  // It says how large the application's cache is.
  EXPECT_EQ(Listing("refreshed").at(InputPath("refreshed/LOG")),
            before.at(InputPath("refreshed/LOG")));
}

// The database is open while the tool prints.
TEST_F(CliTest, NoFileOfADatabaseTakesTheNumberOfAClosedStream) {
  for (const std::string streams : {"0<&- >&-", "0<&- >&- 2>&-"}) {
    std::filesystem::remove_all(InputPath("closed"));
    std::filesystem::copy(InputPath("mixed"), InputPath("closed"));
    EXPECT_THAT(RunInShell("refresh closed", streams), Exits(2, IsEmpty()))
        << streams;
    for (const auto& [path, bytes] : Listing("closed")) {
      EXPECT_THAT(bytes, Not(HasSubstr("planned_wasted_reads"))) << path;
    }
    EXPECT_THAT(Run("verify closed"), Exits(0)) << streams;
  }
}

TEST_F(CliTest, RefreshFollowsANewPolicy) {
  std::filesystem::copy(InputPath("reads"), InputPath("followed"));
  const std::string policy =
      "--filter_policy {id=rowbloom;filter_spec=compact;budget=balanced}";
  EXPECT_EQ(RunJson("refresh followed " + policy)["summary"]["rewritten"], 2);
  EXPECT_THAT(Run("verify --strict followed"),
              Exits(0, AllOf(HasSubstr("compact:bits_per_key=10 by a budget\n"),
                             HasSubstr(": 2 expected\n"))));
  // The OPTIONS file has the policy and its listener from now on.
  EXPECT_EQ(RunJson("refresh followed")["summary"]["kept"], 2);
}

// The gets that chose the bits are not seen by the tool.
TEST_F(CliTest, RefreshWithAutoKeepsTheAverage) {
  std::filesystem::copy(InputPath("reads"), InputPath("learned"));
  for (const std::string policy : {"rowbloom", "rowbloom.Composed"}) {
    const std::string line = "refresh learned --filter_policy ";
    const std::string bits = policy == "rowbloom"
                                 ? "filter_spec=compact:bits_per_key=3"
                                 : "bits_per_key=3";
    EXPECT_EQ(RunJson(line + "{id=" + policy + ";budget=balanced;" + bits +
                      "}")["summary"]["rewritten"],
              2);
    const Json plan = RunJson(line + policy + ":auto --dry_run");
    EXPECT_EQ(plan["summary"]["kept"], 2) << plan;
  }
}

TEST_F(CliTest, RefreshNamesWhatItCannotDo) {
  EXPECT_THAT(Run("refresh plugin_absent"),
              Exits(2, _, HasSubstr("name one with --filter_policy")));
  EXPECT_THAT(Run("refresh reads --filter_policy rowblom"),
              Exits(2, _, HasSubstr("known: rowbloom")));
  EXPECT_THAT(Run("refresh reads --filter_policy nullptr"),
              Exits(2, _, HasSubstr("\"nullptr\" is no policy")));
  EXPECT_THAT(Run("refresh mixed --column_family x"),
              Exits(2, _, HasSubstr("no column family \"x\"")));
  EXPECT_THAT(Run("refresh mixed --filter_policy rowbloom:8"),
              Exits(2, _, HasSubstr("key codec")));
  EXPECT_THAT(Run("refresh row.filter"),
              Exits(2, _, HasSubstr("no OPTIONS file")));

  std::filesystem::copy(InputPath("mixed"), InputPath("locked"));
  const int lock = open(InputPath("locked/LOCK").c_str(), O_RDWR);
  ASSERT_GE(lock, 0);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(fcntl(lock, F_SETLK, &whole), 0);
  EXPECT_THAT(Run("refresh locked"),
              Exits(2, _, HasSubstr("locked: is open elsewhere")));
  EXPECT_THAT(Run("refresh locked --dry_run"), Exits(0));
  close(lock);
  std::filesystem::remove(InputPath("locked/LOCK"));
  std::filesystem::create_directory(InputPath("locked/LOCK"));
  EXPECT_THAT(Run("refresh locked"),
              Exits(2, _,
                    AllOf(HasSubstr("locked: cannot be opened for writing"),
                          Not(HasSubstr("elsewhere")))));
  std::filesystem::remove(InputPath("locked/LOCK"));

  ReplaceInOptions("locked", "merge_operator=nullptr",
                   "merge_operator={id=acme.Merge;}");
  EXPECT_THAT(Run("refresh locked"),
              Exits(3, _,
                    AllOf(HasSubstr("acme.Merge"),
                          HasSubstr("RefreshRocksDbFilters()"))));
}

// A copy has the OPTIONS file of its original.
TEST_F(CliTest, RefreshReplaysNoWalOfAnotherDatabase) {
  std::filesystem::copy(InputPath("reads"), InputPath("copied"));
  std::filesystem::create_directory(InputPath("wal_of_original"));
  std::filesystem::create_directory(InputPath("wal_of_copy"));
  const std::string wal = InputPath("wal_of_original/000003.log");
  WriteFile(wal, "");
  ReplaceInOptions("copied", "[DBOptions]\n",
                   "[DBOptions]\n  wal_dir=wal_of_original\n");
  const std::string line = "refresh copied --filter_policy rowbloom:10";
  for (const std::string end : {"", " --dry_run"}) {
    EXPECT_THAT(
        Run(line + end),
        Exits(2, _,
              ContainsRegex("OPTIONS-[0-9]+ has wal_dir=wal_of_original;.*"
                            "replayed and deleted.*--wal_dir")));
  }
  EXPECT_THAT(Run(line + " --wal_dir wal_of_copy"), Exits(0));
  EXPECT_FALSE(std::filesystem::is_empty(InputPath("wal_of_copy")));
  EXPECT_TRUE(std::filesystem::exists(wal));

  std::filesystem::copy(InputPath("reads"), InputPath("own_wal"));
  ReplaceInOptions("own_wal", "[DBOptions]\n",
                   "[DBOptions]\n  wal_dir=./own_wal/\n");
  EXPECT_THAT(Run("refresh own_wal"), Exits(0));
}

TEST_F(CliTest, RefreshKeepsTheListenersThatItKnowsAndRefusesOthers) {
  std::filesystem::copy(InputPath("reads"), InputPath("listened"));
  EXPECT_THAT(Run("refresh listened --filter_policy rowbloom:auto"), Exits(0));
  EXPECT_THAT(Run("refresh listened"), Exits(0));
  std::string options;
  for (const auto& [path, bytes] : Listing("listened")) {
    if (path.find("/OPTIONS-") != std::string::npos) options = bytes;
  }
  const std::string ours = "listeners={rowbloom.BudgetListener";
  EXPECT_THAT(options, HasSubstr(ours + "}"));
  ReplaceInOptions("listened", ours, ours + ":acme.Listener");
  EXPECT_THAT(Run("refresh listened"),
              Exits(3, _,
                    AllOf(HasSubstr(ours + ":acme.Listener}"),
                          HasSubstr("RefreshRocksDbFilters()"))));
}

TEST_F(CliTest, RefreshOpensWhatRocksDbWouldRefuseToOpen) {
  std::filesystem::copy(InputPath("reads"), InputPath("refused"));
  ReplaceInOptions("refused", "error_if_exists=false", "error_if_exists=true");
  ReplaceInOptions("refused", "use_direct_reads=false",
                   "use_direct_reads=true");
  ReplaceInOptions("refused", "allow_mmap_reads=false",
                   "allow_mmap_reads=true");
  const ToolResult dry = Run("refresh refused --dry_run");
  const ToolResult wet = Run("refresh refused");
  // Not every file system reads directly.
  const auto ends = AnyOf(Exits(0), Exits(2, _, HasSubstr("Invalid argument")));
  EXPECT_THAT(dry, ends);
  EXPECT_THAT(wet, ends);
  EXPECT_THAT(dry.err + wet.err, Not(HasSubstr("error_if_exists")));
  EXPECT_THAT(dry.err + wet.err, Not(HasSubstr("mmap")));
}

TEST_F(CliTest, SstsThatTheManifestLostAreKept) {
  std::filesystem::copy(InputPath("reads"), InputPath("forgotten"));
  const std::string warning =
      "warning: forgotten: 2 SSTs are not in the MANIFEST";
  std::string manifest;
  for (const auto& [path, bytes] : Listing("forgotten")) {
    if (path.find("/MANIFEST-") != std::string::npos) manifest = path;
  }
  const std::string whole = ReadFile(manifest);
  // The database opens with no shorter head of its MANIFEST.
  size_t size = 0;
  do {
    size += 7 + static_cast<uint8_t>(whole.at(size + 4)) +
            256 * static_cast<uint8_t>(whole.at(size + 5));
    WriteFile(manifest, whole.substr(0, size));
  } while (Run("verify forgotten").exit_code != 0 && size < whole.size());
  const std::map<std::string, std::string> before = Listing("forgotten");
  for (const std::string verb : {"verify", "inspect"}) {
    EXPECT_THAT(Run(verb + " forgotten"),
                Exits(0, AllOf(HasSubstr(warning), HasSubstr("0 files"))));
    EXPECT_EQ(RunJson(verb + " forgotten")["warnings"].size(), 1U);
    EXPECT_FALSE(RunJson(verb + " reads").contains("warnings"));
  }
  EXPECT_THAT(Run("verify --strict forgotten"), Exits(1));
  for (const std::string end : {"", " --dry_run"}) {
    EXPECT_THAT(Run("refresh forgotten" + end),
                Exits(2, _, HasSubstr("RocksDB would delete the 2 that")));
  }
  EXPECT_TRUE(Listing("forgotten") == before);
}

TEST_F(CliTest, AnSstBesideThoseOfTheManifestIsAWarning) {
  std::filesystem::copy(InputPath("reads"), InputPath("one_more"));
  WriteFile(InputPath("one_more/000004.sst"), "");
  EXPECT_THAT(Run("verify one_more"),
              Exits(0, HasSubstr("one_more: 1 SST is not in the MANIFEST")));
  EXPECT_THAT(Run("verify --strict one_more"), Exits(1));
  EXPECT_THAT(Run("refresh one_more"), Exits(0));
  EXPECT_THAT(Run("verify --strict one_more"), Exits(0));
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
  const Json by_log = RunJson("advise reads");
  const Json by_gets = RunJson("advise reads --gets reads.keys");
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
  const Json document = RunJson("advise reads");
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

TEST_F(CliTest, AdviceKeepsTheKeyLayoutOfItsFilters) {
  const auto option = [&](const std::string& line) {
    return RunJson("advise " + line)["option"].get<std::string>();
  };
  EXPECT_THAT(option("reads"), Not(HasSubstr("key_codec")));
  // Filters of all levels need no bloom_type.
  EXPECT_THAT(option("plugin_absent --cache_bytes 10000"),
              HasSubstr("{id=rowbloom;key_codec=ordered;filter_spec=compact;"));
  MakeTree("rows", "names",
           "filter_policy={id=rowbloom;key_codec=fixed:12;bloom_type=ROW;"
           "filter_spec=fast:bits_per_key=20}");
  EXPECT_THAT(option("rows --cache_bytes 60000"),
              HasSubstr("{id=rowbloom;key_codec=fixed:12;"
                        "bloom_type=ROW;filter_spec=compact;"));
  const std::string by_sst = option("rows --cache_bytes 60000");
  for (const auto& [path, bytes] : Listing("rows")) {
    if (path.find(".sst") == std::string::npos) continue;
    std::filesystem::rename(path, path.substr(0, path.size() - 4) + ".ldb");
  }
  EXPECT_EQ(option("rows --cache_bytes 60000"), by_sst);
}

// In so small a cache the same bits in both runs are cheapest.
TEST_F(CliTest, AdviceNamesTheModeOfItsPlan) {
  const Json document = RunJson("advise reads --cache_bytes 1000");
  // The last partition of a run is not full.
  constexpr double kRounding = 0.5;
  EXPECT_NEAR(document["runs"][0]["best_bits"].get<double>(),
              document["runs"][1]["best_bits"].get<double>(), kRounding);
  EXPECT_THAT(document["option"].get<std::string>(),
              HasSubstr(";budget=fixed;"));
}

TEST_F(CliTest, APlanForTooManyKeysNamesTheirOption) {
  for (const char* of : {"--bits_per_key 10", "--target_fpr 0.01"}) {
    EXPECT_THAT(Run("plan --keys 1e18 " + std::string(of)),
                Exits(2, _, HasSubstr("--keys: more than 10000000000000")));
  }
}

// RocksDB would write no filter where most keys are.
TEST_F(CliTest, AdviceNamesTheOptionThatLeavesFiltersOut) {
  std::filesystem::copy(InputPath("reads"), InputPath("for_hits"));
  const auto named = HasSubstr("optimize_filters_for_hits is true");
  EXPECT_THAT(Run("advise for_hits"), Exits(0, Not(named)));
  ReplaceInOptions("for_hits", "optimize_filters_for_hits=false",
                   "optimize_filters_for_hits=true");
  EXPECT_THAT(Run("advise for_hits"), Exits(0, named));
}

TEST_F(CliTest, AdviceOfABudgetNamesItsListener) {
  const std::string set = "\nSet listeners={rowbloom.BudgetListener}\n";
  EXPECT_EQ(RunJson("advise reads")["listeners"],
            "listeners={rowbloom.BudgetListener}");
  EXPECT_THAT(Run("advise reads").out, HasSubstr(set));
  // One line has fixed bits, and the other keeps the filters that there are.
  for (const char* line : {"advise reads --cache_bytes 2000",
                           "advise whole_in_cache --cache_bytes 1e6"}) {
    EXPECT_TRUE(RunJson(line)["listeners"].is_null()) << line;
    EXPECT_THAT(Run(line).out, Not(HasSubstr("listeners")));
  }
}

TEST_F(CliTest, AdviceComparesWhereFiltersMayLive) {
  const auto cheapest = [](const Json& document) {
    std::string place;
    for (const Json& row : document["places"]) {
      if (row["cheapest"] == true) place += row["place"];
    }
    return place;
  };
  // `reads` has partitions that compete for the cache.
  const Json large = RunJson("advise reads --cache_bytes 1e6");
  ASSERT_EQ(large["places"].size(), 3);
  EXPECT_EQ(large["memory_bytes"], 1000000);
  EXPECT_EQ(cheapest(large), "table readers");
  const Json& readers = large["places"][0];
  EXPECT_EQ(readers["filter_reads"], 0);
  EXPECT_EQ(readers["block_cache_bytes"].get<int64_t>() +
                readers["resident_bytes"].get<int64_t>(),
            1000000);
  EXPECT_EQ(large["place_option"],
            "partition_filters=false;index_type=kBinarySearch;"
            "cache_index_and_filter_blocks=false");
  EXPECT_THAT(Run("advise reads --cache_bytes 1e6").out,
              HasSubstr("\nSet partition_filters=false;"));

  const Json small = RunJson("advise reads --cache_bytes 2000");
  EXPECT_EQ(cheapest(small), "cached partitions");
  EXPECT_TRUE(small["places"][0]["us"].is_null());
  EXPECT_TRUE(small["place_option"].is_null());
  EXPECT_THAT(small["notes"].dump(), HasSubstr("and the memory has 2000"));

  // Table readers' filters and indexes are memory beside the cache.
  MakeTree("whole", "names",
           large["place_option"].get<std::string>() +
               ";filter_policy=bloomfilter:10");
  const Json whole = RunJson("advise whole --cache_bytes 2000");
  EXPECT_GT(whole["memory_bytes"], 2000);
  EXPECT_EQ(cheapest(whole), "table readers");
  EXPECT_TRUE(whole["place_option"].is_null());
}

// Partitions have bytes of their own: more than the budget is taken.
TEST_F(CliTest, FiltersOfTheAdviceTakeTheBitsThatItStates) {
  const std::string partitions = "metadata_block_size=4096;";
  MakeTree("stated", "names", partitions + "filter_policy=bloomfilter:5");
  const std::string line = "advise stated --cache_bytes 1e6";
  const Json advice = RunJson(line);
  const Json& compact = advice["filters"][1];
  ASSERT_EQ(advice["best"], "compact");
  const auto listeners = advice["listeners"].get<std::string>();
  const auto stated = compact["bits_per_key"].get<double>();
  auto option = advice["option"].get<std::string>();
  const size_t asked_at = option.find("budget_bits_per_key=");
  ASSERT_NE(asked_at, std::string::npos);
  EXPECT_GT(
      stated,
      std::stod(option.substr(asked_at + std::strlen("budget_bits_per_key="))));
  // A budget swings around its average when all SSTs are written at once.
  double bits = 0;
  constexpr int kRewrites = 4;
  for (int i = 0; i < kRewrites; ++i) {
    MakeTree("stated", "names", partitions + option, listeners);
    if (i < kRewrites / 2) continue;
    bits += RunJson(line)["filters"][0]["bits_per_key"].get<double>() * 2 /
            kRewrites;
  }
  EXPECT_NEAR(bits, stated, 0.05 * stated);
  // Fixed bits need no time to settle.
  option.replace(option.find("balanced"), std::strlen("balanced"), "fixed");
  MakeTree("stated", "names", partitions + option);
  EXPECT_NEAR(RunJson(line)["filters"][0]["bits_per_key"].get<double>(), stated,
              0.05 * stated);
}

// The codec "ordered" takes the first two bytes 00 for the end of a row, which
// is the same for all numbers.
TEST_F(CliTest, ACodecThatDoesNotFitTheKeysIsToldWithTheLineThatDoes) {
  MakeTree("numbers", "numbers",
           "filter_policy={id=rowbloom;key_codec=ordered}");
  const char* const remedy =
      "sampled keys: set key_codec=whole_key without bloom_type, or the codec "
      "that wrote the keys, and compact";
  const ToolResult verify = Run("verify numbers --strict");
  EXPECT_EQ(verify.exit_code, 1);
  EXPECT_THAT(verify.out, AllOf(HasSubstr("warning: 1 file has a filter that "
                                          "passes keys which it should stop"),
                                HasSubstr("key_codec ordered does not fit"),
                                HasSubstr(remedy)));
  EXPECT_EQ(Run("verify numbers").exit_code, 0);
  const Json sst = RunJson("verify numbers")["files"][0];
  EXPECT_GT(sst["observed_fpr"], 0.9);
  EXPECT_LT(sst["expected_fpr"], 0.01);
  EXPECT_EQ(sst["misfit_keys"], sst["sampled_keys"]);
  EXPECT_THAT(sst["warning"].get<std::string>(), HasSubstr(remedy));
  const std::string path = sst["path"];
  EXPECT_EQ(Run("verify --strict " + path).exit_code, 1);
  EXPECT_EQ(Run("inspect " + path).exit_code, 0);
  EXPECT_THAT(Run("inspect " + path).out, HasSubstr(remedy));

  std::string option;
  for (const char* line :
       {"advise numbers", "advise numbers --gets numbers.keys --hex"}) {
    SCOPED_TRACE(line);
    const ToolResult result = Run(line);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out,
                AllOf(HasSubstr(remedy), Not(HasSubstr("Keep")),
                      HasSubstr("\nSet filter_policy={id=rowbloom;"
                                "key_codec=whole_key;filter_spec=compact;")));
    option = RunJson(line)["option"].get<std::string>();
  }
  MakeTree("numbers", "numbers", option);
  EXPECT_EQ(Run("verify numbers --strict").exit_code, 0);
  const Json advice = RunJson("advise numbers --gets numbers.keys --hex");
  EXPECT_LT(advice["measured"]["false_positives"], 100);
}

TEST_F(CliTest, CountsThatTheModelDoesNotKnowGetNoAdvice) {
  WriteFile(InputPath("excess.statistics"),
            "rocksdb.number.keys.read COUNT : 100000\n"
            "rocksdb.bloom.filter.useful COUNT : 0\n"
            "rocksdb.bloom.filter.full.positive COUNT : 100000\n"
            "rocksdb.bloom.filter.full.true.positive COUNT : 0\n");
  const char* const line = "advise reads --statistics excess.statistics";
  const ToolResult result = Run(line);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(
      result.out,
      AllOf(ContainsRegex("\nThe filters let 100000 of 100000 lookups of "
                          "absent keys pass, and the model expects [0-9]+ at "
                          "most: it does not know these filters. Run "
                          "`rowbloom verify reads`; no advice.\n"),
            Not(HasSubstr("Keep")), Not(HasSubstr("\nSet ")),
            Not(HasSubstr("  compact")), Not(HasSubstr("best_bits"))));
  const Json document = RunJson(line);
  EXPECT_TRUE(document["option"].is_null());
  EXPECT_TRUE(document["listeners"].is_null());
  EXPECT_TRUE(document["best"].is_null());
  EXPECT_EQ(document["model_excess"]["lookups"], 100000);
}

// RocksDB's filters hold the whole numbers.
TEST_F(CliTest, FiltersThatTheModelKnowsGetAdvice) {
  MakeTree("known_numbers", "numbers", "filter_policy=bloomfilter:5");
  for (const char* line : {"advise known_numbers",
                           "advise known_numbers --gets "
                           "known_numbers.keys --hex"}) {
    const Json document = RunJson(line);
    EXPECT_TRUE(document["model_excess"].is_null()) << line;
    EXPECT_FALSE(document["best"].is_null()) << line;
    EXPECT_GT(document["measured"]["false_positives"], 0) << line;
  }
}

TEST_F(CliTest, CountsAreComparedWithTheModelBeyondChanceOnly) {
  const auto has_advice = [](int negatives, int false_positives,
                             const std::string& arguments) {
    WriteFile(InputPath("rate.statistics"),
              "rocksdb.number.keys.read COUNT : 100000\n"
              "rocksdb.bloom.filter.useful COUNT : " +
                  std::to_string(negatives) +
                  "\nrocksdb.bloom.filter.full.positive COUNT : " +
                  std::to_string(false_positives) +
                  "\nrocksdb.bloom.filter.full.true.positive COUNT : 0\n");
    return RunJson("advise --statistics rate.statistics " +
                   arguments)["model_excess"]
        .is_null();
  };
  // Bloom filters of 5 bits: a tenth.
  EXPECT_TRUE(has_advice(90000, 10000, "reads"));
  EXPECT_TRUE(has_advice(99999, 1, "reads"));
  // One or two popular keys may be false positives, each at every get.
  EXPECT_TRUE(has_advice(60000, 40000, "reads"));
  EXPECT_FALSE(has_advice(30000, 70000, "reads"));
  EXPECT_FALSE(has_advice(0, 100, "reads"));
  // Where one key has most of the gets, they say nothing.
  EXPECT_TRUE(has_advice(30000, 70000, "reads --zipf 2"));
  // Too few.
  EXPECT_TRUE(has_advice(0, 99, "reads"));
  // They are of two column families.
  EXPECT_TRUE(has_advice(0, 100000, "database --cache_bytes 1e6"));
  // They are of filters that are not there now.
  EXPECT_TRUE(has_advice(0, 100000, "plugin_absent --cache_bytes 1e6"));
}

// The key of rank r is asked for in proportion to 1 / r.
TEST_F(CliTest, AdviseFindsThePopularityOfKeys) {
  constexpr int kKeys = 10000;
  constexpr int kGets = 30000;
  std::mt19937 random(1);
  std::vector<int> by_rank(kKeys);
  std::iota(by_rank.begin(), by_rank.end(), 0);
  std::shuffle(by_rank.begin(), by_rank.end(), random);
  std::string lines;
  for (int i = 0; i < kGets; ++i) {
    const double uniform = static_cast<double>(random()) / 4294967296.0;
    const auto rank = static_cast<size_t>(std::pow(kKeys, uniform)) - 1;
    std::array<char, 20> line;
    std::snprintf(line.data(), line.size(), "key%06d\n", by_rank[rank]);
    lines += line.data();
  }
  WriteFile(InputPath("skewed.keys"), lines);
  const std::string line = "advise reads --gets skewed.keys";
  const Json document = RunJson(line);
  EXPECT_EQ(document["popularity_source"], "counted");
  EXPECT_GT(document["zipf"], 0.8);
  const double counted =
      document["measured"]["data_reads"].get<double>() / (kGets / 2);
  const auto expected = [](const Json& advice) {
    return advice["filters"][0]["data_reads"].get<double>();
  };
  EXPECT_NEAR(expected(document), counted, 0.1 * counted);
  const Json all_alike = RunJson(line + " --zipf 0");
  EXPECT_EQ(all_alike["popularity_source"], "given");
  EXPECT_GT(expected(all_alike), 1.15 * counted);
}

// The counts are of the cache in the LOG.
TEST_F(CliTest, AdviseForAnotherCacheKeepsThePopularityOfKeys) {
  const Json document = RunJson("advise reads");
  const Json small = RunJson("advise reads --cache_bytes 2000");
  EXPECT_EQ(small["cache_bytes"], 2000);
  for (const char* field : {"zipf", "range_keys", "popularity_source"}) {
    EXPECT_EQ(small[field], document[field]) << field;
  }
  EXPECT_EQ(document["popularity_source"], "counted");
}

// Gets of one key that is a false positive, and of others that are none.
TEST_F(CliTest, APopularKeyCountsOnceInASample) {
  const auto sample = [](const std::vector<std::string>& keys) {
    std::string lines;
    for (const std::string& key : keys) lines += key + "\n" + key + "\n";
    WriteFile(InputPath("popular.keys"), lines);
    return RunJson("advise reads --gets popular.keys");
  };
  std::string passing;
  for (int i = 1; passing.empty() && i < 1000; i += 2) {
    std::array<char, 20> key;
    std::snprintf(key.data(), key.size(), "key%06d", i);
    const Json measured = sample({key.data()})["measured"];
    if (measured["false_positives"] == 1) passing = key.data();
  }
  ASSERT_FALSE(passing.empty());
  const Json document = sample(std::vector<std::string>(500, passing));
  EXPECT_EQ(document["measured"]["false_positives"], 500);
  EXPECT_TRUE(document["model_excess"].is_null());
}

TEST_F(CliTest, WithoutStatisticsTheModelAdvises) {
  std::filesystem::copy(InputPath("reads"), InputPath("no_log"));
  std::filesystem::remove(InputPath("no_log/LOG"));
  const ToolResult refused = Run("advise no_log");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("no_log/LOG: does not tell the capacity "
                                     "of the block cache; give it with "
                                     "--cache_bytes"));
  const Json document =
      RunJson("advise no_log --cache_bytes 1e5 --missing_share 0.9");
  EXPECT_TRUE(document["measured"].is_null());
  EXPECT_EQ(document["missing_share"], 0.9);
  EXPECT_EQ(document["filters"].size(), 3);
  EXPECT_THAT(document["notes"][0].get<std::string>(),
              HasSubstr("no_log/LOG does not exist or has no statistics"));
}

TEST_F(CliTest, AdviseCountsByTheLogBeforeIfTheDatabaseWasOpenedJustNow) {
  const std::string log = ReadFile(InputPath("reads/LOG"));
  std::filesystem::copy(InputPath("reads"), InputPath("reopened"));
  const auto write_log = [](const std::string& name, const std::string& text) {
    WriteFile(InputPath("reopened/" + name), text);
  };
  const std::string few = "STATISTICS:\n rocksdb.number.keys.read COUNT : 9\n";
  write_log("LOG.old.998", log);
  write_log("LOG.old.1000", log);
  write_log("LOG.old.1001", log + few);
  write_log("LOG.old.1002", "");
  const Json all = RunJson("advise reads");
  for (const std::string& text : {std::string(), log + few}) {
    write_log("LOG", text);
    const Json document = RunJson("advise reopened");
    EXPECT_EQ(document["source"], "reopened/LOG.old.1000");
    EXPECT_EQ(document["measured"], all["measured"]);
    EXPECT_EQ(document["cache_bytes"], all["cache_bytes"]);
  }
  write_log("LOG", log);
  EXPECT_EQ(RunJson("advise reopened")["source"], "reopened/LOG");
}

TEST_F(CliTest, AdviseShowsTheLastPlanOfItsColumnFamily) {
  std::filesystem::copy(InputPath("reads"), InputPath("planned"));
  const std::string begin = "2026/11/26-20:00:00.000000 12 [";
  const std::string plans = "] rowbloom plans filters of ";
  WriteFile(InputPath("planned/LOG"),
            ReadFile(InputPath("reads/LOG")) + begin + "default" + plans +
                "4.00 bits per key\n" + begin + "default" + plans +
                "5.00 bits per key (by run)\n" + begin + "other" + plans +
                "6.00 bits per key\n" + begin + "default" + plans + "7.0");
  EXPECT_EQ(RunJson("advise planned")["last_plan"],
            "5.00 bits per key (by run)");
  EXPECT_THAT(Run("advise planned").out,
              ContainsRegex("last_plan +5.00 bits per key \\(by run\\)\n"));
  EXPECT_EQ(RunJson("advise reads")["last_plan"], nullptr);
  EXPECT_THAT(Run("advise reads").out, Not(HasSubstr("last_plan")));
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
  const Json document = RunJson("advise reads --statistics torn.log");
  EXPECT_EQ(document["missing_share"], 0.5);
  for (const auto& [field, count] : document["measured"].items()) {
    if (field == "gets") {
      EXPECT_EQ(count, 7);
    } else {
      EXPECT_TRUE(count.is_null()) << field;
    }
  }
}

TEST_F(CliTest, CountsOfNoGetsAreNoMeasurement) {
  std::string zeros;
  for (const char* ticker :
       {"number.keys.read", "memtable.hit", "l0.hit", "l1.hit", "l2andup.hit",
        "bloom.filter.useful", "bloom.filter.full.positive",
        "bloom.filter.full.true.positive", "block.cache.data.miss",
        "block.cache.data.hit"}) {
    zeros += "rocksdb." + std::string(ticker) + " COUNT : 0\n";
  }
  WriteFile(InputPath("zeros.statistics"), zeros);
  const std::string line = "advise reads --statistics zeros.statistics";
  const ToolResult result = Run(line);
  EXPECT_THAT(result.out, Not(HasSubstr("measured:")));
  EXPECT_THAT(result.out,
              HasSubstr("note: The statistics in zeros.statistics count no "
                        "gets: all numbers are the model's.\n"));
  const Json document = RunJson(line);
  EXPECT_TRUE(document["measured"].is_null());
  EXPECT_EQ(document["missing_share"], 0.5);
}

// Such a database leaves the counts of its gets at 0 and not those of filters.
TEST_F(CliTest, CountsThatAReadOnlyDatabaseLacksAreUnknown) {
  std::string text =
      "rocksdb.bloom.filter.useful COUNT : 9113\n"
      "rocksdb.bloom.filter.full.positive COUNT : 887\n"
      "rocksdb.bloom.filter.full.true.positive COUNT : 0\n";
  for (const char* ticker :
       {"number.keys.read", "number.multiget.keys.read", "memtable.hit",
        "l0.hit", "l1.hit", "l2andup.hit", "block.cache.data.miss",
        "block.cache.data.hit", "block.cache.index.miss",
        "block.cache.filter.miss"}) {
    text += "rocksdb." + std::string(ticker) + " COUNT : 0\n";
  }
  WriteFile(InputPath("read_only.statistics"), text);
  const std::string line = "advise reads --statistics read_only.statistics";
  const ToolResult result = Run(line);
  EXPECT_THAT(result.out, AllOf(ContainsRegex("  gets +-\n"),
                                ContainsRegex("  false_positives +887\n"),
                                HasSubstr("facebook/rocksdb/issues/15140"),
                                HasSubstr("the default is assumed")));
  const Json document = RunJson(line);
  for (const char* field : {"gets", "memtable_hits", "sst_hits", "data_reads",
                            "filter_reads", "index_reads", "missing_share"}) {
    EXPECT_TRUE(document["measured"][field].is_null()) << field;
  }
  EXPECT_EQ(document["missing_share"], 0.5);
  EXPECT_EQ(document["missing_share_source"], "assumed");
}

TEST_F(CliTest, FiltersOfOneRunTellTheMissingShare) {
  WriteFile(InputPath("one_run.statistics"),
            "rocksdb.number.keys.read COUNT : 0\n"
            "rocksdb.bloom.filter.useful COUNT : 2990\n"
            "rocksdb.bloom.filter.full.positive COUNT : 1010\n"
            "rocksdb.bloom.filter.full.true.positive COUNT : 1000\n");
  const std::string line =
      "advise whole_in_cache --cache_bytes 1e6 --statistics one_run.statistics";
  const Json document = RunJson(line);
  EXPECT_EQ(document["missing_share"], 0.75);
  EXPECT_EQ(document["missing_share_source"], "filter tickers");
  EXPECT_EQ(RunJson("advise reads")["missing_share_source"], "counted");
  EXPECT_EQ(RunJson(line + " --missing_share 0.1")["missing_share_source"],
            "given");
}

TEST_F(CliTest, AdviseNamesWhatItCannotUse) {
  WriteFile(InputPath("one.keys"), "a\n");
  WriteFile(InputPath("bad.keys"), "00\n0g\n");
  const std::map<std::string, std::string> wrong = {
      {"column family \"x\" does not exist; known: default",
       "reads --column_family x"},
      {"--cache_bytes: needs the directory of a RocksDB database: nowhere has "
       "no file CURRENT",
       "nowhere"},
      {"nowhere.log: No such file", "reads --statistics nowhere.log"},
      {"row.filter: has no line like", "reads --statistics row.filter"},
      {"one.keys: has 1 keys", "reads --gets one.keys"},
      {"nowhere.keys: cannot be read", "reads --gets nowhere.keys"},
      {"--gets: not hexadecimal: 0g", "reads --gets bad.keys --hex"},
      {"--zipf", "reads --zipf 5"},
      {"read_us", "reads --read_us -1"}};
  for (const auto& [reason, line] : wrong) {
    EXPECT_THAT(Run("advise --cache_bytes 1000 " + line),
                Exits(2, ::testing::_, HasSubstr(reason)));
  }
}

TEST_F(CliTest, AnEmptyDatabaseNeedsNoAdvice) {
  const ToolResult result = Run("advise no_ssts");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("has no SSTs: there is no advice"));
  const Json document = RunJson("advise no_ssts");
  EXPECT_THAT(document["runs"], IsEmpty());
  EXPECT_TRUE(document["option"].is_null());
}

TEST_F(CliTest, AdviseKnowsDatabasesWithoutFilters) {
  const Json document = RunJson("advise plugin_absent --cache_bytes 10000");
  // One run has a filter that the options do not read.
  EXPECT_EQ(document["runs"][1]["filter_policy"], "rowbloom");
  EXPECT_EQ(document["filters"][0]["bits_per_key"], 0);
  EXPECT_GT(document["filters"][0]["data_reads"],
            document["filters"][1]["data_reads"]);
  EXPECT_GT(document["filters"][0]["wasted_reads"],
            document["filters"][1]["wasted_reads"]);
}

TEST_F(CliTest, AdviseNamesADamagedSst) {
  std::filesystem::copy(InputPath("reads"), InputPath("damaged_reads"));
  for (const auto& [path, bytes] : Listing("damaged_reads")) {
    if (path.find(".sst") == std::string::npos) continue;
    std::string damaged = bytes;
    damaged.at(damaged.find("bloomfilter")) ^= 1;  // The properties block.
    WriteFile(path, damaged);
  }
  const ToolResult result = Run("advise damaged_reads");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("rowbloom: damaged_reads: damaged: "),
                                HasSubstr("damaged_reads/0000")));
}

TEST_F(CliTest, DamagedAndMissingSstsOfADatabaseAreNamed) {
  std::filesystem::copy(InputPath("database"), InputPath("broken"));
  const Json whole = RunJson("inspect broken")["files"];
  const std::string no_magic = whole[0]["path"];
  const std::string missing = whole[1]["path"];
  const std::string damaged = whole[2]["path"];
  FlipByte(no_magic, ReadFile(InputPath(no_magic)).size() - 1);
  std::filesystem::remove(InputPath(missing));
  FlipByte(damaged, 7);
  EXPECT_THAT(
      Run("verify broken"),
      Exits(1, AllOf(HasSubstr(no_magic + ": damaged: "),
                     HasSubstr(damaged + ": damaged"),
                     HasSubstr(missing + ": damaged: missing, and the "
                                         "database needs it\n"),
                     HasSubstr("2 files, 0 entries: 2 unreadable\n"),
                     HasSubstr("1 file, 100 entries: 1 unreadable\n"))));
}

// No file of a database names the directories of db_paths or cf_paths.
TEST_F(CliTest, SstsInFurtherDirectoriesAreFoundByDbPath) {
  for (const std::string kind : {"db", "cf"}) {
    const std::string near = kind + "_near";
    const std::string slow = kind + "_slow";
    const auto make = [&](const std::string& directory,
                          const std::string& first) {
      const ToolResult made =
          RunProgram(ROWBLOOM_MAKE_INPUTS, inputs(),
                     {"--paths", kind, directory, first, slow});
      ASSERT_EQ(made.exit_code, 0) << made.err;
    };
    make(near, near);
    for (const std::string verb : {"inspect ", "verify ", "advise "}) {
      EXPECT_THAT(Run(verb + near), Exits(2, _, HasSubstr("--db_path")));
      EXPECT_THAT(Run(verb + near + " --db_path ."),
                  Exits(2, _, HasSubstr("--db_path")));
      EXPECT_THAT(Run(verb + near + " --db_path " + slow), Exits(0));
    }
    EXPECT_THAT(Run("lookup " + near + " row"),
                Exits(2, _, HasSubstr("--db_path")));
    EXPECT_THAT(Run("refresh " + near),
                Exits(2, _, HasSubstr("call RefreshRocksDbFilters()")));
    const Json found = RunJson("verify " + near + " --db_path " + slow);
    ASSERT_EQ(found["files"].size(), 2U);
    EXPECT_THAT(found["files"][0]["path"], HasSubstr(near + "/"));
    EXPECT_THAT(found["files"][1]["path"], HasSubstr(slow + "/"));
    EXPECT_EQ(found["column_families"][0]["entry_count"], 2000);

    // One of several is missing from its directory.
    const std::string lost = found["files"][0]["path"];
    std::filesystem::rename(InputPath(lost), InputPath(lost + "_"));
    EXPECT_THAT(Run("verify " + near + " --db_path " + slow),
                Exits(2, _, HasSubstr("or this one if there are none")));
    EXPECT_THAT(
        Run("verify " + near + " --db_path " + slow + " --db_path " + near),
        Exits(1, HasSubstr(lost + ": damaged: missing")));

    // The database's own directory has no SSTs.
    const std::string far = kind + "_far";
    std::filesystem::create_directory(InputPath(far + "_fast"));
    make(far, far + "_fast");
    EXPECT_THAT(Run("verify " + far + " --db_path " + slow),
                Exits(2, _, HasSubstr("--db_path")));
    EXPECT_THAT(Run("verify " + far + " --db_path " + slow + " --db_path " +
                    far + "_fast"),
                Exits(0, HasSubstr("2 files: 2 ok")));
  }
}

// RocksDB opens NNNNNN.ldb where NNNNNN.sst is not there.
TEST_F(CliTest, SstsByLevelDbsNameAreFound) {
  std::filesystem::copy(InputPath("reads"), InputPath("ldb_names"));
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : Listing("ldb_names")) {
    if (path.find(".sst") == std::string::npos) continue;
    paths.push_back(path.substr(0, path.size() - 4) + ".ldb");
    std::filesystem::rename(path, paths.back());
  }
  ASSERT_EQ(paths.size(), 2U);
  for (const std::string verb : {"verify", "inspect"}) {
    const Json document = RunJson(verb + " ldb_names");
    EXPECT_EQ(document["summary"]["ok"], 2) << verb;
    EXPECT_EQ(document["summary"]["files"], 2) << verb;
  }
  EXPECT_THAT(Run("verify ldb_names"),
              Exits(0, AllOf(HasSubstr(".ldb: ok"),
                             HasSubstr("5000 entries: 2 expected"))));
  EXPECT_THAT(Run("lookup ldb_names row"), Exits(0));
  EXPECT_EQ(RunJson("advise ldb_names")["runs"],
            RunJson("advise reads")["runs"]);
  EXPECT_THAT(Run("advise ldb_names --gets reads.keys"), Exits(0));

  std::filesystem::remove(paths[0]);
  EXPECT_THAT(
      Run("verify ldb_names"),
      Exits(1, HasSubstr(": damaged: missing, and the database needs it\n")));
  EXPECT_THAT(
      Run("advise ldb_names"),
      Exits(1, _,
            AllOf(HasSubstr("ldb_names: damaged: ldb_names/0"),
                  HasSubstr(".sst: missing, and the database needs it\n"))));
}

TEST_F(CliTest, ADamagedFilterIsToldFromADamagedSst) {
  // RocksDB does not open a table at level 0 with a damaged partition.
  std::filesystem::copy(InputPath("oversized"), InputPath("bad_partition"));
  const std::string sst = RunJsonOfFile("inspect bad_partition")["path"];
  const std::string bytes = ReadFile(InputPath(sst));
  FlipByte(sst, EndOfLastFilter(bytes) - 40);
  Json document = RunJson("verify bad_partition");
  EXPECT_EQ(document["files"][0]["status"], "damaged");
  EXPECT_EQ(document["column_families"][0]["states"]["unusable"], 1);
  EXPECT_EQ(document["column_families"][0]["states"]["unreadable"], 0);

  FlipByte(sst, bytes.size() - 4);  // The footer.
  document = RunJson("verify bad_partition");
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

// A named pipe in the place of an SST stops the tool where it opens the SST,
// which is after it has read the manifest.
TEST_F(CliTest, AdviseReadsTheListAgainIfACompactionRemovedSsts) {
  std::filesystem::copy(InputPath("mixed"), InputPath("before"));
  std::filesystem::copy(InputPath("mixed"), InputPath("after"));
  const ToolResult compacted =
      RunProgram(ROWBLOOM_MAKE_INPUTS, InputPath("after"),
                 {"--compact", InputPath("after")});
  ASSERT_EQ(compacted.exit_code, 0) << compacted.err;
  const std::string pipe =
      InputPath(RunJsonOfFile("inspect before")["path"].get<std::string>());
  ASSERT_TRUE(std::filesystem::remove(pipe));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  // If the tool looks at the pipe before the list has changed, it sees an empty
  // file; then it is tried anew.
  ToolResult result;
  constexpr int kTries = 50;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove(InputPath("live"));
    std::filesystem::create_directory_symlink("before", InputPath("live"));
    std::filesystem::create_directory_symlink("after", InputPath("live.next"));
    std::thread tool(
        [&] { result = Run("advise live --cache_bytes 10000 --json"); });
    { const std::ofstream returns_when_the_tool_opens(pipe); }
    std::filesystem::rename(InputPath("live.next"), InputPath("live"));
    const std::fstream wakes_the_tool(pipe, std::ios::in | std::ios::out);
    tool.join();
    if (result.err.find("(0 bytes)") == std::string::npos) break;
  }
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json runs = Json::parse(result.out)["runs"];
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0]["entries"], 3000);
}

// --- Databases of others -----------------------------------------------------

// Expects the words from every verb that takes a directory, with exit code 3.
class OtherDatabaseTest : public CliTest {
 protected:
  static void ExpectUnknown(const std::string& name, const std::string& words) {
    for (const std::string& line :
         {"inspect " + name, "verify " + name, "lookup " + name + " row"}) {
      EXPECT_THAT(Run(line),
                  Exits(3,
                        AllOf(HasSubstr(name + ": unknown: " + words),
                              Not(HasSubstr("damaged"))),
                        IsEmpty()))
          << line;
    }
    EXPECT_THAT(
        Run("advise " + name + " --cache_bytes 1000"),
        Exits(3, IsEmpty(),
              AllOf(HasSubstr("rowbloom: " + name + ": unknown: " + words),
                    Not(HasSubstr("damaged")))));
    EXPECT_EQ(RunJson("verify " + name)["summary"]["unknown"], 1);
  }
  static void ExpectDamaged(const std::string& name) {
    for (const std::string verb : {"inspect ", "verify "}) {
      EXPECT_THAT(Run(verb + name), Exits(1, HasSubstr(name + ": damaged: ")));
    }
    EXPECT_THAT(Run("advise " + name + " --cache_bytes 1000"),
                Exits(1, IsEmpty(), HasSubstr(name + ": damaged: ")));
  }
  static void Remove(const std::string& directory, const std::string& text) {
    for (const auto& [path, bytes] : Listing(directory)) {
      if (path.find("/" + directory + "/") == std::string::npos) continue;
      const std::string name = std::filesystem::path(path).filename().string();
      if (name.find(text) != std::string::npos) std::filesystem::remove(path);
    }
  }
  static void CopyLevelDb(const std::string& name) {
    std::filesystem::copy(ROWBLOOM_SOURCE_DIR "/tests/tools/data/leveldb",
                          InputPath(name));
  }
};

TEST_F(OtherDatabaseTest, ADatabaseOfLevelDbIsNamed) {
  CopyLevelDb("leveldb");
  ExpectUnknown("leveldb", "a LevelDB database");
  for (const char* line :
       {"inspect leveldb/000005.ldb", "verify leveldb/000005.ldb",
        "lookup leveldb/000005.ldb row00001"}) {
    EXPECT_THAT(Run(line),
                Exits(3, AllOf(HasSubstr(".ldb: unknown: a table of LevelDB"),
                               Not(HasSubstr("damaged")))));
  }
  // With a damaged CURRENT it is still LevelDB's.
  WriteFile(InputPath("leveldb/CURRENT"), "");
  ExpectUnknown("leveldb", "a LevelDB database");
}

TEST_F(OtherDatabaseTest, ADatabaseThatRocksDbHasOpenedIsItsOwn) {
  CopyLevelDb("adopted");
  WriteFile(InputPath("adopted/IDENTITY"),
            "3bb3a5a7-3ee1-4a8c-9d49-a5d1b7e5b2a1");
  EXPECT_THAT(
      Run("verify adopted"),
      Exits(3, AllOf(HasSubstr("adopted/000005.ldb: unknown: a table of "
                               "LevelDB"),
                     Not(HasSubstr("a LevelDB database")),
                     Not(HasSubstr("damaged")))));
  for (const auto& [path, bytes] : Listing("mixed")) {
    if (path.find("/OPTIONS-") == std::string::npos) continue;
    WriteFile(InputPath("adopted/OPTIONS-000009"), bytes);
  }
  EXPECT_THAT(Run("verify adopted"),
              Exits(3, HasSubstr("warning: 1 file without a filter")));
  EXPECT_THAT(
      Run("advise adopted --cache_bytes 1000"),
      Exits(3, IsEmpty(),
            HasSubstr("unknown: adopted/000005.ldb: a table of LevelDB")));
}

TEST_F(OtherDatabaseTest, WithoutOptionsAndIdentityTablesTellWhoseItIs) {
  std::vector<std::string> databases = {"mixed"};
  if (ROWBLOOM_CLI_TEST_ROCKSDB_RELEASE < 800) databases.push_back("format_0");
  for (const std::string& database : databases) {
    const std::string name = database + "_only_tables";
    std::filesystem::copy(InputPath(database), InputPath(name));
    Remove(name, "OPTIONS-");
    Remove(name, "IDENTITY");
    EXPECT_THAT(Run("verify " + name), Exits(0, HasSubstr(".sst: ok")));
  }
}

TEST_F(OtherDatabaseTest, ADamagedTableOfRocksDbIsNotOneOfLevelDb) {
  if (ROWBLOOM_CLI_TEST_ROCKSDB_RELEASE >= 800) GTEST_SKIP();
  std::filesystem::copy(InputPath("format_0"), InputPath("damaged_0"));
  Remove("damaged_0", "OPTIONS-");
  Remove("damaged_0", "IDENTITY");
  const std::string name = RunJsonOfFile("inspect damaged_0")["path"];
  const std::string whole = ReadFile(InputPath(name));
  // The properties, the meta index and the index are between the last data
  // block and the magic.
  const size_t properties = whole.find("rocksdb.block.based.table");
  ASSERT_NE(properties, std::string::npos);
  for (size_t offset = properties; offset < whole.size() - 48; offset += 29) {
    WriteFile(InputPath(name), whole);
    FlipByte(name, offset);
    EXPECT_THAT(Run("verify " + name), Exits(1, HasSubstr(": damaged: ")))
        << offset;
    EXPECT_THAT(Run("verify damaged_0"),
                Exits(1, AllOf(HasSubstr(name + ": damaged: "),
                               Not(HasSubstr("LevelDB")))))
        << offset;
  }
  for (size_t offset = whole.size() - 48; offset < whole.size(); ++offset) {
    WriteFile(InputPath(name), whole);
    FlipByte(name, offset);
    EXPECT_THAT(Run("verify " + name).out, Not(HasSubstr("LevelDB"))) << offset;
  }
  const size_t key = whole.find("rocksdb.properties");
  ASSERT_NE(key, std::string::npos);
  WriteFile(InputPath(name), whole);
  FlipByte(name, key);
  EXPECT_THAT(Run("verify " + name), Exits(1, HasSubstr(": damaged: ")));
}

TEST_F(OtherDatabaseTest, AnEncryptedDatabaseIsNotDamaged) {
  const std::string why =
      "is in RocksDB's plain format, so the database is encrypted or was "
      "written through another Env";
  ExpectUnknown("encrypted", "no table, OPTIONS or IDENTITY file " + why);
  EXPECT_THAT(Run("verify encrypted").out, HasSubstr("VerifyRocksDbFilters()"));
  // Some environments do not encrypt CURRENT.
  std::filesystem::copy(InputPath("encrypted"), InputPath("encrypted_but_one"));
  std::string manifest;
  for (const auto& [path, bytes] : Listing("encrypted")) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (name.rfind("MANIFEST-", 0) == 0) manifest = name;
  }
  WriteFile(InputPath("encrypted_but_one/CURRENT"), manifest + "\n");
  ExpectUnknown("encrypted_but_one",
                "no table, OPTIONS or IDENTITY file " + why);
}

TEST_F(OtherDatabaseTest, APlainDatabaseWithADamagedCurrentIsDamaged) {
  std::filesystem::copy(InputPath("mixed"), InputPath("bad_current"));
  const std::string current = ReadFile(InputPath("mixed/CURRENT"));
  for (const std::string& damaged :
       {std::string(), current.substr(0, current.size() - 1),
        std::string(current.size(), '\x81')}) {
    WriteFile(InputPath("bad_current/CURRENT"), damaged);
    ExpectDamaged("bad_current");
  }
  // The tables alone tell it, and so do the other files.
  Remove("bad_current", "OPTIONS-");
  Remove("bad_current", "IDENTITY");
  ExpectDamaged("bad_current");
  std::filesystem::copy(InputPath("mixed"), InputPath("bad_current_no_tables"));
  WriteFile(InputPath("bad_current_no_tables/CURRENT"), "");
  Remove("bad_current_no_tables", ".sst");
  ExpectDamaged("bad_current_no_tables");
  Remove("bad_current_no_tables", "OPTIONS-");
  ExpectDamaged("bad_current_no_tables");
}

TEST_F(OtherDatabaseTest, ADatabaseOfPebbleIsNamed) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("pebble")));
  WriteFile(InputPath("pebble/CURRENT"), "MANIFEST-000001\n");
  WriteFile(InputPath("pebble/MANIFEST-000001"), "not one of RocksDB's");
  WriteFile(InputPath("pebble/OPTIONS-000003"),
            "[Version]\n  pebble_version=0.1\n");
  ExpectUnknown("pebble", "a Pebble database");
}

TEST_F(CliTest, ADirectoryThatOnlyClaimsToBeADatabaseIsAnError) {
  ASSERT_TRUE(std::filesystem::create_directory(InputPath("claims")));
  WriteFile(InputPath("claims/CURRENT"), "MANIFEST-000001\n");
  EXPECT_THAT(Run("verify claims"),
              Exits(2, _, HasSubstr("claims/MANIFEST-000001")));
}

#else

TEST_F(CliTest, WithoutRocksDbAnSstIsNamedForWhatItIs) {
  WriteFile(InputPath("x.sst"),
            std::string(100, 'x') + "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88");
  EXPECT_THAT(Run("verify x.sst"),
              Exits(2, _, HasSubstr("built without RocksDB")));

  ASSERT_TRUE(std::filesystem::create_directory(InputPath("claims")));
  WriteFile(InputPath("claims/CURRENT"), "MANIFEST-000001\n");
  EXPECT_THAT(Run("verify claims"), Exits(2));
}

#endif  // ROWBLOOM_CLI_TEST_WITH_ROCKSDB

}  // namespace
}  // namespace rowbloom
