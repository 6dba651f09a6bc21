// SPDX-License-Identifier: Apache-2.0
//
// How much the chunks of one file are asked for, and what a chunk in memory is
// therefore worth: the bytes of data reads that it saves, for each lookup in
// all filters of the cache. Fed with samples of the lookups and with what the
// engine found after a "maybe".
//
// Shared by a reader and the chunks that it has put into the cache.

#ifndef ROWBLOOM_READER_FILE_DEMAND_H_
#define ROWBLOOM_READER_FILE_DEMAND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rowbloom/filter_ledger.h"

namespace rowbloom::reader {

class FileDemand {
 public:
  // `cost_bytes` are those of a data read.
  FileDemand(std::shared_ptr<FilterLedger> ledger, size_t chunk_count,
             uint64_t cost_bytes);
  ~FileDemand();
  FileDemand(const FileDemand&) = delete;
  FileDemand& operator=(const FileDemand&) = delete;

  FilterLedger& ledger() const { return *ledger_; }
  // The reader has gone; chunks may still be there.
  void Close() { closed_.store(true, std::memory_order_relaxed); }
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

  // One lookup of stats::kSampleInterval, and what the filter answered.
  enum class Answer { kNo, kMaybe, kUnloaded };
  void CountSample(size_t chunk, Answer answer);
  // What the engine found after a "maybe" and, if it says so, read.
  void TellOutcome(bool key_was_there);
  void TellCost(uint64_t read_bytes);

  // Lookups of absent keys that the chunk gets, for each lookup in all.
  double AbsentRate(size_t chunk) const;
  // The same as a count, old ones at less weight.
  double AbsentLookups(size_t chunk) const;
  double cost_bytes() const {
    return static_cast<double>(cost_bytes_.load(std::memory_order_relaxed));
  }

 private:
  double AbsentShare() const;
  void CountOutcomes(std::atomic<uint32_t>* count, uint32_t delta);

  // Shared, because chunks may outlive the cache: an engine's block cache may
  // still be freeing evicted ones when the bridge to it goes.
  const std::shared_ptr<FilterLedger> ledger_;
  const FilterLedger::Mark opened_;
  std::atomic<bool> closed_{false};
  std::atomic<uint64_t> cost_bytes_;
  // By outcome, as far as it is known.
  std::atomic<uint32_t> absent_{0};
  std::atomic<uint32_t> present_{0};
  // Of each chunk: the era of the last change, and the count at that time.
  std::vector<std::atomic<uint64_t>> counts_;
};

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_FILE_DEMAND_H_
