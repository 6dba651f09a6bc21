// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of blocked_bloom, one implementation for each instruction
// set. All build the same bytes and give the same answers. Kernel files
// include this header and intrinsics only (filter_state.h says why).
//
// A filter is an array of 64-byte lines, each of eight 64-bit sectors:
//
//   line     = high64(digest * line_count)
//   salt     = the two top bits of the line's byte 63
//   g        = digest * kSalts[salt]                                mod 2^64
//   rotation = bits 13..15 of g
//   sector i = 0..7 is probed if (i + rotation) mod 8 < min(probe_count, 8),
//              at bit number: bits 16+6i .. 21+6i of g, in sector 7 at most 61
//   probe_count > 8: a second round of probe_count - 8 probes, the same with
//              g2 = (g xor g >> 32) * kSecondRound in place of g
//
// So a key's probes fall into distinct sectors, and the positions of all of
// them are 48 bits of one product. Each line takes the salt under which its
// keys collide most, that is, which sets fewest bits; that lowers the rate by
// about an eighth and costs a lookup one multiplier out of four.

#ifndef ROWBLOOM_FILTER_BLOCKED_BLOOM_KERNEL_H_
#define ROWBLOOM_FILTER_BLOCKED_BLOOM_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "rowbloom/filter_state.h"

namespace rowbloom::filter {

constexpr uint32_t kLineSize = 64;
constexpr uint32_t kSectors = 8;
constexpr uint32_t kSaltCount = 4;
constexpr uint32_t kMaxProbeCount = 16;
constexpr uint32_t kSaltByte = 63;
constexpr uint32_t kSaltShift = 6;
constexpr uint32_t kLastSectorMaxPosition = 61;

// Odd, from the fractional bits of the golden ratio and the square roots of
// 3, 7, 11 and 13.
constexpr uint64_t kSalts[kSaltCount] = {
    0x9e3779b97f4a7c15u, 0xbb67ae8584caa73bu, 0xa54ff53a5f1d36f1u,
    0x510e527fade682d1u};
constexpr uint64_t kSecondRound = 0x9b05688c2b3e6c1fu;

// FilterState as these use it: unit[0] the lines, slot_count their number,
// parameter the probe count.
struct BlockedBloomKernel {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  // Writes the line that holds these keys.
  void (*build_line)(const uint64_t* digests, size_t count,
                     uint32_t probe_count, char* line);
};

// For `probe_count` from 1 to kMaxProbeCount.
BlockedBloomKernel PortableBlockedBloomKernel(uint32_t probe_count);
#if defined(__x86_64__)
BlockedBloomKernel Avx2BlockedBloomKernel(uint32_t probe_count);
#endif

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_BLOCKED_BLOOM_KERNEL_H_
