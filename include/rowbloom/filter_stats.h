// SPDX-License-Identifier: Apache-2.0
//
// Counts what filters answered and what they cost, in total and for each level;
// FilterReader::stats() has the counts of one file.
//
//   FilterStats stats;
//   options.stats = &stats;             // Shared by any number of readers.
//   ...
//   puts(stats.ToString().c_str());     // Or ToPrometheus().
//
// Counting is lock-free; lookups are counted in memory of their own thread.
// Each counter is exact once the readers are quiet. All methods may be called
// on any number of threads. A FilterStats must outlive its readers.

#ifndef ROWBLOOM_FILTER_STATS_H_
#define ROWBLOOM_FILTER_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "rowbloom/export.h"

namespace rowbloom::internal::reader {
class CountedFiles;
}  // namespace rowbloom::internal::reader

namespace ROWBLOOM_EXPORT rowbloom {

enum class FilterCounter : uint8_t {
  kLookups,         // Questions asked.
  kNegatives,       // Answered "no". Positives are the others.
  kTruePositives,   // "maybe", and the engine said that the key was there.
  kFalsePositives,  // "maybe", and the engine said that it was not.
  kUnloaded,        // Answered "maybe" because the chunk was not in memory and
                    // not worth its load, or could not be loaded.
  kChunkLoads,      // Chunks loaded, or made more precise.
  kChunkLoadBytes,  // Read for these, and for loads that came to nothing.
  kLoadErrors,      // Chunks that could not be read or were damaged.
  kOpenErrors,      // Told by the engine: files that it reads without a filter.
  kPrefixLookups,   // Lookups of a FilterKey::Prefix; "maybe" if the block
                    // has no key level for it.
  kPrefixNegatives,  // Prefix lookups that were answered "no".
  kCount,
};

struct FilterStatsSnapshot {
  std::array<uint64_t, static_cast<size_t>(FilterCounter::kCount)> values{};
  // The prefix lookups that each key level of a key codec answered: element 0
  // is for key level 1. Prefixes that hold no whole key level are not among
  // them.
  static constexpr size_t kPrefixLevels = 8;  // KeyCodec::kMaxSegments.
  struct PrefixLevel {
    uint64_t lookups = 0;
    uint64_t negatives = 0;
  };
  std::array<PrefixLevel, kPrefixLevels> prefix_levels{};

  uint64_t operator[](FilterCounter counter) const {
    return values[static_cast<size_t>(counter)];
  }
  FilterStatsSnapshot& operator+=(const FilterStatsSnapshot& other);

  uint64_t positives() const {
    // While readers count, negatives may be ahead.
    const uint64_t lookups = (*this)[FilterCounter::kLookups];
    const uint64_t negatives = (*this)[FilterCounter::kNegatives];
    return lookups > negatives ? lookups - negatives : 0;
  }
  // The share of lookups of absent keys, as far as outcomes are known, that
  // were not answered "no": because of the filter's false positives, or because
  // its chunk was not in memory. 0 if there were none.
  double observed_fpr() const;
  // The rate without the lookups whose chunk was not in memory: that of the
  // filters themselves. It is an estimate: it assumes that absent keys are as
  // common among the unloaded lookups as among the other positives.
  double observed_filter_fpr() const;
  // One `name value` line for each counter, and two for each key level that was
  // asked.
  std::string ToString() const;
};

class FilterStats {
 public:
  static constexpr int kUnknownLevel = -1;
  // The levels that Add() knows are 0 to kLevels - 1.
  static constexpr int kLevels = 16;

  FilterStats();
  ~FilterStats();
  FilterStats(const FilterStats&) = delete;
  FilterStats& operator=(const FilterStats&) = delete;

  // For events that belong to no known file. If a reader is at hand, call its
  // TellOutcome().
  void Add(FilterCounter counter, uint64_t delta = 1,
           int level = kUnknownLevel);
  void TellOutcome(bool key_was_there) {
    Add(key_was_there ? FilterCounter::kTruePositives
                      : FilterCounter::kFalsePositives);
  }

  // These two count everything since the beginning, closed files included.
  FilterStatsSnapshot Snapshot() const;
  std::map<int, FilterStatsSnapshot> Levels() const;

  // A table: one line for each level and one for all. If prefixes were asked, a
  // second one: one line for each of their levels.
  std::string ToString() const;
  // Prometheus text exposition format: a counter `rowbloom_NAME_total` for
  // each FilterCounter, with a label `level`, and for key levels of prefixes
  // that were asked two counters `rowbloom_prefix_level_NAME_total`, with
  // another label `prefix_level`.
  std::string ToPrometheus() const;

 private:
  friend class internal::reader::CountedFiles;  // Gives it to readers.
  const std::unique_ptr<internal::reader::CountedFiles> files_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_STATS_H_
