// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom_kernel.h"

namespace rowbloom::filter {

namespace {

constexpr size_t kBatch = 16;

uint64_t LineOf(uint64_t digest, uint64_t line_count) {
  return static_cast<uint64_t>(
      (static_cast<unsigned __int128>(digest) * line_count) >> 64);
}

uint64_t SecondRound(uint64_t g) { return (g ^ (g >> 32)) * kSecondRound; }

uint32_t Position(uint64_t g, uint32_t sector) {
  const uint32_t position = static_cast<uint32_t>(g >> (16 + 6 * sector)) & 63;
  return sector == kSectors - 1 && position > kLastSectorMaxPosition
             ? kLastSectorMaxPosition
             : position;
}

// The first probed sector; the others follow it, cyclically.
uint32_t FirstSector(uint64_t g) {
  return (kSectors - (static_cast<uint32_t>(g >> 13) & 7)) & 7;
}

bool TestRound(const char* line, uint64_t g, uint32_t probes) {
  uint32_t sector = FirstSector(g);
  for (uint32_t i = 0; i < probes; ++i) {
    const uint32_t position = Position(g, sector);
    const uint8_t byte = static_cast<uint8_t>(line[sector * 8 + position / 8]);
    if ((byte >> (position % 8) & 1) == 0) return false;
    sector = (sector + 1) & 7;
  }
  return true;
}

bool TestLine(const char* line, uint64_t digest, uint32_t probe_count) {
  const uint8_t salt = static_cast<uint8_t>(line[kSaltByte]) >> kSaltShift;
  const uint64_t g = digest * kSalts[salt];
  if (probe_count <= kSectors) return TestRound(line, g, probe_count);
  return TestRound(line, g, kSectors) &&
         TestRound(line, SecondRound(g), probe_count - kSectors);
}

bool MayContain(const FilterState& state, uint64_t digest) {
  return TestLine(state.unit[0] + LineOf(digest, state.slot_count) * kLineSize,
                  digest, static_cast<uint32_t>(state.parameter));
}

void MayContainBatch(const FilterState& state, const uint64_t* digests,
                     size_t count, bool* may_contain) {
  const char* lines[kBatch];
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t size = count - begin < kBatch ? count - begin : kBatch;
    for (size_t i = 0; i < size; ++i) {
      lines[i] = state.unit[0] +
                 LineOf(digests[begin + i], state.slot_count) * kLineSize;
      __builtin_prefetch(lines[i]);
    }
    for (size_t i = 0; i < size; ++i) {
      may_contain[begin + i] = TestLine(lines[i], digests[begin + i],
                                        static_cast<uint32_t>(state.parameter));
    }
  }
}

void AddRound(uint64_t g, uint32_t probes, uint64_t* sectors) {
  uint32_t sector = FirstSector(g);
  for (uint32_t i = 0; i < probes; ++i) {
    sectors[sector] |= uint64_t{1} << Position(g, sector);
    sector = (sector + 1) & 7;
  }
}

void BuildLine(const uint64_t* digests, size_t count, uint32_t probe_count,
               char* line) {
  uint32_t best_salt = 0;
  uint32_t best_ones = ~0u;
  uint64_t best[kSectors] = {};
  for (uint32_t salt = 0; salt < kSaltCount; ++salt) {
    uint64_t sectors[kSectors] = {};
    for (size_t i = 0; i < count; ++i) {
      const uint64_t g = digests[i] * kSalts[salt];
      AddRound(g, probe_count < kSectors ? probe_count : kSectors, sectors);
      if (probe_count > kSectors) {
        AddRound(SecondRound(g), probe_count - kSectors, sectors);
      }
    }
    uint32_t ones = 0;
    for (const uint64_t sector : sectors) {
      ones += static_cast<uint32_t>(__builtin_popcountll(sector));
    }
    if (ones < best_ones) {
      best_ones = ones;
      best_salt = salt;
      for (uint32_t i = 0; i < kSectors; ++i) best[i] = sectors[i];
    }
  }
  for (uint32_t i = 0; i < kLineSize; ++i) {
    line[i] = static_cast<char>(best[i / 8] >> (8 * (i % 8)));
  }
  line[kSaltByte] = static_cast<char>(static_cast<uint8_t>(line[kSaltByte]) |
                                      best_salt << kSaltShift);
}

}  // namespace

BlockedBloomKernel PortableBlockedBloomKernel(uint32_t /*probe_count*/) {
  return {MayContain, MayContainBatch, BuildLine};
}

}  // namespace rowbloom::filter
