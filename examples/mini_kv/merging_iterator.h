// SPDX-License-Identifier: Apache-2.0
//
// Many sorted sources as one: of the versions of a cell, only the newest.
// Compactions, scans and gets of a row are all made of it.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_

#include <memory>
#include <vector>

#include "cell.h"

namespace mini_kv {

// `sources` newest first: where two have a cell, that of the earlier source
// counts. Tombstones are cells.
std::unique_ptr<CellIterator> NewMergingIterator(
    std::vector<std::unique_ptr<CellIterator>> sources);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MERGING_ITERATOR_H_
