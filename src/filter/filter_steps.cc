// SPDX-License-Identifier: Apache-2.0
//
// Loads fewer steps of a filter than are stored: see FilterSteps() in filter.h.

#include <cstring>

#include "filter/family.h"
#include "rowbloom/filter.h"
#include "util/check.h"

namespace rowbloom {

namespace {

// nullptr if the family is unknown or its filters have one step.
const filter::FilterCutter* CutterOf(const FilterDescriptor& descriptor) {
  const filter::FilterFamily* family =
      filter::FindFamily(descriptor.family_code);
  return family == nullptr ? nullptr : family->cutter;
}

}  // namespace

uint32_t FilterSteps(const FilterDescriptor& descriptor) {
  if (descriptor.unit_count == 0) return 0;
  const filter::FilterCutter* cutter = CutterOf(descriptor);
  return cutter == nullptr ? 1 : cutter->step_count(descriptor);
}

FilterDescriptor FilterAtStep(const FilterDescriptor& descriptor,
                              uint32_t steps) {
  const uint32_t all = FilterSteps(descriptor);
  RB_CHECK(steps <= all && (steps > 0 || all == 0),
           "FilterAtStep(): steps must be 1 to FilterSteps()");
  return steps == all ? descriptor
                      : CutterOf(descriptor)->cut(descriptor, steps);
}

void CopyUnitAtStep(const FilterDescriptor& descriptor, uint32_t steps,
                    uint32_t unit, std::string_view bytes, char* out) {
  const uint32_t all = FilterSteps(descriptor);
  RB_CHECK(
      steps > 0 && steps <= all && unit < descriptor.unit_count &&
          bytes.size() == descriptor.unit_size_bytes[unit],
      "CopyUnitAtStep(): no such step or unit, or the unit has another size");
  RB_CHECK(out != nullptr || bytes.empty(), "CopyUnitAtStep(): out is null");
  if (steps == all) {
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  } else {
    CutterOf(descriptor)->copy_unit(descriptor, steps, unit, bytes, out);
  }
}

}  // namespace rowbloom
