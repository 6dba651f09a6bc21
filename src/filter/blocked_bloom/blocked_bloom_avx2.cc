// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/blocked_bloom/blocked_bloom_lookup.h"

namespace rowbloom::filter {

namespace {

constexpr SkipTable<uint64_t> kSkip = MakeSkipTable<uint64_t>();

struct Mask {
  __m256i low;   // Sectors 0 to 3.
  __m256i high;  // Sectors 4 to 7.
};

inline Mask RoundMask(uint64_t g, const uint64_t (*skip)[kSectors]) {
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(g));
  const __m256i six_bits = _mm256_set1_epi64x(63);
  const __m256i one = _mm256_set1_epi64x(1);
  const uint64_t* skips = skip[(g >> 13) & 7];
  __m256i low = _mm256_and_si256(
      _mm256_srlv_epi64(all, _mm256_setr_epi64x(16, 22, 28, 34)), six_bits);
  __m256i high = _mm256_and_si256(
      _mm256_srlv_epi64(all, _mm256_setr_epi64x(40, 46, 52, 58)), six_bits);
  low = _mm256_add_epi64(
      low, _mm256_load_si256(reinterpret_cast<const __m256i*>(skips)));
  high = _mm256_add_epi64(
      high, _mm256_load_si256(reinterpret_cast<const __m256i*>(skips + 4)));
  return {_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

template <bool kTwoRounds>
inline Mask KeyMask(uint64_t g, uint32_t probe_count) {
  if (!kTwoRounds) return RoundMask(g, kSkip.of[probe_count - 1]);
  const Mask first = RoundMask(g, kSkip.of[kSectors - 1]);
  const Mask second =
      RoundMask(SecondRound(g), kSkip.of[probe_count - kSectors - 1]);
  return {_mm256_or_si256(first.low, second.low),
          _mm256_or_si256(first.high, second.high)};
}

template <bool kTwoRounds>
struct Avx2Ops {
  static bool TestLine(const char* line, uint64_t digest,
                       uint32_t probe_count) {
    const Mask mask = KeyMask<kTwoRounds>(digest * kFirstRound, probe_count);
    const __m256i low =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
    const __m256i high =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32));
    const __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(low, mask.low),
                        _mm256_andnot_si256(high, mask.high));
    return _mm256_testz_si256(missing, missing) != 0;
  }
};

template <bool kTwoRounds>
void Add(const uint64_t* digests, size_t count, uint64_t line_count,
         uint32_t probe_count, char* lines) {
  const auto line_of = [&](size_t i) {
    return lines + LineOf(digests[i], line_count) * kLineSize;
  };
  for (size_t i = 0; i < kPrefetchAhead && i < count; ++i) {
    __builtin_prefetch(line_of(i), 1);
  }
  for (size_t i = 0; i < count; ++i) {
    if (i + kPrefetchAhead < count) {
      __builtin_prefetch(line_of(i + kPrefetchAhead), 1);
    }
    const Mask mask =
        KeyMask<kTwoRounds>(digests[i] * kFirstRound, probe_count);
    __m256i* line = reinterpret_cast<__m256i*>(line_of(i));
    _mm256_storeu_si256(line,
                        _mm256_or_si256(_mm256_loadu_si256(line), mask.low));
    _mm256_storeu_si256(
        line + 1, _mm256_or_si256(_mm256_loadu_si256(line + 1), mask.high));
  }
}

}  // namespace

BlockedBloomKernel Avx2BlockedBloomKernel(uint32_t probe_count) {
  return BlockedBloomKernelOf<Avx2Ops>(
      probe_count, probe_count > kSectors ? Add<true> : Add<false>);
}

}  // namespace rowbloom::filter
