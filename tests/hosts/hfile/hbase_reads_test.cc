// SPDX-License-Identifier: Apache-2.0
//
// Tests answers of HBase 2.6 beyond single questions: which reads pass, which
// cells a file has, and where HBase itself loses rows.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "hosts/hfile/test_data.h"
#include "hosts/hfile/test_hfile.h"
#include "rowbloom/hfile.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using testing::OpenHFile;

// Returns the tables of this kind for files of HBase 2.6.
std::vector<std::filesystem::path> TablesOf(const std::string& suffix) {
  std::vector<std::filesystem::path> tables;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::HFileData("hbase_2.6"))) {
    const std::string name = entry.path().string();
    if (name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      tables.push_back(entry.path());
    }
  }
  return tables;
}

// Opens the file that a table describes.
OpenHFile FileOf(const std::filesystem::path& table,
                 const std::string& suffix) {
  const std::string name = table.string();
  return OpenHFile(testing::ReadFile(
      name.substr(0, name.size() - suffix.size()) + ".hfile"));
}

// A line of a table of reads; HFileRead has views of it.
struct RecordedRead {
  explicit RecordedRead(const std::vector<std::string>& fields)
      : start(testing::FromHex(fields[0])), stop(testing::FromHex(fields[2])) {
    if (fields[4] != "*") {
      for (const auto& hex : absl::StrSplit(fields[4], ',')) {
        qualifiers.push_back(testing::FromHex(std::string(hex)));
      }
    }
    views.assign(qualifiers.begin(), qualifiers.end());
    read = {start, stop, fields[1] == "1", fields[3] == "1", views};
    passes_in_hbase = fields[5] == "1";
    holds_cells = fields[6] == "1";
  }

  std::string start;
  std::string stop;
  std::vector<std::string> qualifiers;
  std::vector<std::string_view> views;
  HFileRead read;
  bool passes_in_hbase = true;
  bool holds_cells = true;
};

TEST(HBaseReads, NoneIsLostAndAllThatHBaseStopsAreStopped) {
  const std::string suffix = ".reads.tsv.gz";
  int stopped = 0;
  for (const auto& table : TablesOf(suffix)) {
    const OpenHFile file = FileOf(table, suffix);
    for (const auto& fields : testing::ParseTsv(testing::ReadGzFile(table))) {
      const RecordedRead recorded(fields);
      const bool passes = file->MayContain(recorded.read);
      if (recorded.holds_cells) {
        EXPECT_TRUE(passes) << table;
      }
      if (!recorded.passes_in_hbase) {
        EXPECT_FALSE(passes) << table;
        ++stopped;
      }
    }
  }
  EXPECT_GT(stopped, 1000);
}

TEST(HBaseReads, RowsThatHBaseLosesAreFound) {
  const std::string suffix = ".unordered.tsv.gz";
  int lost_by_hbase = 0;
  for (const auto& table : TablesOf(suffix)) {
    const OpenHFile file = FileOf(table, suffix);
    const auto queries = testing::ReadQueries(table);
    const auto lines = testing::ParseTsv(testing::ReadGzFile(table));
    for (size_t i = 0; i < queries.size(); ++i) {
      if (lines[i][4] != "1") continue;
      const testing::HFileQuery& query = queries[i];
      if (!query.may_contain) ++lost_by_hbase;
      // These files have no deletes.
      EXPECT_TRUE(query.kind == "ROW"
                      ? file->MayContain(query.row)
                      : file->MayContain(query.row, query.qualifier))
          << table;
    }
  }
  EXPECT_GT(lost_by_hbase, 0);
}

// Serializes a cell as the README of the golden data describes.
std::string BytesOf(const HFileCell& cell) {
  std::string key;
  util::AppendBigEndian(static_cast<uint16_t>(cell.row.size()), &key);
  key.append(cell.row);
  util::AppendBigEndian(static_cast<uint8_t>(cell.family.size()), &key);
  key.append(cell.family).append(cell.qualifier);
  util::AppendBigEndian(cell.timestamp, &key);
  util::AppendBigEndian(cell.type, &key);
  std::string bytes;
  for (const std::string_view part :
       {std::string_view(key), cell.value, cell.tags}) {
    util::AppendBigEndian(static_cast<uint32_t>(part.size()), &bytes);
    bytes.append(part);
  }
  util::AppendBigEndian(cell.mvcc, &bytes);
  return bytes;
}

TEST(HBaseCells, AreThoseThatHBaseWrote) {
  const std::string suffix = ".desc.txt";
  int files = 0;
  for (const auto& table : TablesOf(suffix)) {
    const std::string description = testing::ReadFile(table);
    if (description.find(" asked=false") != std::string::npos) continue;
    ++files;
    const OpenHFile file = FileOf(table, suffix);
    const auto cells = file->NewCellReader();
    uLong crc = crc32(0, nullptr, 0);
    for (HFileCell cell; cells->Next(&cell);) {
      const std::string bytes = BytesOf(cell);
      crc = crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()),
                  static_cast<uInt>(bytes.size()));
    }
    EXPECT_EQ(cells->status(), absl::OkStatus());
    std::string digits;
    util::AppendBigEndian(static_cast<uint32_t>(crc), &digits);
    EXPECT_NE(description.find("crc32=" + absl::BytesToHexString(digits)),
              std::string::npos)
        << table;
  }
  EXPECT_GT(files, 60);
}

TEST(HBaseFiles, WithoutKeyOrCodecAnswerMaybe) {
  const OpenHFile encrypted(
      testing::ReadFile(testing::HFileData("hbase_2.6/row_encrypted.hfile")));
  EXPECT_TRUE(encrypted->properties().is_encrypted);
  EXPECT_FALSE(encrypted->general_filter().is_usable);
  EXPECT_NE(encrypted->general_filter().reason, "");
  EXPECT_TRUE(encrypted->MayContain("no such row"));
  EXPECT_TRUE(encrypted->MayContain("no such row", "q"));
}

}  // namespace
}  // namespace rowbloom
