// SPDX-License-Identifier: Apache-2.0
//
// The files whose counters a FilterStats sums, and what closed ones left.

#ifndef ROWBLOOM_STATS_FILTER_STATS_IMPL_H_
#define ROWBLOOM_STATS_FILTER_STATS_IMPL_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rowbloom/filter_stats.h"
#include "stats/file_counters.h"

namespace rowbloom {

class FilterStats::Impl {
 public:
  // `counters` is the key: it must be closed before it is destroyed.
  void Open(const stats::FileCounters* counters, uint64_t file_id, int level,
            std::string_view name);
  void Close(const stats::FileCounters* counters);

  void Add(FilterCounter counter, uint64_t delta) {
    unattributed_.Add(counter, delta);
  }
  std::map<int, FilterStatsSnapshot> Levels() const;
  std::vector<File> Files() const;

 private:
  stats::FileCounters unattributed_;
  // Not absl::Mutex: ThreadSanitizer does not see into a prebuilt Abseil.
  mutable std::mutex mutex_;
  // Guarded by mutex_. `counters` of a File is not used.
  absl::flat_hash_map<const stats::FileCounters*, File> files_;
  std::map<int, FilterStatsSnapshot> closed_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_STATS_FILTER_STATS_IMPL_H_
