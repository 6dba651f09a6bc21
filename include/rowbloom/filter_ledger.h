// SPDX-License-Identifier: Apache-2.0
//
// The account of one cache's filters, in bytes read: what lookups would have
// cost without them, what they saved, what loading them cost. Loading a filter
// is itself a read, and the ledger is why it cannot do harm: readers ask it
// before each load.
//
//   FilterLedger& ledger = cache->ledger();
//   ledger.Grant(1 << 20);          // Bytes that loads may cost in advance.
//   FilterLedger::Totals t = ledger.GetTotals();
//   // t.loaded_bytes <= t.saved_bytes + granted + 1% of t.unfiltered_bytes
//
// Lookups are counted by samples, so all but loaded_bytes are estimates. The
// balance is what may still be loaded: it begins with the grants, grows by what
// is saved and by kMaxLoss of what lookups cost without filters, and is cut off
// at the grants and kSlackBytes more, so that past savings do not pay for
// much harm later. A load may overdraw it if it was not empty.
//
// All methods may be called on any number of threads; they do not block.

#ifndef ROWBLOOM_FILTER_LEDGER_H_
#define ROWBLOOM_FILTER_LEDGER_H_

#include <atomic>
#include <cstdint>

#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class FilterLedger {
 public:
  static constexpr double kMaxLoss = 0.01;
  static constexpr int64_t kSlackBytes = 256 << 10;

  struct Totals {
    uint64_t lookups = 0;
    uint64_t unfiltered_bytes = 0;  // Of the data reads without filters.
    uint64_t saved_bytes = 0;       // Of these, not read because of filters.
    uint64_t loaded_bytes = 0;      // Of filters.
    uint64_t refused_loads = 0;
    int64_t balance_bytes = 0;
  };

  // So many bytes of loads need not have paid before they happen.
  void Grant(uint64_t bytes);
  // Whether loads were so few so far that the grants cover them.
  bool WithinGrants() const;

  // `lookups` of which `negatives` were answered "no", where a lookup that is
  // not costs so many bytes.
  void CountLookups(uint64_t lookups, uint64_t negatives, uint64_t cost_bytes);
  void CountLoad(uint64_t bytes);
  // Beside loads of so many bytes that are not counted yet. Counts a refusal if
  // the answer is no.
  bool MayLoad(uint64_t planned_bytes = 0);

  // For estimates of how often something is asked. An era ends when there were
  // so many lookups for each chunk that readers have; a count loses half of its
  // weight with each.
  struct Mark {
    uint32_t era = 0;
    uint64_t lookups = 0;
  };
  Mark Now() const;
  uint32_t era() const { return era_.load(std::memory_order_relaxed); }
  uint64_t lookups() const { return lookups_.load(std::memory_order_relaxed); }
  uint64_t era_length() const;
  // What the count of all lookups since then would be by now.
  double WeightSince(const Mark& mark) const;
  void AddChunks(int64_t count);
  int64_t chunk_count() const {
    return chunk_count_.load(std::memory_order_relaxed);
  }

  Totals GetTotals() const;

 private:
  std::atomic<uint64_t> lookups_{0};
  std::atomic<uint64_t> unfiltered_bytes_{0};
  std::atomic<uint64_t> saved_bytes_{0};
  std::atomic<uint64_t> loaded_bytes_{0};
  std::atomic<uint64_t> refused_loads_{0};
  std::atomic<int64_t> granted_bytes_{0};
  std::atomic<int64_t> balance_bytes_{0};
  std::atomic<int64_t> chunk_count_{0};
  std::atomic<uint64_t> era_began_{0};
  std::atomic<uint32_t> era_{0};
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_LEDGER_H_
