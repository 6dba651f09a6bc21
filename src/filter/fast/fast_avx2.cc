// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_lookup.h"

namespace rowbloom::filter {

namespace {

// The bytes of a line are tested in two pieces of 32, the second of which
// begins at kSecond. Where it can begin at a multiple of kPlanes, both pieces
// have the same planes in the same places.
template <uint32_t kPlanes>
struct Pieces {
  static constexpr uint32_t kSize = 32;
  static constexpr uint32_t kBytes = kPlanes * FastGroups(kPlanes);
  static constexpr uint32_t kMultiple = kSize / kPlanes * kPlanes;
  static constexpr bool kAligned = kMultiple + kSize >= kBytes;
  static constexpr uint32_t kSecond = kAligned ? kMultiple : kSize;
};

inline __m256i Load(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

// Kept in memory, where instructions load them; compilers would otherwise
// compute some of them.
struct Constants {
  // For each byte of both pieces, the byte of the equation that it meets; 128,
  // which shuffles take for "0", for bytes without slots or in the other piece.
  alignas(32) uint8_t first[32];
  alignas(32) uint8_t second[32];
  alignas(32) uint8_t half_byte[32];
  // 128 for half bytes with an odd number of ones.
  alignas(32) uint8_t parity[32];
};

template <uint32_t kPlanes>
constexpr Constants MakeConstants() {
  using P = Pieces<kPlanes>;
  Constants constants = {};
  for (uint32_t i = 0; i < P::kSize; ++i) {
    const uint32_t at = P::kSecond + i;
    constants.first[i] =
        static_cast<uint8_t>(i >= P::kSecond ? 128 : i / kPlanes);
    constants.second[i] =
        static_cast<uint8_t>(at >= P::kBytes ? 128 : at / kPlanes);
    // A shuffle ignores bits 4 to 6: they only keep compilers from computing
    // what is faster loaded.
    constants.half_byte[i] = static_cast<uint8_t>(15 | i % 7 << 4);
    constants.parity[i] = static_cast<uint8_t>(0x6996u >> (i % 16) << 7);
  }
  return constants;
}

template <uint32_t kPlanes>
constexpr Constants kConstants = MakeConstants<kPlanes>();

// The parity of each byte.
inline uint32_t ByteParities(const Constants& constants, __m256i x) {
  x = _mm256_xor_si256(x, _mm256_srli_epi16(x, 4));
  x = _mm256_and_si256(x, Load(constants.half_byte));
  return static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_shuffle_epi8(Load(constants.parity), x)));
}

struct Avx2Ops {
  template <uint32_t kPlanes>
  static uint32_t Parities(const char* line, uint64_t equation,
                           uint64_t sparse_equation) {
    using P = Pieces<kPlanes>;
    constexpr const Constants& c = kConstants<kPlanes>;
    const __m256i equations =
        kPlanes >= 8 ? _mm256_set1_epi64x(static_cast<long long>(equation))
                     : _mm256_broadcastsi128_si256(_mm_set_epi64x(
                           static_cast<long long>(sparse_equation),
                           static_cast<long long>(equation)));
    const __m256i first = _mm256_and_si256(
        Load(line), _mm256_shuffle_epi8(equations, Load(c.first)));
    const __m256i second =
        _mm256_and_si256(Load(line + P::kSecond),
                         _mm256_shuffle_epi8(equations, Load(c.second)));
    if (P::kAligned) {
      return XorOfGroups<kPlanes, P::kMultiple / kPlanes>(
          ByteParities(c, _mm256_xor_si256(first, second)));
    }
    return XorOfGroups<kPlanes, FastGroups(kPlanes)>(
        ByteParities(c, first) | uint64_t{ByteParities(c, second)} << P::kSize);
  }

  static uint32_t SplitThreshold(const char* line) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(Load(line + 32))) >> 24;
  }
};

}  // namespace

FastKernel Avx2FastKernel(uint32_t planes) {
  return FastKernelOf<Avx2Ops>(planes);
}

}  // namespace rowbloom::filter
