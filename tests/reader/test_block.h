// SPDX-License-Identifier: Apache-2.0
//
// Filter blocks in memory and their readers, for tests.
//
//   TestFile file(BlockOptions("fast", 10, 4096), EvenRows(1000));
//   const auto reader = file.Open();
//   file.source.FailRead(1);
//   EXPECT_TRUE(reader->MayContain(NumberedRow(1)));
//   EXPECT_EQ(file.source.read_count(), 1u);

#ifndef ROWBLOOM_TESTS_READER_TEST_BLOCK_H_
#define ROWBLOOM_TESTS_READER_TEST_BLOCK_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/block_reader.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"
#include "testing/faulty_source.h"
#include "testing/keys.h"

namespace rowbloom::testing {

inline FilterOptions BlockOptions(std::string_view family, double bits_per_key,
                                  uint32_t chunk_size_bytes,
                                  BloomType type = BloomType::kRow) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey(family, bits_per_key);
  options.chunk_size_bytes = chunk_size_bytes;
  options.bloom_type = type;
  if (type == BloomType::kRowPrefixFixedLength) options.prefix_length_bytes = 8;
  return options;
}

// Appends a block to *bytes.
inline FilterBlockInfo AppendBlock(const FilterOptions& options,
                                   const std::vector<Cell>& cells,
                                   std::string* bytes,
                                   FilterChunkObserver* observer = nullptr) {
  const std::unique_ptr<ByteSink> sink = NewStringSink(bytes);
  FilterBlockWriter writer(options, sink.get(), observer);
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  const auto info = writer.Finish();
  EXPECT_TRUE(info.ok()) << info.status();
  return info.value_or(FilterBlockInfo());
}

inline std::string WriteBlock(const FilterOptions& options,
                              const std::vector<Cell>& cells) {
  std::string bytes;
  AppendBlock(options, cells, &bytes);
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
    const RandomAccessSource* source, const FilterReaderOptions& options,
    const FilterBlockRange& range = {}) {
  auto reader = FilterReader::Open(source, range, options);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

inline FilterReaderOptions CachedIn(
    const std::unique_ptr<FilterCache>& cache,
    FilterLoading loading = FilterLoading::kWhenItPays, uint64_t file_id = 0) {
  FilterReaderOptions options;
  options.cache = cache.get();
  options.loading = loading;
  options.file_id = file_id;
  return options;
}

// A block whose reads are counted and can be broken.
struct TestFile {
  explicit TestFile(std::string block, std::string_view name = "f.sst")
      : bytes(std::move(block)), memory(NewMemorySource(bytes, name)) {}
  TestFile(const FilterOptions& options, const std::vector<Cell>& cells)
      : TestFile(WriteBlock(options, cells)) {}

  // The counts begin after it.
  std::unique_ptr<FilterReader> Open(const FilterReaderOptions& options = {}) {
    auto reader = OpenOrDie(&source, options);
    source.Reset();
    return reader;
  }
  std::string_view BytesOf(const FilterLoad& load) const {
    return std::string_view(bytes).substr(load.offset, load.size_bytes);
  }

  std::string bytes;
  const std::unique_ptr<RandomAccessSource> memory;
  FaultySource source{memory.get()};
};

// Calls a function before each read of another source.
class HookedSource final : public RandomAccessSource {
 public:
  HookedSource(const RandomAccessSource* source, std::function<void()> hook)
      : source_(source), hook_(std::move(hook)) {}
  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    hook_();
    return source_->Read(offset, size_bytes, scratch, result);
  }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

 private:
  const RandomAccessSource* const source_;
  const std::function<void()> hook_;
};

// Returns how many of the absent rows between the `rows` even ones are "maybe";
// all even ones must be.
inline uint64_t CountFalsePositives(const FilterReader& reader, uint64_t rows) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < rows; ++i) {
    EXPECT_TRUE(reader.MayContain(NumberedRow(2 * i)));
    if (i + 1 < rows) count += reader.MayContain(NumberedRow(2 * i + 1));
  }
  return count;
}

inline size_t RoleBytes(const FilterCache& cache, FilterCacheRole role) {
  return cache.GetUsage().role_bytes[static_cast<size_t>(role)];
}

inline std::vector<uint32_t> LoadedSteps(const FilterReader& reader) {
  return internal::reader::BlockReader::Of(reader).LoadedSteps();
}

inline std::vector<FilterKey> RowKeys(const std::vector<std::string>& rows) {
  std::vector<FilterKey> keys;
  for (const std::string& row : rows) keys.push_back(FilterKey::Row(row));
  return keys;
}

// Returns the answers of one batch.
inline std::vector<char> Ask(absl::Span<const FilterQuestion> questions) {
  const auto answers = std::make_unique<bool[]>(questions.size());
  FilterReader::MayContain(questions, answers.get());
  return {answers.get(), answers.get() + questions.size()};
}
inline std::vector<char> Ask(const FilterReader& reader,
                             const std::vector<FilterKey>& keys) {
  const auto answers = std::make_unique<bool[]>(keys.size());
  reader.MayContain(keys, answers.get());
  return {answers.get(), answers.get() + keys.size()};
}

// The name of a test for each family.
inline std::string FamilyOf(
    const ::testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_READER_TEST_BLOCK_H_
