// SPDX-License-Identifier: Apache-2.0
//
// Which filter family, for a filter whose number of keys is known: at a flush,
// a compaction, or when planning.
//
//   FilterRequest request;
//   request.key_count = 3500;
//   request.goal = FilterPolicy::TargetFpr("compact", 0.01);  // Or bits.
//   request.preference = FilterPreference::kBalanced;
//   absl::StatusOr<FilterChoice> choice = ChooseFilter(request);
//   if (choice.ok()) builder = NewFilterBuilder(choice->policy);
//
// Every registered family is a candidate that can reach the goal. Sizes and
// rates are the families' own, at that number of keys; costs are measured
// (docs/filter_families.md, section "Which family", has the chart). Values, no
// state: any thread.

#ifndef ROWBLOOM_FILTER_CHOOSER_H_
#define ROWBLOOM_FILTER_CHOOSER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_policy.h"

namespace ROWBLOOM_EXPORT rowbloom {

enum class FilterPreference : uint8_t {
  // Least time to build and to ask, whatever it takes in bytes: flushes.
  kCpu,
  // Least bytes times time to ask: levels that are asked much and small.
  kBalanced,
  // Least bytes, or fewest false positives of the same bytes: large levels.
  kSpace,
};
// "cpu", "balanced", "space".
std::string_view FilterPreferenceName(FilterPreference preference);
// InvalidArgument names the three.
absl::StatusOr<FilterPreference> ParseFilterPreference(std::string_view name);

struct FilterRequest {
  uint64_t key_count = 0;  // More than 2^49 are taken for as many.
  // Its family is not looked at, only its bits per key or its target rate.
  FilterPolicy goal;
  FilterPreference preference = FilterPreference::kBalanced;
};

struct FilterChoice {
  FilterPolicy policy;
  double expected_fpr = 1;
  uint64_t size_bytes = 0;
  // Of a lookup and of building one key, where blocked_bloom's are 1.
  double lookup_cost = 0;
  double build_cost = 0;
};

// All candidates, the best first. A candidate for bits per key stays within
// them, or, where no family does, is the smallest; one for a target rate
// reaches it. InvalidArgument if the goal is not valid for any family.
absl::StatusOr<std::vector<FilterChoice>> RankFilters(
    const FilterRequest& request);

// The first of RankFilters.
absl::StatusOr<FilterChoice> ChooseFilter(const FilterRequest& request);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_CHOOSER_H_
