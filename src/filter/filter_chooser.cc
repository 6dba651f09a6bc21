// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_chooser.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/family.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

// The bytes with which every family can hold one key.
constexpr uint64_t kSmallestFilter = 128;

// The most bits per key, up to `bits_per_key`, whose filter fits `size_bytes`;
// 0 if the fewest do not fit.
double LargestBitsPerKey(const filter::FilterFamily& family,
                         double bits_per_key, uint64_t key_count,
                         uint64_t size_bytes) {
  const auto fits = [&](double bits) {
    return family.size_bytes(bits, key_count) <= size_bytes;
  };
  if (fits(bits_per_key)) return bits_per_key;
  double low = FilterSpec::kMinBitsPerKey;
  double high = bits_per_key;
  if (!fits(low)) return 0;
  constexpr int kHalvings = 20;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// The smallest filter of any family for `key_count` keys.
uint64_t SmallestSizeBytes(uint64_t key_count) {
  uint64_t smallest = std::numeric_limits<uint64_t>::max();
  for (const filter::FilterFamily* family : filter::AllFamilies()) {
    if (family->lookup_cost == 0) continue;  // It filters nothing.
    smallest = std::min(
        smallest, family->size_bytes(FilterSpec::kMinBitsPerKey, key_count));
  }
  return smallest;
}

double Penalty(const FilterChoice& choice, const FilterRequest& request) {
  const double size = static_cast<double>(choice.size_bytes);
  switch (request.preference) {
    case FilterPreference::kCpu:
      return choice.lookup_cost + choice.build_cost;
    case FilterPreference::kBalanced:
      // If the goal is bits per key, sizes are about equal and the rate
      // decides.
      return request.goal.has_target_fpr()
                 ? size * choice.lookup_cost
                 : choice.expected_fpr * choice.lookup_cost;
    case FilterPreference::kSpace:
      return request.goal.has_target_fpr() ? size : choice.expected_fpr;
  }
  return 0;
}

}  // namespace

std::string_view FilterPreferenceName(FilterPreference preference) {
  switch (preference) {
    case FilterPreference::kCpu:
      return "cpu";
    case FilterPreference::kBalanced:
      return "balanced";
    case FilterPreference::kSpace:
      return "space";
  }
  return "unknown";
}

absl::StatusOr<FilterPreference> ParseFilterPreference(std::string_view name) {
  for (const FilterPreference preference :
       {FilterPreference::kCpu, FilterPreference::kBalanced,
        FilterPreference::kSpace}) {
    if (FilterPreferenceName(preference) == name) return preference;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("preference \"", util::AbslView(name),
                   "\" is not cpu, balanced or space"));
}

absl::StatusOr<std::vector<FilterChoice>> RankFilters(
    const FilterRequest& request) {
  const uint64_t key_count = std::min(request.key_count, filter::kMaxKeyCount);
  std::vector<FilterChoice> choices;
  absl::Status invalid;
  for (const filter::FilterFamily* family : filter::AllFamilies()) {
    if (family->lookup_cost == 0) continue;  // It filters nothing.
    FilterSpec spec = request.goal.WithFamily(family->name);
    if (absl::Status status = spec.Validate(); !status.ok()) {
      invalid.Update(status);
      continue;
    }
    if (!request.goal.has_target_fpr()) {
      const double budget =
          spec.bits_per_key() * static_cast<double>(key_count) / 8;
      const double bits = LargestBitsPerKey(
          *family, spec.bits_per_key(), key_count,
          std::max({kSmallestFilter, SmallestSizeBytes(key_count),
                    static_cast<uint64_t>(budget)}));
      if (bits == 0) continue;
      spec = FilterSpec::BitsPerKey(family->name, bits);
    }
    FilterChoice choice;
    choice.filter_spec = spec;
    choice.expected_fpr = spec.expected_fpr();
    choice.size_bytes = FilterSizeBytes(spec, key_count);
    choice.lookup_cost = family->lookup_cost;
    choice.build_cost = family->build_cost;
    choices.push_back(choice);
  }
  if (choices.empty()) return invalid;
  std::stable_sort(choices.begin(), choices.end(),
                   [&](const FilterChoice& a, const FilterChoice& b) {
                     return Penalty(a, request) < Penalty(b, request);
                   });
  return choices;
}

absl::StatusOr<FilterChoice> ChooseFilter(const FilterRequest& request) {
  absl::StatusOr<std::vector<FilterChoice>> choices = RankFilters(request);
  if (!choices.ok()) return choices.status();
  return choices->front();
}

}  // namespace rowbloom
