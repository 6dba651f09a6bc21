// SPDX-License-Identifier: Apache-2.0

#include "budget/cache_lives.h"

#include <cmath>
#include <limits>

namespace rowbloom::budget {

namespace {

// Logarithms of lives, in gets.
constexpr double kShortest = -7;
constexpr double kLongest = 70;

struct CacheUse {
  double pool_bytes = 0;
  double bytes = 0;  // The size of all cached blocks, pool included.
};

CacheUse UseOf(const std::vector<CachedKind>& kinds, const CacheLives& lives) {
  CacheUse use;
  for (const CachedKind& kind : kinds) {
    CacheUse blocks;
    for (const BlockGroup& group : kind.groups) {
      const double cached =
          group.block_count * HitRate(group.asks, kind.is_high_priority, lives);
      blocks.bytes += cached;
      if (lives.high == 0) continue;
      const double in_pool = -std::expm1(-group.asks * lives.high);
      blocks.pool_bytes +=
          in_pool * (kind.is_high_priority ? group.block_count : cached);
    }
    use.pool_bytes += blocks.pool_bytes * kind.block_bytes;
    use.bytes += blocks.bytes * kind.block_bytes;
  }
  return use;
}

// Where `excess`, which rises, is zero: regula falsi (Illinois), with a
// bisection where that is slow.
template <class Function>
double RootOf(double low, double high, const Function& excess) {
  double below = excess(low);
  if (below >= 0) return low;
  double above = excess(high);
  if (above <= 0) return high;
  constexpr double kTolerance = 1e-7;
  constexpr int kMaxSteps = 100;
  int same_side = 0;
  for (int i = 0; i < kMaxSteps && high - low > kTolerance; ++i) {
    const bool bisects = i % 3 == 2;
    const double middle = bisects
                              ? (low + high) / 2
                              : low + (high - low) * below / (below - above);
    const double value = excess(middle);
    if (std::abs(value) < kTolerance) return middle;
    if (value < 0) {
      low = middle;
      below = value;
      if (same_side < 0) above /= 2;
      same_side = -1;
    } else {
      high = middle;
      above = value;
      if (same_side > 0) below /= 2;
      same_side = 1;
    }
  }
  return (low + high) / 2;
}

}  // namespace

double HitRate(double asks, bool is_high_priority, const CacheLives& lives) {
  const double life = lives.high + lives.low;
  if (is_high_priority || lives.high == 0) return -std::expm1(-asks * life);
  const double after_miss = -std::expm1(-asks * lives.low);
  if (after_miss <= 0) return 0;
  return after_miss / (after_miss + std::exp(-asks * life));
}

CacheLives LivesOf(const std::vector<CachedKind>& kinds, double cache_bytes,
                   double pool_share) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  if (!(cache_bytes > 0)) return {};
  double all_bytes = 0;
  for (const CachedKind& kind : kinds) {
    for (const BlockGroup& group : kind.groups) {
      all_bytes += group.block_count * kind.block_bytes;
    }
  }
  if (all_bytes <= cache_bytes) return {kForever, kForever};
  CacheLives lives;
  const auto excess = [&](double low) {
    lives.low = std::exp(low);
    if (pool_share > 0) {
      lives.high = std::exp(RootOf(kShortest, kLongest, [&](double high) {
        const CacheLives tried = {std::exp(high), lives.low};
        return UseOf(kinds, tried).pool_bytes / (pool_share * cache_bytes) - 1;
      }));
    }
    return UseOf(kinds, lives).bytes / cache_bytes - 1;
  };
  excess(RootOf(kShortest, kLongest, excess));
  return lives;
}

}  // namespace rowbloom::budget
