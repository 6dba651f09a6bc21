// SPDX-License-Identifier: Apache-2.0
//
// Judges which chunks of one file are worth reading and keeping in memory, and
// at which precision, by the LoadRules of the cache.
//
// It estimates, from one lookup of LoadRules::kSampleInterval, how many lookups
// of absent keys each chunk gets; a chunk in memory saves a data read for each
// of those that its filter denies. From that follow
//
//   AbsentRate   the value of a chunk in memory: the cache evicts by it
//   StepsToLoad  the steps to load if a lookup misses the chunk; 0 for none
//   StepsToGrow  the steps to have if more of them pay for their read
//
// A reader shares its judge with the chunks that it put into the cache. Any
// number of threads may call all methods; counts that two threads raise at once
// may count once.

#ifndef ROWBLOOM_READER_LOAD_JUDGE_H_
#define ROWBLOOM_READER_LOAD_JUDGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/load_rules.h"

namespace rowbloom::reader {

class LoadJudge {
 public:
  // A data read costs `cost_bytes`, until ReportCost() says otherwise.
  LoadJudge(std::shared_ptr<cache::LoadLedger> ledger, size_t chunk_count,
            uint64_t cost_bytes);
  ~LoadJudge();
  LoadJudge(const LoadJudge&) = delete;
  LoadJudge& operator=(const LoadJudge&) = delete;

  const LoadRules& rules() const { return ledger_->rules(); }

  // Counts one lookup of LoadRules::kSampleInterval.
  void CountSample(size_t chunk, FilterAnswer answer);
  void CountLoad(uint64_t bytes) { ledger_->CountLoad(bytes); }
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

  // A chunk of the file, and the room that the cache has for it.
  struct Candidate {
    size_t chunk = 0;
    const FilterDescriptor* descriptor = nullptr;
    cache::Room room;
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
  const cache::LoadLedger::Moment opened_;
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

#endif  // ROWBLOOM_READER_LOAD_JUDGE_H_
