// SPDX-License-Identifier: Apache-2.0
//
// A CountingSource that breaks reads on request.
//
//   FaultySource faulty(memory.get());
//   faulty.FlipBit(/*offset=*/100, /*bit=*/3);
//   EXPECT_TRUE(reader->MayContain("row"));   // never a lost row
//   faulty.Heal();
//   faulty.BreakAtRandom(/*seed=*/1, /*one_in=*/10);  // Any way, any read.
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
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"
#include "testing/counting_source.h"
#include "testing/keys.h"

namespace rowbloom::testing {

class FaultySource final : public CountingSource {
 public:
  using CountingSource::CountingSource;

  // The nth read from now fails with kUnavailable; 1 is the next read.
  void FailRead(uint64_t nth) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.failing_reads.insert(read_number_ + nth);
  }
  // Every read fails with kUnavailable.
  void FailAllReads() {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.fail_all = true;
  }
  // Breaks the contract of a source: every read returns OK with up to this many
  // bytes less than requested.
  void ShortenReads(size_t missing_bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.missing_bytes = missing_bytes;
  }
  // Flips a bit, 0 to 7, of the byte at this offset of the source.
  void FlipBit(uint64_t offset, int bit) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.flips.emplace_back(offset, bit);
  }
  // One of `one_in` reads fails, is torn, is shorter than it says, has flipped
  // bits, or only takes longer.
  void BreakAtRandom(uint64_t seed, uint64_t one_in) {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_.one_in = one_in;
    random_ = Random(seed);
  }
  // Reads that BreakAtRandom() let fail or be short, and reads in which it
  // flipped bits; Heal() does not reset them.
  uint64_t random_failures() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return random_failures_;
  }
  uint64_t random_flips() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return random_flips_;
  }
  void Heal() {
    std::lock_guard<std::mutex> lock(mutex_);
    faults_ = Faults();
  }

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    Count(offset, size_bytes);
    Faults faults;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      faults = faults_;
      if (faults.failing_reads.count(++read_number_) > 0) {
        faults.fail_all = true;
      }
      if (faults.one_in > 0 && random_.Below(faults.one_in) == 0) {
        AddRandomFault(offset, size_bytes, &faults);
      }
    }
    for (int i = 0; i < faults.yields; ++i) std::this_thread::yield();
    const std::string read = absl::StrCat(std::string(name()), ": read of ",
                                          size_bytes, " bytes at ", offset);
    if (faults.fail_all) {
      return absl::UnavailableError(absl::StrCat(read, ": told to fail"));
    }
    if (offset > faults.torn_at || size_bytes > faults.torn_at - offset) {
      return absl::OutOfRangeError(absl::StrCat(read, ": torn"));
    }
    absl::Status status = source_->Read(offset, size_bytes, scratch, result);
    if (!status.ok()) return status;
    for (const auto& [at, bit] : faults.flips) {
      if (at < offset || at - offset >= result->size()) continue;
      // The bytes may belong to others; flip a copy.
      if (result->data() != scratch) {
        std::copy(result->begin(), result->end(), scratch);
        *result = std::string_view(scratch, result->size());
      }
      scratch[at - offset] ^= static_cast<char>(1 << bit);
    }
    result->remove_suffix(std::min(faults.missing_bytes, result->size()));
    return absl::OkStatus();
  }

 private:
  struct Faults {
    std::set<uint64_t> failing_reads;  // By number, from 1.
    bool fail_all = false;
    // The file ends here: reads beyond fail with OutOfRange.
    uint64_t torn_at = std::numeric_limits<uint64_t>::max();
    size_t missing_bytes = 0;
    std::vector<std::pair<uint64_t, int>> flips;
    int yields = 0;
    uint64_t one_in = 0;  // 0: never.
  };

  // Needs mutex_.
  void AddRandomFault(uint64_t offset, size_t size_bytes,
                      Faults* faults) const {
    // An empty read cannot miss bytes or have wrong ones.
    switch (random_.Below(size_bytes == 0 ? 3 : 5)) {
      case 0:
        faults->yields = static_cast<int>(1 + random_.Below(20));
        return;
      case 1:
        faults->fail_all = true;
        break;
      case 2:
        if (offset + size_bytes == 0) return;
        faults->torn_at = random_.Below(offset + size_bytes);
        break;
      case 3:
        faults->missing_bytes = 1 + random_.Below(size_bytes);
        break;
      case 4:
        // The bits differ, so that they do not undo each other.
        for (uint64_t i = random_.Below(3) + 1; i > 0; --i) {
          faults->flips.emplace_back(offset + random_.Below(size_bytes),
                                     static_cast<int>(i));
        }
        ++random_flips_;
        return;
    }
    ++random_failures_;
  }

  mutable std::mutex mutex_;
  mutable uint64_t read_number_ = 0;  // Reset() does not change it.
  mutable uint64_t random_failures_ = 0;
  mutable uint64_t random_flips_ = 0;
  mutable Random random_{0};
  Faults faults_;
};

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_FAULTY_SOURCE_H_
