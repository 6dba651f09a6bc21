// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/filter_ranking.h"

#include <algorithm>

#include "absl/status/status.h"
#include "rowbloom/filter.h"

namespace rowbloom::tools {
namespace {

// The bytes with which every family can hold one key.
constexpr uint64_t kSmallestFilter = 128;

struct FamilyCosts {
  std::string_view family;
  double lookup;
  double build;
};
// The test `readme` compares these with docs/filter_families.md; lookups are
// the mean of those of absent and of present keys.
constexpr FamilyCosts kCosts[] = {
    {"blocked_bloom", 1, 1}, {"fast", 1.2, 2.3}, {"compact", 1.6, 2.7}};

// The most bits per key, up to `bits_per_key`, whose filter fits `size_bytes`;
// 0 if the fewest do not fit.
double LargestBitsPerKey(std::string_view family, double bits_per_key,
                         uint64_t key_count, uint64_t size_bytes) {
  const auto fits = [&](double bits) {
    return FilterSizeBytes(FilterSpec::BitsPerKey(family, bits), key_count) <=
           size_bytes;
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
  uint64_t smallest = UINT64_MAX;
  for (const FamilyCosts& costs : kCosts) {
    smallest = std::min(
        smallest, FilterSizeBytes(FilterSpec::BitsPerKey(
                                      costs.family, FilterSpec::kMinBitsPerKey),
                                  key_count));
  }
  return smallest;
}

double Penalty(const FilterChoice& choice, FilterPreference preference) {
  if (preference == FilterPreference::kCpu) {
    return choice.lookup_cost + choice.build_cost;
  }
  // If the goal is bits per key, sizes are about equal and the rate decides.
  const double space = choice.filter_spec.has_target_fpr()
                           ? static_cast<double>(choice.size_bytes)
                           : choice.expected_fpr;
  return preference == FilterPreference::kSpace ? space
                                                : space * choice.lookup_cost;
}

}  // namespace

absl::StatusOr<std::vector<FilterChoice>> FilterChoices(
    uint64_t key_count, const FilterSpec& goal) {
  std::vector<FilterChoice> choices;
  absl::Status invalid;
  for (const FamilyCosts& costs : kCosts) {
    FilterSpec spec = goal.WithFamily(costs.family);
    if (absl::Status status = spec.Validate(); !status.ok()) {
      invalid.Update(status);
      continue;
    }
    if (!goal.has_target_fpr()) {
      const double budget =
          spec.bits_per_key() * static_cast<double>(key_count) / 8;
      const double bits = LargestBitsPerKey(
          costs.family, spec.bits_per_key(), key_count,
          std::max({kSmallestFilter, SmallestSizeBytes(key_count),
                    static_cast<uint64_t>(budget)}));
      if (bits == 0) continue;
      spec = FilterSpec::BitsPerKey(costs.family, bits);
    }
    choices.push_back({spec, spec.expected_fpr(),
                       FilterSizeBytes(spec, key_count), costs.lookup,
                       costs.build});
  }
  if (choices.empty()) return invalid;
  return choices;
}

const FilterChoice& BestChoice(const std::vector<FilterChoice>& choices,
                               FilterPreference preference) {
  return *std::min_element(choices.begin(), choices.end(),
                           [&](const FilterChoice& a, const FilterChoice& b) {
                             return Penalty(a, preference) <
                                    Penalty(b, preference);
                           });
}

}  // namespace rowbloom::tools
