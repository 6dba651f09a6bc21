// SPDX-License-Identifier: Apache-2.0
//
// Asks a database a list of point gets and counts what they cost.
//
//   Measurement m = Measure(tree.db(), Query::kAbsentRow, gets, 32, 4, &p);
//   if (m.wrong_answers != 0) ...
//   m.reads.data_reads / m.gets
//
// Counts come from RocksDB's PerfContext and are exact; times depend on the
// machine.

#ifndef ROWBLOOM_BENCH_POINT_GET_MEASURE_H_
#define ROWBLOOM_BENCH_POINT_GET_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/progress.h"
#include "counts.h"
#include "rocksdb/db.h"
#include "workload.h"

namespace rowbloom::point_get {

struct Measurement {
  uint64_t gets = 0;
  uint64_t found = 0;
  uint64_t wrong_answers = 0;
  // Lookups answered "maybe" are known for the queries that are reported;
  // those of kPresentRow may rightly do so in many files.
  ReadCounts reads;
  // One data block for each cell that was found, none for what is absent.
  uint64_t necessary_reads = 0;
  // "Maybe", from files that did not hold what was asked for, and its share
  // of the lookups in such files. Without a filter every answer is "maybe".
  uint64_t false_positives = 0;
  double false_positive_rate = 1;
  double p50_us = 0;
  double p99_us = 0;

  double wasted_reads() const {
    return static_cast<double>(reads.data_reads) -
           static_cast<double>(necessary_reads);
  }
};

// Wrong answers are counted, and the first few told on stderr.
Measurement Measure(rocksdb::DB* db, Query query,
                    const std::vector<PointGet>& gets, size_t value_size_bytes,
                    int level_count, bench::Progress* progress);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_MEASURE_H_
