// SPDX-License-Identifier: Apache-2.0

#include "budget/observed_gets.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "rocksdb/statistics.h"

namespace rowbloom::plugin {

namespace {

struct PerGet {
  uint64_t GetCounts::*count;
  double GetRates::*rate;
};
constexpr PerGet kPerGet[] = {
    {&GetCounts::filter_asks, &GetRates::filter_asks},
    {&GetCounts::filter_reads, &GetRates::filter_reads},
    {&GetCounts::data_asks, &GetRates::data_asks},
    {&GetCounts::data_reads, &GetRates::data_reads},
    {&GetCounts::seeks, &GetRates::seeks},
    {&GetCounts::scanned_bytes, &GetRates::scanned_bytes},
};

// Tickers never fall, but Statistics::Reset() sets them to 0.
bool HasBegunAgain(const GetCounts& before, const GetCounts& now) {
  return now.gets < before.gets || now.found < before.found ||
         std::any_of(std::begin(kPerGet), std::end(kPerGet),
                     [&](const PerGet& each) {
                       return now.*each.count < before.*each.count;
                     });
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
  if (counts.gets - last_->gets < GetRates::kFewestGets) return;
  // They weigh nothing yet, and wait for what is written next.
  if (rates_.has_value() && written_.share == 0) return;
  const auto gets = static_cast<double>(counts.gets - last_->gets);
  const auto per_get = [&](uint64_t GetCounts::*count) {
    return static_cast<double>(counts.*count - (*last_).*count) / gets;
  };
  GetRates now;
  now.missing_share = std::clamp(1 - per_get(&GetCounts::found), 0.0, 1.0);
  for (const PerGet& each : kPerGet) now.*each.rate = per_get(each.count);
  now.new_ssts = written_.ssts / gets;
  now.new_filter_bytes = written_.filter_bytes / gets;
  const double weight =
      rates_.has_value() ? 1 - std::exp2(-written_.share / kHalfShare) : 1;
  GetRates mean = rates_.value_or(now);
  const auto move = [&](double GetRates::*rate) {
    mean.*rate += weight * (now.*rate - mean.*rate);
  };
  move(&GetRates::missing_share);
  move(&GetRates::new_ssts);
  move(&GetRates::new_filter_bytes);
  for (const PerGet& each : kPerGet) move(each.rate);
  rates_ = mean;
  last_ = counts;
  written_ = {};
}

}  // namespace rowbloom::plugin
