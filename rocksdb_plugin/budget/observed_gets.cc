// SPDX-License-Identifier: Apache-2.0

#include "budget/observed_gets.h"

#include <algorithm>
#include <cmath>

#include "rocksdb/statistics.h"

namespace rowbloom::plugin {

namespace {

// Tickers never fall, but Statistics::Reset() sets them to 0.
bool HasBegunAgain(const GetCounts& before, const GetCounts& now) {
  return now.gets < before.gets || now.found < before.found ||
         now.filter_asks < before.filter_asks ||
         now.filter_reads < before.filter_reads ||
         now.data_asks < before.data_asks ||
         now.data_reads < before.data_reads || now.seeks < before.seeks ||
         now.scanned_bytes < before.scanned_bytes;
}

}  // namespace

GetCounts CountsOf(const rdb::Statistics& statistics) {
  const auto count = [&](rdb::Tickers ticker) {
    return statistics.getTickerCount(ticker);
  };
  GetCounts counts;
  counts.gets = count(rdb::MEMTABLE_MISS);
  counts.found = count(rdb::GET_HIT_L0) + count(rdb::GET_HIT_L1) +
                 count(rdb::GET_HIT_L2_AND_UP);
  counts.filter_reads = count(rdb::BLOCK_CACHE_FILTER_MISS);
  counts.filter_asks = count(rdb::BLOCK_CACHE_FILTER_HIT) + counts.filter_reads;
  counts.data_asks =
      count(rdb::BLOCK_CACHE_DATA_HIT) + count(rdb::BLOCK_CACHE_DATA_MISS);
  counts.data_reads = count(rdb::BLOCK_CACHE_DATA_ADD);
  counts.seeks = count(rdb::NUMBER_DB_SEEK);
  counts.scanned_bytes = count(rdb::ITER_BYTES_READ);
  return counts;
}

bool CountsTickers(const rdb::Statistics& statistics) {
  return statistics.get_stats_level() > rdb::StatsLevel::kExceptTickers;
}

void ObservedGets::Observe(const GetCounts& counts, const Written& written) {
  written_.share += written.share;
  written_.ssts += written.ssts;
  written_.filter_bytes += written.filter_bytes;
  if (!last_.has_value()) {
    last_ = counts;
    return;
  }
  if (HasBegunAgain(*last_, counts)) last_ = GetCounts();
  if (counts.gets - last_->gets < kFewestGets) return;
  // They weigh nothing yet, and wait for what is written next.
  if (rates_.has_value() && written_.share == 0) return;
  const auto gets = static_cast<double>(counts.gets - last_->gets);
  const auto per_get = [&](uint64_t GetCounts::*count) {
    return static_cast<double>(counts.*count - (*last_).*count) / gets;
  };
  GetRates now;
  now.missing_share = std::clamp(1 - per_get(&GetCounts::found), 0.0, 1.0);
  now.filter_asks = per_get(&GetCounts::filter_asks);
  now.filter_reads = per_get(&GetCounts::filter_reads);
  now.data_asks = per_get(&GetCounts::data_asks);
  now.data_reads = per_get(&GetCounts::data_reads);
  now.seeks = per_get(&GetCounts::seeks);
  now.scanned_bytes = per_get(&GetCounts::scanned_bytes);
  now.new_ssts = written_.ssts / gets;
  now.new_filter_bytes = written_.filter_bytes / gets;
  const double weight =
      rates_.has_value() ? 1 - std::exp2(-written_.share / kHalfShare) : 1;
  GetRates mean = rates_.value_or(now);
  for (const auto rate :
       {&GetRates::missing_share, &GetRates::filter_asks,
        &GetRates::filter_reads, &GetRates::data_asks, &GetRates::data_reads,
        &GetRates::seeks, &GetRates::scanned_bytes, &GetRates::new_ssts,
        &GetRates::new_filter_bytes}) {
    mean.*rate += weight * (now.*rate - mean.*rate);
  }
  rates_ = mean;
  last_ = counts;
  written_ = {};
}

}  // namespace rowbloom::plugin
