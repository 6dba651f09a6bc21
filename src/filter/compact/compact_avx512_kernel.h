// SPDX-License-Identifier: Apache-2.0
//
// The solver and the lookups of compact with AVX-512: the same bytes and
// answers as those of the others.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_AVX512_KERNEL_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_AVX512_KERNEL_H_

#include "filter/compact/compact_kernel.h"

namespace rowbloom::filter {

// Works as CompactKernel::lookup.
CompactLookup Avx512CompactLookup(const FilterState& state, bool near);

// Works as CompactKernel::solve, with the work_size of the AVX2 kernel.
void SolveCompactGroupByAvx512(CompactGroup* group, char* work);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_AVX512_KERNEL_H_
