// SPDX-License-Identifier: Apache-2.0
//
// What point gets of this thread read, as RocksDB's PerfContext counts it.
//
//   StartCounting();
//   for (...) db->Get(...);
//   ReadCounts counts = StopCounting(level_count);
//
// Indexes and filters are to be in memory, apart from the block cache, so that
// its misses are data blocks.

#ifndef ROWBLOOM_BENCH_POINT_GET_COUNTS_H_
#define ROWBLOOM_BENCH_POINT_GET_COUNTS_H_

#include <cstdint>
#include <vector>

namespace rowbloom::point_get {

struct ReadCounts {
  // Data blocks read; indexes, filters and dictionaries are not counted.
  uint64_t data_reads = 0;
  uint64_t bytes_read = 0;
  // Index, filter and dictionary blocks read: 0 as long as they stay in
  // memory.
  uint64_t metadata_reads = 0;
  // Lookups in filters, and those of them answered "maybe".
  uint64_t filter_lookups = 0;
  uint64_t filter_maybes = 0;
  // By level, index 0 being L0. RocksDB counts "maybe" by level for Gets, but
  // not for Seeks.
  std::vector<uint64_t> data_reads_by_level;
  std::vector<uint64_t> false_positives_by_level;
};

void StartCounting();
ReadCounts StopCounting(int level_count);

// Since StartCounting().
uint64_t DataReads();
uint64_t DataReadsOfLevel(uint32_t level);

// Reorders them. 0 if there are none.
double QuantileMicroseconds(std::vector<uint32_t>* nanoseconds,
                            double quantile);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_COUNTS_H_
