// SPDX-License-Identifier: Apache-2.0
//
// The compact family: near the information limit at any rate, in units of four
// planes that can be loaded separately. Lookups and terms: compact_kernel.h.
// Sizes and rates: compact_layout.h. Construction: compact_solver.h.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_H_

#include "filter/compact/compact_kernel.h"
#include "filter/family.h"

namespace rowbloom::filter {

extern const FilterFamily kCompactFamily;

// `kernel` is available.
CompactKernel CompactKernelFor(Kernel kernel);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_H_
