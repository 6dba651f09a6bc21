// SPDX-License-Identifier: Apache-2.0
//
// How often gets ask for the blocks of an SST, if the popularity of keys, or of
// ranges of keys, is a power of their rank, and they are at random places.

#ifndef ROWBLOOM_PLANNING_BLOCK_RATES_H_
#define ROWBLOOM_PLANNING_BLOCK_RATES_H_

#include <vector>

namespace rowbloom::planning {

// Keys, or ranges of keys, of about the same popularity.
struct KeyGroup {
  double key_count = 0;
  double asks = 0;  // For each of them, per get.
};

// The popularity of all keys of a tree.
struct Popularity {
  double range_keys = 1;  // The keys side by side that are equally popular.
  std::vector<KeyGroup> ranges;  // The asks of all add up to 1.
};
Popularity ZipfRanges(double key_count, double range_keys,
                      double zipf_exponent);

// Blocks of the same size for which gets ask equally often.
struct BlockGroup {
  double block_count = 0;
  double asks = 0;  // For each block, per get; above 0.
};

// The blocks of one kind in one run.
struct BlockKeys {
  double block_count = 0;
  // Each block has this many keys of its run. Gets of them ask for the block.
  double own_keys = 0;
  // Between its first key and its last one the tree has this many.
  double spanned_keys = 0;
  // Gets of a present key that is not in the run ask for a block with this
  // probability; and the gets of an absent key. A key that once was a false
  // positive is always one.
  double older_key_share = 0;
  double absent_key_share = 0;
};

// The absent keys have the same popularity as the present ones beside them.
// Leaves out the blocks that no get asks for.
std::vector<BlockGroup> BlockRates(const BlockKeys& blocks,
                                   const Popularity& popularity,
                                   double missing_share);

}  // namespace rowbloom::planning

#endif  // ROWBLOOM_PLANNING_BLOCK_RATES_H_
