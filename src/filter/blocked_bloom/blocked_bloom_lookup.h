// SPDX-License-Identifier: Apache-2.0
//
// Lookups of blocked_bloom, around the few instructions that differ between
// instruction sets, and the kernels that they make. For kernel files: internal
// linkage.
//
// `Ops` gives them:
//   // True if the line has all bits of the key.
//   static bool TestLine(const char* line, uint64_t digest,
//                        uint32_t probe_count);

#ifndef ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_LOOKUP_H_
#define ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_LOOKUP_H_

#include "filter/blocked_bloom/blocked_bloom_kernel.h"

namespace rowbloom::filter {

namespace {

inline uint64_t LineOf(uint64_t digest, uint64_t line_count) {
  return internal::Multiply(digest, line_count).high;
}

inline uint64_t SecondRound(uint64_t g) {
  return (g ^ (g >> 32)) * kSecondRound;
}

// of[k - 1][rotation][i] is 0 where a round of k probes has one in sector i,
// else 128, which makes a probe's position one that no sector has.
template <typename Lane>
struct SkipTable {
  alignas(32) Lane of[kSectors][kSectors][kSectors];
};

template <typename Lane>
constexpr SkipTable<Lane> MakeSkipTable() {
  SkipTable<Lane> table = {};
  for (uint32_t k = 1; k <= kSectors; ++k) {
    for (uint32_t rotation = 0; rotation < kSectors; ++rotation) {
      for (uint32_t i = 0; i < kSectors; ++i) {
        table.of[k - 1][rotation][i] = ((i + rotation) & 7) < k ? 0 : 128;
      }
    }
  }
  return table;
}

template <typename Ops>
bool MayContain(const FilterState& state, uint64_t digest) {
  const uint64_t line = LineOf(digest, state.slot_count);
  return Ops::TestLine(state.unit[0] + line * kLineSize, digest,
                       static_cast<uint32_t>(state.parameter));
}

template <typename Ops>
void MayContainBatch(const FilterState& state, const uint64_t* digests,
                     size_t count, bool* may_contain) {
  constexpr size_t kBatch = 32;
  const char* lines[kBatch];
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t size = count - begin < kBatch ? count - begin : kBatch;
    for (size_t i = 0; i < size; ++i) {
      lines[i] = state.unit[0] +
                 LineOf(digests[begin + i], state.slot_count) * kLineSize;
      internal::PrefetchFar(lines[i]);
    }
    for (size_t i = 0; i < size; ++i) {
      may_contain[begin + i] = Ops::TestLine(
          lines[i], digests[begin + i], static_cast<uint32_t>(state.parameter));
    }
  }
}

inline void Prefetch(const FilterState& state, uint64_t digest) {
  internal::PrefetchFar(state.unit[0] +
                        LineOf(digest, state.slot_count) * kLineSize);
}

using BlockedBloomAdd = decltype(BlockedBloomKernel::add);

template <typename Ops>
BlockedBloomKernel BlockedBloomKernelWith(BlockedBloomAdd add) {
  return {MayContain<Ops>, MayContainBatch<Ops>, Prefetch, add};
}

// Its Ops are Ops<kTwoRounds>.
template <template <bool> class Ops>
BlockedBloomKernel BlockedBloomKernelOf(uint32_t probe_count,
                                        BlockedBloomAdd add) {
  return probe_count > kSectors ? BlockedBloomKernelWith<Ops<true>>(add)
                                : BlockedBloomKernelWith<Ops<false>>(add);
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_LOOKUP_H_
