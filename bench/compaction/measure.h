// SPDX-License-Identifier: Apache-2.0
//
// What the filters of one policy cost while a RocksDB writes SSTs: processor
// time of memtable flushes, and of one compaction of all that they wrote.
//
//   const std::vector<std::string> keys = MakeKeys(shape);
//   Costs costs = MeasureWrites(shape, keys, MakePolicy(...), directory);
//
// The same keys and values each time. Times are those of the whole process,
// which does nothing else meanwhile. Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_COMPACTION_MEASURE_H_
#define ROWBLOOM_BENCH_COMPACTION_MEASURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/reads/policies.h"

namespace rowbloom::compaction_bench {

struct Shape {
  uint64_t rows = 100000;
  uint32_t columns = 4;
  uint32_t value_bytes = 100;
  uint32_t flushes = 4;
  bool partition_filters = false;
};

struct Costs {
  double flush_seconds = 0;  // Summed over all flushes.
  double compaction_seconds = 0;
  uint64_t filter_bytes = 0;  // After the compaction.
  uint64_t filter_keys = 0;
};

// The keys of all cells, in the random order in which they are written.
std::vector<std::string> MakeKeys(const Shape& shape);

// In a new database in `directory`, which is removed.
Costs MeasureWrites(const Shape& shape, const std::vector<std::string>& keys,
                    const reads::Policy& policy,
                    const std::string& directory);

}  // namespace rowbloom::compaction_bench

#endif  // ROWBLOOM_BENCH_COMPACTION_MEASURE_H_
