// SPDX-License-Identifier: Apache-2.0
//
// Chooses the filter family for a filter whose number of keys is known: at a
// flush, a compaction, or when planning.
//
//   FilterRequest request;
//   request.key_count = 3500;
//   request.goal = FilterSpec::TargetFpr("compact", 0.01);  // Or bits.
//   request.preference = FilterPreference::kBalanced;
//   absl::StatusOr<FilterChoice> choice = ChooseFilter(request);
//   if (choice.ok()) builder = NewFilterBuilder(choice->filter_spec);
//
// Every registered family that can reach the goal is a candidate. Sizes and
// rates are the families' own, at that number of keys; costs are measured
// (docs/filter_families.md, section "Which family", has the chart). Values
// without state: any thread.

#ifndef ROWBLOOM_FILTER_CHOOSER_H_
#define ROWBLOOM_FILTER_CHOOSER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_spec.h"

namespace ROWBLOOM_EXPORT rowbloom {

enum class FilterPreference : uint8_t {
  // The least time to build and to look up, at any size: flushes.
  kCpu,
  // The least product of bytes and lookup time: small levels with many lookups.
  kBalanced,
  // The fewest bytes, or the fewest false positives for the same bytes: large
  // levels.
  kSpace,
};
// "cpu", "balanced", "space".
std::string_view FilterPreferenceName(FilterPreference preference);
// An InvalidArgument lists the three names.
absl::StatusOr<FilterPreference> ParseFilterPreference(std::string_view name);

struct FilterRequest {
  uint64_t key_count = 0;  // Clamped to 2^49.
  // Only its bits per key or its target rate matter; its family is ignored.
  FilterSpec goal;
  FilterPreference preference = FilterPreference::kBalanced;
};

struct FilterChoice {
  FilterSpec filter_spec;
  double expected_fpr = 1;
  uint64_t size_bytes = 0;
  // The time of a lookup and of building one key, relative to blocked_bloom.
  double lookup_cost = 0;
  double build_cost = 0;
};

// All candidates, the best first. For a goal in bits per key they stay within
// it or, if no family can, are the smallest; for a target rate they reach it.
// InvalidArgument if the goal is not valid for any family.
absl::StatusOr<std::vector<FilterChoice>> RankFilters(
    const FilterRequest& request);

// The first of RankFilters.
absl::StatusOr<FilterChoice> ChooseFilter(const FilterRequest& request);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_CHOOSER_H_
