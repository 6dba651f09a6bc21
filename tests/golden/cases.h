// SPDX-License-Identifier: Apache-2.0
//
// The contents of the golden files. Never change a case: add one.

#ifndef ROWBLOOM_TESTS_GOLDEN_CASES_H_
#define ROWBLOOM_TESTS_GOLDEN_CASES_H_

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "testing/keys.h"

namespace rowbloom::golden {

struct Case {
  std::string file;  // filter_block_v1_NAME.bin
  FilterOptions options;
  std::vector<testing::Cell> cells;
  // False if builders make other choices by now, in the same format.
  bool is_written = true;
};

inline std::vector<testing::Cell> Cells(uint64_t rows = 300,
                                        uint64_t step = 2) {
  std::vector<testing::Cell> cells;
  for (uint64_t i = 0; i < rows; ++i) {
    for (const char* qualifier : {"email", "name"}) {
      cells.push_back({testing::NumberedRow(step * i), qualifier});
    }
  }
  return cells;
}

inline std::vector<Case> BlockCases() {
  std::vector<Case> cases;
  // The case stays valid until the next one.
  const auto add = [&](const std::string& name, const char* family,
                       double bits_per_key, uint64_t rows,
                       BloomType type = BloomType::kRow,
                       uint32_t chunk_size_bytes = 4096) -> Case& {
    Case& made = cases.emplace_back();
    made.file = "filter_block_v1_" + name + ".bin";
    made.options.bloom_type = type;
    made.options.chunk_size_bytes = chunk_size_bytes;
    made.options.filter_spec = FilterSpec::BitsPerKey(family, bits_per_key);
    made.cells = Cells(rows);
    return made;
  };
  add("empty", "blocked_bloom", 10, 0, BloomType::kRow, 256);
  add("none", "blocked_bloom", 10, 300, BloomType::kNone, 256);
  add("prefix", "blocked_bloom", 10, 300, BloomType::kRowPrefixFixedLength, 256)
      .options.prefix_length_bytes = 8;
  add("always_maybe", "always_maybe", 10, 300, BloomType::kRow, 256);
  add("blocked_bloom", "blocked_bloom", 10, 300);
  add("blocked_bloom_1_bit", "blocked_bloom", 1, 300);
  add("blocked_bloom_24_bits", "blocked_bloom", 24, 300);
  add("blocked_bloom_rowcol", "blocked_bloom", 10, 300, BloomType::kRowCol);
  add("fast_8_columns", "fast", 9.5, 1000);
  add("fast_9_columns", "fast", 11, 300);
  add("fast_10_columns", "fast", 14, 300);
  add("fast_12_columns", "fast", 17, 300);
  add("fast_15_columns", "fast", 23, 300);
  add("fast_5_columns", "fast", 6, 300);
  add("fast_6_columns", "fast", 7.5, 300);
  add("fast_7_columns", "fast", 8, 1000);
  // Compact filters of several layers and units, some of them partial: first
  // those of former builders, which made other choices in the same format.
  const auto add_former = [&](const std::string& name, double bits_per_key,
                              uint64_t rows, BloomType type = BloomType::kRow) {
    add(name, "compact", bits_per_key, rows, type).is_written = false;
  };
  add_former("compact_one_key", 8.15, 1);
  add_former("compact_two_layers", 8.15, 3000);
  add_former("compact_two_layers_2", 8.15, 3000);
  add_former("compact_2_columns", 2.5, 300);
  add_former("compact_10_columns", 10, 700);
  add_former("compact_23_columns", 24, 300);
  add_former("compact_rowcol", 7, 300, BloomType::kRowCol);
  add_former("compact_rowcol_2", 7, 300, BloomType::kRowCol);
  add_former("compact_10_planes", 10, 700);
  add_former("compact_rows_and_columns", 7, 300, BloomType::kRowCol);
  add("compact_1_key", "compact", 8.15, 1);
  add("compact_3000_keys", "compact", 8.15, 3000);
  add("compact_2_planes", "compact", 2.5, 300);
  add("compact_23_planes", "compact", 24, 300);
  add("compact_700_keys", "compact", 10, 700);
  add("compact_rows_and_columns_2", "compact", 7, 300, BloomType::kRowCol);
  add("secret", "fast", 11, 300, BloomType::kRowCol).options.secret = {
      {0x0123456789abcdef, 0xfedcba9876543210}};
  // The lower bounds of chunks are shorter than their first keys.
  add("lower_bounds", "blocked_bloom", 10, 0, BloomType::kRowCol, 256).cells =
      Cells(300, 99991);
  // Four levels of keys: two prefixes of a row, the row and the column.
  for (const bool adds_rows : {true, false}) {
    Case& levels = add(adds_rows ? "row_schema" : "row_schema_without_rows",
                       "blocked_bloom", 10, 0, BloomType::kRowCol, 256);
    levels.cells = Cells(300, 3001);
    levels.options.rowcol_adds_rows = adds_rows;
    levels.options.key_codec =
        *KeyCodec::Parse("shard.fixed:4,group.fixed:2,row.rest");
  }
  return cases;
}

// The first is of a former builder.
inline constexpr const char* kBlobFiles[] = {"filter_blob_v1_compact.bin",
                                             "filter_blob_v1_compact_2.bin"};

inline std::string Blob() {
  const auto builder = NewFilterBuilder(FilterSpec::BitsPerKey("compact", 10));
  for (const testing::Cell& cell : Cells()) {
    builder->Add(DigestBytes(cell.row));
  }
  return EncodeFilterBlob(builder->Finish(), "metadata");
}

// A memfilter of 300 keys, saved as memfilter_v1_NAME.bin.
struct MemFilterCase {
  std::string file;
  std::unique_ptr<MemFilter> filter;
};

inline std::vector<KeyDigest> MemFilterKeys() {
  std::vector<KeyDigest> keys;
  for (uint64_t i = 0; i < 300; ++i) {
    keys.push_back(DigestBytes(testing::NumberedRow(2 * i)));
  }
  return keys;
}

inline std::vector<MemFilterCase> MemFilterCases() {
  constexpr BloomShape kShape = {3001, 7};
  constexpr BloomShape kRow = {1001, 7};
  std::vector<MemFilterCase> cases;
  const auto add = [&](const char* name, std::unique_ptr<MemFilter> filter) {
    if (!filter->Add(MemFilterKeys()).ok()) std::abort();
    cases.push_back(
        {std::string("memfilter_v1_") + name + ".bin", std::move(filter)});
  };
  add("standard", AnyFilter(*StandardFilter::New(kShape)));
  add("counting", AnyFilter(*CountingFilter::New({kShape})));
  // Some counters are stuck.
  add("counting_2_bits", AnyFilter(*CountingFilter::New({kShape, 2})));
  add("scalable", AnyFilter(*ScalableFilter::New({0.01, 50})));
  add("dynamic", AnyFilter(*DynamicFilter::New({kRow, 100})));
  add("split", AnyFilter(*SplitFilter::New({kRow, 100, 4})));
  add("balanced", AnyFilter(*BalancedFilter::New({kRow})));
  add("matrix", AnyFilter(*MatrixFilter::New({kRow, 8})));
  return cases;
}

}  // namespace rowbloom::golden

#endif  // ROWBLOOM_TESTS_GOLDEN_CASES_H_
