// SPDX-License-Identifier: Apache-2.0

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_solver.h"

namespace rowbloom::filter {

void SolveFastLinesByAvx512(FastLines* lines) { SolveFastLines(lines); }

}  // namespace rowbloom::filter
