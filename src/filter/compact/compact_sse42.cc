// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_lookup.h"
#include "filter/compact/compact_solver.h"
#include "filter/compact/compact_x86_lookup.h"

namespace rowbloom::filter {

CompactKernel Sse42CompactKernel() {
  return {CompactLookupOf<X86Ops>, WorkSize, SolveGroup};
}

}  // namespace rowbloom::filter
