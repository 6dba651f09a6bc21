// SPDX-License-Identifier: Apache-2.0
//
// A source that breaks the reads of another, as told.
//
//   FaultySource faulty(memory.get());
//   faulty.FlipBit(/*offset=*/100, /*bit=*/3);
//   EXPECT_TRUE(reader->MayContain("row"));   // never a lost row
//   faulty.Heal();
//
// Faults add up until Heal(). Any number of threads; `source` must outlive it.

#ifndef ROWBLOOM_TESTS_TESTING_FAULTY_SOURCE_H_
#define ROWBLOOM_TESTS_TESTING_FAULTY_SOURCE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"

namespace rowbloom::testing {

class FaultySource : public RandomAccessSource {
 public:
  explicit FaultySource(const RandomAccessSource* source) : source_(source) {}

  // The nth read from now fails, with kUnavailable: 1 is the next.
  void FailRead(uint64_t nth) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.failing_reads.insert(read_count_ + nth);
  }
  // So does every read.
  void FailAllReads() {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.fail_all = true;
  }
  // The file ends here: reads beyond fail with OutOfRange, as a source's
  // contract has it. size_bytes() stays what it was.
  void TearAt(uint64_t size_bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.torn_at = size_bytes;
  }
  // Breaks that contract: every read says OK with up to this many bytes less
  // than were asked for.
  void ShortenReads(size_t missing_bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.missing_bytes = missing_bytes;
  }
  // Bit 0 to 7 of the byte at this offset of the source.
  void FlipBit(uint64_t offset, int bit) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.flips.emplace_back(offset, bit);
  }
  void Heal() {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_ = Faults();
  }

  // Reads asked for so far, failed ones included; Heal() does not reset it.
  uint64_t read_count() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return read_count_;
  }

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    Faults faults;
    bool fail;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      faults = faults_;
      ++read_count_;
      fail = faults.fail_all || faults.failing_reads.count(read_count_) > 0;
    }
    const std::string read = absl::StrCat(std::string(name()), ": read of ",
                                          size_bytes, " bytes at ", offset);
    if (fail) {
      return absl::UnavailableError(absl::StrCat(read, ": told to fail"));
    }
    if (offset > faults.torn_at || size_bytes > faults.torn_at - offset) {
      return absl::OutOfRangeError(absl::StrCat(read, ": torn"));
    }
    absl::Status status = source_->Read(offset, size_bytes, scratch, result);
    if (!status.ok()) return status;
    for (const auto& [at, bit] : faults.flips) {
      if (at < offset || at - offset >= result->size()) continue;
      // The bytes may be anyone's; flip a copy.
      if (result->data() != scratch) {
        std::copy(result->begin(), result->end(), scratch);
        *result = std::string_view(scratch, result->size());
      }
      scratch[at - offset] ^= static_cast<char>(1 << bit);
    }
    result->remove_suffix(std::min(faults.missing_bytes, result->size()));
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

 private:
  struct Faults {
    std::set<uint64_t> failing_reads;  // By number, from 1.
    bool fail_all = false;
    uint64_t torn_at = std::numeric_limits<uint64_t>::max();
    size_t missing_bytes = 0;
    std::vector<std::pair<uint64_t, int>> flips;
  };

  const RandomAccessSource* const source_;
  mutable std::mutex mutex_;
  mutable uint64_t read_count_ = 0;
  Faults faults_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_FAULTY_SOURCE_H_
