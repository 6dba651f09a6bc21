// SPDX-License-Identifier: Apache-2.0
//
// Tests the tool on HFiles.

#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tool_runner.h"

namespace rowbloom {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class HFileCliTest : public ToolTest {
 protected:
  static ToolResult Run(const std::vector<std::string>& arguments) {
    return RunTool(inputs(), arguments);
  }
  // Returns the contents of a golden file.
  static std::string HBaseFile(const std::string& name) {
    return ReadFile(ROWBLOOM_SOURCE_DIR "/tests/hfile/data/hbase_2.6/" + name);
  }
};

TEST_F(HFileCliTest, ADirectoryAndAPatternStandForTheirFiles) {
  const ToolResult result = Run({"verify", "--cells", "*.hfile"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("4 files: 4 ok"));
  EXPECT_EQ(Run({"verify", "*.nothing"}).exit_code, 2);
}

TEST_F(HFileCliTest, FamiliesOfAStoreAreNamedByAPattern) {
  const std::string family = InputPath("store/region/cf");
  std::filesystem::create_directories(family);
  WriteFile(InputPath("store/region/.regioninfo"), "hidden");
  WriteFile(family + "/.file.crc", "hidden");
  WriteFile(family + "/file", ReadFile(InputPath("row.hfile")));
  const ToolResult result = Run({"verify", "store/*/cf"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(result.out, "store/region/cf/file: ok\n");
  const ToolResult region = Run({"verify", "store/region"});
  EXPECT_EQ(region.exit_code, 2);
  EXPECT_THAT(region.err, HasSubstr("name theirs, as 'store/region/*'"));
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
    for (const char* verb : {"verify", "inspect", "plan"}) {
      const ToolResult result = Run({verb, name});
      EXPECT_EQ(result.exit_code, 0) << verb << " " << name;
      EXPECT_THAT(result.out, HasSubstr("a reference to an HFile elsewhere"));
    }
    const ToolResult looked = Run({"lookup", name, "row"});
    EXPECT_EQ(looked.exit_code, 0);
    EXPECT_THAT(looked.out, HasSubstr("maybe"));
  }
}

TEST_F(HFileCliTest, WhatIsAlmostAReferenceOrALinkIsUnknown) {
  for (const char* name : {"empty", "k=a-b.filter", "t=cafe", "=cafe-cafe",
                           "t=cafe-cafe_SeqId_"}) {
    WriteFile(InputPath(name), "");
    EXPECT_EQ(Run({"verify", name}).exit_code, 1) << name;
  }
  const std::string whole = Reference();
  std::vector<std::string> others = {"PBUF garbage \xff\xff", whole + '\0'};
  for (size_t size = 1; size < whole.size(); ++size) {
    others.push_back(whole.substr(0, size));
  }
  for (const size_t i : {0, 4, 5, 9, 10}) {
    others.push_back(whole);
    others.back()[i] ^= 0x42;
  }
  for (const std::string& bytes : others) {
    WriteFile(InputPath("a.b"), bytes);
    EXPECT_EQ(Run({"verify", "a.b"}).exit_code, 1)
        << ::testing::PrintToString(bytes);
  }
  WriteFile(InputPath("x.b"), whole);  // HBase gives no file such a name.
  EXPECT_EQ(Run({"verify", "x.b"}).exit_code, 1);
}

TEST_F(HFileCliTest, DamageExitsWith1AndALookupSaysMaybe) {
  std::string bytes = ReadFile(InputPath("row.hfile"));
  const Json before = Json::parse(Run({"inspect", "--json", "row.hfile"}).out);
  const auto& chunk = before["files"][0]["chunks"][0];
  bytes[chunk["offset"].get<size_t>() + 40] ^= 1;
  WriteFile(InputPath("damaged"), bytes);
  const ToolResult verified = Run({"verify", "damaged"});
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.out,
              HasSubstr("offset " + chunk["offset"].dump() + ": checksum"));
  const ToolResult looked = Run({"lookup", "damaged", "row00000x"});
  EXPECT_EQ(looked.exit_code, 1);
  EXPECT_THAT(looked.out, HasSubstr("maybe"));
  EXPECT_EQ(Run({"inspect", "damaged"}).exit_code, 1);
  EXPECT_EQ(Run({"rebuild", "damaged", "repaired"}).exit_code, 0);
  EXPECT_EQ(Run({"verify", "--cells", "repaired"}).exit_code, 0);
}

TEST_F(HFileCliTest, ADamagedBloomMetaExitsWith1) {
  std::string bytes = ReadFile(InputPath("row.hfile"));
  bytes[bytes.rfind("BLMFMET2") + 40] ^= 1;
  WriteFile(InputPath("meta"), bytes);
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"inspect", "meta"},
                                             {"lookup", "meta", "row"},
                                             {"verify", "meta"}}) {
    const ToolResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 1) << arguments[0];
    EXPECT_THAT(result.out, HasSubstr("offset "));
  }
}

TEST_F(HFileCliTest, AnUnknownComparatorIsNamedInFull) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const std::string known = "KeyValue$KVComparator";
  const size_t name = bytes.rfind(known);
  bytes.replace(name, known.size(), "KeyValue$MyComparator");
  WriteFile(InputPath("own"), bytes);
  EXPECT_THAT(Run({"inspect", "own"}).out,
              HasSubstr("KeyValue$MyComparator\" is not known"));
  const ToolResult rebuilt = Run({"rebuild", "own", "in_another_order"});
  EXPECT_EQ(rebuilt.exit_code, 1);
  EXPECT_THAT(rebuilt.err, HasSubstr("KeyValue$MyComparator"));
}

TEST_F(HFileCliTest, AnUnknownBloomTypeIsNewerAndNotDroppedByRebuild) {
  // The file has no checksums, so the damage is not detected as damage.
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  const size_t name = bytes.rfind("BLOOM_FILTER_TYPE");
  bytes.replace(bytes.find("ROW", name), 3, "RIB");
  WriteFile(InputPath("ribbon"), bytes);
  for (const char* verb : {"inspect", "verify"}) {
    const Json document = Json::parse(Run({verb, "--json", "ribbon"}).out);
    EXPECT_EQ(document["files"][0]["status"], "newer") << verb;
  }
  const ToolResult refused = Run({"rebuild", "ribbon", "dropped"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--bloom_type"));
  EXPECT_EQ(Run({"rebuild", "ribbon", "row", "--bloom_type", "ROW"}).exit_code,
            0);
}

TEST_F(HFileCliTest, AFilterWithoutItsTypeIsNotDroppedByRebuild) {
  std::string bytes = HBaseFile("row_checksum_null.hfile");
  bytes[bytes.rfind("BLOOM_FILTER_TYPE")] = 'A';
  WriteFile(InputPath("typeless"), bytes);
  const ToolResult refused = Run({"rebuild", "typeless", "dropped"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--bloom_type"));
  EXPECT_EQ(
      Run({"rebuild", "typeless", "given", "--bloom_type", "ROW"}).exit_code,
      0);
}

TEST_F(HFileCliTest, VerifySaysWhatItCouldNotCheckOfAnEncryptedFile) {
  WriteFile(InputPath("secret"), HBaseFile("row_encrypted.hfile"));
  const ToolResult verified = Run({"verify", "--cells", "secret"});
  EXPECT_EQ(verified.exit_code, 0);
  EXPECT_THAT(verified.out, HasSubstr("ok, encrypted: only checksums"));
  const Json document = Json::parse(Run({"inspect", "--json", "secret"}).out);
  EXPECT_EQ(document["files"][0]["checksum"], "CRC32C");
}

TEST_F(HFileCliTest, RebuildAndPlanMissNoDataBlock) {
  const std::string whole = HBaseFile("row_index_2_levels.hfile");
  std::string last_offset = whole;
  // The offset of the last data block in the trailer.
  last_offset[12032] ^= 0x40;
  std::string magic = whole;
  magic[5041] ^= 0x01;  // The magic of a data block.
  for (const std::string& damaged : {last_offset, magic}) {
    WriteFile(InputPath("fewer"), damaged);
    EXPECT_EQ(Run({"rebuild", "fewer", "lost"}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(InputPath("lost")));
    EXPECT_EQ(Run({"plan", "fewer"}).exit_code, 1);
  }
}

TEST_F(HFileCliTest, RebuildHoldsNoMoreMetaBlocksThanItSays) {
  const ToolResult made = RunProgram(ROWBLOOM_MAKE_INPUTS, inputs(),
                                     {"--zeros", InputPath("zeros")});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_LT(std::filesystem::file_size(InputPath("zeros")), 50000);
  const ToolResult result = Run({"rebuild", "zeros", "more_zeros"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("zeros: meta blocks of more than 64 MiB"));
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
  for (const char* name : {"cut", "unordered", "notes.txt"}) {
    EXPECT_EQ(Run({"verify", name}).exit_code, 1) << name;
    const ToolResult rebuilt = Run({"rebuild", name, "whole"});
    EXPECT_EQ(rebuilt.exit_code, 1) << rebuilt.err;
    EXPECT_THAT(rebuilt.err, HasSubstr(std::string(name) + ": offset "));
  }
  EXPECT_THAT(Run({"rebuild", "unordered", "whole"}).err,
              HasSubstr("is before the one before it"));
}

TEST_F(HFileCliTest, RebuildTakesWholeNumbersInAnyForm) {
  EXPECT_EQ(Run({"rebuild", "row.hfile", "numbers", "--chunk_size", "1e3",
                 "--max_fold", "1e0", "--block_size", "1e4"})
                .exit_code,
            0);
}

TEST_F(HFileCliTest, RebuildGivesEachTypeOfFilter) {
  for (const char* type : {"NONE", "ROW", "rowcol", "ROWPREFIX_FIXED_LENGTH"}) {
    const std::string out = std::string("as_") + type;
    std::vector<std::string> arguments = {
        "rebuild", "rowcol.hfile", out,       "--bloom_type",
        type,      "--error_rate", "0.001",   "--chunk_size",
        "2048",    "--hash",       "murmur3", "--compression",
        "ZSTD",    "--json"};
    if (std::string(type) == "ROWPREFIX_FIXED_LENGTH") {
      arguments.insert(arguments.end(), {"--prefix_length", "5"});
    }
    const ToolResult result = Run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const Json document = Json::parse(result.out);
    EXPECT_EQ(document["format"], "rowbloom-rebuild");
    EXPECT_EQ(document["before"]["bloom_type"], "ROWCOL");
    const ToolResult verified = Run({"verify", "--cells", out});
    EXPECT_EQ(verified.exit_code, 0) << verified.out;
    const ToolResult there = Run({"lookup", out, "row00017", "name"});
    EXPECT_THAT(there.out, HasSubstr("maybe"));
  }
}

TEST_F(HFileCliTest, RebuildWithoutAnotherFilterGivesTheSameFile) {
  for (const std::string name : {"row.hfile", "none.hfile"}) {
    const std::string again = "again." + name;
    ASSERT_EQ(Run({"rebuild", name, again, "--chunk_size", "1024"}).exit_code,
              0);
    EXPECT_TRUE(ReadFile(InputPath(again)) == ReadFile(InputPath(name)))
        << name;
  }
}

TEST_F(HFileCliTest, RebuildLeavesNothingHalfDone) {
  const ToolResult exists =
      Run({"rebuild", "--json", "row.hfile", "rowcol.hfile"});
  EXPECT_EQ(exists.exit_code, 2);
  EXPECT_EQ(Json::parse(exists.out)["error"], "rowcol.hfile: exists");
  std::string bytes = ReadFile(InputPath("row.hfile"));
  bytes[100] ^= 1;  // In its first data block.
  WriteFile(InputPath("lost"), bytes);
  const ToolResult result = Run({"rebuild", "lost", "half"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("offset 0: checksum"));
  for (const auto& entry : std::filesystem::directory_iterator(inputs())) {
    EXPECT_EQ(entry.path().string().find("half"), std::string::npos)
        << entry.path();
  }
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{
           {"--bloom_type", "RIBBON"},
           {"--error_rate", "2"},
           {"--compression", "LZO"},
           {"--chunk_size", "0"},
           {"--prefix_length", "4"},
           {"--bloom_type", "ROWPREFIX_FIXED_LENGTH"}}) {
    std::vector<std::string> arguments = {"rebuild", "row.hfile", "half"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(Run(arguments).exit_code, 2) << wrong[1];
  }
}

}  // namespace
}  // namespace rowbloom

#endif  // ROWBLOOM_CLI_TEST_WITH_HFILE
