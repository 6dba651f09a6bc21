// SPDX-License-Identifier: Apache-2.0
//
// Builds the lines of fast: decides which keys each line keeps, and has a
// kernel solve the lines. Takes time in proportion to keys and lines, whatever
// the digests are, and always ends with lines that lose no key.
//
// A line takes the keys carried into it first, then those at home there, by
// falling position. Among equations that contradict earlier ones, and those
// beyond 64 (with sparse slots, 64 behind the first of each), the highest
// position decides: the threshold is one more, and all keys below it go to the
// next line. If a carried key's equation contradicts, the line that it comes
// from is saturated instead; so is a line that would hand on more keys than a
// line has slots. Four quarters of the filter are solved side by side. Each
// begins as if nothing were carried into it; at its end the writer goes on into
// the next, until it hands on what was handed on there before, or once around.

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
