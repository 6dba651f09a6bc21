// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact_avx512_kernel.h"
#include "filter/compact/compact_solver.h"

namespace rowbloom::filter {

void SolveCompactGroupByAvx512(CompactGroup* group, char* work) {
  SolveGroup(group, work);
}

}  // namespace rowbloom::filter
