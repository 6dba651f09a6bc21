// SPDX-License-Identifier: Apache-2.0
//
// The Bloom family: one 64-byte line a lookup, cheap to build, one unit.
// Lines and lookups: blocked_bloom_kernel.h. Rates: blocked_bloom_model.h.

#ifndef ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_H_
#define ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_H_

#include "filter/blocked_bloom/blocked_bloom_kernel.h"
#include "filter/family.h"

namespace rowbloom::filter {

extern const FilterFamily kBlockedBloomFamily;

// `kernel` is available.
BlockedBloomKernel BlockedBloomKernelFor(Kernel kernel, uint32_t probe_count);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_BLOCKED_BLOOM_BLOCKED_BLOOM_H_
