// SPDX-License-Identifier: Apache-2.0
//
// The counters of one file. What every lookup raises is kept by thread; what
// comes with a read of data or filters is dear already, and shared.

#ifndef ROWBLOOM_STATS_FILE_COUNTERS_H_
#define ROWBLOOM_STATS_FILE_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/thread_counters.h"
#include "rowbloom/filter_stats.h"

namespace rowbloom::stats {

inline constexpr uint32_t kSampleInterval = 16;

class FileCounters {
 public:
  // One lookup. True for one of kSampleInterval on average, so that no pattern
  // of lookups hides from it: for estimates that are too dear to keep each
  // time. `thread` is the calling one.
  bool CountLookup(base::ThreadRecord& thread, bool is_negative) {
    const uint64_t count =
        by_thread_.Add(thread, is_negative ? kNegatives : kPositives);
    // Multiples of the golden ratio are spread evenly, without a period.
    return count * 0x9e3779b97f4a7c15 < ~uint64_t{0} / kSampleInterval;
  }
  void Add(FilterCounter counter, uint64_t delta = 1) {
    shared_[static_cast<size_t>(counter)].fetch_add(delta,
                                                    std::memory_order_relaxed);
  }
  FilterStatsSnapshot Snapshot() const;

 private:
  static constexpr size_t kPositives = 0;
  static constexpr size_t kNegatives = 1;

  base::ThreadCounters by_thread_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(FilterCounter::kCount)>
      shared_{};
};

}  // namespace rowbloom::stats

#endif  // ROWBLOOM_STATS_FILE_COUNTERS_H_
