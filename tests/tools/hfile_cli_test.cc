// SPDX-License-Identifier: Apache-2.0
//
// Tests the tool on HFiles.

#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "rowbloom/hfile.h"
#include "tool_runner.h"

namespace rowbloom {
namespace {

using Json = nlohmann::json;
using ::testing::_;
using ::testing::AllOf;
using ::testing::Eq;
using ::testing::HasSubstr;

class HFileCliTest : public ToolTest {
 protected:
  // Returns the contents of a golden file.
  static std::string HBaseFile(const std::string& name) {
    return ReadFile(ROWBLOOM_SOURCE_DIR "/tests/hosts/hfile/data/hbase_2.6/" +
                    name);
  }
};

TEST_F(HFileCliTest, FamiliesOfAStoreAreNamedByAPattern) {
  const std::string family = InputPath("store/region/cf");
  std::filesystem::create_directories(family);
  WriteFile(InputPath("store/region/.regioninfo"), "hidden");
  WriteFile(family + "/.file.crc", "hidden");
  WriteFile(family + "/file", ReadFile(InputPath("row.hfile")));
  EXPECT_THAT(Run("verify store/*/cf"),
              Exits(0, Eq("store/region/cf/file: ok\n")));
}

TEST_F(HFileCliTest, ATableIsWalkedWholeAndItsOtherFilesAreKnown) {
  const std::string hfile = ReadFile(InputPath("row.hfile"));
  const std::string region = "table/0123456789abcdef0123456789abcdef";
  for (const char* directory : {"/cf", "/recovered.edits", "/.tmp/cf"}) {
    std::filesystem::create_directories(InputPath(region + directory));
  }
  WriteFile(InputPath(region + "/.regioninfo"), "hidden");
  WriteFile(InputPath(region + "/recovered.edits/7.seqid"), "");
  WriteFile(InputPath(region + "/.tmp/cf/abc"), hfile.substr(0, 5000));
  WriteFile(InputPath(region + "/cf/abc"), hfile);
  WriteFile(InputPath(region + "/cf/new.unfinished.17"), hfile.substr(0, 99));
  EXPECT_THAT(Run("verify table"),
              Exits(0, AllOf(HasSubstr("4 files: 4 ok"),
                             HasSubstr(region + "/cf/abc: ok\n"),
                             HasSubstr("HBase replays"),
                             HasSubstr(".tmp/cf/abc: ok, not a store file"),
                             HasSubstr("17: ok, not a store file"))));
  const Json totals = RunJson("inspect --brief table")["totals"];
  ASSERT_EQ(totals.size(), 1);
  EXPECT_EQ(totals[0]["files"], 1);
  EXPECT_EQ(totals[0]["cells"], 3015);
  const Json families = RunJson("advise table")["column_families"];
  ASSERT_EQ(families.size(), 1);
  EXPECT_EQ(families[0]["column_family"], "table/*/cf");
  // A file that is cut off elsewhere is damage.
  WriteFile(InputPath(region + "/cf/cut"), hfile.substr(0, 5000));
  EXPECT_THAT(Run("verify table"), Exits(1, HasSubstr("1 damaged")));
}

TEST_F(HFileCliTest, ExitCodesTellDamageFromNotKnownFromOlder) {
  std::string old = HBaseFile("row_checksum_null.hfile");
  old.replace(old.size() - 4, 4, std::string("\0\0\0\1", 4));
  WriteFile(InputPath("old"), old);
  WriteFile(InputPath("damaged_end"), ReadFile(InputPath("row.hfile")) + "x");
  EXPECT_THAT(Run("verify old"), Exits(4, HasSubstr("old: older: ")));
  EXPECT_EQ(RunJsonOfFile("inspect old")["status"], "older");
  EXPECT_THAT(Run("verify notes.txt"), Exits(3));
  EXPECT_THAT(Run("verify old notes.txt"), Exits(3));
  EXPECT_THAT(Run("verify old notes.txt no/such"), Exits(2));
  EXPECT_THAT(Run("verify old notes.txt no/such damaged_end"), Exits(1));
}

TEST_F(HFileCliTest, ManyRowsAreLookedUpAtOnce) {
  WriteFile(InputPath("rows.tsv"), "row00017\nrow00017x\nrow00017\temail\n");
  EXPECT_THAT(Run("lookup row.hfile --rows rows.tsv"),
              Exits(0, Eq("row.hfile\trow00017\t\tmaybe\n"
                          "row.hfile\trow00017x\t\tno\n"
                          "row.hfile\trow00017\temail\tmaybe\n")));
  const Json file = RunJsonOfFile("lookup row.hfile --rows rows.tsv");
  EXPECT_EQ(file["maybe"], 2);
  EXPECT_EQ(file["no"], 1);
  EXPECT_EQ(file["answers"][2]["qualifier"], "email");
  WriteFile(InputPath("dos.tsv"), "row00017\r\nrow00017\temail\r\n");
  EXPECT_THAT(Run("lookup row.hfile --rows dos.tsv"),
              Exits(0, Eq("row.hfile\trow00017\t\tmaybe\n"
                          "row.hfile\trow00017\temail\tmaybe\n")));
  for (const std::string empty : {"\n", "\r\n", "\temail\n"}) {
    WriteFile(InputPath("gap.tsv"), "row00017\n" + empty + "row00018\n");
    EXPECT_THAT(Run("lookup row.hfile --rows gap.tsv"),
                Exits(2, _, HasSubstr("gap.tsv: line 2 has no row")));
  }
  EXPECT_THAT(Run("lookup row.hfile --rows ."),
              Exits(2, _, HasSubstr("is a directory")));
  EXPECT_THAT(Run("lookup row.hfile"), Exits(2));
  EXPECT_THAT(Run("lookup row.hfile --rows no/such"), Exits(2));
  EXPECT_THAT(Run("lookup row.hfile row --rows rows.tsv"), Exits(2));
}

// Nearly all rows of this file have a family delete, and the filter says
// "maybe" to every column of these.
TEST_F(HFileCliTest, RatesOfARowColFilterCountRowsThatAreAlwaysMaybe) {
  WriteFile(InputPath("deletes"), HBaseFile("rowcol_deletes.hfile"));
  EXPECT_TRUE(RunJsonOfFile("inspect deletes")["present_row_fpr"].is_null());
  const Json entry = RunJsonOfFile("inspect --cells deletes");
  EXPECT_EQ(entry["row_count"], 79);
  EXPECT_EQ(entry["always_maybe_row_count"], 53);
  const double expected = entry["present_row_fpr"];
  EXPECT_GT(expected, 53.0 / 79);
  // Ask for columns that no row has.
  std::set<std::string> rows;
  const std::string bytes = HBaseFile("rowcol_deletes.hfile");
  const auto source = NewMemorySource(bytes, "deletes");
  const auto reader = HFileReader::Open(source.get());
  const auto cells = (*reader)->NewCellReader();
  for (HFileCell cell; cells->Next(&cell);) rows.emplace(cell.row);
  double maybe = 0;
  for (const std::string& row : rows) {
    for (int i = 0; i < 100; ++i) {
      if ((*reader)->MayContain(row, "none" + std::to_string(i))) ++maybe;
    }
  }
  EXPECT_NEAR(maybe / (100 * static_cast<double>(rows.size())), expected, 0.01);
}

TEST_F(HFileCliTest, RebuildOfManyGoesOnWhereItStopped) {
  for (const char* directory : {"many/a/cf", "many/b/cf"}) {
    std::filesystem::create_directories(InputPath(directory));
  }
  const std::string hfile = ReadFile(InputPath("row.hfile"));
  WriteFile(InputPath("many/a/cf/1"), hfile);
  WriteFile(InputPath("many/b/cf/2"), hfile);
  WriteFile(InputPath("many/b/cf/note"), "text");
  Json document = RunJson("rebuild many --into out/of --bloom_type ROWCOL");
  EXPECT_EQ(document["summary"]["written"], 2);
  EXPECT_EQ(document["summary"]["left_out"], 1);
  EXPECT_THAT(Run("verify --cells out"), Exits(0, HasSubstr("2 files: 2 ok")));
  EXPECT_EQ(RunJsonOfFile("inspect out/of/b/cf/2")["bloom_type"], "ROWCOL");
  // An interrupted run is continued.
  std::filesystem::remove(InputPath("out/of/b/cf/2"));
  document = RunJson("rebuild many/*/cf --into out/of --bloom_type ROWCOL");
  EXPECT_EQ(document["summary"]["kept"], 1);
  EXPECT_EQ(document["summary"]["written"], 1);
  WriteFile(InputPath("many/b/cf/3"), hfile.substr(0, 5000));
  EXPECT_THAT(Run("rebuild many --into out/of"), Exits(1));
  EXPECT_THAT(Run("rebuild many/a many/b --into one"), Exits(1));
  for (const char* path : {"many/a/cf/3", "many/b/cf/3"}) {
    WriteFile(InputPath(path), hfile);
  }
  EXPECT_THAT(Run("rebuild many/a/cf many/b/cf --into twice"),
              Exits(2, _, HasSubstr("of another file of this run")));
  document = RunJson("rebuild many/a/cf many/a/cf/../cf/1 --into once");
  EXPECT_EQ(document["summary"]["files"], 2);
  EXPECT_EQ(document["summary"]["failed"], 0);
  EXPECT_THAT(Run("rebuild many --into many/b/new"),
              Exits(2, _, HasSubstr("is within many")));
}

TEST_F(HFileCliTest, RebuildKeepsOnlyWhatItWouldWrite) {
  std::filesystem::create_directories(InputPath("from"));
  WriteFile(InputPath("from/1"), ReadFile(InputPath("row.hfile")));
  ASSERT_THAT(Run("rebuild from --into to --bloom_type ROWCOL"), Exits(0));
  EXPECT_THAT(Run("rebuild from --into to --bloom_type ROWCOL"),
              Exits(0, HasSubstr("to/1: kept")));
  for (const std::string other :
       {"", "--bloom_type ROW", "--bloom_type ROWCOL --error_rate 0.0001",
        "--bloom_type ROWCOL --hash JENKINS",
        "--bloom_type ROWCOL --compression GZ",
        "--bloom_type ROWCOL --chunk_size 4096"}) {
    EXPECT_THAT(Run("rebuild from --into to " + other),
                Exits(2, _, HasSubstr("to/1: exists and cannot stand for")))
        << other;
  }
  const std::string rebuilt = ReadFile(InputPath("to/1"));
  std::string damaged = rebuilt;
  damaged[100] ^= 1;
  for (const std::string& bytes :
       {damaged, rebuilt.substr(0, 5000), std::string(),
        HBaseFile("rowcol_defaults.hfile")}) {
    WriteFile(InputPath("to/1"), bytes);
    EXPECT_THAT(Run("rebuild from --into to --bloom_type ROWCOL"),
                Exits(2, _, HasSubstr("Remove it")));
  }
  EXPECT_THAT(Run("rebuild from/1 --into from"),
              Exits(2, _, HasSubstr("it is the same file")));
}

TEST_F(HFileCliTest, RebuildOfManyExitsAsVerifyForWhatItDoesNotKnow) {
  const std::string hfile = ReadFile(InputPath("row.hfile"));
  std::filesystem::create_directories(InputPath("blend/.tmp"));
  std::filesystem::create_directories(InputPath("blend/recovered.edits"));
  WriteFile(InputPath("blend/1"), hfile);
  WriteFile(InputPath("blend/.tmp/2"), hfile.substr(0, 5000));
  WriteFile(InputPath("blend/recovered.edits/7.seqid"), "");
  Json document = RunJson("rebuild blend --into blend_out");
  EXPECT_EQ(document["summary"]["left_out"], 2);
  EXPECT_EQ(document["summary"]["written"], 1);
  EXPECT_THAT(Run("rebuild blend --into blend_out"),
              Exits(0, HasSubstr("blend/.tmp/2: left out")));
  for (const std::string& bytes :
       {std::string(), std::string("text"), std::string(hfile.size(), '\0')}) {
    WriteFile(InputPath("blend/3"), bytes);
    EXPECT_THAT(Run("verify blend"), Exits(3));
    EXPECT_THAT(Run("rebuild blend --into blend_out"),
                Exits(3, _, HasSubstr("blend/3: ")));
  }
}

// HBase's own `.tmp` has unfinished files; a user's directory may be called so.
TEST_F(HFileCliTest, PlacesAreThoseBelowTheDirectoryThatIsNamed) {
  const std::string hfile = ReadFile(InputPath("row.hfile"));
  for (const std::string place : {".tmp", "recovered.edits"}) {
    std::filesystem::create_directories(InputPath("x/" + place + "/cf"));
    WriteFile(InputPath("x/" + place + "/cf/cut"), hfile.substr(0, 5000));
    for (const std::string& named :
         {"x/" + place + "/cf/cut", "x/" + place + "/cf", "x/" + place}) {
      EXPECT_THAT(Run("verify " + named), Exits(1)) << named;
    }
  }
  EXPECT_THAT(Run("verify x"), Exits(0));
}

TEST_F(HFileCliTest, AWalkThatFindsNothingIsNotFine) {
  std::filesystem::create_directories(InputPath("bare/region/cf"));
  for (const std::string verb :
       {"verify", "inspect", "advise", "rebuild --into nothing"}) {
    EXPECT_THAT(Run(verb + " bare"), Exits(2, _, HasSubstr("has no files")))
        << verb;
  }
  std::filesystem::create_symlink("nowhere", InputPath("bare/region/cf/1"));
  EXPECT_THAT(Run("verify bare"), Exits(2, _, HasSubstr("bare/region/cf/1")));
}

TEST_F(HFileCliTest, ListsOfAdviseEndBeforeThePath) {
  for (const std::string list :
       {"--error_rate 0.01,0.02", "--chunk_size 4096,8192",
        "--prefix_length 2,4", "--error_rate=0.01"}) {
    EXPECT_THAT(Run("advise " + list + " row.hfile"), Exits(0)) << list;
  }
  for (const std::string rate : {"0", "1", "2", "-0.1", "nan", "x"}) {
    EXPECT_THAT(Run("advise row.hfile --error_rate 0.01," + rate), Exits(2));
    EXPECT_THAT(Run("rebuild row.hfile rated --error_rate " + rate), Exits(2));
    EXPECT_THAT(Run("rebuild --into rated row.hfile --error_rate " + rate),
                Exits(2));
  }
}

TEST_F(HFileCliTest, RebuildKeepsTheRateUnlessItIsNamed) {
  ASSERT_THAT(Run("rebuild row.hfile precise --error_rate 0.001"), Exits(0));
  const Json kept = RunJson("rebuild precise again --hash MURMUR3");
  EXPECT_EQ(kept["before"]["error_rate"], 0.001);
  EXPECT_EQ(kept["after"]["error_rate"], 0.001);
  EXPECT_EQ(kept["after"]["hash_count"], kept["before"]["hash_count"]);
  const Json named = RunJson("rebuild precise other --error_rate 0.05");
  EXPECT_EQ(named["before"]["error_rate"], 0.001);
  EXPECT_EQ(named["after"]["error_rate"], 0.05);
}

// Returns a reference file as HBase writes it: the row at which the region was
// split, and which half the reference covers.
std::string Reference() { return {"PBUF\x0a\x03row\x10\x00", 11}; }

TEST_F(HFileCliTest, ReferencesAndLinksAreNoTrouble) {
  const std::string region = "0123456789abcdef0123456789abcdef";
  const std::string link = "name-space=table.1=" + region + "-cafe_SeqId_4_";
  std::string upper_half = Reference();
  upper_half.back() = 1;
  std::string long_row = Reference();
  long_row.replace(5, 4, "\xac\x02" + std::string(300, 'r'));
  WriteFile(InputPath("cafe." + region), Reference());
  WriteFile(InputPath(link + "." + region), upper_half);
  WriteFile(InputPath("beef." + region), long_row);
  const std::string mob_link = "table=" + region + "-cafe_" + region;
  WriteFile(InputPath(link), "");
  WriteFile(InputPath(mob_link), "");
  for (const std::string& name : {"cafe." + region, link + "." + region,
                                  "beef." + region, link, mob_link}) {
    for (const std::string verb : {"verify", "inspect", "advise"}) {
      EXPECT_THAT(Run(verb + " " + name),
                  Exits(0, HasSubstr("a reference to an HFile elsewhere")));
    }
    EXPECT_THAT(Run("lookup " + name + " row"), Exits(0, HasSubstr("maybe")));
  }
}

// HBase finds the file that a reference names where it was.
TEST_F(HFileCliTest, RebuildRefusesFilesThatAListNames) {
  const std::string family = InputPath("tracked/region/cf");
  std::filesystem::create_directories(family + "/.filelist");
  WriteFile(family + "/abc", ReadFile(InputPath("row.hfile")));
  WriteFile(family + "/.filelist/f1.17", "list");
  for (const std::string command :
       {"rebuild tracked --into tracked_out",
        "rebuild tracked/region/cf/abc tracked_out"}) {
    EXPECT_THAT(Run(command),
                Exits(2, _,
                      AllOf(HasSubstr("tracked/region/cf/.filelist: "),
                            HasSubstr("file-tracker.impl is FILE"),
                            HasSubstr("major_compact"))));
    EXPECT_FALSE(std::filesystem::exists(InputPath("tracked_out")));
  }
  EXPECT_THAT(Run("verify tracked"), Exits(0));
}

TEST_F(HFileCliTest, RebuildByThreadsGivesTheSameFilesAndOrder) {
  std::filesystem::create_directories(InputPath("parallel"));
  for (int i = 0; i < 20; ++i) {
    WriteFile(
        InputPath("parallel/" + std::to_string(100 + i)),
        i == 7 ? "unknown"
               : ReadFile(InputPath(i % 2 == 0 ? "row.hfile" : "none.hfile")));
  }
  const Json one = RunJson("rebuild parallel --into by_one --hash MURMUR3");
  const Json four =
      RunJson("rebuild -j 4 parallel --into by_four --hash MURMUR3");
  EXPECT_EQ(one["summary"], four["summary"]);
  EXPECT_EQ(four["summary"]["written"], 19);
  EXPECT_EQ(four["summary"]["failed"], 1);
  for (size_t i = 0; i < 20; ++i) {
    const std::string name = std::to_string(100 + i);
    EXPECT_EQ(four["files"][i]["path"], "parallel/" + name);
    EXPECT_EQ(four["files"][i]["result"], i == 7 ? "failed" : "written");
    if (i == 7) continue;
    EXPECT_EQ(ReadFile(InputPath("by_four/" + name)),
              ReadFile(InputPath("by_one/" + name)));
  }
  EXPECT_THAT(Run("rebuild -j 0 parallel --into by_none"), Exits(2));
}

TEST_F(HFileCliTest, RebuildShowsItsProgressInALog) {
  std::filesystem::create_directories(InputPath("shown"));
  for (const char* name : {"1", "2", "3"}) {
    WriteFile(InputPath("shown/") + name, ReadFile(InputPath("row.hfile")));
  }
  const auto bytes = std::filesystem::file_size(InputPath("row.hfile"));
  char sum[32];
  std::snprintf(sum, sizeof(sum), "%.1f", 3 * static_cast<double>(bytes) / 1e6);
  EXPECT_THAT(
      Run("rebuild -j 2 --progress 60 shown --into shown_out"),
      Exits(0, _,
            AllOf(HasSubstr(std::string("rebuilt 0 of 3 files, 0.0 of ") + sum +
                            " MB\n"),
                  HasSubstr(std::string("rebuilt 3 of 3 files, ") + sum +
                            " of " + sum + " MB, "),
                  HasSubstr(" MB/s, 0 s left\n"))));
  EXPECT_THAT(Run("rebuild --progress 0 shown --into shown_more"),
              Exits(0, _, Eq("")));
}

TEST_F(HFileCliTest, RebuildRemovesWhatAKilledRunLeft) {
  std::filesystem::create_directories(InputPath("killed"));
  std::filesystem::create_directories(InputPath("killed_out"));
  WriteFile(InputPath("killed/1"), ReadFile(InputPath("row.hfile")));
  WriteFile(InputPath("killed_out/1.unfinished.17"), "left");
  WriteFile(InputPath("killed_out/other.unfinished.17"), "not of this run");
  EXPECT_THAT(Run("rebuild killed --into killed_out"),
              Exits(0, HasSubstr("leftovers_removed"),
                    Eq("rowbloom: killed_out/1.unfinished.17: removed; a run "
                       "that was killed left it\n")));
  EXPECT_FALSE(
      std::filesystem::exists(InputPath("killed_out/1.unfinished.17")));
  EXPECT_TRUE(
      std::filesystem::exists(InputPath("killed_out/other.unfinished.17")));
  // A run that lives holds a lock on its file.
  const ToolResult locked =
      RunProgram("/bin/sh", inputs(),
                 {"-c",
                  ": >killed_out/1.unfinished.18; rm killed_out/1; "
                  "flock killed_out/1.unfinished.18 " ROWBLOOM_TOOL
                  " rebuild killed --into killed_out"});
  EXPECT_THAT(locked, Exits(0, _, HasSubstr("unfinished.18: not removed")));
  EXPECT_TRUE(std::filesystem::exists(InputPath("killed_out/1.unfinished.18")));
}

TEST_F(HFileCliTest, RebuildOfManyRefusesReferencesAndWritesNothing) {
  const std::string region = "0123456789abcdef0123456789abcdef";
  std::filesystem::create_directories(InputPath("split/cf"));
  WriteFile(InputPath("split/cf/abc"), ReadFile(InputPath("row.hfile")));
  const std::string link = "split/cf/table=" + region + "-cafe";
  WriteFile(InputPath(link), "");
  WriteFile(InputPath("split/cf/cafe." + region), Reference());
  EXPECT_THAT(Run("rebuild split --into split_out"),
              Exits(2, Eq(""), HasSubstr("major_compact")));
  EXPECT_FALSE(std::filesystem::exists(InputPath("split_out")));
  std::filesystem::remove(InputPath("split/cf/cafe." + region));
  EXPECT_THAT(Run("rebuild split --into split_out"),
              Exits(0, HasSubstr(link + ": left out: of the kind hfile_link")));
}

TEST_F(HFileCliTest, WhatIsAlmostAReferenceOrALinkIsUnknown) {
  for (const std::string name : {"empty", "k=a-b.filter", "t=cafe",
                                 "=cafe-cafe", "t=cafe-cafe_SeqId_"}) {
    WriteFile(InputPath(name), "");
    EXPECT_THAT(Run("verify " + name), Exits(3)) << name;
  }
  const std::string whole = Reference();
  std::vector<std::string> others = {"PBUF garbage \xff\xff", whole + '\0'};
  for (size_t size = 1; size < whole.size(); ++size) {
    others.push_back(whole.substr(0, size));
  }
  for (const size_t i : {0, 4, 9, 10}) {
    others.push_back(whole);
    others.back()[i] ^= 0x42;
  }
  for (const std::string& bytes : others) {
    WriteFile(InputPath("a.b"), bytes);
    EXPECT_THAT(Run("verify a.b"), Exits(3)) << ::testing::PrintToString(bytes);
  }
  WriteFile(InputPath("x.b"), whole);  // HBase gives no file such a name.
  EXPECT_THAT(Run("verify x.b"), Exits(3));
}

TEST_F(HFileCliTest, DamageExitsWith1AndALookupSaysMaybe) {
  std::string bytes = ReadFile(InputPath("row.hfile"));
  const Json chunk = RunJsonOfFile("inspect row.hfile")["chunks"][0];
  bytes[chunk["offset"].get<size_t>() + 40] ^= 1;
  WriteFile(InputPath("damaged"), bytes);
  EXPECT_THAT(
      Run("verify damaged"),
      Exits(1, HasSubstr("offset " + chunk["offset"].dump() + ": checksum")));
  EXPECT_THAT(Run("lookup damaged row00000x"), Exits(1, HasSubstr("maybe")));
  EXPECT_THAT(Run("inspect damaged"), Exits(1));
  EXPECT_THAT(Run("rebuild damaged repaired"), Exits(0));
  EXPECT_THAT(Run("verify --cells repaired"), Exits(0));
}

TEST_F(HFileCliTest, ADamagedBloomMetaExitsWith1) {
  std::string bytes = ReadFile(InputPath("row.hfile"));
  bytes[bytes.rfind("BLMFMET2") + 40] ^= 1;
  WriteFile(InputPath("meta"), bytes);
  for (const char* line : {"inspect meta", "lookup meta row", "verify meta"}) {
    EXPECT_THAT(Run(line), Exits(1, HasSubstr("offset ")));
  }
}

TEST_F(HFileCliTest, AnUnknownComparatorIsNamedInFull) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const std::string known = "KeyValue$KVComparator";
  const size_t name = bytes.rfind(known);
  bytes.replace(name, known.size(), "KeyValue$MyComparator");
  WriteFile(InputPath("own"), bytes);
  EXPECT_THAT(Run("inspect own").out,
              HasSubstr("KeyValue$MyComparator\" is not known"));
  EXPECT_THAT(Run("rebuild own in_another_order"),
              Exits(3, _, HasSubstr("KeyValue$MyComparator")));
}

TEST_F(HFileCliTest, AnUnknownBloomTypeIsNewerAndNotDroppedByRebuild) {
  // The file has no checksums, so the damage is not detected as damage.
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const size_t name = bytes.rfind("BLOOM_FILTER_TYPE");
  bytes.replace(bytes.find("ROW", name), 3, "RIB");
  WriteFile(InputPath("ribbon"), bytes);
  for (const std::string verb : {"inspect", "verify"}) {
    EXPECT_EQ(RunJsonOfFile(verb + " ribbon")["status"], "newer") << verb;
  }
  EXPECT_THAT(Run("rebuild ribbon dropped"),
              Exits(2, _, HasSubstr("--bloom_type")));
  EXPECT_THAT(Run("rebuild ribbon row --bloom_type ROW"), Exits(0));
}

TEST_F(HFileCliTest, AnUnknownEntryAboutFiltersIsNewerAndNotDroppedByRebuild) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const std::string known = "DELETE_FAMILY_COUNT";
  bytes.replace(bytes.rfind(known), known.size(), "BLOOM_FILTER_OFFSET");
  WriteFile(InputPath("offset"), bytes);
  for (const std::string verb : {"inspect", "verify"}) {
    EXPECT_THAT(Run(verb + " offset"),
                Exits(3, HasSubstr("file info has \"BLOOM_FILTER_OFFSET\"")));
  }
  EXPECT_THAT(Run("lookup offset nowhere"), Exits(3, HasSubstr("maybe")));
  EXPECT_THAT(Run("rebuild offset dropped_offset"),
              Exits(2, _, HasSubstr("--bloom_type")));
  EXPECT_THAT(Run("rebuild offset row_of_offset --bloom_type ROW"), Exits(0));
  EXPECT_THAT(Run("verify --cells row_of_offset"), Exits(0));
}

TEST_F(HFileCliTest, AFilterWithoutItsTypeIsNotDroppedByRebuild) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  bytes[bytes.rfind("BLOOM_FILTER_TYPE")] = 'A';
  WriteFile(InputPath("typeless"), bytes);
  EXPECT_THAT(Run("rebuild typeless dropped"),
              Exits(2, _, HasSubstr("--bloom_type")));
  EXPECT_THAT(Run("rebuild typeless given --bloom_type ROW"), Exits(0));
}

// The blocks of a file fill it up to the trailer, and are those of its totals.
TEST_F(HFileCliTest, InspectListsBlocks) {
  WriteFile(InputPath("levels"), HBaseFile("row_index_2_levels.hfile"));
  EXPECT_FALSE(RunJsonOfFile("inspect levels").contains("blocks"));
  const Json blocks = RunJsonOfFile("inspect --blocks levels")["blocks"];
  uint64_t offset = 0;
  std::map<std::string, int> types;
  for (const Json& block : blocks) {
    EXPECT_EQ(block["offset"], offset);
    offset += block["size_bytes"].get<uint64_t>();
    ++types[block["type"].get<std::string>()];
  }
  constexpr uint64_t kTrailerSize = 4096;
  EXPECT_EQ(offset + kTrailerSize,
            HBaseFile("row_index_2_levels.hfile").size());
  EXPECT_GT(types["DATABLK*"], 2);
  EXPECT_GT(types["IDXLEAF2"], 1);
  EXPECT_EQ(types["FILEINF2"], 1);
  EXPECT_THAT(Run("inspect --blocks levels"), Exits(0, HasSubstr("IDXLEAF2")));
  // The blocks before a damaged one are listed.
  std::string damaged = HBaseFile("row_index_2_levels.hfile");
  damaged[blocks[2]["offset"].get<size_t>() + 8] ^= 0x40;  // Its size.
  WriteFile(InputPath("damaged"), damaged);
  const ToolResult result = Run("inspect --blocks --json damaged");
  EXPECT_THAT(result, Exits(1));
  EXPECT_EQ(Json::parse(result.out)["files"][0]["blocks"].size(), 2u);
}

TEST_F(HFileCliTest, VerifySaysWhatItCouldNotCheckOfAnEncryptedFile) {
  WriteFile(InputPath("secret"), HBaseFile("row_encrypted.hfile"));
  EXPECT_THAT(Run("advise secret"), Exits(3));
  EXPECT_THAT(Run("rebuild secret secret.new"), Exits(3));
  EXPECT_THAT(Run("inspect --cells secret"), Exits(3));
  EXPECT_GT(RunJsonOfFile("inspect --blocks secret")["blocks"].size(), 2u);
  EXPECT_THAT(Run("verify --cells secret"),
              Exits(0, HasSubstr("ok, encrypted: only checksums")));
  EXPECT_EQ(RunJson("inspect --brief secret")["totals"][0]["unusable"], 1);
  EXPECT_EQ(RunJsonOfFile("inspect secret")["checksum"], "CRC32C");
}

TEST_F(HFileCliTest, RebuildAndAdviseMissNoDataBlock) {
  const std::string whole = HBaseFile("row_index_2_levels.hfile");
  std::string last_offset = whole;
  // The offset of the last data block in the trailer.
  last_offset[12032] ^= 0x40;
  std::string magic = whole;
  magic[5041] ^= 0x01;  // The magic of a data block.
  for (const std::string& damaged : {last_offset, magic}) {
    WriteFile(InputPath("fewer"), damaged);
    EXPECT_THAT(Run("rebuild fewer lost"), Exits(1));
    EXPECT_FALSE(std::filesystem::exists(InputPath("lost")));
    EXPECT_THAT(Run("advise fewer"), Exits(1));
  }
}

TEST_F(HFileCliTest, RebuildHoldsNoMoreMetaBlocksThanItSays) {
  const ToolResult made = RunProgram(ROWBLOOM_MAKE_INPUTS, inputs(),
                                     {"--zeros", InputPath("zeros")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_LT(std::filesystem::file_size(InputPath("zeros")), 50000);
  EXPECT_THAT(Run("rebuild zeros more_zeros"),
              Exits(2, _, HasSubstr("zeros: meta blocks of more than 64 MiB")));
}

TEST_F(HFileCliTest, RebuildOfWhatIsNoWholeHFileExitsAsVerify) {
  std::string bytes = HBaseFile("row_deletes.hfile");
  WriteFile(InputPath("cut"), bytes.substr(0, bytes.size() - 1));
  // Without checksums: this sorts the second cell before the first one.
  bytes = HBaseFile("row_checksum_null.hfile");
  const size_t key_size_at = 33;
  const auto byte_at = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[i]));
  };
  const size_t second_cell = key_size_at + 8 + byte_at(key_size_at + 3) +
                             byte_at(key_size_at + 7) + 1;  // 1: the mvcc.
  bytes[second_cell + 10] = 1;  // The first byte of its row.
  WriteFile(InputPath("unordered"), bytes);
  for (const std::string name : {"cut", "unordered", "notes.txt"}) {
    const int exit_code = name == "notes.txt" ? 3 : 1;
    EXPECT_THAT(Run("verify " + name), Exits(exit_code)) << name;
    EXPECT_THAT(Run("rebuild " + name + " whole"),
                Exits(exit_code, _, HasSubstr(name + ": ")));
  }
  EXPECT_THAT(Run("rebuild unordered whole").err,
              HasSubstr("is before the one before it"));
}

TEST_F(HFileCliTest, RebuildGivesEachTypeOfFilter) {
  for (const std::string type :
       {"NONE", "ROW", "rowcol", "ROWPREFIX_FIXED_LENGTH"}) {
    const std::string out = "as_" + type;
    const Json document =
        RunJson("rebuild rowcol.hfile " + out + " --bloom_type " + type +
                " --error_rate 0.001 --chunk_size 2048 --hash murmur3"
                " --compression ZSTD" +
                (type == "ROWPREFIX_FIXED_LENGTH" ? " --prefix_length 5" : ""));
    EXPECT_EQ(document["format"], "rowbloom-rebuild");
    EXPECT_EQ(document["before"]["bloom_type"], "ROWCOL");
    EXPECT_THAT(Run("verify --cells " + out), Exits(0));
    EXPECT_THAT(Run("lookup " + out + " row00017 name").out,
                HasSubstr("maybe"));
  }
}

TEST_F(HFileCliTest, InspectTellsWhatHBasesOwnPrinterTells) {
  WriteFile(InputPath("tagged"), HBaseFile("row_tags_fast_diff.hfile"));
  const Json entry = RunJsonOfFile("inspect --cells tagged");
  EXPECT_EQ(entry["first_row"], "row000000");
  EXPECT_EQ(entry["last_row"], "row000158");
  EXPECT_EQ(entry["block_size_bytes"], 1024);
  EXPECT_EQ(entry["data_index_levels"], 1);
  EXPECT_EQ(entry["data_index_root_entries"], 7);
  EXPECT_EQ(entry["data_index_size_bytes"], 257);
  const Json& info = entry["file_info"];
  EXPECT_EQ(info["MAJOR_COMPACTION_KEY"], false);
  EXPECT_EQ(info["hfile.TAGS_COMPRESSED"], true);
  EXPECT_EQ(info["hfile.AVG_VALUE_LEN"], 7);
  EXPECT_EQ(info["TIMERANGE"],
            (Json{{"from", 1600000000050}, {"to", 1600000000050}}));
  EXPECT_EQ(info["BLOOM_FILTER_TYPE"], "ROW");
  const Json& values = entry["cell_sizes"][1];
  EXPECT_EQ(values["size"], "value_bytes");
  EXPECT_EQ(values["count"], 131);
  EXPECT_EQ(values["max"], 16);
  EXPECT_NEAR(values["mean"], 7.107, 0.001);
  EXPECT_EQ(entry["cell_sizes"][3]["p95"], 3);
  EXPECT_THAT(Run("inspect tagged"),
              Exits(0, HasSubstr("{\"from\":1600000000050,")));
  // HBase 0.98 stored a time range as two longs.
  WriteFile(InputPath("older"),
            ReadFile(ROWBLOOM_SOURCE_DIR
                     "/tests/hosts/hfile/data/row_v2_none_default.hfile"));
  EXPECT_EQ(RunJsonOfFile("inspect older")["file_info"]["TIMERANGE"],
            (Json{{"from", 500}, {"to", 1999}}));
  WriteFile(InputPath("secret"), HBaseFile("row_encrypted.hfile"));
  EXPECT_EQ(RunJsonOfFile("inspect secret")["bloom_type"], "ENCRYPTED");
}

TEST_F(HFileCliTest, AStrayFileDoesNotTurnTheExitCodeOfATree) {
  std::filesystem::create_directories(InputPath("strayed/cf"));
  std::filesystem::create_directories(InputPath("strayed/oldWALs"));
  WriteFile(InputPath("strayed/oldWALs/host%2C60020.1.meta"), "edits");
  WriteFile(InputPath("strayed/notes"), "text");
  // Without an HFile the tree is not known.
  EXPECT_THAT(Run("verify strayed"), Exits(3, HasSubstr("2 unknown")));
  EXPECT_THAT(Run("rebuild strayed --into strayed_out"), Exits(3));
  WriteFile(InputPath("strayed/cf/abc"), ReadFile(InputPath("row.hfile")));
  EXPECT_THAT(Run("verify strayed"),
              Exits(0, HasSubstr("3 files: 1 ok, 2 unknown")));
  EXPECT_THAT(Run("rebuild strayed --into strayed_out"),
              Exits(0, HasSubstr("strayed/notes: left out")));
  EXPECT_THAT(Run("verify strayed/notes strayed/cf"), Exits(3));
  // HBase gives such a name to a store file.
  WriteFile(InputPath("strayed/cf/abd"), "text");
  EXPECT_THAT(Run("verify strayed"), Exits(3));
  EXPECT_THAT(Run("rebuild strayed --into strayed_out"), Exits(3));
}

TEST_F(HFileCliTest, VerifyNamesTheIndexEncodingThatItSkips) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const std::string name = "COMPACTION_EVENT_KEY";  // As long as the other one.
  bytes.replace(bytes.find(name), name.size(), "INDEX_BLOCK_ENCODING");
  WriteFile(InputPath("index_encoded"), bytes);
  EXPECT_THAT(Run("verify index_encoded"),
              Exits(0, HasSubstr("the data index was not checked: its encoding "
                                 "is PBUF")));
}

TEST_F(HFileCliTest, AllVerbsHaveOneRateOfAFilter) {
  WriteFile(InputPath("rated_once"), HBaseFile("row_rate_a_fifth.hfile"));
  const Json rate = RunJsonOfFile("inspect rated_once")["expected_fpr"];
  EXPECT_EQ(RunJson("rebuild rated_once rated_again")["before"]["expected_fpr"],
            rate);
  const Json advice = RunJson("advise rated_once");
  EXPECT_EQ(advice["column_families"][0]["plans"][0]["expected_fpr"], rate);
}

TEST_F(HFileCliTest, RebuildWithoutAnotherFilterGivesTheSameFile) {
  for (const std::string name : {"row.hfile", "none.hfile"}) {
    const std::string again = "again." + name;
    EXPECT_THAT(Run("rebuild " + name + " " + again + " --chunk_size 1024"),
                Exits(0));
    EXPECT_TRUE(ReadFile(InputPath(again)) == ReadFile(InputPath(name)))
        << name;
  }
}

TEST_F(HFileCliTest, RebuildKeepsEncodingAndBlocksAndSaysWhatItChanges) {
  const std::string encoded = HBaseFile("row_fast_diff.hfile");
  WriteFile(InputPath("encoded"), encoded);
  Json document = RunJson("rebuild encoded recoded_same");
  EXPECT_EQ(document["after"]["encoding"], "FAST_DIFF");
  EXPECT_EQ(document["after"]["block_size_bytes"], 1024);
  // The index has other keys, of a few bytes.
  EXPECT_NEAR(document["after"]["file_size_bytes"].get<double>(),
              static_cast<double>(encoded.size()),
              0.01 * static_cast<double>(encoded.size()));
  ASSERT_THAT(Run("rebuild encoded recoded --error_rate 0.02 --encoding none "
                  "--block_size 1000"),
              Exits(0, HasSubstr("recoded: written and verified: "
                                 "error_rate 0.02, was 0.01; encoding NONE, "
                                 "was FAST_DIFF; block_size_bytes 1000, was "
                                 "1024\n")));
  EXPECT_THAT(Run("rebuild encoded unchanged"),
              Exits(0, HasSubstr("unchanged: written and verified\n")));
  WriteFile(InputPath("indexed"), HBaseFile("row_row_index_v1.hfile"));
  EXPECT_THAT(Run("rebuild indexed wide --widest"),
              Exits(2, _, HasSubstr("encoding ROW_INDEX_V1")));
  EXPECT_THAT(Run("rebuild indexed wide --widest --encoding FAST_DIFF"),
              Exits(0));
}

TEST_F(HFileCliTest, RebuildLeavesNothingHalfDone) {
  const ToolResult exists = Run("rebuild --json row.hfile rowcol.hfile");
  EXPECT_EQ(exists.exit_code, 2);
  EXPECT_EQ(Json::parse(exists.out)["error"], "rowcol.hfile: exists");
  std::string bytes = ReadFile(InputPath("row.hfile"));
  bytes[100] ^= 1;  // In its first data block.
  WriteFile(InputPath("lost"), bytes);
  EXPECT_THAT(Run("rebuild lost half"),
              Exits(1, _, HasSubstr("offset 0: checksum")));
  for (const std::string wrong :
       {"--bloom_type RIBBON", "--error_rate 2", "--compression LZO",
        "--chunk_size 0", "--prefix_length 4", "--encoding PREFIX_TREE",
        "--bloom_type ROWPREFIX_FIXED_LENGTH"}) {
    EXPECT_THAT(Run("rebuild row.hfile half " + wrong), Exits(2)) << wrong;
  }
  for (const auto& entry : std::filesystem::directory_iterator(inputs())) {
    EXPECT_EQ(entry.path().string().find("half"), std::string::npos)
        << entry.path();
  }
}

TEST_F(HFileCliTest, RebuildLeavesNothingBehindWhenASignalEndsIt) {
  const auto shell = [](const std::string& script) {
    return RunProgram("/bin/sh", inputs(),
                      {"-c", "tool=" ROWBLOOM_TOOL "; " + script});
  };
  // A limit on the size of files is a signal, too.
  EXPECT_THAT(shell("ulimit -f 8; exec $tool rebuild row.hfile signalled"),
              Exits(2, _, HasSubstr("signalled.unfinished.")));
  // nohup: what is ignored stays ignored.
  EXPECT_THAT(shell("trap '' HUP; $tool rebuild row.hfile nohup --block_size 1 "
                    "--compression GZ & until ls nohup* || ! kill -0 $!; "
                    "do :; done 2>&1; kill -HUP $!; wait $!"),
              Exits(0));
  // Ends it while it writes; it may be faster.
  const ToolResult ended = shell(
      "$tool rebuild row.hfile signalled --block_size 1 --compression GZ & "
      "until ls signalled* || ! kill -0 $!; do :; done 2>&1; "
      "kill $!; wait $!");
  EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 128 + SIGTERM)
      << ended.exit_code;
  for (const auto& entry : std::filesystem::directory_iterator(inputs())) {
    EXPECT_EQ(entry.path().string().find("signalled.unfinished"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace rowbloom

#endif  // ROWBLOOM_CLI_TEST_WITH_HFILE
