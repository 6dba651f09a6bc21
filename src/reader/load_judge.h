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

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/load_rules.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::reader {

// The share of the data reads for absent keys that the steps above `from`, up
// to `to`, save.
inline double SavedBySteps(const FilterDescriptor& descriptor, uint32_t from,
                           uint32_t to) {
  // The rate without a filter is 1. The rate of a family without finer steps
  // does not matter here.
  if (FilterSteps(descriptor) <= 1) return from < to ? 1 : 0;
  return std::ldexp(1.0, -static_cast<int>(from)) -
         std::ldexp(1.0, -static_cast<int>(to));
}

class LoadJudge {
 public:
  // A data read costs `cost_bytes`, until ReportCost() says otherwise.
  LoadJudge(std::shared_ptr<cache::LoadLedger> ledger, size_t chunk_count,
            uint64_t cost_bytes)
      : ledger_(std::move(ledger)),
        opened_lookups_(ledger_->lookups()),
        cost_bytes_(cost_bytes),
        opened_half_lives_(ledger_->half_lives()),
        chunk_count_(static_cast<uint32_t>(chunk_count)) {
    if (chunk_count_ > 1) many_ = new Count[chunk_count_];
    ledger_->AddChunks(static_cast<int64_t>(chunk_count));
  }
  // The bytes of the heap that a judge takes.
  static size_t MemoryBytes(size_t chunk_count) {
    return sizeof(LoadJudge) +
           (chunk_count > 1 ? chunk_count * sizeof(Count) : 0);
  }
  ~LoadJudge() {
    if (chunk_count_ > 1) delete[] many_;
    ledger_->AddChunks(-int64_t{chunk_count_});
  }
  LoadJudge(const LoadJudge&) = delete;
  LoadJudge& operator=(const LoadJudge&) = delete;

  const cache::LoadRules& rules() const { return ledger_->rules(); }

  // Counts one lookup of LoadRules::kSampleInterval.
  void CountSample(size_t chunk, FilterAnswer answer);
  void CountLoad(uint64_t bytes) { ledger_->CountLoad(bytes); }
  // The engine's reports after a "maybe": the outcome, and the bytes that it
  // read.
  void ReportOutcome(bool key_was_there) {
    CountOutcomes(key_was_there ? &present_ : &absent_, 1);
  }
  void ReportCost(uint64_t read_bytes) {
    // A moving average over about 16 reads.
    const uint64_t old = cost_bytes_.load(std::memory_order_relaxed);
    cost_bytes_.store(old - old / 16 + read_bytes / 16,
                      std::memory_order_relaxed);
  }

  // Lookups of absent keys that the chunk gets, for each lookup in all filters
  // of the cache.
  double AbsentRate(size_t chunk) const {
    return AbsentLookups(chunk) / std::max(1.0, ledger_->WeightSince(opened()));
  }
  // The number of these lookups, each weighted by its age.
  double AbsentLookups(size_t chunk) const {
    return CountAt(CountOf(chunk).word.load(std::memory_order_relaxed),
                   ledger_->half_lives());
  }
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
  // The number of steps that a chunk with `steps` in memory should have, after
  // planned loads of `planned_bytes`; at most `steps` if it should stay as it
  // is.
  uint32_t StepsToGrow(const Candidate& candidate, uint32_t steps,
                       uint64_t planned_bytes) const;

 private:
  // Beyond this many, all outcomes so far count half.
  static constexpr uint32_t kMaxOutcomes = 1 << 20;

  struct Count {
    // The ledger's half-lives at the last change, and the count at that time.
    std::atomic<uint64_t> word{0};
  };
  const Count& CountOf(size_t chunk) const {
    return chunk_count_ > 1 ? many_[chunk] : only_;
  }
  Count& CountOf(size_t chunk) {
    return chunk_count_ > 1 ? many_[chunk] : only_;
  }
  cache::LoadLedger::Moment opened() const {
    return {opened_half_lives_, opened_lookups_};
  }
  // The count of a Count's word, aged.
  static uint32_t CountAt(uint64_t word, uint32_t half_lives) {
    // Negative if another thread has counted since this one read the clock.
    const auto age =
        static_cast<int32_t>(half_lives - static_cast<uint32_t>(word >> 32));
    return age > 31 ? 0 : static_cast<uint32_t>(word) >> std::max(age, 0);
  }
  double AbsentShare() const {
    const double absent = absent_.load(std::memory_order_relaxed);
    const double present = present_.load(std::memory_order_relaxed);
    // Until an outcome is known, keys count as absent.
    return (absent + 1) / (absent + present + 1);
  }
  void CountOutcomes(std::atomic<uint32_t>* count, uint32_t delta);
  // The steps that the chunk is worth at the cache's price for memory. The
  // `steps` that it has are paid for.
  uint32_t AffordableSteps(const Candidate& candidate, uint32_t steps) const;

  // Shared, because chunks may outlive an engine's cache.
  const std::shared_ptr<cache::LoadLedger> ledger_;
  // The moment when the file was opened, in two members, which take less.
  const uint64_t opened_lookups_;
  std::atomic<uint64_t> cost_bytes_;
  union {
    Count only_ = {};
    Count* many_;  // If there are more chunks than one.
  };
  const uint32_t opened_half_lives_;
  const uint32_t chunk_count_;
  // Lookups whose outcome is known.
  std::atomic<uint32_t> absent_{0};
  std::atomic<uint32_t> present_{0};
};

inline void LoadJudge::CountSample(size_t chunk, FilterAnswer answer) {
  constexpr uint32_t kWeight = cache::LoadRules::kSampleInterval;
  ledger_->CountLookups(kWeight, answer,
                        cost_bytes_.load(std::memory_order_relaxed));
  uint64_t absent = 0;
  if (answer == FilterAnswer::kNo) {
    absent = kWeight;
    CountOutcomes(&absent_, kWeight);
  } else if (answer == FilterAnswer::kNotInMemory) {
    absent = static_cast<uint64_t>(std::lround(kWeight * AbsentShare()));
  }
  std::atomic<uint64_t>& count = CountOf(chunk).word;
  const uint32_t half_lives = ledger_->half_lives();
  const uint64_t now =
      CountAt(count.load(std::memory_order_relaxed), half_lives) + absent;
  count.store(uint64_t{half_lives} << 32 |
                  std::min<uint64_t>(now, std::numeric_limits<uint32_t>::max()),
              std::memory_order_relaxed);
}

inline void LoadJudge::CountOutcomes(std::atomic<uint32_t>* count,
                                     uint32_t delta) {
  // Not fetch_add(): on x86 it waits until all earlier loads have their data.
  const uint32_t old = count->load(std::memory_order_relaxed);
  count->store(old + delta, std::memory_order_relaxed);
  if (old < kMaxOutcomes) return;
  for (std::atomic<uint32_t>* c : {&present_, &absent_}) {
    c->store(c->load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  }
}

inline uint32_t LoadJudge::AffordableSteps(const Candidate& candidate,
                                           uint32_t steps) const {
  const FilterDescriptor& descriptor = *candidate.descriptor;
  const cache::Room& room = candidate.room;
  // Without room for any step, the layout need not be decoded to count them.
  if (sizeof(ResidentChunk) > room.max_charge_bytes) return 0;
  const uint32_t all = FilterSteps(descriptor);
  const auto charge = [&](uint32_t n) {
    return n == all ? ResidentChunk::ChargeBytes(descriptor)
                    : ResidentChunk::ChargeBytes(descriptor, n);
  };
  uint32_t most = all;
  while (most > 0 && charge(most) > room.max_charge_bytes) --most;
  if (most == 0) return 0;
  const size_t bytes = charge(most);
  const size_t paid_bytes = steps == 0 ? 0 : std::min(bytes, charge(steps));
  const double price = rules().hysteresis * room.price;
  if (bytes - paid_bytes <= room.free_bytes || price <= 0) return most;
  const double saved_bytes = AbsentRate(candidate.chunk) * cost_bytes();
  // A family without finer steps is loaded whole. Otherwise step s saves 2^-s
  // of the reads.
  if (all <= 1) {
    return saved_bytes >= price * static_cast<double>(bytes) ? most : 0;
  }
  const double worthy =
      std::log2(saved_bytes * all / (price * static_cast<double>(charge(all))));
  return worthy < 1 ? 0 : static_cast<uint32_t>(std::min<double>(worthy, most));
}

inline uint32_t LoadJudge::StepsToLoad(const Candidate& candidate,
                                       uint64_t planned_bytes) const {
  const uint32_t steps = AffordableSteps(candidate, 0);
  if (steps == 0) return 0;
  if (rules().ask_ledger && !ledger_->MayLoad(planned_bytes)) return 0;
  if (rules().fill_cache_at_once && ledger_->WithinGrants()) return steps;
  const auto load_bytes = static_cast<double>(
      FilterAtStep(*candidate.descriptor, steps).total_size_bytes());
  const double wasted_bytes = AbsentLookups(candidate.chunk) * cost_bytes();
  return wasted_bytes >= rules().wasted_share * load_bytes ? steps : 0;
}

inline uint32_t LoadJudge::StepsToGrow(const Candidate& candidate,
                                       uint32_t steps,
                                       uint64_t planned_bytes) const {
  const uint32_t wanted = AffordableSteps(candidate, steps);
  if (wanted <= steps) return steps;
  // The whole chunk is read again, but only the new steps are weighed: with all
  // of its bytes the last steps would never pay (`reader_bench precision`, 10
  // bits per key: 2.8 wasted reads in 1,000 gets in place of 1.9). The ledger
  // is charged for all bytes read.
  const auto new_bytes = static_cast<double>(
      FilterAtStep(*candidate.descriptor, wanted).total_size_bytes() -
      FilterAtStep(*candidate.descriptor, steps).total_size_bytes());
  const double saved_bytes =
      AbsentLookups(candidate.chunk) * rules().payback_half_lives *
      SavedBySteps(*candidate.descriptor, steps, wanted) * cost_bytes();
  const bool pays = saved_bytes >= new_bytes &&
                    (!rules().ask_ledger || ledger_->MayLoad(planned_bytes));
  return pays ? wanted : steps;
}

}  // namespace rowbloom::internal::reader

#endif  // ROWBLOOM_READER_LOAD_JUDGE_H_
