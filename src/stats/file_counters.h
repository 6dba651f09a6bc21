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

class FileCounters {
 public:
  // `thread` is the calling one.
  void CountLookups(base::ThreadRecord& thread, uint64_t lookups,
                    uint64_t negatives) {
    by_thread_.Add(thread, kLookups, lookups);
    if (negatives > 0) by_thread_.Add(thread, kNegatives, negatives);
  }
  void Add(FilterCounter counter, uint64_t delta = 1) {
    shared_[static_cast<size_t>(counter)].fetch_add(delta,
                                                    std::memory_order_relaxed);
  }
  // Of one of the counters that CountLookups() does not raise.
  uint64_t Get(FilterCounter counter) const {
    return shared_[static_cast<size_t>(counter)].load(
        std::memory_order_relaxed);
  }
  FilterStatsSnapshot Snapshot() const;

 private:
  static constexpr size_t kLookups = 0;
  static constexpr size_t kNegatives = 1;

  base::ThreadCounters by_thread_;
  std::array<std::atomic<uint64_t>, static_cast<size_t>(FilterCounter::kCount)>
      shared_{};
};

}  // namespace rowbloom::stats

#endif  // ROWBLOOM_STATS_FILE_COUNTERS_H_
