// SPDX-License-Identifier: Apache-2.0

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_lookup.h"

namespace rowbloom::filter {

namespace {

constexpr uint64_t kEachByte = 0x0101010101010101u;

// Bit i of the result: the lowest bit of byte i.
inline uint32_t LowestBits(uint64_t bytes) {
  return static_cast<uint32_t>(((bytes & kEachByte) * 0x0102040810204080u) >>
                               56);
}

inline uint32_t ByteParities(uint64_t bytes) {
  bytes ^= bytes >> 4;
  bytes ^= bytes >> 2;
  return LowestBits(bytes ^ bytes >> 1);
}

struct PortableOps {
  // Eight planes at a time; the last eight overlap those before.
  template <uint32_t kPlanes>
  static uint32_t Parities(const char* line, uint64_t equation,
                           uint64_t sparse_equation) {
    constexpr uint32_t kLast = kPlanes > 8 ? kPlanes - 8 : 0;
    uint64_t first = 0;
    uint64_t last = 0;
    for (uint32_t g = 0; g < FastGroups(kPlanes); ++g) {
      const uint64_t byte =
          g < 8 ? equation >> (8 * g) : sparse_equation >> (8 * g - 64);
      const uint64_t bits = (byte & 0xff) * kEachByte;
      first ^= LoadWord(line + g * kPlanes) & bits;
      if (kLast > 0) last ^= LoadWord(line + g * kPlanes + kLast) & bits;
    }
    return ByteParities(first) | ByteParities(last) << kLast;
  }

  static uint32_t SplitThreshold(const char* line) {
    return LowestBits(LoadWord(line + 56) >> 7);
  }
};

}  // namespace

FastKernel PortableFastKernel(uint32_t planes) {
  return FastKernelOf<PortableOps>(planes);
}

}  // namespace rowbloom::filter
