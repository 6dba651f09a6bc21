// SPDX-License-Identifier: Apache-2.0
//
// A source that counts the reads of another one, so that tests can state the
// I/O of a lookup.
//
//   CountingSource counting(memory.get());
//   reader->MayContain("row");
//   EXPECT_EQ(counting.read_count(), 1);
//
// Reads are counted when they are requested, including reads that then fail.
// Any number of threads; `source` must outlive it.

#ifndef ROWBLOOM_TESTS_TESTING_COUNTING_SOURCE_H_
#define ROWBLOOM_TESTS_TESTING_COUNTING_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/io.h"

namespace rowbloom::testing {

struct ReadRange {
  uint64_t offset = 0;
  size_t size_bytes = 0;

  friend bool operator==(const ReadRange& a, const ReadRange& b) {
    return a.offset == b.offset && a.size_bytes == b.size_bytes;
  }
};

class CountingSource : public RandomAccessSource {
 public:
  explicit CountingSource(const RandomAccessSource* source) : source_(source) {}

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    Count(offset, size_bytes);
    return source_->Read(offset, size_bytes, scratch, result);
  }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

  uint64_t read_count() const { return reads().size(); }
  uint64_t read_bytes() const {
    uint64_t sum = 0;
    for (const ReadRange& read : reads()) sum += read.size_bytes;
    return sum;
  }
  // Returns the reads in order of arrival.
  std::vector<ReadRange> reads() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return reads_;
  }
  void Reset() {
    std::lock_guard<std::mutex> lock(mutex_);
    reads_.clear();
  }

 protected:
  void Count(uint64_t offset, size_t size_bytes) const {
    std::lock_guard<std::mutex> lock(mutex_);
    reads_.push_back({offset, size_bytes});
  }

  const RandomAccessSource* const source_;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<ReadRange> reads_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_COUNTING_SOURCE_H_
