// SPDX-License-Identifier: Apache-2.0
//
// The account of one cache's filters, in bytes read: the cost of lookups
// without filters, the savings by filters, and the cost of loading them. A load
// of a filter is itself a read, and readers ask the ledger before each:
//
//   loaded_bytes <= saved_bytes + granted + 1% of unfiltered_bytes
//
// Lookups are counted by samples, so all but loaded_bytes are estimates. The
// balance is the number of bytes that may still be loaded. It begins with the
// grants, grows by the savings and by kMaxLoss of the cost without filters, and
// is capped at the grants plus kSlackBytes, so that past savings do not pay for
// much harm later. A load may overdraw a positive balance.
//
// The ledger is also the clock by which counts age: a count loses half of its
// weight with each half-life.
//
// All methods may be called on any number of threads; they do not block.

#ifndef ROWBLOOM_CACHE_LOAD_LEDGER_H_
#define ROWBLOOM_CACHE_LOAD_LEDGER_H_

#include <atomic>
#include <cstdint>

namespace rowbloom::cache {

class LoadLedger {
 public:
  static constexpr double kMaxLoss = 0.01;
  static constexpr int64_t kSlackBytes = 256 << 10;

  // The largest argument so far is the number of bytes that may be loaded
  // before filters have saved any. A cache grants its capacity: filling it once
  // is free.
  void GrantUpTo(uint64_t bytes);
  // True if the grants cover all loads so far.
  bool WithinGrants() const;

  enum class Answer { kNo, kMaybe, kUnloaded };
  // Counts `lookups` with the same answer, where a lookup that is not answered
  // "no" costs a data read of `cost_bytes`.
  void CountLookups(uint64_t lookups, Answer answer, uint64_t cost_bytes);
  void CountLoad(uint64_t bytes);
  // True if a load may follow planned loads of `planned_bytes`, which are not
  // counted yet.
  bool MayLoad(uint64_t planned_bytes = 0) const;
  int64_t balance_bytes() const {
    return balance_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t loaded_bytes() const {
    return loaded_bytes_.load(std::memory_order_relaxed);
  }

  // A half-life ends after 2048 lookups for each chunk of open readers.
  struct Mark {
    uint32_t half_lives = 0;
    uint64_t lookups = 0;
  };
  Mark Now() const;
  uint32_t half_lives() const {
    return half_lives_.load(std::memory_order_relaxed);
  }
  uint64_t lookups() const { return lookups_.load(std::memory_order_relaxed); }
  // Lookups whose chunk was not in memory.
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  uint64_t HalfLifeLookups() const;
  // All lookups since `mark`, each weighted by its age.
  double WeightSince(const Mark& mark) const;
  void AddChunks(int64_t count);
  int64_t chunk_count() const {
    return chunk_count_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> loaded_bytes_{0};
  std::atomic<int64_t> granted_bytes_{0};
  std::atomic<int64_t> balance_bytes_{0};
  std::atomic<int64_t> chunk_count_{0};
  std::atomic<uint64_t> half_life_began_{0};
  std::atomic<uint32_t> half_lives_{0};
};

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_LOAD_LEDGER_H_
