// SPDX-License-Identifier: Apache-2.0

#include <arm_neon.h>

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_lookup.h"

namespace rowbloom::filter {

namespace {

constexpr uint32_t kPiece = 16;

constexpr uint8_t kBits[kPiece] = {1, 2, 4, 8, 16, 32, 64, 128,
                                   1, 2, 4, 8, 16, 32, 64, 128};

inline uint8x16_t Load(const char* bytes) {
  return vld1q_u8(reinterpret_cast<const uint8_t*>(bytes));
}

// The parity of each byte, at the bit that it has in a mask of 8 bytes.
inline uint8x16_t ParityBits(uint8x16_t x) {
  const uint8x16_t odd = vtstq_u8(vcntq_u8(x), vdupq_n_u8(1));
  return vandq_u8(odd, vld1q_u8(kBits));
}

struct NeonOps {
  template <uint32_t kPlanes>
  static uint32_t Parities(const char* line, uint64_t equation,
                           uint64_t sparse_equation) {
    const uint8x16_t equations = vreinterpretq_u8_u64(
        vcombine_u64(vcreate_u64(equation), vcreate_u64(sparse_equation)));
    uint8x16_t pieces[kFastLineSize / kPiece];
    for (uint32_t i = 0; i < kFastLineSize / kPiece; ++i) {
      const uint8_t* index = kEquationIndex<kPlanes>.of + i * kPiece;
      pieces[i] = vandq_u8(Load(line + i * kPiece),
                           vqtbl1q_u8(equations, vld1q_u8(index)));
    }
    if (kPlanes == 8) {  // All pieces have the same planes.
      const uint8x16_t all = veorq_u8(veorq_u8(pieces[0], pieces[1]),
                                      veorq_u8(pieces[2], pieces[3]));
      const uint8x16_t both = veorq_u8(all, vextq_u8(all, all, 8));
      return vaddv_u8(vget_low_u8(ParityBits(both)));
    }
    // Sums of neighbours put the bits of 8 bytes into one.
    const uint8x16_t low =
        vpaddq_u8(ParityBits(pieces[0]), ParityBits(pieces[1]));
    const uint8x16_t high =
        vpaddq_u8(ParityBits(pieces[2]), ParityBits(pieces[3]));
    const uint8x16_t quarters = vpaddq_u8(low, high);
    return XorOfGroups<kPlanes, FastGroups(kPlanes)>(
        vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)), 0));
  }

  static uint32_t SplitThreshold(const char* line) {
    const uint8x8_t last = vld1_u8(reinterpret_cast<const uint8_t*>(line) + 56);
    const uint8x8_t top = vtst_u8(last, vdup_n_u8(128));
    return vaddv_u8(vand_u8(top, vld1_u8(kBits)));
  }
};

}  // namespace

FastKernel NeonFastKernel(uint32_t planes) {
  return FastKernelOf<NeonOps>(planes);
}

}  // namespace rowbloom::filter
