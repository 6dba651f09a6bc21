// SPDX-License-Identifier: Apache-2.0

#include <nmmintrin.h>

#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_lookup.h"

namespace rowbloom::filter {

namespace {

// A probe is a byte: byte i of the lower half is the first round's probe of
// sector i, byte i of the upper half the second round's.

constexpr SkipTable<uint8_t> kSkip = MakeSkipTable<uint8_t>();

inline __m128i Skip(uint64_t g, uint32_t probes) {
  return _mm_loadl_epi64(
      reinterpret_cast<const __m128i*>(kSkip.of[probes - 1][(g >> 13) & 7]));
}

// Returns bits 16 to 63 of each half as eight numbers of 6 bits.
inline __m128i Positions(__m128i rounds) {
  // Two numbers in each lane of 16 bits: at bits 0 and 6, or at bits 4 and 10.
  const __m128i pairs = _mm_shuffle_epi8(
      rounds,
      _mm_setr_epi8(2, 3, 3, 4, 5, 6, 6, 7, 10, 11, 11, 12, 13, 14, 14, 15));
  // Multiplied so that the first, or the second, of each lane is at bit 10.
  const __m128i first = _mm_mullo_epi16(pairs, _mm_set1_epi32(64 << 16 | 1024));
  const __m128i second = _mm_mullo_epi16(pairs, _mm_set1_epi32(1 << 16 | 16));
  return _mm_or_si128(
      _mm_srli_epi16(first, 10),
      _mm_and_si128(_mm_srli_epi16(second, 2), _mm_set1_epi16(63 << 8)));
}

// The byte of the line that has the bit of each position.
inline __m128i BytesAt(__m128i positions, const char* line) {
  // Two sectors are loaded at once: their bytes have indexes 0 to 7, 8 to 15.
  const __m128i indexes = _mm_or_si128(
      _mm_and_si128(_mm_srli_epi16(positions, 3), _mm_set1_epi8(7)),
      _mm_set1_epi16(8 << 8));
  __m128i bytes = _mm_setzero_si128();
  for (uint32_t i = 0; i < kSectors; i += 2) {
    // 128 for the probes of other sectors: a shuffle gives 0 for it.
    const __m128i others = _mm_set1_epi64x(static_cast<long long>(
        0x8080808080808080u & ~(uint64_t{0xffff} << (8 * i))));
    const __m128i sectors =
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(line + 8 * i));
    bytes = _mm_or_si128(
        bytes, _mm_shuffle_epi8(sectors, _mm_or_si128(indexes, others)));
  }
  return bytes;
}

// 1 << position % 8, and 0 where it is 128 or more.
inline __m128i BitsAt(__m128i positions) {
  return _mm_shuffle_epi8(
      _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128),
      positions);
}

template <bool kTwoRounds>
struct Sse42Ops {
  static bool TestLine(const char* line, uint64_t digest,
                       uint32_t probe_count) {
    const uint64_t g = digest * kFirstRound;
    __m128i rounds = _mm_cvtsi64_si128(static_cast<long long>(g));
    __m128i skip;
    if (kTwoRounds) {  // The first round probes every sector.
      const uint64_t g2 = SecondRound(g);
      rounds = _mm_insert_epi64(rounds, static_cast<long long>(g2), 1);
      skip = _mm_slli_si128(Skip(g2, probe_count - kSectors), 8);
    } else {
      skip = Skip(g, probe_count);
    }
    const __m128i positions = Positions(rounds);
    const __m128i missing = _mm_andnot_si128(
        BytesAt(positions, line), BitsAt(_mm_or_si128(positions, skip)));
    return kTwoRounds ? _mm_testz_si128(missing, missing) != 0
                      : _mm_cvtsi128_si64(missing) == 0;
  }
};

}  // namespace

BlockedBloomKernel Sse42BlockedBloomKernel(uint32_t probe_count) {
  return BlockedBloomKernelOf<Sse42Ops>(probe_count,
                                        PortableBlockedBloomKernel().add);
}

}  // namespace rowbloom::filter
