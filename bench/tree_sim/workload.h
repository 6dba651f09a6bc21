// SPDX-License-Identifier: Apache-2.0
//
// Draws the keys that are written into a simulated tree, flush by flush. The
// same seed gives the same keys.

#ifndef ROWBLOOM_BENCH_TREE_SIM_WORKLOAD_H_
#define ROWBLOOM_BENCH_TREE_SIM_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tree.h"

namespace rowbloom::tree_sim {

enum class Inserts : uint8_t {
  kRandom,         // Everywhere.
  kAppend,         // Each key after all others.
  kMixedKeys,      // 80% of each flush after all others, 20% everywhere.
  kMixedFlushes,   // Four flushes of five after all others, one everywhere.
  kIngestBehind,   // As kRandom, and each third file is ingested, after all.
  kIngestOverlap,  // The same, but ingested files have keys everywhere.
};
const std::vector<Inserts>& AllInserts();
std::string InsertsName(Inserts inserts);

class Workload {
 public:
  Workload(Inserts inserts, size_t keys_per_flush, uint64_t seed)
      : inserts_(inserts), keys_per_flush_(keys_per_flush), random_(seed) {}

  void Next(Tree* tree);

 private:
  // So many keys, of which `behind` lie behind all others.
  std::vector<uint64_t> Keys(size_t count, size_t behind);

  const Inserts inserts_;
  const size_t keys_per_flush_;
  std::mt19937_64 random_;
  uint64_t done_ = 0;
  // Keys are apart, so that one between two of them is none of them.
  uint64_t last_key_ = uint64_t{1} << 40;
};

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_WORKLOAD_H_
