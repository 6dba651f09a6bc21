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

// Combines the odds after the life in each part of the list to those of a
// block.
CacheOdds OddsOfBoth(const CacheOdds& low, const CacheOdds& high,
                     bool is_high_priority) {
  const CacheOdds after_hit = {high.hit + low.hit - high.hit * low.hit,
                               high.miss * low.miss};
  if (is_high_priority) return after_hit;
  const double sum = low.hit + after_hit.miss;
  if (!(sum > 0)) return {};
  return {low.hit / sum, after_hit.miss / sum};
}

struct SizedGroup {
  double asks = 0;   // For each block.
  double bytes = 0;  // The size of all blocks.
  bool is_high_priority = false;
  CacheOdds low;  // The odds after the life in the low part of the list.
};

std::vector<SizedGroup> SizedGroupsOf(const std::vector<CachedKind>& kinds) {
  std::vector<SizedGroup> groups;
  for (const CachedKind& kind : kinds) {
    for (const BlockGroup& group : kind.groups) {
      groups.push_back({group.asks,
                        group.block_count * kind.block_bytes,
                        kind.is_high_priority,
                        {}});
    }
  }
  return groups;
}

// Bytes and what they grow by with the logarithm of each life.
struct GrowingBytes {
  double bytes = 0;
  double by_high = 0;
  double by_low = 0;
};

struct CacheUse {
  GrowingBytes pool;
  GrowingBytes all;  // Cached blocks, pool included.
};

CacheUse UseOf(const std::vector<SizedGroup>& groups, const CacheLives& lives) {
  CacheUse use;
  for (const SizedGroup& group : groups) {
    const CacheOdds& low = group.low;
    const double high_asks = group.asks * lives.high;
    const CacheOdds high = OddsAfter(high_asks);
    const double high_by_high = high.miss > 0 ? high_asks * high.miss : 0;
    const double low_by_low =
        low.miss > 0 ? group.asks * lives.low * low.miss : 0;
    const double hit = OddsOfBoth(low, high, group.is_high_priority).hit;
    double hit_by_high = high_by_high * low.miss;
    double hit_by_low = low_by_low * high.miss;
    if (!group.is_high_priority) {
      const double sum = low.hit + high.miss * low.miss;
      if (!(sum > 0)) continue;
      hit_by_high *= low.hit / (sum * sum);
      hit_by_low /= sum * sum;
    }
    use.all.bytes += group.bytes * hit;
    use.all.by_high += group.bytes * hit_by_high;
    use.all.by_low += group.bytes * hit_by_low;
    if (group.is_high_priority) {
      use.pool.bytes += group.bytes * high.hit;
      use.pool.by_high += group.bytes * high_by_high;
    } else {
      use.pool.bytes += group.bytes * high.hit * hit;
      use.pool.by_high +=
          group.bytes * (high_by_high * hit + high.hit * hit_by_high);
      use.pool.by_low += group.bytes * high.hit * hit_by_low;
    }
  }
  return use;
}

struct Excess {
  double value = 0;
  double slope = 0;
};

// Calls `excess`, a function that rises, last with where it is zero: by
// Newton's method from `start`, with bisections where that leaves the root's
// interval.
template <class Function>
void FindRoot(double start, const Function& excess) {
  constexpr double kTolerance = 1e-5;
  constexpr double kLongestStep = 2;
  double below = kShortest;
  double above = kLongest;
  double root = start;
  while (true) {
    const Excess at = excess(root);
    (at.value < 0 ? below : above) = root;
    if (std::abs(at.value) < kTolerance || above - below < kTolerance) return;
    const double step = -at.value / at.slope;
    double next = root + std::clamp(step, -kLongestStep, kLongestStep);
    if (!(next > below && next < above)) next = (below + above) / 2;
    root = next;
  }
}

// How far bytes, which grow by `growth`, exceed `limit`, by logarithms.
Excess ExcessOf(double bytes, double growth, double limit) {
  return {std::log(bytes / limit), growth / bytes};
}

}  // namespace

CacheOdds OddsOf(double asks, bool is_high_priority, const CacheLives& lives) {
  return OddsOfBoth(OddsAfter(asks * lives.low), OddsAfter(asks * lives.high),
                    is_high_priority);
}

CacheLives LivesOf(const std::vector<CachedKind>& kinds, double cache_bytes,
                   double pool_share, double scanned_bytes,
                   const CacheLives& hint) {
  constexpr double kForever = std::numeric_limits<double>::infinity();
  if (!(cache_bytes > 0)) return {};
  std::vector<SizedGroup> groups = SizedGroupsOf(kinds);
  double all_bytes = 0;
  double asked_bytes = scanned_bytes;
  for (const SizedGroup& group : groups) {
    all_bytes += group.bytes;
    asked_bytes += group.bytes * group.asks;
  }
  if (all_bytes <= cache_bytes && scanned_bytes == 0) {
    return {kForever, kForever};
  }
  // No block leaves before gets have asked for as many bytes as fit.
  const double shortest = cache_bytes / asked_bytes;
  const auto start = [&](double life) {
    const bool is_known = life > 0 && life < kForever;
    return std::clamp(std::log(is_known ? life : shortest), kShortest,
                      kLongest);
  };
  const double pool_bytes = pool_share * cache_bytes;
  const bool can_fill_pool = pool_bytes > 0 && pool_bytes < all_bytes;
  CacheLives lives;
  if (pool_bytes > 0) {
    lives.high = std::exp(can_fill_pool ? start(hint.high) : kLongest);
  }
  const auto excess = [&](double log_low) {
    lives.low = std::exp(log_low);
    for (SizedGroup& group : groups) {
      group.low = OddsAfter(group.asks * lives.low);
    }
    CacheUse use;
    if (can_fill_pool) {
      FindRoot(std::log(lives.high), [&](double log_high) {
        lives.high = std::exp(log_high);
        use = UseOf(groups, lives);
        return ExcessOf(use.pool.bytes, use.pool.by_high, pool_bytes);
      });
    } else {
      use = UseOf(groups, lives);
    }
    const double scanned = scanned_bytes * lives.low;
    double growth = use.all.by_low + scanned;
    // The pool's life shrinks as the other one grows.
    if (use.pool.by_high > 0) {
      growth -= use.all.by_high * use.pool.by_low / use.pool.by_high;
    }
    return ExcessOf(use.all.bytes + scanned, growth, cache_bytes);
  };
  FindRoot(start(hint.low), excess);
  return lives;
}

}  // namespace rowbloom::planning
