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

struct CacheUse {
  double pool_bytes = 0;
  double bytes = 0;  // The size of all cached blocks, pool included.
};

CacheUse UseOf(const std::vector<SizedGroup>& groups, double high_life) {
  CacheUse use;
  for (const SizedGroup& group : groups) {
    const CacheOdds high = OddsAfter(group.asks * high_life);
    const double cached =
        group.bytes * OddsOfBoth(group.low, high, group.is_high_priority).hit;
    use.bytes += cached;
    use.pool_bytes +=
        high.hit * (group.is_high_priority ? group.bytes : cached);
  }
  return use;
}

// Finds where `excess`, a function that rises, is zero: by regula falsi
// (Illinois), with bisections where that is slow. Begins near *hint and sets
// it.
template <class Function>
double RootOf(double* hint, const Function& excess) {
  constexpr double kFirstStep = 0.06;
  double low = *hint;
  double below = excess(low);
  double high = low;
  double above = below;
  for (double step = kFirstStep; below > 0 && low > kShortest; step *= 4) {
    high = low;
    above = below;
    low = std::max(kShortest, low - step);
    below = excess(low);
  }
  for (double step = kFirstStep; above < 0 && high < kLongest; step *= 4) {
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
  CacheLives lives;
  double high_hint = start(hint.high);
  const auto excess = [&](double low) {
    lives.low = std::exp(low);
    for (SizedGroup& group : groups) {
      group.low = OddsAfter(group.asks * lives.low);
    }
    if (pool_share > 0) {
      lives.high = std::exp(RootOf(&high_hint, [&](double high) {
        return UseOf(groups, std::exp(high)).pool_bytes /
                   (pool_share * cache_bytes) -
               1;
      }));
    }
    const double bytes =
        UseOf(groups, lives.high).bytes + scanned_bytes * lives.low;
    return bytes / cache_bytes - 1;
  };
  double low_hint = start(hint.low);
  excess(RootOf(&low_hint, excess));
  return lives;
}

}  // namespace rowbloom::planning
