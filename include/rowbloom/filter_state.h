// SPDX-License-Identifier: Apache-2.0
//
// What a parsed filter's lookup reads: pointers and numbers, nothing else.
// Part of FilterView; of no use by itself.
//
//   const FilterState& s = ...;  // filled by a family's Parse, then trusted
//   return kernel(s, digest);
//
// No std or absl header may be included here: kernels compiled for one
// instruction set include this file, and must not emit inline functions that
// the linker could share with code for other CPUs.

#ifndef ROWBLOOM_FILTER_STATE_H_
#define ROWBLOOM_FILTER_STATE_H_

#include <stdint.h>

namespace rowbloom {

// What every lookup reads comes first: with the functions before it in a
// FilterView, it fills one cache line.
struct FilterState {
  // The family's own:
  uint64_t slot_count = 0;  // Lines, segments.
  uint64_t parameter = 0;
  const char* metadata = nullptr;  // Within the first unit.
  // The loaded units, and how many they are.
  const char* unit[8] = {};
  uint32_t unit_count = 0;
  uint64_t detail[9] = {};  // The family's own.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_STATE_H_
