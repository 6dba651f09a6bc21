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
};

inline std::vector<testing::Cell> Cells() {
  std::vector<testing::Cell> cells;
  for (uint64_t i = 0; i < 300; ++i) {
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
  return cases;
}

inline constexpr char kBlobFile[] = "filter_blob_v1.bin";

inline std::string Blob() {
  const auto builder =
      NewFilterBuilder(FilterPolicy::BitsPerKey("blocked_bloom", 10));
  for (const testing::Cell& cell : Cells()) {
    builder->Add(DigestBytes(cell.row));
  }
  return EncodeFilterBlob(builder->Finish(), "metadata");
}

}  // namespace rowbloom::golden

#endif  // ROWBLOOM_TESTS_GOLDEN_CASES_H_
