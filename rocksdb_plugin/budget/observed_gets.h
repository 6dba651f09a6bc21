// SPDX-License-Identifier: Apache-2.0
//
// The gets of a database, as its Statistics count them: how many find no key,
// and how many blocks they read into the block cache.
//
//   ObservedGets gets;
//   gets.Observe(CountsOf(*statistics), written);   // At each flush.
//   if (gets.rates().has_value()) plan(gets.rates()->missing_share);
//
// The rates are means over what was written, not over time or gets: filters
// are planned when SSTs are written, and a burst of gets between two flushes
// weighs no more than the flush. One thread at a time.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_OBSERVED_GETS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_OBSERVED_GETS_H_

#include <cstdint>
#include <optional>

#include "rdb.h"
#include "rowbloom/get_fit.h"

namespace ROCKSDB_NAMESPACE {
class Statistics;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

// Tickers, since the statistics began.
struct GetCounts {
  uint64_t gets = 0;   // That ask SSTs: the memtables did not have the key.
  uint64_t found = 0;  // In an SST.
  uint64_t filter_asks = 0;   // Filter blocks asked of the block cache,
  uint64_t filter_reads = 0;  // and those that it did not have.
  uint64_t data_asks = 0;     // Data blocks, also for scans and compactions.
  // Data blocks that entered the block cache. Compactions put none there,
  // unless they verify what they wrote.
  uint64_t data_reads = 0;
  uint64_t seeks = 0;          // Seeks of iterators.
  uint64_t scanned_bytes = 0;  // Entries that iterators returned.
};
GetCounts CountsOf(const rdb::Statistics& statistics);
// False at StatsLevel::kDisableAll and kExceptTickers.
bool CountsTickers(const rdb::Statistics& statistics);

// By flushes and compactions.
struct Written {
  double share = 0;  // The keys, as a share of the keys of the tree.
  double ssts = 0;
  double filter_bytes = 0;
};

class ObservedGets {
 public:
  // `written` is what was written since the last call. If a count has fallen,
  // all have begun again at 0.
  void Observe(const GetCounts& counts, const Written& written);
  // nullopt before GetRates::kFewestGets gets. Fewer gets than that between two
  // calls are counted with those before the next one.
  const std::optional<GetRates>& rates() const { return rates_; }

  // A rate weighs half as much when this share of the tree has been written
  // after it.
  static constexpr double kHalfShare = 0.1;

 private:
  std::optional<GetCounts> last_;
  Written written_;  // Since last_.
  std::optional<GetRates> rates_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_OBSERVED_GETS_H_
