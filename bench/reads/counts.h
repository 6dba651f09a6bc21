// SPDX-License-Identifier: Apache-2.0
//
// The reads of point gets of this thread, as RocksDB's PerfContext counts them.
//
//   StartCounting();
//   for (...) db->Get(...);
//   ReadCounts counts = StopCounting(level_count);
//
// Indexes and filters must be in memory and not in the block cache: then a miss
// in that cache is a data block.

#ifndef ROWBLOOM_BENCH_READS_COUNTS_H_
#define ROWBLOOM_BENCH_READS_COUNTS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom::reads {

struct ReadCounts {
  uint64_t data_reads = 0;  // Data blocks.
  uint64_t bytes_read = 0;
  uint64_t metadata_reads = 0;  // 0 while indexes and filters stay in memory.
  // Lookups in filters, and how many of them were answered "maybe".
  uint64_t filter_lookups = 0;
  uint64_t filter_maybes = 0;
  // Index 0 is L0. RocksDB counts false positives by level for Gets, but not
  // for Seeks.
  std::vector<uint64_t> data_reads_by_level;
  std::vector<uint64_t> false_positives_by_level;
};

void StartCounting();
ReadCounts StopCounting(int level_count);

// Counts since StartCounting().
uint64_t DataReads();
uint64_t DataReadsOfLevel(uint32_t level);

// The answers that were compared with what was loaded.
class Answers {
 public:
  // Reports the first few wrong answers on stderr.
  void Add(bool is_right, std::string_view query, std::string_view key);

  uint64_t checked() const { return checked_; }
  uint64_t wrong() const { return wrong_; }

 private:
  uint64_t checked_ = 0;
  uint64_t wrong_ = 0;
};

class Latencies {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(Clock::time_point start, Clock::time_point end);
  double MeanMicroseconds() const;
  double QuantileMicroseconds(double quantile);  // Reorders them.

 private:
  std::vector<uint32_t> nanoseconds_;
};

}  // namespace rowbloom::reads

#endif  // ROWBLOOM_BENCH_READS_COUNTS_H_
