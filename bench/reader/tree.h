// SPDX-License-Identifier: Apache-2.0
//
// The filter blocks of an LSM tree in memory, one file a level, and point gets
// that count what they would read from a disk. There is no data: a "maybe"
// counts as the read of one data block.

#ifndef ROWBLOOM_BENCH_READER_TREE_H_
#define ROWBLOOM_BENCH_READER_TREE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/split_mix.h"
#include "rowbloom/false_positive_memo.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {

constexpr uint64_t kDataBlockSize = 4096;
// Benchmarks report progress after so many gets.
constexpr uint64_t kProgressGets = 1000;
constexpr uint64_t kSeed = 1;  // The asked rows are drawn with it.

// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return NextSplitMix(&state_); }
  // In [0, 1).
  double NextUnit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

// Counts the bytes that one thread reads of another source.
class CountingSource : public RandomAccessSource {
 public:
  explicit CountingSource(std::string_view bytes)
      : source_(NewMemorySource(bytes)) {}

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    ++reads_;
    read_bytes_ += size_bytes;
    return source_->Read(offset, size_bytes, scratch, result);
  }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

  uint64_t reads() const { return reads_; }
  uint64_t read_bytes() const { return read_bytes_; }

 private:
  const std::unique_ptr<RandomAccessSource> source_;
  mutable uint64_t reads_ = 0;
  mutable uint64_t read_bytes_ = 0;
};

struct TreeShape {
  std::vector<uint64_t> level_keys;  // From the top.
  FilterSpec filter_spec;
  // If not empty, the bits per key of each level in place of the policy's; 0:
  // no filter.
  std::vector<double> level_bits_per_key;
  uint32_t chunk_size_bytes = 128 << 10;
};

// A row as the tree has it: 8 bytes, big-endian.
std::array<char, 8> RowBytes(uint64_t row);

// The blocks, written once.
class Tree {
 public:
  explicit Tree(const TreeShape& shape);

  size_t level_count() const { return blocks_.size(); }
  uint64_t level_keys(size_t level) const { return shape_.level_keys[level]; }
  uint64_t key_count() const { return key_count_; }
  const std::string& block(size_t level) const { return blocks_[level]; }
  // Row `i` of the level; rows of a level are spread evenly over all numbers.
  uint64_t PresentRow(size_t level, uint64_t i) const;
  // Draws a level in proportion to its size, and one of its rows.
  void DrawPresent(Random* random, size_t* level, uint64_t* row) const;

 private:
  const TreeShape shape_;
  uint64_t key_count_ = 0;
  std::vector<std::string> blocks_;
};

// The reads of gets, as a store would count them.
struct Reads {
  uint64_t gets = 0;
  uint64_t needed_blocks = 0;      // The row was there.
  uint64_t wasted_blocks = 0;      // It was not.
  uint64_t unfiltered_blocks = 0;  // That gets without filters would read.
  uint64_t filter_reads = 0;
  uint64_t filter_bytes = 0;

  uint64_t bytes() const {
    return (needed_blocks + wasted_blocks) * kDataBlockSize + filter_bytes;
  }
  uint64_t unfiltered_bytes() const {
    return unfiltered_blocks * kDataBlockSize;
  }
};

Reads operator-(const Reads& a, const Reads& b);
Reads operator+(const Reads& a, const Reads& b);

// Readers of all levels over one cache.
class OpenTree {
 public:
  // The arguments must outlive it; options.level is set for each. The memo, if
  // any, is asked after each "maybe".
  OpenTree(const Tree* tree, FilterReaderOptions options,
           FalsePositiveMemo* memo = nullptr);

  // A get of a row that is on `level` (or, with level_count(), nowhere).
  // False if a filter lost it.
  bool Get(uint64_t row, size_t level);
  // Since they were opened.
  Reads reads() const;
  uint64_t wasted_blocks() const { return reads_.wasted_blocks; }
  const FilterReader& reader(size_t level) const { return *readers_[level]; }

 private:
  FalsePositiveMemo* const memo_;
  std::vector<std::unique_ptr<CountingSource>> sources_;
  std::vector<std::unique_ptr<FilterReader>> readers_;  // nullptr: no filter.
  Reads opened_;  // The reads of filters when files were opened.
  Reads reads_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_READER_TREE_H_
