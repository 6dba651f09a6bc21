// SPDX-License-Identifier: Apache-2.0
//
// Merges sorted sources into one: of the versions of a cell, only the newest
// remains. Compactions, scans and gets of a row use it.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_

#include <memory>
#include <vector>

#include "cell.h"

namespace mini_kv {

// `sources` are newest first: if two have a cell, the earlier source's is used.
// Tombstones are cells.
std::unique_ptr<CellIterator> NewMergingIterator(
    std::vector<std::unique_ptr<CellIterator>> sources);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_
