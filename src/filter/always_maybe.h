// SPDX-License-Identifier: Apache-2.0
//
// The family without bits: every lookup answers "maybe". Written for a filter
// of no keys and for a policy that cannot be met.

#ifndef ROWBLOOM_FILTER_ALWAYS_MAYBE_H_
#define ROWBLOOM_FILTER_ALWAYS_MAYBE_H_

#include "filter/family.h"

namespace rowbloom::filter {

extern const FilterFamily kAlwaysMaybeFamily;

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_ALWAYS_MAYBE_H_
