// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_lookup.h"

namespace rowbloom::filter {

namespace {

// Calls probe(byte of the line, bit of the byte) for each probe of a key until
// one returns false.
template <typename Function>
bool ForEachProbe(uint64_t g, uint32_t probe_count, Function probe) {
  for (;;) {
    const uint32_t probes = probe_count < kSectors ? probe_count : kSectors;
    // The first probed sector; the others follow it, cyclically.
    uint32_t sector = (kSectors - (static_cast<uint32_t>(g >> 13) & 7)) & 7;
    for (uint32_t i = 0; i < probes; ++i) {
      const uint32_t position =
          static_cast<uint32_t>(g >> (16 + 6 * sector)) & 63;
      if (!probe(sector * 8 + position / 8, position % 8)) return false;
      sector = (sector + 1) & 7;
    }
    if (probe_count == probes) return true;
    probe_count -= probes;
    g = SecondRound(g);
  }
}

struct PortableOps {
  static bool TestLine(const char* line, uint64_t digest,
                       uint32_t probe_count) {
    return ForEachProbe(
        digest * kFirstRound, probe_count, [line](uint32_t byte, uint32_t bit) {
          return (static_cast<uint8_t>(line[byte]) >> bit & 1) != 0;
        });
  }
};

void Add(const uint64_t* digests, size_t count, uint64_t line_count,
         uint32_t probe_count, char* lines) {
  for (size_t i = 0; i < count; ++i) {
    char* const line = lines + LineOf(digests[i], line_count) * kLineSize;
    ForEachProbe(digests[i] * kFirstRound, probe_count,
                 [line](uint32_t byte, uint32_t bit) {
                   line[byte] = static_cast<char>(
                       static_cast<uint8_t>(line[byte]) | 1u << bit);
                   return true;
                 });
  }
}

}  // namespace

BlockedBloomKernel PortableBlockedBloomKernel() {
  return BlockedBloomKernelWith<PortableOps>(Add);
}

}  // namespace rowbloom::filter
