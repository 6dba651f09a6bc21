// SPDX-License-Identifier: Apache-2.0
//
// The cases of vectors/. Never change one: add others.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "block/format.h"
#include "format/case.h"
#include "golden/cases.h"
#include "testing/reseal.h"
#include "util/coding.h"

namespace rowbloom::cases {

namespace {

// Keys of the sizes at which XXH3-64 changes.
std::vector<Cell> CellsOfManySizes() {
  std::vector<Cell> cells;
  for (const size_t size :
       {0, 1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 2000}) {
    cells.push_back({std::string(size, 'x'), std::string(size, 'q')});
  }
  return cells;
}

std::vector<Question> RowsAndCellsOf(const std::vector<Cell>& cells) {
  std::vector<Question> questions;
  for (const Cell& cell : cells) {
    questions.push_back(Question::Row(cell.row));
    questions.push_back(Question::OfCell(cell));
    questions.push_back(Question::OfCell({cell.row, "a"}));
  }
  return questions;
}

// Rows of which some would lose their prefixes if `ordered` ended elsewhere.
std::vector<Cell> OrderedCells() {
  std::vector<Cell> cells;
  for (const char* hex :
       {"00000001313730", "6100016200016300", "6100ff6200016300ff6400",
        "610005620001", "6100", "61000162", "00ff00ff0001", "000100010001"}) {
    cells.push_back({absl::HexStringToBytes(hex), "q"});
  }
  std::sort(cells.begin(), cells.end());
  return cells;
}

std::vector<Question> AllPrefixesOf(const std::vector<Cell>& cells) {
  std::vector<Question> questions;
  for (const Cell& cell : cells) {
    for (size_t size = 0; size <= cell.row.size(); ++size) {
      questions.push_back(Question::Prefix(cell.row.substr(0, size)));
      questions.push_back(Question::Prefix(cell.row.substr(0, size) + "\1z"));
    }
  }
  return questions;
}

void WriteBlockVectors(CaseWriter* out) {
  FilterOptions options;
  options.chunk_size_bytes = 256;
  // All of the first rows are asked for.
  const auto write = [&](const std::string& name, const FilterSpec& spec,
                         const std::vector<Cell>& cells, size_t rows = 0) {
    options.filter_spec = spec;
    Case made = BlockCase("filter_block_" + name, options, cells);
    Random random(1);
    made.questions = QuestionsAbout(cells, 40, &random);
    for (size_t i = 0; i < rows; ++i) {
      made.questions.push_back(Question::Row(cells[2 * i].row));
    }
    if (made.bytes.size() < 1000) AddVariants(4, &random, &made);
    made.variants.push_back(made.bytes);  // The first chunk is damaged.
    made.variants.back()[0] ^= 1;
    out->Write(made);
  };
  const FilterSpec bloom = FilterSpec::BitsPerKey("blocked_bloom", 10);
  write("row", bloom, golden::Cells(30, 7));
  write("empty", bloom, {});
  write("always_maybe", FilterSpec::BitsPerKey("always_maybe", 1),
        golden::Cells(3, 7));
  for (const double bits : {3.0, 24.0}) {
    write(absl::StrCat("blocked_bloom_", bits),
          FilterSpec::BitsPerKey("blocked_bloom", bits), golden::Cells(30, 7));
  }
  // Lines are so full that some keys are in the next one.
  options.chunk_size_bytes = 1 << 20;
  for (const double bits : {6.0, 7.15, 8.0, 9.25, 10.6, 12.7, 16.0, 22.5}) {
    write(absl::StrCat("fast_", bits), FilterSpec::BitsPerKey("fast", bits),
          golden::Cells(200, 7), 110);
  }
  options.chunk_size_bytes = 256;
  for (const double bits : {1.0, 4.5, 8.15, 10.0}) {
    write(absl::StrCat("compact_", bits),
          FilterSpec::BitsPerKey("compact", bits), golden::Cells(30, 7));
  }
  // All stripes have the same planes.
  for (const int planes : {4, 6}) {
    write(absl::StrCat("compact_", planes, "_planes"),
          FilterSpec::TargetFpr("compact", std::ldexp(1, -planes)),
          golden::Cells(30, 7));
  }
  options.chunk_size_bytes = 1 << 20;
  write("compact_layers", FilterSpec::BitsPerKey("compact", 8.5),
        golden::Cells(1500, 7), 300);
  options.chunk_size_bytes = 256;
  options.bloom_type = BloomType::kNone;
  write("none", bloom, golden::Cells(3, 7));
  options.bloom_type = BloomType::kRowCol;
  // A chunk ends with a row's own key, behind which are its columns.
  std::vector<Cell> odd = golden::Cells(75, 7);
  odd.erase(odd.begin());
  write("rowcol", bloom, odd, 70);
  Case sizes = BlockCase("filter_block_sizes", options, CellsOfManySizes());
  sizes.questions = RowsAndCellsOf(CellsOfManySizes());
  out->Write(sizes);
  options.secret = {{0x0123456789abcdef, 0xfedcba9876543210}};
  write("secret", FilterSpec::BitsPerKey("compact", 7), golden::Cells(30, 7));
  options.secret = {};
  options.rowcol_adds_rows = false;
  write("rowcol_without_rows", bloom, golden::Cells(30, 7));
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  options.prefix_length_bytes = 8;
  write("rowprefix", bloom, golden::Cells(30, 7));
}

// Where the parts of a block's tail lie. The block's sizes are below 128, so
// that a varint is a byte.
struct Tail {
  explicit Tail(std::string_view block) {
    const size_t footer = block.size() - block::Footer::kSize;
    const auto load = [&](size_t offset) {
      return util::LoadFixed<uint64_t>(block.data() + footer + offset);
    };
    const size_t index = load(block::Footer::kIndexOffset);
    constexpr size_t kKindAndSize = 2;  // They precede the first key.
    descriptor = index + kKindAndSize + block[index + 1];
    size_t at = index + load(block::Footer::kIndexSize);
    while (at < footer) {
      properties[static_cast<uint8_t>(block[at])] = at;
      at += kKindAndSize + block[at + 1];
    }
  }

  size_t descriptor = 0;
  std::map<uint8_t, size_t> properties;  // By field number.
};

// Blocks of a later version, and properties that are not there.
void WritePropertyVectors(CaseWriter* out) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("compact", 8);
  options.key_codec = *KeyCodec::Parse("fixed:3");
  const std::vector<Cell> cells = golden::Cells(30, 7);
  Case made = BlockCase("filter_block_properties", options, cells);
  Random random(7);
  made.questions = QuestionsAbout(cells, 40, &random);
  const Tail tail(made.bytes);
  const auto vary = [&made](size_t offset, char byte) {
    std::string bytes = made.bytes;
    bytes[offset] = byte;
    testing::Reseal(&bytes);
    made.variants.push_back(bytes);
  };
  const auto value_of = [&tail](uint8_t field) {
    return tail.properties.at(field) + 2;
  };
  // Field 12 is unknown, and there is no key codec.
  vary(tail.properties.at(11), 12);
  // The value of field 7 ends with field 8, which is not there by itself.
  vary(tail.properties.at(7) + 1,
       static_cast<char>(tail.properties.at(9) - value_of(7)));
  for (const char bloom_type : {0, 3, 4, 5}) vary(value_of(1), bloom_type);
  for (const uint8_t field : {2, 3, 4, 5, 6, 10}) {
    if (tail.properties.count(field) > 0) {
      vary(value_of(field), static_cast<char>(made.bytes[value_of(field)] ^ 1));
    }
  }
  vary(value_of(11), 'g');  // Another kind of key segment.
  constexpr size_t kFamily = 1;
  constexpr size_t kUnitCount = 2;
  constexpr size_t kParameters = 3;
  for (const char version : {0, 2}) vary(tail.descriptor, version);
  for (const char family : {0, 1, 2, 3, 5}) {
    vary(tail.descriptor + kFamily, family);
  }
  vary(tail.descriptor + kUnitCount, 1);
  for (const char parameter : {0, 1}) {
    vary(tail.descriptor + kParameters, parameter);
  }
  out->Write(made);
}

void WriteKeyCodecVectors(CaseWriter* out) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("compact", 12);
  const auto write = [&](const std::string& name, const char* codec,
                         const std::vector<Cell>& cells) {
    options.key_codec = *KeyCodec::Parse(codec);
    Case made = BlockCase("key_codec_" + name, options, cells);
    made.questions = AllPrefixesOf(cells);
    out->Write(made);
  };
  write("ordered", "a.ordered,b.ordered", OrderedCells());
  Random random(3);
  for (const auto& [name, codec] : {std::pair("fixed", "fixed:3"),
                                    {"delimiter", "delimiter:0x7c"},
                                    {"whole_key", "whole_key"},
                                    {"single", "1.length:1"},
                                    {"many",
                                     "t.fixed:2,-delimiter:0x00,"
                                     "u.length:4,ordered,rest"}}) {
    options.key_codec = *KeyCodec::Parse(codec);
    write(name, codec, AnyCells(options, 8, &random));
  }
  options.bloom_type = BloomType::kRowCol;
  options.rowcol_adds_rows = false;
  write("without_rows", "ordered", OrderedCells());
}

void WriteOtherVectors(CaseWriter* out) {
  const std::vector<Cell> cells = golden::Cells(20, 7);
  for (const char* family : {"blocked_bloom", "fast", "compact"}) {
    Case made = BlobCase(absl::StrCat("filter_blob_", family),
                         FilterSpec::BitsPerKey(family, 10), cells, "metadata");
    Random random(4);
    made.questions = RowsAndCellsAbout(cells, 40, &random);
    AddVariants(6, &random, &made);
    out->Write(made);
  }
  Random random(6);
  for (auto& golden : golden::MemFilterCases()) {
    Case made;
    made.format = "mem_filter";
    made.name = golden.file.substr(0, golden.file.find('.'));
    made.about = golden.filter->OptionsText();
    made.bytes = golden.filter->Save();
    made.questions = RowsAndCellsAbout(GoldenMemFilterCells(), 40, &random);
    out->Write(made);
  }
  out->Write(RedissonCase("memfilter_v1_redisson", {1001, 7}, 20, 40, &random));
}

}  // namespace

void WriteVectors(CaseWriter* out) {
  WriteBlockVectors(out);
  WritePropertyVectors(out);
  WriteKeyCodecVectors(out);
  WriteOtherVectors(out);
}

}  // namespace rowbloom::cases
