// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_lookup.h"
#include "filter/compact/compact_solver.h"

namespace rowbloom::filter {

namespace {

inline uint32_t Load32(const char* bytes) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

struct PortableOps {
  static constexpr uint32_t kUnitsTogether = 1;

  static uint32_t Parities(const char* home, const char* next,
                           uint64_t equation) {
    uint32_t parities = 0;
    for (uint32_t c = 0; c < kUnitPlanes; ++c) {
      const uint32_t slots =
          (Load32(home + kPlaneSize * c) & static_cast<uint32_t>(equation)) ^
          (Load32(next + kPlaneSize * c) &
           static_cast<uint32_t>(equation >> 32));
      parities |= internal::Parity(slots) << c;
    }
    return parities;
  }
};

}  // namespace

CompactKernel PortableCompactKernel() {
  return {CompactLookupOf<PortableOps>, WorkSize, SolveGroup};
}

}  // namespace rowbloom::filter
