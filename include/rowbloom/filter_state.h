// SPDX-License-Identifier: Apache-2.0
//
// The state of a parsed filter that lookups read: pointers and numbers only.
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

// The fields that every lookup reads come first: with the functions before them
// in a FilterView, they fill one cache line.
struct FilterState {
  // Set by the family:
  uint64_t slot_count = 0;  // Lines, or homes of layer 0.
  uint64_t parameter = 0;
  const char* metadata = nullptr;  // Within the first unit.
  // The loaded units and their number.
  const char* unit[8] = {};
  uint32_t unit_count = 0;
  uint64_t detail[9] = {};  // Set by the family.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_STATE_H_
