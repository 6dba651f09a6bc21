// SPDX-License-Identifier: Apache-2.0
//
// How long blocks stay in an LRU cache, by the approximation of Che et al., and
// how many asks of a block it answers.
//
// RocksDB's LRUCache is one list. A block of high priority enters it at the
// head, and so does any block that was used in the cache before. Other blocks
// enter it behind the high-priority pool, which is the front part of the list
// and has a fixed size (LRU_Insert and MaintainPoolSize in lru_cache.cc). With
// T_high gets from the head to the end of the pool, and T_low from there to the
// tail, a block with a asks per get is cached with these probabilities:
//
//   of high priority   1 - v    where v = exp(-a (T_high + T_low))
//   of low priority    h = u / (u + v)    where u = 1 - exp(-a T_low)
//
// because its next ask after a miss is a hit with probability u, and after a
// hit with probability 1 - v. It is in the pool with probability
// 1 - exp(-a T_high), times h if it has low priority.

#ifndef ROWBLOOM_PLANNING_CACHE_LIVES_H_
#define ROWBLOOM_PLANNING_CACHE_LIVES_H_

#include <vector>

#include "planning/block_rates.h"

namespace rowbloom::planning {

// The blocks of one kind.
struct CachedKind {
  double block_bytes = 0;
  double block_count = 0;
  bool is_high_priority = false;
  // Scans ask for each block, per get; the groups' asks include these.
  double scan_asks = 0;
  // All blocks but those that nobody asks for.
  std::vector<BlockGroup> groups;
};

// In gets. Infinite where all blocks fit.
struct CacheLives {
  double high = 0;
  double low = 0;
};

// The probabilities that the block is cached or not. Each is exact where it is
// small.
struct CacheOdds {
  double hit = 0;
  double miss = 1;
};

CacheOdds OddsOf(double asks, bool is_high_priority, const CacheLives& lives);

// `pool_share` of the cache is its high-priority pool. Others put
// `scanned_bytes` of blocks of low priority into it per get, which nobody asks
// for again. The search begins at `hint`, if that is set.
CacheLives LivesOf(const std::vector<CachedKind>& kinds, double cache_bytes,
                   double pool_share, double scanned_bytes,
                   const CacheLives& hint);

}  // namespace rowbloom::planning

#endif  // ROWBLOOM_PLANNING_CACHE_LIVES_H_
