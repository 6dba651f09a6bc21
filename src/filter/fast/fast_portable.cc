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
  // Eight columns at a time; the last eight overlap those before.
  template <uint32_t kColumns>
  static uint32_t Parities(const char* line, uint64_t row,
                           uint64_t sparse_row) {
    constexpr uint32_t kLast = kColumns > 8 ? kColumns - 8 : 0;
    uint64_t first = 0;
    uint64_t last = 0;
    for (uint32_t g = 0; g < FastGroups(kColumns); ++g) {
      const uint64_t byte = g < 8 ? row >> (8 * g) : sparse_row >> (8 * g - 64);
      const uint64_t bits = (byte & 0xff) * kEachByte;
      first ^= LoadWord(line + g * kColumns) & bits;
      if (kLast > 0) last ^= LoadWord(line + g * kColumns + kLast) & bits;
    }
    return ByteParities(first) | ByteParities(last) << kLast;
  }

  static uint32_t SplitThreshold(const char* line) {
    return LowestBits(LoadWord(line + 56) >> 7);
  }
};

}  // namespace

FastKernel PortableFastKernel(uint32_t columns) {
  return FastKernelOf<PortableOps>(columns);
}

}  // namespace rowbloom::filter
