// SPDX-License-Identifier: Apache-2.0
//
// Counts the answers of a RocksDB's filters, level by level, in a FilterStats:
// for rowbloom's filters and for RocksDB's own.
//
//   FilterStats stats;
//   {
//     RocksDbLookupSample sample({&stats});
//     status = db->Get(read, key, &value);
//   }
//   puts(stats.ToString().c_str());  // Or ToPrometheus().
//
// RocksDbRows takes samples itself, but not in Scan().
//
// One lookup of `interval`, drawn at random, is counted as `interval` lookups:
// RocksDB's PerfContext counts it by level. The others pay for a random number
// only. A sample adds to lookups, negatives, true positives and false
// positives.
//
// - Get and MultiGet are counted at the level where RocksDB opened the file: a
//   file that was moved down, and not rewritten, counts at its old level until
//   it is opened again. A MultiGet that asks by prefix is not counted.
// - For scans RocksDB reports neither the level nor which file held the keys. A
//   scan that found nothing is counted at kUnknownLevel, each "maybe" as a
//   false positive; a scan that found something is not counted.
// - A lookup that failed is not counted: Discard() its sample.
//
// A sample covers one lookup of one thread; one within another does nothing.
// While it lasts, the thread's perf level is at least kEnableCount; what
// RocksDB adds to the thread's PerfContext stays there. If the loaded RocksDB
// is of another release than rowbloom was compiled for (rocksdb.h), samples
// count nothing.

#ifndef ROWBLOOM_ROCKSDB_STATS_H_
#define ROWBLOOM_ROCKSDB_STATS_H_

#include <cstdint>

#include "rowbloom/export.h"
#include "rowbloom/filter_stats.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct RocksDbSampling {
  FilterStats* stats = nullptr;  // Null: nothing is counted.
  uint32_t interval = 64;        // 1: every lookup; 0 means 1.
};

class RocksDbLookupSample {
 public:
  explicit RocksDbLookupSample(const RocksDbSampling& sampling);
  // Counts the lookup since the constructor.
  ~RocksDbLookupSample() {
    if (stats_ != nullptr) Stop();
  }
  RocksDbLookupSample(const RocksDbLookupSample&) = delete;
  RocksDbLookupSample& operator=(const RocksDbLookupSample&) = delete;

  // The lookup was a scan, and met no key. Do not call it for a failed scan.
  void TellScanFoundNothing() { scan_found_nothing_ = true; }
  // Counts nothing: if the lookup failed, nobody knows if a "maybe" was right.
  void Discard() { is_discarded_ = true; }

 private:
  void Stop();

  FilterStats* stats_ = nullptr;  // Null: not drawn.
  uint32_t interval_ = 1;
  bool scan_found_nothing_ = false;
  bool is_discarded_ = false;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_STATS_H_
