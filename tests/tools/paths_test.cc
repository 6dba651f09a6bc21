// SPDX-License-Identifier: Apache-2.0
//
// Names, patterns and line ends are the same for the tool on every system.

#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tool_runner.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

// "Zeile" with an umlaut, and "row" in Chinese.
constexpr char kName[] = "Z\xc3\xa4ile_\xe8\xa1\x8c";

class PathsTest : public ToolTest {
 protected:
  // Makes a directory of filter blocks of these names.
  static void MakeDirectory(const std::string& directory,
                            const std::vector<std::string>& names) {
    fs::create_directories(InputPath(directory));
    for (const std::string& name : names) {
      WriteFile(InputPath(directory) + "/" + name,
                ReadFile(InputPath("row.filter")));
    }
  }
};

TEST_F(PathsTest, NamesAreUtf8) {
  const std::string directory(kName);
  const std::string path = directory + "/" + kName;
  MakeDirectory(directory, {kName});
  for (const std::string& named :
       {directory, path, "Z\xc3\xa4*/" + directory.substr(0, 6) + "*"}) {
    EXPECT_EQ(RunArguments({"verify", named}).out, path + ": ok\n");
  }
  WriteFile(InputPath(directory + "/rows"), "row00001\n");
  EXPECT_THAT(RunArguments({"lookup", path, "--rows", directory + "/rows"}),
              Exits(0, path + "\trow00001\t\tmaybe\n", IsEmpty()));
  EXPECT_THAT(
      RunArguments({"verify", path, "--html", directory + "/page.html"}),
      Exits(0));
  EXPECT_TRUE(fs::exists(InputPath(directory) + "/page.html"));
}

TEST_F(PathsTest, PatternsAreExpandedWhereNoShellDoes) {
  MakeDirectory("patterns/one", {"a", "ab", "b", ".ahidden"});
  MakeDirectory("patterns/two", {"a"});
  EXPECT_EQ(Run("verify patterns/*/a*").out,
            "patterns/one/a: ok\npatterns/one/ab: ok\npatterns/two/a: ok\n"
            "3 files: 3 ok\n");
  EXPECT_EQ(Run("verify patterns/o?e/?").out,
            "patterns/one/a: ok\npatterns/one/b: ok\n2 files: 2 ok\n");
  EXPECT_THAT(Run("verify patterns//two"), Exits(0, "patterns//two/a: ok\n"));
  EXPECT_THAT(Run("verify patterns/x*"),
              Exits(2, IsEmpty(), HasSubstr("patterns/x*: ")));
}

// A text file of C on Windows would end at the byte 0x1a.
TEST_F(PathsTest, RowsHaveAnyByteButThoseOfLineEnds) {
  WriteFile(InputPath("rows"), "row\x1a\r\nrow00001\tname\nlast");
  EXPECT_EQ(Run("lookup rowcol.filter --rows rows").out,
            "rowcol.filter\trow\\x1a\t\tno\n"
            "rowcol.filter\trow00001\tname\tmaybe\n"
            "rowcol.filter\tlast\t\tno\n");
}

TEST_F(PathsTest, PathsMayBeLongerThan260Letters) {
  std::string directory = "long";
  while (directory.size() < 600) directory += "/" + std::string(100, 'd');
  MakeDirectory(directory, {"f"});
  for (const std::string& named : {directory + "/f", directory}) {
    EXPECT_THAT(Run("verify " + named), Exits(0, directory + "/f: ok\n"));
  }
}

}  // namespace
}  // namespace rowbloom
