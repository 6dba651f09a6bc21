// SPDX-License-Identifier: Apache-2.0
//
// Asks a database a list of point gets and counts what they cost.
//
//   Measurement m = Measure(tree.db(), Query::kAbsentRow, gets, 32, 4, &p);
//   if (m.wrong_answers != 0) ...
//   m.data_reads / m.gets
//
// Counts come from RocksDB's PerfContext and are exact; times depend on the
// machine.

#ifndef ROWBLOOM_BENCH_POINT_GET_MEASURE_H_
#define ROWBLOOM_BENCH_POINT_GET_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "progress.h"
#include "rocksdb/db.h"
#include "workload.h"

namespace rowbloom::point_get {

struct Measurement {
  uint64_t gets = 0;
  uint64_t found = 0;
  uint64_t wrong_answers = 0;
  // Data blocks read; indexes, filters and dictionaries are not counted.
  uint64_t data_reads = 0;
  uint64_t bytes_read = 0;
  // Index, filter and dictionary blocks read: 0 as long as they stay in
  // memory.
  uint64_t metadata_reads = 0;
  // One data block for each cell that was found, none for what is absent.
  uint64_t necessary_reads = 0;
  // Lookups in filters, and those of them answered "maybe". For the queries
  // that are reported; those of kPresentRow may rightly do so in many files.
  uint64_t filter_lookups = 0;
  uint64_t filter_maybes = 0;
  // "Maybe", from files that did not hold what was asked for, and its share
  // of the lookups in such files. Without a filter every answer is "maybe".
  uint64_t false_positives = 0;
  double false_positive_rate = 1;
  // By level, index 0 being L0.
  std::vector<uint64_t> data_reads_by_level;
  std::vector<uint64_t> false_positives_by_level;
  double p50_us = 0;
  double p99_us = 0;

  double wasted_reads() const {
    return static_cast<double>(data_reads) -
           static_cast<double>(necessary_reads);
  }
};

// Wrong answers are counted, and the first few told on stderr.
Measurement Measure(rocksdb::DB* db, Query query,
                    const std::vector<PointGet>& gets, size_t value_size_bytes,
                    int level_count, Progress* progress);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_MEASURE_H_
