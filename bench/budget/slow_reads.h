// SPDX-License-Identifier: Apache-2.0
//
// A storage device that takes its time: the default file system of RocksDB,
// whose reads at random offsets can be delayed.
//
//   SlowReads slow;
//   options.env = slow.env();
//   slow.set_delay(std::chrono::microseconds(100));   // From now on.
//
#ifndef ROWBLOOM_BENCH_BUDGET_SLOW_READS_H_
#define ROWBLOOM_BENCH_BUDGET_SLOW_READS_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "rocksdb/env.h"

namespace rowbloom::budget_bench {

class SlowReads {
 public:
  SlowReads();

  // Must not outlive this.
  rocksdb::Env* env() const { return env_.get(); }
  // By the thread that reads: its sleeps become exact.
  void set_delay(std::chrono::nanoseconds delay);

 private:
  std::shared_ptr<std::atomic<int64_t>> delay_ns_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_SLOW_READS_H_
