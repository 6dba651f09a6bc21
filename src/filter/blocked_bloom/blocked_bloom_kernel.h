// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of blocked_bloom, one implementation for each instruction
// set. All build the same bytes and give the same answers. Kernel files
// include kernel headers and intrinsics only (filter_state.h says why).
//
// A filter is an array of 64-byte lines, each of eight 64-bit sectors:
//
//   line     = high64(digest * line_count)
//   g        = digest * kFirstRound                                  mod 2^64
//   rotation = bits 13..15 of g
//   sector i = 0..7 is probed if (i + rotation) mod 8 < min(probe_count, 8),
//              at bit number: bits 16+6i .. 21+6i of g
//   probe_count > 8: a second round of probe_count - 8 probes, the same with
//              g2 = (g xor g >> 32) * kSecondRound in place of g
//
// The probes of a round fall into distinct sectors, and the positions of all of
// them are 48 bits of one product.

#ifndef ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_KERNEL_H_
#define ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "rowbloom/compiler.h"
#include "rowbloom/filter_state.h"

namespace rowbloom::filter {

constexpr uint32_t kLineSize = 64;
constexpr uint32_t kSectors = 8;
constexpr uint32_t kMaxProbeCount = 16;
// The number of keys between prefetching a line and writing it.
constexpr size_t kPrefetchAhead = 12;

// Odd, from the fractional bits of the golden ratio and of a square root.
constexpr uint64_t kFirstRound = 0x9e3779b97f4a7c15u;
constexpr uint64_t kSecondRound = 0x9b05688c2b3e6c1fu;

// These functions read FilterState: unit[0] holds the lines, slot_count is
// their number, parameter is the probe count.
struct BlockedBloomKernel {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  // Prefetches a key's line, as in batches.
  void (*prefetch)(const FilterState& state, uint64_t digest);
  // Adds keys to the lines.
  void (*add)(const uint64_t* digests, size_t count, uint64_t line_count,
              uint32_t probe_count, char* lines);
};

// Kernels for `probe_count` from 1 to kMaxProbeCount.
BlockedBloomKernel PortableBlockedBloomKernel();
#if ROWBLOOM_X86_KERNELS
BlockedBloomKernel Sse42BlockedBloomKernel(uint32_t probe_count);
BlockedBloomKernel Avx2BlockedBloomKernel(uint32_t probe_count);
#elif ROWBLOOM_ARM_KERNELS
BlockedBloomKernel NeonBlockedBloomKernel(uint32_t probe_count);
#endif

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_KERNEL_H_
