// SPDX-License-Identifier: Apache-2.0

#include <arm_neon.h>

#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_lookup.h"

namespace rowbloom::filter {

namespace {

constexpr SkipTable<uint64_t> kSkip = MakeSkipTable<uint64_t>();

// Left shifts that move the position of each sector to the low bits of g.
constexpr int64_t kShifts[kSectors] = {-16, -22, -28, -34, -40, -46, -52, -58};

// The bits that a round of `probes` needs and the line lacks, ORed over the
// even and over the odd sectors.
inline uint64x2_t Missing(const char* line, uint64_t g, uint32_t probes) {
  const uint64_t* skip = kSkip.of[probes - 1][(g >> 13) & 7];
  uint64x2_t missing = vdupq_n_u64(0);
  for (uint32_t i = 0; i < kSectors; i += 2) {
    uint64x2_t positions = vandq_u64(
        vshlq_u64(vdupq_n_u64(g), vld1q_s64(kShifts + i)), vdupq_n_u64(63));
    // A shift takes the low byte of a lane for a signed number: 128 or more
    // shifts right.
    positions = vaddq_u64(positions, vld1q_u64(skip + i));
    const uint64x2_t bits =
        vshlq_u64(vdupq_n_u64(1), vreinterpretq_s64_u64(positions));
    const uint64x2_t sectors = vreinterpretq_u64_u8(
        vld1q_u8(reinterpret_cast<const uint8_t*>(line + 8 * i)));
    missing = vorrq_u64(missing, vbicq_u64(bits, sectors));
  }
  return missing;
}

template <bool kTwoRounds>
struct NeonOps {
  static bool TestLine(const char* line, uint64_t digest,
                       uint32_t probe_count) {
    const uint64_t g = digest * kFirstRound;
    uint64x2_t missing = Missing(line, g, kTwoRounds ? kSectors : probe_count);
    if (kTwoRounds) {
      missing = vorrq_u64(
          missing, Missing(line, SecondRound(g), probe_count - kSectors));
    }
    return vmaxvq_u32(vreinterpretq_u32_u64(missing)) == 0;
  }
};

}  // namespace

BlockedBloomKernel NeonBlockedBloomKernel(uint32_t probe_count) {
  return BlockedBloomKernelOf<NeonOps>(probe_count,
                                       PortableBlockedBloomKernel().add);
}

}  // namespace rowbloom::filter
