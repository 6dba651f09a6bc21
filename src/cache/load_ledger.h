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
// grants, grows by the savings and by LoadRules::max_loss of the cost without
// filters, and is capped at the grants plus slack_bytes, so that past savings
// do not pay for much harm later. A load may overdraw a positive balance.
//
// The ledger is also the clock by which counts age: a count loses half of its
// weight with each half-life.
//
// All methods may be called on any number of threads; they do not block.

#ifndef ROWBLOOM_CACHE_LOAD_LEDGER_H_
#define ROWBLOOM_CACHE_LOAD_LEDGER_H_

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "cache/load_rules.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {

class LoadLedger {
 public:
  explicit LoadLedger(const LoadRules& rules = {}) : rules_(rules) {}

  const LoadRules& rules() const { return rules_; }
  // Before all other calls.
  void set_rules(const LoadRules& rules) { rules_ = rules; }

  // The largest argument so far is the number of bytes that may be loaded
  // before filters have saved any. A cache grants its capacity: filling it once
  // is free.
  void GrantUpTo(uint64_t bytes);
  // True if the grants cover all loads so far.
  bool WithinGrants() const {
    return static_cast<int64_t>(loaded_bytes()) <
           granted_bytes_.load(std::memory_order_relaxed);
  }

  // Counts `lookups` with the same answer, where a lookup that is not answered
  // "no" costs a data read of `cost_bytes`.
  void CountLookups(uint64_t lookups, FilterAnswer answer, uint64_t cost_bytes);
  void CountLoad(uint64_t bytes) {
    loaded_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    balance_bytes_.fetch_sub(static_cast<int64_t>(bytes),
                             std::memory_order_relaxed);
  }
  // True if a load may follow planned loads of `planned_bytes`, which are not
  // counted yet.
  bool MayLoad(uint64_t planned_bytes = 0) const {
    const int64_t balance = balance_bytes();
    return balance > 0 && static_cast<uint64_t>(balance) > planned_bytes;
  }
  int64_t balance_bytes() const {
    return balance_bytes_.load(std::memory_order_relaxed);
  }
  uint64_t loaded_bytes() const {
    return loaded_bytes_.load(std::memory_order_relaxed);
  }

  // A moment by this clock.
  struct Moment {
    uint32_t half_lives = 0;
    uint64_t lookups = 0;
  };
  Moment Now() const { return {half_lives(), lookups()}; }
  uint32_t half_lives() const {
    return half_lives_.load(std::memory_order_relaxed);
  }
  uint64_t lookups() const { return lookups_.load(std::memory_order_relaxed); }
  // Lookups whose chunk was not in memory.
  uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  uint64_t HalfLifeLookups() const {
    return rules_.half_life_lookups *
           static_cast<uint64_t>(std::max<int64_t>(chunk_count(), 1));
  }
  // All lookups since `begin`, each weighted by its age.
  double WeightSince(const Moment& begin) const;
  void AddChunks(int64_t count) {
    chunk_count_.fetch_add(count, std::memory_order_relaxed);
  }
  int64_t chunk_count() const {
    return chunk_count_.load(std::memory_order_relaxed);
  }

 private:
  // The upper limit of a grant: a cache without a limit asks for SIZE_MAX.
  static constexpr int64_t kMaxGrantedBytes = int64_t{1} << 60;

  LoadRules rules_;
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> misses_{0};
  std::atomic<uint64_t> loaded_bytes_{0};
  std::atomic<int64_t> granted_bytes_{0};
  std::atomic<int64_t> balance_bytes_{0};
  std::atomic<int64_t> chunk_count_{0};
  std::atomic<uint64_t> half_life_began_{0};
  std::atomic<uint32_t> half_lives_{0};
};

inline void LoadLedger::GrantUpTo(uint64_t bytes) {
  const auto target = static_cast<int64_t>(
      std::min(bytes, static_cast<uint64_t>(kMaxGrantedBytes)));
  int64_t granted = granted_bytes_.load();
  while (granted < target) {
    if (!granted_bytes_.compare_exchange_weak(granted, target)) continue;
    balance_bytes_.fetch_add(target - granted);
    return;
  }
}

inline void LoadLedger::CountLookups(uint64_t lookups, FilterAnswer answer,
                                     uint64_t cost_bytes) {
  const uint64_t negatives = answer == FilterAnswer::kNo ? lookups : 0;
  if (answer == FilterAnswer::kNotInMemory) {
    misses_.fetch_add(lookups, std::memory_order_relaxed);
  }
  // Income that does not fit 64 bits would exceed any limit.
  const auto income = static_cast<int64_t>(
      std::min(static_cast<double>(cost_bytes) *
                   (static_cast<double>(negatives) +
                    rules_.max_loss * static_cast<double>(lookups)),
               static_cast<double>(kMaxGrantedBytes)));
  const int64_t limit =
      granted_bytes_.load(std::memory_order_relaxed) + rules_.slack_bytes;
  int64_t balance = balance_bytes_.load(std::memory_order_relaxed);
  while (balance < limit && !balance_bytes_.compare_exchange_weak(
                                balance, std::min(limit, balance + income),
                                std::memory_order_relaxed)) {
  }

  const uint64_t now =
      lookups_.fetch_add(lookups, std::memory_order_relaxed) + lookups;
  uint64_t began = half_life_began_.load(std::memory_order_relaxed);
  if (now > began && now - began >= HalfLifeLookups() &&
      half_life_began_.compare_exchange_strong(began, now,
                                               std::memory_order_relaxed)) {
    half_lives_.fetch_add(1, std::memory_order_relaxed);
  }
}

inline double LoadLedger::WeightSince(const Moment& begin) const {
  const uint64_t now = lookups();
  const uint32_t half_lives = this->half_lives() - begin.half_lives;
  if (half_lives == 0) return static_cast<double>(now - begin.lookups);
  const uint64_t began = half_life_began_.load(std::memory_order_relaxed);
  const double length = static_cast<double>(HalfLifeLookups());
  return static_cast<double>(now - std::min(now, began)) +
         length * (1 - std::ldexp(
                           1.0, -static_cast<int>(std::min(half_lives, 64u))));
}

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_LOAD_LEDGER_H_
