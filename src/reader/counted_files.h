// SPDX-License-Identifier: Apache-2.0
//
// The files whose counters a FilterStats sums, the counts of closed files, and
// counts that belong to no file.

#ifndef ROWBLOOM_READER_COUNTED_FILES_H_
#define ROWBLOOM_READER_COUNTED_FILES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "reader/file_counters.h"
#include "rowbloom/filter_stats.h"

namespace rowbloom::internal::reader {

class CountedFiles {
 public:
  static CountedFiles* Of(FilterStats* stats) { return stats->files_.get(); }

  // Checks that no file is open.
  ~CountedFiles();
  // `counters` is the key: it must be closed before it is destroyed.
  void Open(const FileCounters* counters, int level);
  void Close(const FileCounters* counters);

  // Counts for no file. Levels outside 0 to FilterStats::kLevels - 1 count as
  // kUnknownLevel.
  void Add(FilterCounter counter, uint64_t delta, int level);

  std::map<int, FilterStatsSnapshot> Levels() const;

 private:
  static constexpr int kLevels = FilterStats::kLevels;

  // Indexed by level; the last element is for kUnknownLevel.
  std::array<std::array<std::atomic<uint64_t>,
                        static_cast<size_t>(FilterCounter::kCount)>,
             kLevels + 1>
      unattributed_{};
  // Not absl::Mutex: ThreadSanitizer does not see into a prebuilt Abseil.
  mutable std::mutex mutex_;
  // Guarded by mutex_: the level of each open file.
  absl::flat_hash_map<const FileCounters*, int> files_;
  std::map<int, FilterStatsSnapshot> closed_;
};

}  // namespace rowbloom::internal::reader

#endif  // ROWBLOOM_READER_COUNTED_FILES_H_
