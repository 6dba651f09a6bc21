// SPDX-License-Identifier: Apache-2.0
//
// The counters of one file. The two that every lookup raises are kept per
// thread. The others are shared, because they come with a read of data or
// filters, which is expensive already.

#ifndef ROWBLOOM_READER_FILE_COUNTERS_H_
#define ROWBLOOM_READER_FILE_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rowbloom/filter_stats.h"
#include "util/thread_counters.h"

namespace rowbloom::reader {

inline constexpr uint32_t kSampleInterval = 16;

class FileCounters {
 public:
  // One lookup. True for one of kSampleInterval on average, so that no pattern
  // of lookups hides from it: for estimates that are too expensive to update
  // each time. `thread` is the calling one. CountAnswer() must follow.
  bool CountLookup(util::ThreadRecord& thread) {
    return IsSample(by_thread_.Add(thread, kLookups));
  }
  void CountAnswer(util::ThreadRecord& thread, bool is_negative) {
    by_thread_.Add(thread, kNegatives, is_negative ? 1 : 0);
  }
  // Counts as above in the calling thread's own counters; null if it has none
  // yet.
  class Own {
   public:
    explicit Own(std::atomic<uint64_t>* counters) : counters_(counters) {}
    explicit operator bool() const { return counters_ != nullptr; }
    bool CountLookup() {
      return IsSample(util::ThreadCounters::Raise(counters_ + kLookups));
    }
    // Adds 0 or 1: a store whose address depends on the answer would delay the
    // loads of the next lookup.
    void CountAnswer(bool is_negative) {
      util::ThreadCounters::Raise(counters_ + kNegatives, is_negative ? 1 : 0);
    }

   private:
    std::atomic<uint64_t>* const counters_;
  };
  Own OwnOf(util::ThreadRecord& thread) {
    return Own(by_thread_.OwnOf(thread));
  }
  // Counts a prefix lookup beside the two above, by the key level
  // that answered it; 0 if there was none.
  void CountPrefix(size_t level, bool is_negative) {
    prefix_answers_[level][is_negative ? 1 : 0].fetch_add(
        1, std::memory_order_relaxed);
  }
  void Add(FilterCounter counter, uint64_t delta = 1) {
    shared_[static_cast<size_t>(counter)].fetch_add(delta,
                                                    std::memory_order_relaxed);
  }
  FilterStatsSnapshot Snapshot() const;

 private:
  // Sums load the negatives first, so that these never exceed the lookups.
  static constexpr size_t kNegatives = 0;
  static constexpr size_t kLookups = 1;

  static bool IsSample(uint64_t count) {
    // Multiples of the golden ratio are spread evenly, without a period.
    return count * 0x9e3779b97f4a7c15 / (~uint64_t{0} / kSampleInterval + 1) ==
           0;
  }

  util::ThreadCounters by_thread_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(FilterCounter::kCount)>
      shared_{};
  // Indexed by level and answer.
  std::array<std::array<std::atomic<uint64_t>, 2>,
             FilterStatsSnapshot::kPrefixLevels + 1>
      prefix_answers_{};
};

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_FILE_COUNTERS_H_
