// SPDX-License-Identifier: Apache-2.0
//
// The solver of fast with AVX-512. Builds the same bytes as the others.

#ifndef ROWBLOOM_FILTER_FAST_FAST_AVX512_KERNEL_H_
#define ROWBLOOM_FILTER_FAST_FAST_AVX512_KERNEL_H_

#include "filter/fast/fast_kernel.h"

namespace rowbloom::filter {

// Works as FastKernel::solve.
void SolveFastLinesByAvx512(FastLines* lines);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_AVX512_KERNEL_H_
