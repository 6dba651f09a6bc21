// SPDX-License-Identifier: Apache-2.0

#include <arm_neon.h>

#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_lookup.h"
#include "filter/compact/compact_solver.h"

namespace rowbloom::filter {

namespace {

struct NeonOps {
  static constexpr uint32_t kUnitsTogether = 1;

  static uint32_t Parities(const char* home, const char* next,
                           uint64_t equation) {
    const auto load = [](const char* bytes) {
      return vreinterpretq_u32_u8(
          vld1q_u8(reinterpret_cast<const uint8_t*>(bytes)));
    };
    const uint32x4_t x = veorq_u32(
        vandq_u32(load(home), vdupq_n_u32(static_cast<uint32_t>(equation))),
        vandq_u32(load(next),
                  vdupq_n_u32(static_cast<uint32_t>(equation >> 32))));
    // The number of ones in each plane; its lowest bit goes to the plane's
    // place.
    const uint32x4_t ones =
        vpaddlq_u16(vpaddlq_u8(vcntq_u8(vreinterpretq_u8_u32(x))));
    static const int32_t kPlaces[4] = {0, 1, 2, 3};
    return vaddvq_u32(
        vshlq_u32(vandq_u32(ones, vdupq_n_u32(1)), vld1q_s32(kPlaces)));
  }
};

}  // namespace

CompactKernel NeonCompactKernel() {
  return {CompactLookupOf<NeonOps>, WorkSize, SolveGroup};
}

}  // namespace rowbloom::filter
