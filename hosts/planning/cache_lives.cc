// SPDX-License-Identifier: Apache-2.0

#include "planning/cache_lives.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rowbloom::planning {

namespace {

// Logarithms of lives, in gets.
constexpr double kShortest = -7;
constexpr double kLongest = 70;

// The odds of a block that its last ask put into the cache, for `asks` expected
// asks in its life.
CacheOdds OddsAfter(double asks) {
  constexpr double kFew = 0.5;
  if (asks < kFew) {
    const double hit = -std::expm1(-asks);
    return {hit, 1 - hit};
  }
  const double miss = std::exp(-asks);
  return {1 - miss, miss};
}

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
          group.block_count *
          OddsOf(group.asks, kind.is_high_priority, lives).hit;
      blocks.bytes += cached;
      if (lives.high == 0) continue;
      const double in_pool = OddsAfter(group.asks * lives.high).hit;
      blocks.pool_bytes +=
          in_pool * (kind.is_high_priority ? group.block_count : cached);
    }
    use.pool_bytes += blocks.pool_bytes * kind.block_bytes;
    use.bytes += blocks.bytes * kind.block_bytes;
  }
  return use;
}

// Finds where `excess`, a function that rises, is zero: by regula falsi
// (Illinois), with bisections where that is slow. Begins near *hint and sets
// it.
template <class Function>
double RootOf(double* hint, const Function& excess) {
  double low = *hint;
  double below = excess(low);
  double high = low;
  double above = below;
  for (double step = 0.25; below > 0 && low > kShortest; step *= 4) {
    high = low;
    above = below;
    low = std::max(kShortest, low - step);
    below = excess(low);
  }
  for (double step = 0.25; above < 0 && high < kLongest; step *= 4) {
    low = high;
    below = above;
    high = std::min(kLongest, high + step);
    above = excess(high);
  }
  constexpr double kTolerance = 1e-7;
  constexpr int kMaxSteps = 100;
  double root = below >= 0 ? low : high;
  int same_side = 0;
  for (int i = 0; i < kMaxSteps && below < 0 && above > 0; ++i) {
    root = i % 3 == 2 ? (low + high) / 2
                      : low + (high - low) * below / (below - above);
    const double value = excess(root);
    if (std::abs(value) < kTolerance || high - low < kTolerance) break;
    if (value < 0) {
      low = root;
      below = value;
      if (same_side < 0) above /= 2;
      same_side = -1;
    } else {
      high = root;
      above = value;
      if (same_side > 0) below /= 2;
      same_side = 1;
    }
  }
  *hint = root;
  return root;
}

}  // namespace

CacheOdds OddsOf(double asks, bool is_high_priority, const CacheLives& lives) {
  const CacheOdds after_hit = OddsAfter(asks * (lives.high + lives.low));
  if (is_high_priority || lives.high == 0) return after_hit;
  const double hit_after_miss = OddsAfter(asks * lives.low).hit;
  const double sum = hit_after_miss + after_hit.miss;
  if (!(sum > 0)) return {};
  return {hit_after_miss / sum, after_hit.miss / sum};
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
  double high_hint = 10;
  const auto excess = [&](double low) {
    lives.low = std::exp(low);
    if (pool_share > 0) {
      lives.high = std::exp(RootOf(&high_hint, [&](double high) {
        const CacheLives tried = {std::exp(high), lives.low};
        return UseOf(kinds, tried).pool_bytes / (pool_share * cache_bytes) - 1;
      }));
    }
    return UseOf(kinds, lives).bytes / cache_bytes - 1;
  };
  double low_hint = 10;
  excess(RootOf(&low_hint, excess));
  return lives;
}

}  // namespace rowbloom::planning
