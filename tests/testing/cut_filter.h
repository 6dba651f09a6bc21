// SPDX-License-Identifier: Apache-2.0
//
// Makes the filter that a reader with only some of its steps has in memory.
//
//   const EncodedFilter cut = CutFilter(filter, steps);

#ifndef ROWBLOOM_TESTS_TESTING_CUT_FILTER_H_
#define ROWBLOOM_TESTS_TESTING_CUT_FILTER_H_

#include <memory>

#include "rowbloom/filter.h"

namespace rowbloom::testing {

inline EncodedFilter CutFilter(const EncodedFilter& filter, uint32_t steps) {
  EncodedFilter cut;
  cut.descriptor = FilterAtStep(filter.descriptor, steps);
  const std::vector<std::string_view> units = filter.UnitViews();
  for (uint32_t u = 0; u < cut.descriptor.unit_count; ++u) {
    const size_t size = static_cast<size_t>(cut.descriptor.unit_size_bytes[u]);
    // The memory has exactly this size, for ASan.
    const std::unique_ptr<char[]> out(new char[size]);
    CopyUnitAtStep(filter.descriptor, steps, u, units[u], out.get());
    cut.units.append(out.get(), size);
  }
  return cut;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_CUT_FILTER_H_
