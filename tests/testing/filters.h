// SPDX-License-Identifier: Apache-2.0
//
// Makes filters of any family, and what readers have in memory of them.
//
//   const EncodedFilter filter =
//       BuildFilter(FilterSpec::BitsPerKey("fast", 10), digests);
//   EXPECT_TRUE(ViewOf(filter).MayContain(digests[0]));
//   const EncodedFilter cut = CutFilter(filter, steps);

#ifndef ROWBLOOM_TESTS_TESTING_FILTERS_H_
#define ROWBLOOM_TESTS_TESTING_FILTERS_H_

#include <memory>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "rowbloom/filter.h"

namespace rowbloom::testing {

inline EncodedFilter BuildFilter(const FilterSpec& spec,
                                 absl::Span<const KeyDigest> digests,
                                 Kernel kernel = Kernel::kBest) {
  const auto builder = NewFilterBuilder(spec, kernel);
  for (const KeyDigest digest : digests) builder->Add(digest);
  return builder->Finish();
}

// The filter must be valid. The view does not own its units.
inline FilterView ViewOf(const EncodedFilter& filter,
                         Kernel kernel = Kernel::kBest) {
  return FilterView::Parse(filter.descriptor, filter.UnitViews(), kernel)
      .value();
}

// Copies units into blocks of memory, `shift` bytes behind the start and at the
// very end, so that ASan sees any read behind them.
class UnitBlocks {
 public:
  UnitBlocks(absl::Span<const std::string_view> units, size_t shift) {
    for (const std::string_view unit : units) {
      blocks_.emplace_back(new char[shift + unit.size()]);
      unit.copy(blocks_.back().get() + shift, unit.size());
      units_.emplace_back(blocks_.back().get() + shift, unit.size());
    }
  }
  absl::Span<const std::string_view> units() const { return units_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<std::string_view> units_;
};

// Returns the filter that a reader with only some of its steps has in memory.
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

#endif  // ROWBLOOM_TESTS_TESTING_FILTERS_H_
