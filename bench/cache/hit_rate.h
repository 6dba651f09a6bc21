// SPDX-License-Identifier: Apache-2.0
//
// Hit rates of our cache and of a plain LRU on Zipf accesses with sweeps over
// cold files among them. The same numbers on every machine.

#ifndef ROWBLOOM_BENCH_CACHE_HIT_RATE_H_
#define ROWBLOOM_BENCH_CACHE_HIT_RATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowbloom::cache_bench {

inline constexpr size_t kChunkBytes = 128 << 10;  // As charged.

// Draws hot chunks: chunk i in proportion to 1/(i+1)^theta.
class Zipf {
 public:
  Zipf(uint64_t chunk_count, double theta);

  uint64_t chunk_count() const { return sums_.size(); }
  // That of a number in [0, 1).
  uint64_t ChunkAt(double place) const;
  // The share of accesses that the most popular ones have: the hit rate of a
  // cache that knows them and holds nothing else.
  double ShareOfFirst(uint64_t chunk_count) const;

 private:
  std::vector<double> sums_;  // Element i: the shares of chunks 0 to i.
};

struct HitRateCase {
  bool is_plain_lru = false;  // Else NewShardedLruCache()'s.
  double cache_share = 0;     // As a share of the bytes of all hot chunks.
  uint64_t sweep_chunks = 0;  // A sweep asks each once; 0: no sweeps.
  double sweep_share = 0;     // As a share of all accesses.
  uint64_t accesses = 0;      // Measured, of hot chunks.
  uint64_t seed = 0;
};

// Over the accesses of hot chunks, after half as many that are not counted.
double HotHitRate(const Zipf& zipf, const HitRateCase& c);

}  // namespace rowbloom::cache_bench

#endif  // ROWBLOOM_BENCH_CACHE_HIT_RATE_H_
