// SPDX-License-Identifier: Apache-2.0
//
// The filter families for a filter whose number of keys is known, and the one
// to choose for what is to be saved.
//
//   auto choices = FilterChoices(3500, FilterSpec::TargetFpr("compact", 0.01));
//   BestChoice(*choices, FilterPreference::kBalanced).filter_spec;
//
// Sizes and rates are the families' own, at that number of keys; costs are
// measured (docs/filter_families.md, section "Which family").

#ifndef ROWBLOOM_TOOLS_VERBS_FILTER_RANKING_H_
#define ROWBLOOM_TOOLS_VERBS_FILTER_RANKING_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/filter_spec.h"

namespace rowbloom::tools {

enum class FilterPreference : uint8_t {
  // The least time to build and to look up, at any size: flushes.
  kCpu,
  // The least product of bytes and lookup time: small levels with many lookups.
  kBalanced,
  // The fewest bytes, or the fewest false positives for the same bytes: large
  // levels.
  kSpace,
};
// The names of the preferences, in their order.
inline constexpr std::string_view kFilterPreferences[] = {"cpu", "balanced",
                                                          "space"};

struct FilterChoice {
  FilterSpec filter_spec;
  double expected_fpr = 1;
  uint64_t size_bytes = 0;
  // The time of a lookup and of building one key, relative to blocked_bloom.
  double lookup_cost = 0;
  double build_cost = 0;
};

// All families but always_maybe, at least one. For a goal in bits per key they
// stay within it or, if none can, are the smallest; for a target rate they
// reach it. The family of `goal` is ignored. InvalidArgument if the goal is not
// valid for any family.
absl::StatusOr<std::vector<FilterChoice>> FilterChoices(uint64_t key_count,
                                                        const FilterSpec& goal);
const FilterChoice& BestChoice(const std::vector<FilterChoice>& choices,
                               FilterPreference preference);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_FILTER_RANKING_H_
