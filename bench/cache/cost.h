// SPDX-License-Identifier: Apache-2.0
//
// What an access to a cached value costs, on one thread and on several.

#ifndef ROWBLOOM_BENCH_CACHE_COST_H_
#define ROWBLOOM_BENCH_CACHE_COST_H_

#include <array>
#include <cstdint>

namespace rowbloom::cache_bench {

enum class Access {
  kPointer,  // To the value, without a cache: the least there can be.
  kHint,     // Guard, load of the hint, `used`.
  kLookupAndRelease,
};
inline constexpr std::array<Access, 3> kAccesses = {
    Access::kPointer, Access::kHint, Access::kLookupAndRelease};
const char* AccessName(Access access);

// Of the best round, since other programs may take turns on the cores. Each
// thread makes so many accesses in a round.
double NsPerAccess(Access access, int thread_count, uint64_t accesses,
                   int rounds);

}  // namespace rowbloom::cache_bench

#endif  // ROWBLOOM_BENCH_CACHE_COST_H_
