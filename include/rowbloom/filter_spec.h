// SPDX-License-Identifier: Apache-2.0
//
// The filter that a writer is to build: a family and one size goal, either bits
// per key or a target false positive rate.
//
//   FilterSpec spec;                                 // compact, 10 bits
//   spec = FilterSpec::BitsPerKey("blocked_bloom", 12.5);
//   spec = FilterSpec::TargetFpr("compact", 0.01);
//   auto parsed = FilterSpec::Parse("blocked_bloom:bits_per_key=12.5");
//
// The descriptor of a filter holds the family that was written and its
// parameters: readers never see a spec.

#ifndef ROWBLOOM_FILTER_SPEC_H_
#define ROWBLOOM_FILTER_SPEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class FilterSpec {
 public:
  // The range of bits per key of every family. They are the bits of a large
  // filter: one with few keys takes somewhat more at the same rate
  // (FilterSizeBytes says how much).
  static constexpr double kMinBitsPerKey = 1.0;
  static constexpr double kMaxBitsPerKey = 24.0;
  static constexpr double kDefaultBitsPerKey = 10.0;

  FilterSpec();
  // `family` must be a registered name (FilterFamilyNames()) and the goal in
  // range; otherwise Validate() fails and builders answer "maybe" to
  // everything. TargetFpr searches for up to a millisecond: make a spec once.
  static FilterSpec BitsPerKey(std::string_view family, double bits_per_key);
  static FilterSpec TargetFpr(std::string_view family, double target_fpr);

  // "FAMILY", "FAMILY:bits_per_key=B" or "FAMILY:target_fpr=R".
  // An InvalidArgument says what is allowed.
  static absl::StatusOr<FilterSpec> Parse(std::string_view text);
  std::string ToString() const;
  absl::Status Validate() const;

  // The same goal for another family.
  FilterSpec WithFamily(std::string_view family) const;

  const std::string& family() const { return family_; }
  // True if the goal is a rate, not bits per key.
  bool has_target_fpr() const { return by_rate_; }
  // The goal in bits per key; the family's inverse function turns a target rate
  // into bits.
  double bits_per_key() const { return bits_per_key_; }
  // The rate expected of a large filter of this spec.
  double expected_fpr() const;

 private:
  std::string family_;
  double bits_per_key_ = kDefaultBitsPerKey;  // From target_fpr_ if by_rate_.
  double target_fpr_ = 0;                     // If by_rate_, the goal.
  double lowest_fpr_ = 0;                     // The family's range of rates.
  double highest_fpr_ = 0;
  bool by_rate_ = false;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_SPEC_H_
