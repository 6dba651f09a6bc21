// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/blocked_bloom_kernel.h"

namespace rowbloom::filter {

namespace {

constexpr size_t kBatch = 16;

// skip.of[k - 1][rotation][i] is 64 where a round of k probes leaves sector i
// out, else 0: added to a shift count, it shifts the probe's bit away.
struct SkipTable {
  alignas(32) uint64_t of[kSectors][kSectors][kSectors];
};

constexpr SkipTable MakeSkipTable() {
  SkipTable table = {};
  for (uint32_t k = 1; k <= kSectors; ++k) {
    for (uint32_t rotation = 0; rotation < kSectors; ++rotation) {
      for (uint32_t i = 0; i < kSectors; ++i) {
        table.of[k - 1][rotation][i] = ((i + rotation) & 7) < k ? 0 : 64;
      }
    }
  }
  return table;
}

constexpr SkipTable kSkip = MakeSkipTable();

struct Mask {
  __m256i low;   // Sectors 0 to 3.
  __m256i high;  // Sectors 4 to 7.
};

inline Mask RoundMask(uint64_t g, const uint64_t (*skip)[kSectors]) {
  const __m256i all = _mm256_set1_epi64x(static_cast<long long>(g));
  const __m256i six_bits = _mm256_set1_epi64x(63);
  const __m256i high_limit =
      _mm256_setr_epi64x(63, 63, 63, kLastSectorMaxPosition);
  const __m256i one = _mm256_set1_epi64x(1);
  const uint64_t* row = skip[(g >> 13) & 7];
  __m256i low = _mm256_and_si256(
      _mm256_srlv_epi64(all, _mm256_setr_epi64x(16, 22, 28, 34)), six_bits);
  __m256i high = _mm256_and_si256(
      _mm256_srlv_epi64(all, _mm256_setr_epi64x(40, 46, 52, 58)), six_bits);
  high = _mm256_min_epu32(high, high_limit);
  low = _mm256_add_epi64(
      low, _mm256_load_si256(reinterpret_cast<const __m256i*>(row)));
  high = _mm256_add_epi64(
      high, _mm256_load_si256(reinterpret_cast<const __m256i*>(row + 4)));
  return {_mm256_sllv_epi64(one, low), _mm256_sllv_epi64(one, high)};
}

template <bool kTwoRounds>
inline Mask KeyMask(uint64_t g, uint32_t probe_count) {
  if (!kTwoRounds) return RoundMask(g, kSkip.of[probe_count - 1]);
  const Mask first = RoundMask(g, kSkip.of[kSectors - 1]);
  const Mask second = RoundMask((g ^ (g >> 32)) * kSecondRound,
                                kSkip.of[probe_count - kSectors - 1]);
  return {_mm256_or_si256(first.low, second.low),
          _mm256_or_si256(first.high, second.high)};
}

inline const char* LineOf(const FilterState& state, uint64_t digest) {
  const uint64_t line = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(digest) * state.slot_count) >> 64);
  return state.unit[0] + line * kLineSize;
}

template <bool kTwoRounds>
inline bool TestLine(const char* line, uint64_t digest, uint32_t probe_count) {
  const uint8_t salt = static_cast<uint8_t>(line[kSaltByte]) >> kSaltShift;
  const Mask mask = KeyMask<kTwoRounds>(digest * kSalts[salt], probe_count);
  const __m256i low =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
  const __m256i high =
      _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32));
  const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(low, mask.low),
                                          _mm256_andnot_si256(high, mask.high));
  return _mm256_testz_si256(missing, missing) != 0;
}

template <bool kTwoRounds>
bool MayContain(const FilterState& state, uint64_t digest) {
  return TestLine<kTwoRounds>(LineOf(state, digest), digest,
                              static_cast<uint32_t>(state.parameter));
}

template <bool kTwoRounds>
void MayContainBatch(const FilterState& state, const uint64_t* digests,
                     size_t count, bool* may_contain) {
  const uint32_t probe_count = static_cast<uint32_t>(state.parameter);
  const char* lines[kBatch];
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t size = count - begin < kBatch ? count - begin : kBatch;
    for (size_t i = 0; i < size; ++i) {
      lines[i] = LineOf(state, digests[begin + i]);
      _mm_prefetch(lines[i], _MM_HINT_T0);
    }
    for (size_t i = 0; i < size; ++i) {
      may_contain[begin + i] =
          TestLine<kTwoRounds>(lines[i], digests[begin + i], probe_count);
    }
  }
}

inline uint32_t Ones(__m256i low, __m256i high) {
  alignas(32) uint64_t sectors[kSectors];
  _mm256_store_si256(reinterpret_cast<__m256i*>(sectors), low);
  _mm256_store_si256(reinterpret_cast<__m256i*>(sectors + 4), high);
  uint32_t ones = 0;
  for (uint64_t sector : sectors) {
    ones += static_cast<uint32_t>(_mm_popcnt_u64(sector));
  }
  return ones;
}

template <bool kTwoRounds>
void BuildLine(const uint64_t* digests, size_t count, uint32_t probe_count,
               char* line) {
  __m256i low[kSaltCount];
  __m256i high[kSaltCount];
  for (uint32_t salt = 0; salt < kSaltCount; ++salt) {
    low[salt] = high[salt] = _mm256_setzero_si256();
  }
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t salt = 0; salt < kSaltCount; ++salt) {
      const Mask mask =
          KeyMask<kTwoRounds>(digests[i] * kSalts[salt], probe_count);
      low[salt] = _mm256_or_si256(low[salt], mask.low);
      high[salt] = _mm256_or_si256(high[salt], mask.high);
    }
  }
  uint32_t best_salt = 0;
  uint32_t best_ones = Ones(low[0], high[0]);
  for (uint32_t salt = 1; salt < kSaltCount; ++salt) {
    const uint32_t ones = Ones(low[salt], high[salt]);
    if (ones < best_ones) {
      best_ones = ones;
      best_salt = salt;
    }
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(line), low[best_salt]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(line + 32), high[best_salt]);
  line[kSaltByte] = static_cast<char>(static_cast<uint8_t>(line[kSaltByte]) |
                                      best_salt << kSaltShift);
}

}  // namespace

BlockedBloomKernel Avx2BlockedBloomKernel(uint32_t probe_count) {
  if (probe_count > kSectors) {
    return {MayContain<true>, MayContainBatch<true>, BuildLine<true>};
  }
  return {MayContain<false>, MayContainBatch<false>, BuildLine<false>};
}

}  // namespace rowbloom::filter
