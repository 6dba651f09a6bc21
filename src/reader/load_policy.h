// SPDX-License-Identifier: Apache-2.0
//
// Decides which chunks of one file are worth reading and keeping in memory, and
// at which precision: the one place for these rules and their constants.
//
// The currency is bytes of data reads. The policy estimates, from one lookup of
// 16, how many lookups of absent keys each chunk gets; a chunk in memory saves
// a data read for each of those that its filter denies. From that follow
//
//   AbsentRate   the value of a chunk in memory: the cache evicts by it
//   StepsToLoad  the steps to load if a lookup misses the chunk; 0 for none
//   StepsToGrow  the steps to have if more of them pay for their read
//
// A reader shares its policy with the chunks that it put into the cache. Any
// number of threads may call all methods; counts that two threads raise at once
// may count once.

#ifndef ROWBLOOM_READER_LOAD_POLICY_H_
#define ROWBLOOM_READER_LOAD_POLICY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/chunk_cache.h"
#include "cache/load_ledger.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::reader {

// `reader_bench ablation` changes one at a time and shows which workload gets
// worse; nothing else writes them. The table is in docs/performance.md, "Rules
// for loads".
struct LoadRules {
  // A load has to be covered by what filters saved, plus 1%. Otherwise files
  // that are read once, in order, cost more with filters than without.
  bool ask_ledger = true;
  // Filling the cache once is free. Otherwise a new store pays for each chunk
  // with the data reads that the chunk would have saved.
  bool fill_cache_at_once = true;
  // Beyond that a chunk is loaded once lookups without it have wasted this
  // share of its bytes, as in the ski rental problem: chunks that are asked a
  // few times only are never loaded.
  double wasted_share = 0.5;
  // A chunk is loaded if it is worth this many times the memory that it evicts.
  // Estimates vary, and chunks of the same worth would displace each other
  // forever.
  double hysteresis = 1.4;
  // More steps must pay for their read within this many half-lives of counts.
  double payback_half_lives = 4;
  // Lookups of a chunk between two decisions about its load: it bounds the
  // processor time of lookups that do not pay.
  uint32_t declined_pause = 16;
};
inline LoadRules load_rules;

// After the nth failure in a row, 2^n - 2 lookups of the chunk pass before the
// next try; after the 8th and later ones, 254.
inline constexpr uint32_t kMaxFailures = 8;
// Prefetches hold this much memory beside the cache, and one chunk more.
inline constexpr uint64_t kPrefetchedAtOnceBytes = 4 << 20;

class LoadPolicy {
 public:
  using Answer = cache::LoadLedger::Answer;

  // A data read costs `cost_bytes`, until ReportCost() says otherwise.
  LoadPolicy(std::shared_ptr<cache::LoadLedger> ledger, size_t chunk_count,
             uint64_t cost_bytes);
  ~LoadPolicy();
  LoadPolicy(const LoadPolicy&) = delete;
  LoadPolicy& operator=(const LoadPolicy&) = delete;

  cache::LoadLedger& ledger() const { return *ledger_; }

  // Counts one lookup of reader::kSampleInterval.
  void CountSample(size_t chunk, Answer answer);
  // The engine's reports after a "maybe": the outcome, and the bytes that it
  // read.
  void ReportOutcome(bool key_was_there);
  void ReportCost(uint64_t read_bytes);

  // Lookups of absent keys that the chunk gets, for each lookup in all filters
  // of the cache.
  double AbsentRate(size_t chunk) const;
  // The number of these lookups, each weighted by its age.
  double AbsentLookups(size_t chunk) const;
  double cost_bytes() const {
    return static_cast<double>(cost_bytes_.load(std::memory_order_relaxed));
  }

  // A chunk of the file, and the place where it is or would be.
  struct Candidate {
    size_t chunk = 0;
    const FilterDescriptor* descriptor = nullptr;
    const cache::ChunkCache* cache = nullptr;  // nullptr: engine's cache.
    FilterCacheKey key;
  };
  // The number of steps to load of a chunk that is not in memory, after planned
  // loads of `planned_bytes`; 0 if it should not be loaded.
  uint32_t StepsToLoad(const Candidate& candidate,
                       uint64_t planned_bytes) const;
  // The number of steps that a chunk with `steps` in memory should have; at
  // most `steps` if it should stay as it is.
  uint32_t StepsToGrow(const Candidate& candidate, uint32_t steps) const;

 private:
  double AbsentShare() const;
  void CountOutcomes(std::atomic<uint32_t>* count, uint32_t delta);
  // The steps that the chunk is worth at the cache's price for memory. The
  // `steps` that it has are paid for.
  uint32_t AffordableSteps(const Candidate& candidate, uint32_t steps) const;

  // Shared, because chunks may outlive an engine's cache.
  const std::shared_ptr<cache::LoadLedger> ledger_;
  const cache::LoadLedger::Mark opened_;
  std::atomic<uint64_t> cost_bytes_;
  // Lookups whose outcome is known.
  std::atomic<uint32_t> absent_{0};
  std::atomic<uint32_t> present_{0};
  // For each chunk: the ledger's half-lives at the last change, and the count
  // at that time.
  std::vector<std::atomic<uint64_t>> counts_;
};

// The share of the data reads for absent keys that the steps above `from`, up
// to `to`, save.
double SavedBySteps(const FilterDescriptor& descriptor, uint32_t from,
                    uint32_t to);

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_LOAD_POLICY_H_
