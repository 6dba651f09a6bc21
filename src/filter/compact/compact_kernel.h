// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of compact, one implementation for each instruction set. All
// build the same bytes and give the same answers.
//
// A filter is an array of stripes of 32 slots. A slot holds one bit of each
// of the filter's planes. A key's window is its home stripe and the next; its
// equation is 64 random bits, one for each slot of the window; its fingerprint
// one bit for each plane. The builder chooses the slots so that, for each key
// and plane, the XOR of the plane's bits in the slots of the key's equation is
// the key's fingerprint bit: a system of linear equations over GF(2).
//
// Stripes belong to layers. Each stripe has a code: the share of the keys
// at home there that are not stored there but in the next layer, chosen by the
// key's position within its home. In the last layer such keys are stored
// nowhere, and every lookup of them answers "maybe".
//
// Four planes make a unit. docs/filter_families.md has bytes and pictures.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_KERNEL_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "rowbloom/compiler.h"
#include "rowbloom/filter_state.h"

namespace rowbloom::filter {

constexpr uint32_t kStripeSlots = 32;
constexpr uint32_t kUnitPlanes = 4;
constexpr uint32_t kPlaneSize = 4;  // Bytes of one plane of one stripe.
constexpr uint32_t kFullStripeSize = kUnitPlanes * kPlaneSize;
constexpr uint32_t kMaxPlanes = 32;
constexpr uint32_t kMaxLayers = 4;
constexpr uint32_t kCodes = 4;
// A key whose position (0..255 within its home) is below the threshold of its
// home's code is in the next layer.
constexpr uint32_t kAllBumped = 256;
constexpr uint16_t kThresholdOfCode[kCodes] = {0, 48, 140, kAllBumped};
// Stripes of a partial unit are read as if they had four planes: this many
// zero bytes follow the last.
constexpr uint32_t kPartialUnitPadding = kFullStripeSize - kPlaneSize;

namespace {

// Odd, from the fractional bits of the golden ratio and the square root of 3.
constexpr uint64_t kMixMultiplier = 0x9e3779b97f4a7c15u;
constexpr uint64_t kFingerprintMultiplier = 0xbb67ae8584caa73bu;

// 64 bits that depend on all bits of both. With the seed of the equations it is
// a key's equation.
inline uint64_t Mix64(uint64_t digest, uint64_t seed) {
  const internal::Product product =
      internal::Multiply(digest ^ seed, kMixMultiplier);
  return product.low ^ product.high;
}

// A key's fingerprint, derived from its equation.
inline uint32_t Fingerprint32(uint64_t equation) {
  return static_cast<uint32_t>((equation * kFingerprintMultiplier) >> 32);
}

// The digest that places the same key in the next layer.
inline uint64_t DigestInNextLayer(uint64_t digest) {
  return Mix64(digest, kFingerprintMultiplier);
}

}  // namespace

// These functions read FilterState:
//   unit[u]     the units
//   metadata    the codes, four in a byte
//   slot_count  homes of layer 0
//   parameter   seed of the equations, kSeedMultiplier * (2 * stored seed + 1)
//   detail[]    by these indexes
enum CompactDetail : uint32_t {
  kFullUnits,     // Loaded units of four planes in every stripe.
  kLeanPlanes,    // Planes of most stripes in the partial unit that follows,
                  // if loaded.
  kRichStripes,   // The number of first stripes with one plane more.
  kLayer1Stripe,  // First stripe and homes of layers 1 to 3.
  kLayer1Homes,
  kLayer2Stripe,
  kLayer2Homes,
  kLayer3Stripe,
  kLayer3Homes,
};

// One piece of a layer: some consecutive homes and their keys, in order.
struct CompactGroup {
  const uint64_t* digests;  // Digests in this layer.
  const uint64_t* starts;   // Keys of home i: starts[i] .. starts[i + 1] - 1.
  uint32_t home_count;
  bool ends_layer;  // The layer's last stripe follows its homes.
  bool last_layer;  // Codes 0 and 3 only.
  uint32_t planes;  // The number to solve.
  uint64_t layer_homes;
  uint64_t seed;
  // The solution of the stripe after the group, by plane; on return, the
  // solution of the group's first stripe. Room for kMaxPlanes words, of which
  // those after `planes` are undefined on return.
  uint32_t* edge;
  // Results: `planes` words and one code for each stripe, and the digests
  // that have to go to the next layer (room for all).
  uint32_t* solution;
  uint8_t* codes;
  uint64_t* bumped;
  size_t bumped_count;
};

struct CompactLookup {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  // Prefetches what may_contain reads of most absent keys.
  void (*prefetch)(const FilterState& state, uint64_t digest);
};

struct CompactKernel {
  // For filters that are `near`, in the processor's own caches, and for others.
  // The state has its units.
  CompactLookup (*lookup)(const FilterState& state, bool near);
  // Bytes of `work`, aligned to 64, for a group of `home_count` homes.
  size_t (*work_size)(uint32_t home_count, uint32_t planes);
  void (*solve)(CompactGroup* group, char* work);
};

CompactKernel PortableCompactKernel();
#if ROWBLOOM_X86_KERNELS
CompactKernel Sse42CompactKernel();
CompactKernel Avx2CompactKernel();
CompactKernel Avx512CompactKernel();
#elif ROWBLOOM_ARM_KERNELS
CompactKernel NeonCompactKernel();
#endif

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_KERNEL_H_
