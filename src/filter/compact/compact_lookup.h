// SPDX-License-Identifier: Apache-2.0
//
// Lookups of compact, around the few instructions that differ between
// instruction sets. For kernel files: internal linkage.
//
// `Ops` gives them:
//   // 16 bytes each of a key's two stripes: four planes of 32 slots.
//   // The key's equation in `equation`. Bit c of the result: the parity of
//   // plane c.
//   static uint32_t Parities(const char* home, const char* next,
//                            uint64_t equation);
//   // The number of full units that it tests in little more time than one.
//   static constexpr uint32_t kUnitsTogether;  // 1 or 2.
//   // If 2: bits 0 to 7 for the planes of two full units at their homes.
//   static uint32_t ParitiesOfTwo(const char* first, const char* second,
//                                 uint64_t equation);

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_

#include "filter/compact/compact_kernel.h"

namespace rowbloom::filter {

namespace {

struct Place {
  uint64_t stripe;
  uint32_t position;  // Within the home.
};

inline Place PlaceOf(uint64_t digest, uint64_t homes) {
  const internal::Product product = internal::Multiply(digest, homes);
  return {product.high, static_cast<uint32_t>(product.low >> 56)};
}

// True if a key at this place is in the next layer.
inline bool IsBumped(const FilterState& state, uint64_t stripe,
                     uint32_t position) {
  const uint32_t codes = static_cast<uint8_t>(state.metadata[stripe / 4]);
  // `stripe % 4` would take one instruction more.
  const uint32_t code = codes >> (2 * stripe & 6) & 3;
  return position < kThresholdOfCode[code];
}

// The planes of `stripe` in the partial unit, which is unit `full`.
inline const char* PartialStripe(const FilterState& state, uint64_t full,
                                 uint64_t stripe) {
  const uint64_t rich_stripes = state.detail[kRichStripes];
  return state.unit[full] +
         kPlaneSize * (stripe * state.detail[kLeanPlanes] +
                       (stripe < rich_stripes ? stripe : rich_stripes));
}

template <typename Ops>
ROWBLOOM_ALWAYS_INLINE bool MatchesPartialUnit(const FilterState& state,
                                               uint64_t full, uint64_t stripe,
                                               uint64_t equation,
                                               uint32_t fingerprint) {
  const uint64_t lean = state.detail[kLeanPlanes];
  const uint64_t rich_stripes = state.detail[kRichStripes];
  const uint64_t planes = lean + (stripe + 1 < rich_stripes);
  if (planes == 0) return true;
  const char* home = PartialStripe(state, full, stripe);
  const char* next = home + kPlaneSize * (lean + (stripe < rich_stripes));
  const uint32_t wrong = Ops::Parities(home, next, equation) ^ fingerprint;
  return (wrong & ((1u << planes) - 1)) == 0;
}

template <typename Ops>
inline bool MatchesFullUnit(const FilterState& state, uint32_t u,
                            uint64_t stripe, uint64_t equation,
                            uint32_t fingerprint) {
  const char* home = state.unit[u] + stripe * kFullStripeSize;
  const uint32_t wrong =
      Ops::Parities(home, home + kFullStripeSize, equation) ^ fingerprint;
  return (wrong & ((1u << kUnitPlanes) - 1)) == 0;
}

// Tests the units from first_unit on.
template <typename Ops>
inline bool MatchesUnits(const FilterState& state, uint64_t stripe,
                         uint64_t equation, uint32_t first_unit) {
  const uint32_t full = static_cast<uint32_t>(state.detail[kFullUnits]);
  uint32_t fingerprint = Fingerprint32(equation) >> (kUnitPlanes * first_unit);
  // Unrolled, it would save registers in each lookup.
  ROWBLOOM_DO_NOT_UNROLL
  for (uint32_t u = first_unit; u < full; ++u) {
    if (!MatchesFullUnit<Ops>(state, u, stripe, equation, fingerprint)) {
      return false;
    }
    fingerprint >>= kUnitPlanes;
  }
  return full == state.unit_count ||
         MatchesPartialUnit<Ops>(state, full, stripe, equation, fingerprint);
}

// Looks up a key that is not in layer 0.
template <typename Ops>
ROWBLOOM_NOINLINE bool MayContainBumped(const FilterState& state,
                                        uint64_t digest) {
  for (uint32_t i = kLayer1Stripe; i < kLayer1Stripe + 2 * (kMaxLayers - 1);
       i += 2) {
    const uint64_t homes = state.detail[i + 1];
    if (homes == 0) return true;  // Bumped from the last layer.
    digest = DigestInNextLayer(digest);
    Place place = PlaceOf(digest, homes);
    place.stripe += state.detail[i];
    if (!IsBumped(state, place.stripe, place.position)) {
      return MatchesUnits<Ops>(state, place.stripe,
                               Mix64(digest, state.parameter), 0);
    }
  }
  return true;
}

// Tests the first kUnits units, which are full.
template <typename Ops, uint32_t kUnits>
inline bool MatchesFirstUnits(const FilterState& state, uint64_t stripe,
                              uint64_t equation) {
  const uint64_t offset = stripe * kFullStripeSize;
  const char* first = state.unit[0] + offset;
  uint32_t wrong = Fingerprint32(equation);
  if constexpr (kUnits == 2) {
    wrong ^= Ops::ParitiesOfTwo(first, state.unit[1] + offset, equation);
  } else {
    wrong ^= Ops::Parities(first, first + kFullStripeSize, equation);
  }
  return (wrong & ((1u << (kUnits * kUnitPlanes)) - 1)) == 0;
}

// A filter has exactly kUnits full units, or more of them.
enum class Units { kMore, kExactly };

// Tests a key in the units behind the first kUnits.
template <typename Ops, uint32_t kUnits, Units kThere>
ROWBLOOM_ALWAYS_INLINE bool MatchesOtherUnits(const FilterState& state,
                                              uint64_t stripe,
                                              uint64_t equation) {
  if constexpr (kThere == Units::kExactly) {
    return kUnits == state.unit_count ||
           MatchesPartialUnit<Ops>(
               state, kUnits, stripe, equation,
               Fingerprint32(equation) >> (kUnitPlanes * kUnits));
  } else {
    return MatchesUnits<Ops>(state, stripe, equation, kUnits);
  }
}
// MatchesOtherUnits() as a call. If the compiler inlined it behind two full
// units, each lookup would save registers before its first test.
template <typename Ops, uint32_t kUnits, Units kThere>
ROWBLOOM_NOINLINE bool MatchesOtherUnitsApart(const FilterState& state,
                                              uint64_t stripe,
                                              uint64_t equation) {
  return MatchesOtherUnits<Ops, kUnits, kThere>(state, stripe, equation);
}

// Tests the first kUnits units without a branch between them, which would be
// mispredicted for one absent key of 16, and then the others. If kApart is
// true, that takes a call.
template <typename Ops, uint32_t kUnits, Units kThere, bool kApart>
ROWBLOOM_ALWAYS_INLINE bool Answer(const FilterState& state, uint64_t digest) {
  const Place place = PlaceOf(digest, state.slot_count);
  if (ROWBLOOM_UNLIKELY(IsBumped(state, place.stripe, place.position))) {
    return MayContainBumped<Ops>(state, digest);
  }
  const uint64_t equation = Mix64(digest, state.parameter);
  if constexpr (kUnits > 0) {
    if (!MatchesFirstUnits<Ops, kUnits>(state, place.stripe, equation)) {
      return false;
    }
  }
  if constexpr (kApart) {
    return MatchesOtherUnitsApart<Ops, kUnits, kThere>(state, place.stripe,
                                                       equation);
  } else {
    return MatchesOtherUnits<Ops, kUnits, kThere>(state, place.stripe,
                                                  equation);
  }
}

template <typename Ops, uint32_t kUnits, Units kThere>
bool MayContain(const FilterState& state, uint64_t digest) {
  constexpr bool kApart = kUnits == 2 && kThere == Units::kExactly;
  return Answer<Ops, kUnits, kThere, kApart>(state, digest);
}

// Prefetches two stripes. GCC takes a function that only prefetches for one
// without effect, and may drop its calls unless it is always inlined.
ROWBLOOM_ALWAYS_INLINE void PrefetchStripes(const char* home) {
  internal::PrefetchFar(home);
  internal::PrefetchFar(home + 2 * kFullStripeSize - 1);
}

ROWBLOOM_ALWAYS_INLINE void PrefetchUnit(const FilterState& state, uint32_t u,
                                         uint64_t stripe) {
  if (u < state.detail[kFullUnits]) {
    PrefetchStripes(state.unit[u] + stripe * kFullStripeSize);
  } else if (u < state.unit_count) {
    PrefetchStripes(PartialStripe(state, u, stripe));
  }
}

// Prefetches a home's code and its window in the first unit.
ROWBLOOM_ALWAYS_INLINE void PrefetchHome(const FilterState& state,
                                         uint64_t stripe) {
  internal::PrefetchFar(state.metadata + stripe / 4);
  PrefetchUnit(state, 0, stripe);
}

template <uint32_t kUnits>
void Prefetch(const FilterState& state, uint64_t digest) {
  const uint64_t stripe = PlaceOf(digest, state.slot_count).stripe;
  PrefetchHome(state, stripe);
  if (kUnits == 2) PrefetchUnit(state, 1, stripe);
}

// Calls function(i) for each bit i that is 1.
template <typename Function>
inline void ForEachBit(uint32_t bits, const Function& function) {
  for (; bits != 0; bits &= bits - 1) {
    function(internal::LowestOne(bits));
  }
}

constexpr size_t kBatch = 32;  // The bits of a word.

// Prefetches nothing: the filter is in the processor's own caches, where
// prefetches cost more than they save.
template <typename Ops, uint32_t kUnits, Units kThere>
void MayContainNearBatch(const FilterState& state, const uint64_t* digests,
                         size_t count, bool* may_contain) {
  for (size_t i = 0; i < count; ++i) {
    may_contain[i] = Answer<Ops, kUnits, kThere, false>(state, digests[i]);
  }
}

// Prefetches the homes of a filter that has no full unit.
template <typename Ops>
void MayContainPartialBatch(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain) {
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t end = count - begin < kBatch ? count : begin + kBatch;
    for (size_t i = begin; i < end; ++i) {
      PrefetchHome(state, PlaceOf(digests[i], state.slot_count).stripe);
    }
    MayContainNearBatch<Ops, 0, Units::kExactly>(
        state, digests + begin, end - begin, may_contain + begin);
  }
}

// For large filters: a mispredicted branch for an absent key that is bumped or
// matches the first unit would wait for memory, and so would the tests after
// it. So these keys are found without branches, what they need is prefetched,
// and each further unit is tested for all keys that match those before.
template <typename Ops>
void MayContainFarBatch(const FilterState& state, const uint64_t* digests,
                        size_t count, bool* may_contain) {
  const bool second_is_full = state.detail[kFullUnits] > 1;
  uint64_t stripes[kBatch];
  uint64_t equations[kBatch];
  while (count > 0) {
    const size_t size = count < kBatch ? count : kBatch;
    for (size_t i = 0; i < size; ++i) {
      stripes[i] = PlaceOf(digests[i], state.slot_count).stripe;
      PrefetchHome(state, stripes[i]);
    }
    uint32_t bumped = 0;
    for (size_t i = 0; i < size; ++i) {
      const Place place = PlaceOf(digests[i], state.slot_count);
      bumped |= uint32_t{IsBumped(state, place.stripe, place.position)} << i;
    }
    if (state.detail[kLayer1Homes] > 0) {
      ForEachBit(bumped, [&](uint32_t i) {
        const Place place =
            PlaceOf(DigestInNextLayer(digests[i]), state.detail[kLayer1Homes]);
        PrefetchHome(state, state.detail[kLayer1Stripe] + place.stripe);
      });
    }
    uint32_t matching = 0;
    for (size_t i = 0; i < size; ++i) {
      equations[i] = Mix64(digests[i], state.parameter);
      const bool matches =
          MatchesFirstUnits<Ops, 1>(state, stripes[i], equations[i]);
      matching |= uint32_t{matches} << i;
      if (second_is_full) {
        PrefetchStripes(state.unit[matches ? 1 : 0] +
                        stripes[i] * kFullStripeSize);
      }
    }
    matching &= ~bumped;
    if (!second_is_full) {
      ForEachBit(matching,
                 [&](uint32_t i) { PrefetchUnit(state, 1, stripes[i]); });
    }
    uint32_t maybe = 0;
    ForEachBit(bumped, [&](uint32_t i) {
      maybe |= uint32_t{MayContainBumped<Ops>(state, digests[i])} << i;
    });
    for (uint32_t u = 1; u < state.unit_count && matching != 0; ++u) {
      uint32_t still_matching = 0;
      ForEachBit(matching, [&](uint32_t i) {
        const uint32_t fingerprint =
            Fingerprint32(equations[i]) >> (kUnitPlanes * u);
        if (u < state.detail[kFullUnits]
                ? MatchesFullUnit<Ops>(state, u, stripes[i], equations[i],
                                       fingerprint)
                : MatchesPartialUnit<Ops>(state, u, stripes[i], equations[i],
                                          fingerprint)) {
          still_matching |= 1u << i;
          PrefetchUnit(state, u + 1, stripes[i]);
        }
      });
      matching = still_matching;
    }
    maybe |= matching;
    for (size_t i = 0; i < size; ++i) may_contain[i] = maybe >> i & 1;
    digests += size;
    may_contain += size;
    count -= size;
  }
}

template <typename Ops, uint32_t kUnits, Units kThere>
CompactLookup CompactLookupWith(bool near) {
  const auto batch = near         ? MayContainNearBatch<Ops, kUnits, kThere>
                     : kUnits > 0 ? MayContainFarBatch<Ops>
                                  : MayContainPartialBatch<Ops>;
  return {MayContain<Ops, kUnits, kThere>, batch, Prefetch<kUnits>};
}

template <typename Ops>
CompactLookup CompactLookupOf(const FilterState& state, bool near) {
  const uint64_t full = state.detail[kFullUnits];
  if (full == 0) return CompactLookupWith<Ops, 0, Units::kExactly>(near);
  if constexpr (Ops::kUnitsTogether == 2) {
    if (near && full == 2) {
      return CompactLookupWith<Ops, 2, Units::kExactly>(near);
    }
    if (near && full > 2) return CompactLookupWith<Ops, 2, Units::kMore>(near);
  }
  if (full == 1) return CompactLookupWith<Ops, 1, Units::kExactly>(near);
  return CompactLookupWith<Ops, 1, Units::kMore>(near);
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_LOOKUP_H_
