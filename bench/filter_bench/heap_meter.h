// SPDX-License-Identifier: Apache-2.0
//
// The most memory that a piece of code had allocated at any one time. Linking
// it puts its malloc in the place of the C library's, for shared libraries
// too; whatever maps memory without malloc is not seen.
//
//   const HeapMeter meter;
//   builder->Finish();
//   meter.peak_bytes();
//
// Counts what the allocator handed out, its rounding included. One thread,
// one meter at a time.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_HEAP_METER_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_HEAP_METER_H_

#include <cstdint>

namespace rowbloom::filter_bench {

class HeapMeter {
 public:
  HeapMeter();
  ~HeapMeter();
  HeapMeter(const HeapMeter&) = delete;
  HeapMeter& operator=(const HeapMeter&) = delete;

  // Above what was allocated when the meter was made.
  uint64_t peak_bytes() const;
};

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_HEAP_METER_H_
