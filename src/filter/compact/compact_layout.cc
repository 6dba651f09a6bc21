// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact_layout.h"

#include <algorithm>
#include <cmath>

namespace rowbloom::filter {

namespace {

// bench/filter/filter_bench.cc measured these; see section "compact" of
// docs/filter_families.md.
constexpr double kLoad = 1.06;  // Keys per slot of layer 0, if all stayed.
constexpr double kSlotsPerKey = 1.0065;  // In all layers of a large filter.
// The shares of keys, and of absent keys, that are not in layer 0. Crowded
// homes, which have more keys, bump more.
constexpr double kBumpedShare = 0.0625;
constexpr double kAbsentBumpedShare = 0.051;
// With more keys, the slots that stay free at the ends of strands no longer
// matter.
constexpr uint64_t kFewKeys = 20000;
// A last layer has at least two stripes, and fewer than some 35 keys would
// leave more than one of them free. Therefore a layer that is not the last has
// fewer slots than keys, by this number at least.
constexpr uint64_t kKeysBeyondHomes = 20;

constexpr double kCodeBitsPerKey = 2.0 / kStripeSlots * kSlotsPerKey;

// More is damage: 2^40 stripes hold 3.5e13 keys.
constexpr uint64_t kMaxHomes = uint64_t{1} << 40;

// Bits of FilterDescriptor::parameters.
constexpr uint32_t kLeanBits = 5;
constexpr uint32_t kRichBits = 8;
constexpr uint32_t kSeedBits = 8;
constexpr uint32_t kMantissaBits = 8;
constexpr uint32_t kExponentBits = 5;

// A number of homes as mantissa * 2^exponent.
struct ShortNumber {
  uint64_t mantissa;
  uint32_t exponent;
};

ShortNumber RoundUp(uint64_t value) {
  if (value == 0) return {0, 0};
  uint32_t exponent = 0;
  while (((value - 1) >> exponent) + 1 >= uint64_t{1} << kMantissaBits) {
    ++exponent;
  }
  return {((value - 1) >> exponent) + 1, exponent};
}

}  // namespace

double CompactPlanes::rate() const {
  // Only keys in layer 0 have the extra plane.
  const double rich = rich_share / 256.0 * (1 - kAbsentBumpedShare);
  return std::exp2(-static_cast<double>(lean)) * (1 - rich / 2);
}

CompactPlanes CompactPlanesFor(double bits_per_key) {
  const double bits = std::max(0.0, bits_per_key - kCodeBitsPerKey);
  // At least one plane everywhere: the size of the first unit then gives the
  // number of stripes.
  const double planes =
      std::clamp<double>(std::floor(bits / kSlotsPerKey), 1, kMaxPlanes - 1);
  CompactPlanes result;
  result.lean = static_cast<uint32_t>(planes);
  // Layer 0 has 1 / kLoad slots for each key.
  result.rich_share = static_cast<uint32_t>(
      std::clamp(256 * kLoad * (bits - planes * kSlotsPerKey), 0.0, 255.0));
  return result;
}

uint64_t CompactHomes(uint64_t key_count) {
  const auto homes = static_cast<uint64_t>(
      std::llround(static_cast<double>(key_count) / (kStripeSlots * kLoad)));
  const uint64_t most =
      (std::max(key_count, kKeysBeyondHomes) - kKeysBeyondHomes) / kStripeSlots;
  return std::max<uint64_t>(2, std::min(homes + 1, most)) - 1;
}

double CompactAbsentBumpedShare() { return kAbsentBumpedShare; }

uint64_t LastLayerHomes(uint64_t key_count) {
  // Half of all sets can be solved if this many slots stay free. Rounding to
  // stripes adds free slots, with which most sets can be solved.
  constexpr uint64_t kFree = 2;
  constexpr uint64_t kKeysOfFree = 200;
  const uint64_t slots =
      key_count <= kLastLayerKeys
          ? key_count + kFree +
                (std::max(key_count, kKeysOfFree) - kKeysOfFree) / 15
          : static_cast<uint64_t>(static_cast<double>(key_count) /
                                  (key_count < 1000 ? 0.90 : 0.85));
  const uint64_t stripes = (slots + kStripeSlots - 1) / kStripeSlots;
  return std::max<uint64_t>(stripes, 2) - 1;
}

namespace {

// Estimates how many keys of a layer go to the next.
uint64_t ExpectedBumped(uint64_t key_count, uint64_t homes) {
  if (key_count > kFewKeys) {
    return static_cast<uint64_t>(static_cast<double>(key_count) * kBumpedShare);
  }
  // Each of the solver's strands leaves slots free at its ends.
  const uint64_t strands =
      std::clamp<uint64_t>(homes / 48, homes < 24 ? 1 : 2, 4);
  const uint64_t free_slots = 4 + 12 * strands + key_count / 230;
  return key_count + free_slots - kStripeSlots * (homes + 1);
}

}  // namespace

uint64_t CompactLayout::FirstStripe(uint32_t layer) const {
  uint64_t first = 0;
  for (uint32_t i = 0; i < layer; ++i) first += LayerStripes(i);
  return first;
}

uint64_t CompactLayout::StripeOffset(uint32_t u, uint64_t stripe) const {
  if (planes.IsFullUnit(u)) return stripe * kFullStripeSize;
  return kPlaneSize * (stripe * planes.LeanPlanesOfUnit(u) +
                       std::min(stripe, rich_stripes()));
}

uint64_t CompactLayout::CodesOffset() const {
  return StripesSize(0) + (planes.IsFullUnit(0) ? 0 : kPartialUnitPadding);
}

uint64_t CompactLayout::UnitSize(uint32_t u) const {
  uint64_t size = StripesSize(u);
  if (!planes.IsFullUnit(u)) size += kPartialUnitPadding;
  if (u == 0) size += (stripe_count() + 3) / 4;
  return size;
}

uint64_t CompactLayout::TotalSize() const {
  uint64_t size = 0;
  for (uint32_t u = 0; u < planes.unit_count(); ++u) size += UnitSize(u);
  return size;
}

uint64_t CompactLayout::Encode() const {
  uint64_t parameters = planes.lean;
  uint32_t at = kLeanBits;
  parameters |= uint64_t{planes.rich_share} << at;
  at += kRichBits;
  parameters |= uint64_t{seed} << at;
  at += kSeedBits;
  for (uint32_t layer = 1; layer < kMaxLayers; ++layer) {
    const ShortNumber number = RoundUp(homes[layer]);
    parameters |= (number.mantissa | uint64_t{number.exponent} << kMantissaBits)
                  << at;
    at += kMantissaBits + kExponentBits;
  }
  return parameters;
}

bool CompactLayout::Decode(uint64_t parameters, uint64_t first_unit_size,
                           CompactLayout* layout) {
  uint64_t rest = parameters;
  const auto take = [&rest](uint32_t bits) {
    const uint64_t value = rest & ((uint64_t{1} << bits) - 1);
    rest >>= bits;
    return value;
  };
  *layout = {};
  layout->planes.lean = static_cast<uint32_t>(take(kLeanBits));
  layout->planes.rich_share = static_cast<uint32_t>(take(kRichBits));
  layout->seed = static_cast<uint32_t>(take(kSeedBits));
  for (uint32_t layer = 1; layer < kMaxLayers; ++layer) {
    const uint64_t mantissa = take(kMantissaBits);
    layout->homes[layer] = mantissa << take(kExponentBits);
  }
  if (rest != 0 || layout->planes.lean == 0 ||
      first_unit_size > kMaxHomes * kFullStripeSize) {
    return false;
  }
  // The size grows with the homes, by a plane or more for each.
  uint64_t low = 1;
  uint64_t high = std::min(kMaxHomes, first_unit_size / kPlaneSize);
  const auto narrow = [&](uint64_t first_homes) {
    layout->homes[0] = first_homes;
    if (layout->UnitSize(0) < first_unit_size) {
      low = first_homes + 1;
    } else {
      high = first_homes;
    }
  };
  if (low < high) {
    // The growth is linear but for rounding, so that few numbers are left.
    const uint64_t planes_of_256 =
        layout->planes.IsFullUnit(0)
            ? 256 * kUnitPlanes
            : 256 * layout->planes.lean + layout->planes.rich_share;
    const uint64_t size_of_256 = kPlaneSize * planes_of_256 + 256 / 4;
    layout->homes[0] = 1;
    const uint64_t least = layout->UnitSize(0);
    const uint64_t guess =
        1 + (first_unit_size - std::min(first_unit_size, least)) * 256 /
                size_of_256;
    if (guess > 2 && guess - 2 < high) narrow(guess - 2);
    if (guess + 2 > low && guess + 2 < high) narrow(guess + 2);
  }
  while (low < high) narrow(low + (high - low) / 2);
  layout->homes[0] = low;
  // A number has one encoding, and layers have no gaps.
  return layout->UnitSize(0) == first_unit_size &&
         layout->Encode() == parameters &&
         (layout->homes[1] != 0 || layout->homes[2] == 0) &&
         (layout->homes[2] != 0 || layout->homes[3] == 0);
}

uint64_t RepresentableHomes(uint64_t homes) {
  const ShortNumber number = RoundUp(homes);
  return number.mantissa << number.exponent;
}

CompactLayout ExpectedCompactLayout(const CompactPlanes& planes,
                                    uint64_t key_count) {
  CompactLayout layout;
  layout.planes = planes;
  for (uint32_t layer = 0; layer < kMaxLayers && key_count > 0; ++layer) {
    if (key_count <= kLastLayerKeys || layer + 1 == kMaxLayers) {
      layout.homes[layer] = LastLayerHomes(key_count);
      break;
    }
    layout.homes[layer] = CompactHomes(key_count);
    key_count = ExpectedBumped(key_count, layout.homes[layer]);
  }
  return layout;
}

}  // namespace rowbloom::filter
