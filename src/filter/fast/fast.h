// SPDX-License-Identifier: Apache-2.0
//
// One-line retrieval: fewer false positives than a Bloom filter of the same
// size, for one line a lookup as there; one unit. Lines and lookups:
// fast_kernel.h. For few bits per key it builds blocked_bloom.

#ifndef ROWBLOOM_FILTER_FAST_FAST_H_
#define ROWBLOOM_FILTER_FAST_FAST_H_

#include <cstdint>

#include "filter/family.h"
#include "filter/fast/fast_kernel.h"

namespace rowbloom::filter {

extern const FilterFamily kFastFamily;

// Planes of a line at `bits_per_key`, which is at least 1; 0 if that is too
// few bits for this family.
uint32_t FastPlanesFor(double bits_per_key);

// `kernel` is available.
FastKernel FastKernelFor(Kernel kernel, uint32_t planes);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_H_
