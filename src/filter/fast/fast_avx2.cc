// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_lookup.h"

namespace rowbloom::filter {

namespace {

// The bytes of a line are tested in two pieces of 32, the second of which
// begins at kSecond. Where it can begin at a multiple of kColumns, both pieces
// have the same columns in the same places.
template <uint32_t kColumns>
struct Pieces {
  static constexpr uint32_t kSize = 32;
  static constexpr uint32_t kBytes = kColumns * FastGroups(kColumns);
  static constexpr uint32_t kMultiple = kSize / kColumns * kColumns;
  static constexpr bool kAligned = kMultiple + kSize >= kBytes;
  static constexpr uint32_t kSecond = kAligned ? kMultiple : kSize;
};

inline __m256i Load(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

// Kept in memory, where instructions load them; compilers would otherwise
// compute some of them.
struct Constants {
  // For each byte of both pieces, the byte of the row that it meets; 128, which
  // shuffles take for "0", for bytes without slots or in the other piece.
  alignas(32) uint8_t first[32];
  alignas(32) uint8_t second[32];
  alignas(32) uint8_t half_byte[32];
  // 128 for half bytes with an odd number of ones.
  alignas(32) uint8_t parity[32];
};

template <uint32_t kColumns>
constexpr Constants MakeConstants() {
  using P = Pieces<kColumns>;
  Constants constants = {};
  for (uint32_t i = 0; i < P::kSize; ++i) {
    const uint32_t at = P::kSecond + i;
    constants.first[i] =
        static_cast<uint8_t>(i >= P::kSecond ? 128 : i / kColumns);
    constants.second[i] =
        static_cast<uint8_t>(at >= P::kBytes ? 128 : at / kColumns);
    // A shuffle ignores bits 4 to 6: they only keep compilers from computing
    // what is faster loaded.
    constants.half_byte[i] = static_cast<uint8_t>(15 | i % 7 << 4);
    constants.parity[i] = static_cast<uint8_t>(0x6996u >> (i % 16) << 7);
  }
  return constants;
}

template <uint32_t kColumns>
constexpr Constants kConstants = MakeConstants<kColumns>();

// The parity of each byte.
inline uint32_t ByteParities(const Constants& constants, __m256i x) {
  x = _mm256_xor_si256(x, _mm256_srli_epi16(x, 4));
  x = _mm256_and_si256(x, Load(constants.half_byte));
  return static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_shuffle_epi8(Load(constants.parity), x)));
}

struct Avx2Ops {
  template <uint32_t kColumns>
  static uint32_t Parities(const char* line, uint64_t row,
                           uint64_t sparse_row) {
    using P = Pieces<kColumns>;
    constexpr const Constants& c = kConstants<kColumns>;
    const __m256i rows = kColumns >= 8
                             ? _mm256_set1_epi64x(static_cast<long long>(row))
                             : _mm256_broadcastsi128_si256(_mm_set_epi64x(
                                   static_cast<long long>(sparse_row),
                                   static_cast<long long>(row)));
    const __m256i first =
        _mm256_and_si256(Load(line), _mm256_shuffle_epi8(rows, Load(c.first)));
    const __m256i second = _mm256_and_si256(
        Load(line + P::kSecond), _mm256_shuffle_epi8(rows, Load(c.second)));
    if (P::kAligned) {
      return XorOfGroups<kColumns, P::kMultiple / kColumns>(
          ByteParities(c, _mm256_xor_si256(first, second)));
    }
    return XorOfGroups<kColumns, FastGroups(kColumns)>(
        ByteParities(c, first) | uint64_t{ByteParities(c, second)} << P::kSize);
  }

  static uint32_t SplitThreshold(const char* line) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(Load(line + 32))) >> 24;
  }
};

}  // namespace

FastKernel Avx2FastKernel(uint32_t columns) {
  return FastKernelOf<Avx2Ops>(columns);
}

}  // namespace rowbloom::filter
