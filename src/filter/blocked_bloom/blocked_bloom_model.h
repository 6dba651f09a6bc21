// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of blocked_bloom: its false positive rate, and the probe
// count that makes it smallest. Exact up to 8 probes. With more it agrees with
// counted rates within 3%; below 1e-10, which only a handful of keys have, it
// may be off by a fifth.

#ifndef ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_MODEL_H_
#define ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_MODEL_H_

#include <cstdint>

namespace rowbloom::filter {

// Expected rate of `key_count` keys in `line_count` lines. 1 <= probe_count
// <= 16. About 10 microseconds.
double BlockedBloomFpr(uint64_t key_count, uint64_t line_count,
                       uint32_t probe_count);

// Expected rate of a large filter of `bits_per_key`.
double BlockedBloomFpr(double bits_per_key, uint32_t probe_count);

// The probe count with the smallest rate.
uint32_t BlockedBloomProbeCount(double bits_per_key);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_MODEL_H_
