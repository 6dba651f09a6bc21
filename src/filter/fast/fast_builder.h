// SPDX-License-Identifier: Apache-2.0
//
// Builds the lines of fast: decides which keys each line keeps, and has a
// kernel solve the lines. Takes time in proportion to keys and lines, whatever
// the digests are, and always ends with lines that lose no key.

#ifndef ROWBLOOM_FILTER_FAST_FAST_BUILDER_H_
#define ROWBLOOM_FILTER_FAST_FAST_BUILDER_H_

#include <cstdint>

#include "filter/digest_order.h"
#include "filter/fast/fast_kernel.h"

namespace rowbloom::filter {

// Writes line_count lines of `planes` planes. Returns the number of keys that
// found no room: every lookup in their lines answers "maybe".
uint64_t BuildFastLines(DigestList digests, uint64_t line_count,
                        uint32_t planes, const FastKernel& kernel, char* lines);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_BUILDER_H_
