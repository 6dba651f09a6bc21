// SPDX-License-Identifier: Apache-2.0
//
// Lookups of compact, around the few instructions that differ between
// instruction sets. For kernel files: internal linkage.
//
// `Ops` gives them:
//   // 16 bytes each of a key's two segments: four planes of 32 slots.
//   // The key's equation in `equation`. Bit c of the result: the parity of
//   plane c. static uint32_t Parities(const char* home, const char* next,
//   uint64_t equation);

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_

#include "filter/compact/compact_kernel.h"
#include "filter/digest_mix.h"

namespace rowbloom::filter {

namespace {

struct Place {
  uint64_t segment;
  uint32_t position;  // Within the home.
};

inline Place PlaceOf(uint64_t digest, uint64_t homes) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(digest) * homes;
  return {static_cast<uint64_t>(product >> 64),
          static_cast<uint32_t>(static_cast<uint64_t>(product) >> 56)};
}

// True if a key at this place is in the next layer.
inline bool IsBumped(const FilterState& state, uint64_t segment,
                     uint32_t position) {
  const uint32_t codes = static_cast<uint8_t>(state.metadata[segment / 4]);
  const uint32_t code = codes >> (2 * (segment % 4)) & 3;
  return position < static_cast<uint16_t>(kThresholds >> (16 * code));
}

template <typename Ops>
bool MatchesPartialUnit(const FilterState& state, const char* unit,
                        uint64_t segment, uint64_t equation,
                        uint32_t fingerprint) {
  const uint64_t lean = state.detail[kLeanPlanes];
  const uint64_t rich_segments = state.detail[kRichSegments];
  const uint64_t planes = lean + (segment + 1 < rich_segments);
  if (planes == 0) return true;
  const auto at = [&](uint64_t s) {
    const uint64_t rich = s < rich_segments ? s : rich_segments;
    return unit + kPlaneSize * (s * lean + rich);
  };
  const uint32_t wrong =
      Ops::Parities(at(segment), at(segment + 1), equation) ^ fingerprint;
  return (wrong & ((1u << planes) - 1)) == 0;
}

// Tests the units from first_unit on.
template <typename Ops>
inline bool MatchesUnits(const FilterState& state, uint64_t segment,
                         uint64_t equation, uint32_t first_unit) {
  const uint32_t full = static_cast<uint32_t>(state.detail[kFullUnits]);
  uint32_t fingerprint = Fingerprint32(equation) >> (kUnitPlanes * first_unit);
  for (uint32_t u = first_unit; u < full; ++u) {
    const char* home = state.unit[u] + segment * kFullSegmentSize;
    const uint32_t wrong =
        Ops::Parities(home, home + kFullSegmentSize, equation) ^ fingerprint;
    if ((wrong & ((1u << kUnitPlanes) - 1)) != 0) return false;
    fingerprint >>= kUnitPlanes;
  }
  return full == state.unit_count ||
         MatchesPartialUnit<Ops>(state, state.unit[full], segment, equation,
                                 fingerprint);
}

// Looks up a key that is not in layer 0.
template <typename Ops>
__attribute__((noinline)) bool MayContainBumped(const FilterState& state,
                                                uint64_t digest) {
  for (uint32_t i = kLayer1Segment; i < kLayer1Segment + 2 * (kMaxLayers - 1);
       i += 2) {
    const uint64_t homes = state.detail[i + 1];
    if (homes == 0) return true;  // Bumped from the last layer.
    digest = DigestInNextLayer(digest);
    Place place = PlaceOf(digest, homes);
    place.segment += state.detail[i];
    if (!IsBumped(state, place.segment, place.position)) {
      return MatchesUnits<Ops>(state, place.segment,
                               Mix64(digest, state.parameter), 0);
    }
  }
  return true;
}

template <typename Ops>
bool MayContain(const FilterState& state, uint64_t digest) {
  const Place place = PlaceOf(digest, state.slot_count);
  if (__builtin_expect(IsBumped(state, place.segment, place.position), 0)) {
    return MayContainBumped<Ops>(state, digest);
  }
  return MatchesUnits<Ops>(state, place.segment, Mix64(digest, state.parameter),
                           0);
}

template <typename Ops>
void MayContainBatch(const FilterState& state, const uint64_t* digests,
                     size_t count, bool* may_contain) {
  constexpr size_t kBatch = 32;
  const bool whole = state.detail[kFullUnits] > 0;
  Place places[kBatch];
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t size = count - begin < kBatch ? count - begin : kBatch;
    // The second-level cache can wait for more lines at a time.
    for (size_t i = 0; i < size; ++i) {
      places[i] = PlaceOf(digests[begin + i], state.slot_count);
      __builtin_prefetch(state.metadata + places[i].segment / 4, 0, 1);
      if (!whole) continue;
      const char* home = state.unit[0] + places[i].segment * kFullSegmentSize;
      __builtin_prefetch(home, 0, 1);
      __builtin_prefetch(home + 2 * kFullSegmentSize - 1, 0, 1);
    }
    for (size_t i = 0; i < size; ++i) {
      const uint64_t digest = digests[begin + i];
      may_contain[begin + i] =
          __builtin_expect(
              IsBumped(state, places[i].segment, places[i].position), 0)
              ? MayContainBumped<Ops>(state, digest)
              : MatchesUnits<Ops>(state, places[i].segment,
                                  Mix64(digest, state.parameter), 0);
    }
  }
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_
