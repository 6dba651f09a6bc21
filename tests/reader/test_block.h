// SPDX-License-Identifier: Apache-2.0
//
// A filter block in memory and its reader, for tests.

#ifndef ROWBLOOM_TESTS_READER_TEST_BLOCK_H_
#define ROWBLOOM_TESTS_READER_TEST_BLOCK_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"
#include "testing/keys.h"

namespace rowbloom::testing {

inline std::string WriteBlock(const FilterOptions& options,
                              const std::vector<Cell>& cells) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = NewStringSink(&bytes);
  FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  const auto info = writer.Finish();
  EXPECT_TRUE(info.ok()) << info.status();
  return bytes;
}

// Returns rows NumberedRow(0), (2), (4)..., so that odd ones between are
// absent.
inline std::vector<Cell> EvenRows(uint64_t count, uint64_t columns = 1) {
  std::vector<Cell> cells;
  for (uint64_t i = 0; i < count; ++i) {
    for (uint64_t c = 0; c < columns; ++c) {
      cells.push_back({NumberedRow(2 * i), "q" + std::to_string(c)});
    }
  }
  return cells;
}

inline std::unique_ptr<FilterReader> OpenOrDie(
    const RandomAccessSource* source, const FilterReaderOptions& options) {
  auto reader = FilterReader::Open(source, {}, options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_READER_TEST_BLOCK_H_
