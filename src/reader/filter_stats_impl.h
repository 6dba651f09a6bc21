// SPDX-License-Identifier: Apache-2.0
//
// The files whose counters a FilterStats sums, the counts of closed files, and
// counts that belong to no file.

#ifndef ROWBLOOM_READER_FILTER_STATS_IMPL_H_
#define ROWBLOOM_READER_FILTER_STATS_IMPL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "reader/file_counters.h"
#include "rowbloom/filter_stats.h"

namespace rowbloom {

class FilterStats::Impl {
 public:
  ~Impl();
  // `counters` is the key: it must be closed before it is destroyed.
  void Open(const reader::FileCounters* counters, uint64_t file_id, int level,
            std::string_view name);
  void Close(const reader::FileCounters* counters);

 private:
  friend class FilterStats;
  using Counters = std::array<std::atomic<uint64_t>,
                              static_cast<size_t>(FilterCounter::kCount)>;

  // Levels outside 0 to kLevels - 1 count as kUnknownLevel.
  Counters& Unattributed(int level) {
    return unattributed_[level >= 0 && level < kLevels ? level : kLevels];
  }

  // Indexed by level; the last element is for kUnknownLevel.
  std::array<Counters, kLevels + 1> unattributed_{};
  // Not absl::Mutex: ThreadSanitizer does not see into a prebuilt Abseil.
  mutable std::mutex mutex_;
  // Guarded by mutex_. File::counters is not used here.
  absl::flat_hash_map<const reader::FileCounters*, File> files_;
  std::map<int, FilterStatsSnapshot> closed_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_READER_FILTER_STATS_IMPL_H_
