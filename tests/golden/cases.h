// SPDX-License-Identifier: Apache-2.0
//
// What the golden files hold. Never change a case: add one.

#ifndef ROWBLOOM_TESTS_GOLDEN_CASES_H_
#define ROWBLOOM_TESTS_GOLDEN_CASES_H_

#include <string>
#include <vector>

#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_block_writer.h"
#include "testing/keys.h"

namespace rowbloom::golden {

struct Case {
  std::string file;  // filter_block_v1_NAME.bin
  FilterOptions options;
  std::vector<testing::Cell> cells;
  // Or only read: the writer of today writes something better.
  bool still_written = true;
};

inline std::vector<testing::Cell> Cells(uint64_t rows = 300) {
  std::vector<testing::Cell> cells;
  for (uint64_t i = 0; i < rows; ++i) {
    for (const char* qualifier : {"email", "name"}) {
      cells.push_back({testing::NumberedRow(2 * i), qualifier});
    }
  }
  return cells;
}

inline std::vector<Case> BlockCases() {
  const auto options = [](BloomType type, double bits_per_key) {
    FilterOptions made;
    made.bloom_type = type;
    made.chunk_size_bytes = 256;
    made.policy = FilterPolicy::BitsPerKey("blocked_bloom", bits_per_key);
    return made;
  };
  std::vector<Case> cases = {
      {"filter_block_v1_empty.bin", options(BloomType::kRow, 10), {}},
      {"filter_block_v1_none.bin", options(BloomType::kNone, 10), Cells()},
      {"filter_block_v1_row.bin", options(BloomType::kRow, 10), Cells()},
      {"filter_block_v1_row_2_bits.bin", options(BloomType::kRow, 2), Cells()},
      {"filter_block_v1_row_24_bits.bin", options(BloomType::kRow, 24),
       Cells()},
      {"filter_block_v1_rowcol.bin", options(BloomType::kRowCol, 10), Cells()},
      {"filter_block_v1_rowprefix.bin",
       options(BloomType::kRowPrefixFixedLength, 10), Cells()},
      {"filter_block_v1_always_maybe.bin", options(BloomType::kRow, 10),
       Cells()}};
  cases[6].options.prefix_length_bytes = 8;
  cases[7].options.policy = FilterPolicy::BitsPerKey("always_maybe", 10);
  for (size_t i = 2; i <= 6; ++i) cases[i].still_written = false;  // Salted.
  const auto add = [&](const std::string& name, const char* family,
                       double bits_per_key, uint64_t rows,
                       BloomType type = BloomType::kRow) {
    Case made{"filter_block_v1_" + name + ".bin", options(type, bits_per_key),
              Cells(rows)};
    made.options.policy = FilterPolicy::BitsPerKey(family, bits_per_key);
    made.options.chunk_size_bytes = 4096;
    cases.push_back(made);
  };
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
  // Layers and units, partial ones too.
  add("compact_one_key", "compact", 8.15, 1);
  add("compact_two_layers", "compact", 8.15, 3000);
  add("compact_2_columns", "compact", 2.5, 300);
  add("compact_10_columns", "compact", 10, 700);
  add("compact_rowcol", "compact", 7, 300, BloomType::kRowCol);
  add("compact_23_columns", "compact", 24, 300);
  return cases;
}

inline constexpr char kOldBlobFile[] = "filter_blob_v1.bin";  // Salted.
inline constexpr char kBlobFile[] = "filter_blob_v1_compact.bin";

inline std::string Blob() {
  const auto builder =
      NewFilterBuilder(FilterPolicy::BitsPerKey("compact", 10));
  for (const testing::Cell& cell : Cells()) {
    builder->Add(DigestBytes(cell.row));
  }
  return EncodeFilterBlob(builder->Finish(), "metadata");
}

}  // namespace rowbloom::golden

#endif  // ROWBLOOM_TESTS_GOLDEN_CASES_H_
