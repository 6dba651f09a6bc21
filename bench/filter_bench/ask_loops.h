// SPDX-License-Identifier: Apache-2.0
//
// The timed loops. `ask(i)` is one lookup of key i; the call in it is not
// inlined, because it goes through a function pointer or a vtable.
//
//   AskIndependent([&](size_t i) { return reader->MayMatch(key(i)); }, 0, n);

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_ASK_LOOPS_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_ASK_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "contender.h"

namespace rowbloom::filter_bench {

// Both return how many answers were "maybe".

template <class Ask>
uint64_t AskIndependent(const Ask& ask, const Window& window) {
  uint64_t maybes = 0;
  for (size_t i = window.begin; i < window.begin + window.count; ++i) {
    maybes += ask(i) ? 1 : 0;
  }
  return maybes;
}

// The index of the next key is computed from the answer, so that its load
// cannot begin before the answer is there. `present` is the usual answer: the
// keys are then asked one behind the other. A filter that branches on its
// bits answers with a constant on each side of the branch; where the branch
// is predicted, the processor goes on without waiting for the filter's bytes.
// Such a filter is asked here, as in real life, faster than its latency.
template <class Ask>
uint64_t AskDependent(const Ask& ask, const Window& window, bool present) {
  const size_t mask = window.keys->size() - 1;
  uint64_t unusual = 0;
  for (size_t i = 0; i < window.count; ++i) {
    uint64_t is_unusual = ask((window.begin + i + unusual) & mask) ? 1 : 0;
    is_unusual ^= present ? 1 : 0;
    // The compiler must not know that it is 0 or 1, and branch on it.
    asm volatile("" : "+r"(is_unusual));
    unusual += is_unusual;
  }
  return present ? window.count - unusual : unusual;
}

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_ASK_LOOPS_H_
