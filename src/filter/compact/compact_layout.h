// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of compact: the number of stripes and planes, their places,
// and the resulting rate. docs/filter_families.md has the formulas.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_LAYOUT_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_LAYOUT_H_

#include <array>
#include <cstdint>

#include "filter/compact/compact_kernel.h"

namespace rowbloom::filter {

// Planes of a filter: `lean` in every stripe, and one more in rich_share /
// 256 of the stripes of layer 0.
struct CompactPlanes {
  uint32_t lean = 0;
  uint32_t rich_share = 0;

  uint32_t most() const { return lean + (rich_share > 0); }
  uint32_t unit_count() const {
    return (most() + kUnitPlanes - 1) / kUnitPlanes;
  }
  // Properties of unit `u`.
  bool IsFullUnit(uint32_t u) const { return kUnitPlanes * (u + 1) <= lean; }
  uint32_t LeanPlanesOfUnit(uint32_t u) const {
    return IsFullUnit(u) ? kUnitPlanes : lean - kUnitPlanes * u;
  }

  // The rate of a filter with these planes.
  double rate() const;
};

// The planes that `bits_per_key` allows in a large filter.
CompactPlanes CompactPlanesFor(double bits_per_key);

// Homes of a layer, other than the last, for `key_count` keys.
uint64_t CompactHomes(uint64_t key_count);
// The share of absent keys that are expected not to be looked up in layer 0.
double CompactAbsentBumpedShare();

struct CompactLayout {
  CompactPlanes planes;
  uint32_t seed = 0;  // Below 256.
  // 0 for layers that do not exist.
  std::array<uint64_t, kMaxLayers> homes{};

  uint64_t LayerStripes(uint32_t layer) const {
    return homes[layer] == 0 ? 0 : homes[layer] + 1;
  }
  uint64_t FirstStripe(uint32_t layer) const;
  uint64_t stripe_count() const { return FirstStripe(kMaxLayers); }
  // Windows that begin in this many first homes have the extra plane.
  uint64_t rich_homes() const {
    return (homes[0] * planes.rich_share + 128) / 256;
  }
  uint64_t rich_stripes() const {
    return rich_homes() == 0 ? 0 : rich_homes() + 1;
  }
  // The offset of the planes of `stripe` in unit `u`.
  uint64_t StripeOffset(uint32_t u, uint64_t stripe) const;
  uint64_t StripesSize(uint32_t u) const {
    return StripeOffset(u, stripe_count());
  }
  uint64_t CodesOffset() const;
  uint64_t UnitSize(uint32_t u) const;
  uint64_t TotalSize() const;  // The sum of all units.

  // FilterDescriptor::parameters: all of this but homes[0], which follows from
  // the size of the first unit.
  uint64_t Encode() const;
  // Returns false if these cannot be the parameters and size of a filter.
  static bool Decode(uint64_t parameters, uint64_t first_unit_size,
                     CompactLayout* layout);
};

// The smallest number, `homes` or more, that a layer after the first can have.
uint64_t RepresentableHomes(uint64_t homes);

// The expected layout for `key_count` keys.
CompactLayout ExpectedCompactLayout(const CompactPlanes& planes,
                                    uint64_t key_count);

// A layer of at most this many keys is the last.
constexpr uint64_t kLastLayerKeys = 400;
// The smallest number of homes to try for a last layer of `key_count` keys.
uint64_t LastLayerHomes(uint64_t key_count);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_LAYOUT_H_
