// SPDX-License-Identifier: Apache-2.0
//
// Reads a filter block by docs/filter_block_format.md alone: field offsets and
// sizes come from its tables, example bytes from its hex.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "block/chunk_index.h"
#include "reader/test_block.h"
#include "util/digest.h"

namespace rowbloom {
namespace {

using testing::Cell;

struct Field {
  size_t offset = 0;
  size_t size = 0;
};

std::string Document() {
  std::ifstream file(ROWBLOOM_SOURCE_DIR "/docs/filter_block_format.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns the text between a heading and the next one.
std::string Section(const std::string& heading) {
  const std::string document = Document();
  const size_t begin = document.find("\n## " + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  const size_t end = document.find("\n## ", begin + 1);
  return document.substr(begin, end - begin);
}

// Parses the rows `| name | offset | size | ...` of a section.
std::map<std::string, Field> Fields(const std::string& heading) {
  std::map<std::string, Field> fields;
  const std::string section = Section(heading);
  const std::regex row(R"(\n\| (\w+) \| (\d+) \| (\d+) \|)");
  for (auto it = std::sregex_iterator(section.begin(), section.end(), row);
       it != std::sregex_iterator(); ++it) {
    fields[(*it)[1]] = {std::stoul((*it)[2]), std::stoul((*it)[3])};
  }
  return fields;
}

// Returns the bytes of an indented hex example; a double space that no byte
// follows ends the hex of a line.
std::string HexOf(const std::string& section) {
  std::string bytes;
  std::istringstream lines(section);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.compare(0, 4, "    ") != 0) continue;
    const std::regex byte(R"(^ *([0-9a-f]{2})(?= |$))");
    std::smatch match;
    while (std::regex_search(line, match, byte)) {
      bytes.push_back(static_cast<char>(std::stoi(match[1], nullptr, 16)));
      line = match.suffix();
    }
  }
  return bytes;
}

uint64_t Load(std::string_view bytes, size_t offset, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |=
        static_cast<uint64_t>(static_cast<unsigned char>(bytes.at(offset + i)))
        << (8 * i);
  }
  return value;
}

uint64_t TakeVarint(std::string_view* in) {
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(in->at(0));
    in->remove_prefix(1);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
}

std::string_view Take(size_t size, std::string_view* in) {
  const std::string_view taken = in->substr(0, size);
  EXPECT_EQ(taken.size(), size);
  in->remove_prefix(taken.size());
  return taken;
}

// A filter key in the document's order.
struct Key {
  std::string row;
  std::optional<std::string> qualifier;

  friend bool operator<(const Key& a, const Key& b) {
    return std::tie(a.row, a.qualifier) < std::tie(b.row, b.qualifier);
  }
  friend bool operator==(const Key& a, const Key& b) {
    return a.row == b.row && a.qualifier == b.qualifier;
  }
};

Key TakeKey(std::string_view* in) {
  const char kind = Take(1, in)[0];
  EXPECT_TRUE(kind == 1 || kind == 2);
  Key key;
  key.row = Take(TakeVarint(in), in);
  if (kind == 2) key.qualifier = Take(TakeVarint(in), in);
  return key;
}

// Returns the filter keys of ROWCOL, in order.
std::vector<Key> RowColKeys(const std::vector<Cell>& cells) {
  std::set<Key> keys;
  for (const Cell& cell : cells) {
    keys.insert({cell.row, std::nullopt});
    keys.insert({cell.row, cell.qualifier});
  }
  return {keys.begin(), keys.end()};
}

// Follows the document: tries the prefixes of `first`, the shortest one first.
Key LowerBound(const Key& last, const Key& first) {
  for (size_t size = 0; size < first.row.size(); ++size) {
    Key prefix = {first.row.substr(0, size), std::nullopt};
    if (first.qualifier.has_value()) prefix.qualifier = "";
    if (last.row < prefix.row) return prefix;
  }
  if (!first.qualifier.has_value()) return first;
  for (size_t size = 0; size < first.qualifier->size(); ++size) {
    const Key prefix = {first.row, first.qualifier->substr(0, size)};
    if (last < prefix) return prefix;
  }
  return first;
}

// Parses a key as a table shows it: `row`, or `row` `qualifier`.
Key ShownKey(const std::string& text) {
  const std::regex form(R"(`(\w*)`( `(\w*)`)?)");
  std::smatch match;
  EXPECT_TRUE(std::regex_match(text, match, form)) << text;
  Key key = {match[1], std::nullopt};
  if (match[2].matched) key.qualifier = match[3];
  return key;
}

block::StoredKey Stored(const Key& key) {
  if (!key.qualifier.has_value()) return {key.row, "", false};
  return {key.row, *key.qualifier, true};
}

TEST(FilterBlockFormatDocument, DescribesWhatTheWriterWrites) {
  testing::Random random(71);
  const std::vector<Cell> cells = testing::SortedCells(&random, 2000);
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 10);
  options.chunk_size_bytes = 1024;
  const std::string block = testing::WriteBlock(options, cells);

  std::map<std::string, Field> footer_fields = Fields("Footer");
  ASSERT_EQ(footer_fields.size(), 11u);
  const std::string_view footer =
      std::string_view(block).substr(block.size() - 56);
  const auto footer_field = [&](const std::string& name) {
    EXPECT_EQ(footer_fields.count(name), 1u) << name;
    return Load(footer, footer_fields[name].offset, footer_fields[name].size);
  };
  EXPECT_EQ(footer_field("block_size"), block.size());
  EXPECT_EQ(footer_field("format_version"), 1u);
  EXPECT_EQ(footer_field("incompatible_flags"), 0u);
  EXPECT_EQ(footer_field("reserved"), 0u);
  EXPECT_EQ(footer_field("footer_checksum"),
            util::Checksum32(footer.substr(0, 44)));
  EXPECT_EQ(footer.substr(footer_fields["magic"].offset), "rowbloom");
  const uint64_t index_offset = footer_field("index_offset");
  std::string_view index =
      std::string_view(block).substr(index_offset, footer_field("index_size"));
  std::string_view properties = std::string_view(block).substr(
      index_offset + index.size(), footer_field("properties_size"));
  EXPECT_EQ(index_offset + index.size() + properties.size() + 56, block.size());
  EXPECT_EQ(footer_field("index_checksum"), util::Checksum32(index));
  EXPECT_EQ(footer_field("properties_checksum"), util::Checksum32(properties));

  std::map<uint64_t, std::string_view> values;
  while (!properties.empty()) {
    const uint64_t field = TakeVarint(&properties);
    values[field] = Take(TakeVarint(&properties), &properties);
  }
  const auto integer = [&values](uint64_t field) {
    std::string_view value = values[field];
    return TakeVarint(&value);
  };
  EXPECT_EQ(integer(1), 3u);  // ROWCOL
  EXPECT_EQ(integer(3), 1u);
  EXPECT_EQ(integer(4), cells.size());
  const std::vector<Key> keys = RowColKeys(cells);
  EXPECT_TRUE(TakeKey(&values[9]) == keys.back());

  // The chunks lie end to end; each is decoded by filter_families.md.
  uint64_t offset = 0, key_count = 0, chunk_count = 0;
  while (!index.empty()) {
    const Key lower_bound = TakeKey(&index);
    const Key first = keys.at(key_count);
    EXPECT_TRUE(
        lower_bound ==
        (key_count == 0 ? first : LowerBound(keys[key_count - 1], first)));
    EXPECT_EQ(Load(Take(1, &index), 0, 1), 1u);  // Descriptor version.
    EXPECT_EQ(Load(Take(1, &index), 0, 1), 2u);  // blocked_bloom.
    EXPECT_EQ(Load(Take(1, &index), 0, 1), 1u);  // Units.
    const uint64_t parameters = TakeVarint(&index);
    EXPECT_EQ(parameters & 256, 256u);  // The kind of lines.
    const uint64_t probe_count = parameters - 256;
    key_count += TakeVarint(&index);
    const uint64_t size = TakeVarint(&index);
    const uint64_t checksum = Load(Take(4, &index), 0, 4);
    const std::string_view unit = std::string_view(block).substr(offset, size);
    EXPECT_EQ(checksum, util::Checksum32(unit));
    // The chunk holds its first key.
    uint64_t digest = util::Hash64(first.row);
    if (first.qualifier.has_value()) {
      digest = util::Hash64(*first.qualifier, digest);
    }
    const uint64_t line = static_cast<uint64_t>(
        static_cast<unsigned __int128>(digest) * (size / 64) >> 64);
    const std::string_view bytes = unit.substr(line * 64, 64);
    const uint64_t g = digest * 0x9e3779b97f4a7c15;
    ASSERT_LE(probe_count, 8u);
    for (uint64_t i = 0; i < 8; ++i) {
      if ((i + (g >> 13 & 7)) % 8 >= probe_count) continue;
      const uint64_t bit = g >> (16 + 6 * i) & 63;
      EXPECT_TRUE(Load(bytes, 8 * i, 8) >> bit & 1);
    }
    offset += size;
    ++chunk_count;
  }
  EXPECT_EQ(offset, index_offset);
  EXPECT_EQ(integer(5), key_count);
  EXPECT_EQ(integer(6), chunk_count);
  EXPECT_GT(chunk_count, 3u);
}

TEST(FilterBlockFormatDocument, ShowsLowerBoundsAsTheyAreWritten) {
  const std::string section = Section("Chunk index");
  const std::regex line(R"(\n\| (`.*`) \| (`.*`) \| (`.*`) \|)");
  int shown = 0;
  for (auto it = std::sregex_iterator(section.begin(), section.end(), line);
       it != std::sregex_iterator(); ++it) {
    const Key last = ShownKey((*it)[1]);
    const Key first = ShownKey((*it)[2]);
    const Key lower_bound = ShownKey((*it)[3]);
    EXPECT_TRUE(lower_bound == LowerBound(last, first)) << it->str();
    EXPECT_EQ(
        block::Compare(block::ShortestSeparator(Stored(last), Stored(first)),
                       Stored(lower_bound)),
        0)
        << it->str();
    ++shown;
  }
  EXPECT_EQ(shown, 9);
}

TEST(FilterBlockFormatDocument, ShowsTheSmallestBlockAsItIs) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 10);
  const std::string written = testing::WriteBlock(options, {});
  const std::string shown = HexOf(Section("The smallest block"));
  if (shown != written) {
    for (const char c : written) {
      printf("%02x ", static_cast<unsigned char>(c));
    }
    printf("\n");
  }
  EXPECT_EQ(shown, written);
}

TEST(FilterBlockFormatDocument, BlobTrailerFieldsAreEightBytes) {
  std::map<std::string, Field> fields = Fields("Filter blob");
  ASSERT_EQ(fields.size(), 4u);
  size_t end = 0;
  for (const auto& [name, field] : fields) {
    end = std::max(end, field.offset + field.size);
  }
  EXPECT_EQ(end, 8u);
}

}  // namespace
}  // namespace rowbloom
