// SPDX-License-Identifier: Apache-2.0
//
// Splits a filter's contiguous bytes into its units, without allocating.

#ifndef ROWBLOOM_FILTER_UNITS_H_
#define ROWBLOOM_FILTER_UNITS_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rowbloom/filter.h"
#include "util/check.h"

namespace rowbloom::filter {

using UnitArray = std::array<std::string_view, FilterDescriptor::kMaxUnits>;

// `bytes` has the descriptor's total size. The result views *units.
inline absl::Span<const std::string_view> SplitUnits(
    const FilterDescriptor& descriptor, std::string_view bytes,
    UnitArray* units) {
  RB_CHECK(bytes.size() == descriptor.total_size_bytes(),
           "the bytes of a filter have another size than its descriptor says");
  for (size_t i = 0; i < descriptor.unit_count; ++i) {
    const size_t size = static_cast<size_t>(descriptor.unit_size_bytes[i]);
    (*units)[i] = bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return absl::MakeConstSpan(units->data(), descriptor.unit_count);
}

// Verifies one unit as VerifyUnits() does all.
absl::Status VerifyUnit(const FilterDescriptor& descriptor, size_t unit,
                        std::string_view bytes);

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_UNITS_H_
