// SPDX-License-Identifier: Apache-2.0
//
// Measures the memory of a piece of work as the system sees it: in a process of
// its own, so that no other piece has left memory behind.
//
//   const Json result = InChild([]() -> Json {
//     WarmUp();  // Loads code.
//     const Memory memory;
//     Work();
//     return {{"peak_bytes", memory.PeakBytes()}};
//   });

#ifndef ROWBLOOM_BENCH_MEMORY_CHILD_H_
#define ROWBLOOM_BENCH_MEMORY_CHILD_H_

#include <cstdint>
#include <functional>

#include "bench/program.h"

namespace rowbloom::bench {

// Resident bytes of this process beyond those at construction.
class Memory {
 public:
  Memory();
  int64_t ResidentBytes() const;
  // The most since construction.
  int64_t PeakBytes() const;

 private:
  int64_t before_ = 0;
};

// Forks, and returns what `work` returned in the child. Throws what it threw,
// as std::runtime_error. The calling process must have one thread.
Json InChild(const std::function<Json()>& work);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_MEMORY_CHILD_H_
