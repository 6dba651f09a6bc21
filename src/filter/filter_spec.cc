// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_spec.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "filter/family.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

using util::AbslView;

constexpr char kDefaultFamily[] = "compact";

// The shortest decimal that parses back to the same value.
std::string Exactly(double value) {
  for (const int digits : {6, 15}) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    double parsed = 0;
    if (absl::SimpleAtod(text, &parsed) && parsed == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

}  // namespace

FilterSpec::FilterSpec() : family_(kDefaultFamily) {}

FilterSpec FilterSpec::BitsPerKey(std::string_view family,
                                  double bits_per_key) {
  FilterSpec spec;
  spec.family_ = family;
  spec.bits_per_key_ = bits_per_key;
  return spec;
}

FilterSpec FilterSpec::TargetFpr(std::string_view family, double target_fpr) {
  FilterSpec spec;
  spec.family_ = family;
  spec.target_fpr_ = target_fpr;
  spec.by_rate_ = true;
  // Computed here and not on demand: builders ask often, and rates are sums.
  if (const filter::FilterFamily* known = filter::FindFamily(family)) {
    spec.bits_per_key_ = filter::BitsPerKeyFor(*known, target_fpr);
    spec.lowest_fpr_ = known->expected_fpr(kMaxBitsPerKey);
    spec.highest_fpr_ = known->expected_fpr(kMinBitsPerKey);
  }
  return spec;
}

FilterSpec FilterSpec::WithFamily(std::string_view family) const {
  return by_rate_ ? TargetFpr(family, target_fpr_)
                  : BitsPerKey(family, bits_per_key_);
}

absl::StatusOr<FilterSpec> FilterSpec::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  FilterSpec spec;
  spec.family_ = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    const std::string_view goal = text.substr(colon + 1);
    const size_t equals = goal.find('=');
    const std::string_view name = goal.substr(0, equals);
    const std::string_view number = goal.substr(equals + 1);
    double value = 0;
    if (equals == std::string_view::npos ||
        number.find_first_not_of("0123456789.eE-") != std::string_view::npos ||
        !absl::SimpleAtod(AbslView(number), &value) ||
        (name != "bits_per_key" && name != "target_fpr")) {
      return absl::InvalidArgumentError(absl::StrCat(
          "filter spec \"", AbslView(text),
          "\" is not FAMILY, FAMILY:bits_per_key=B or FAMILY:target_fpr=R"));
    }
    spec = name == "bits_per_key" ? BitsPerKey(spec.family_, value)
                                  : TargetFpr(spec.family_, value);
  }
  if (absl::Status status = spec.Validate(); !status.ok()) return status;
  return spec;
}

std::string FilterSpec::ToString() const {
  return by_rate_
             ? absl::StrCat(family_, ":target_fpr=", Exactly(target_fpr_))
             : absl::StrCat(family_, ":bits_per_key=", Exactly(bits_per_key_));
}

absl::Status FilterSpec::Validate() const {
  const filter::FilterFamily* family =
      filter::FindFamily(std::string_view(family_));
  if (family == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown filter family \"", family_,
                     "\"; known: ", filter::KnownFamilies()));
  }
  // Written so that NaN fails, too.
  if (!by_rate_) {
    if (bits_per_key_ >= kMinBitsPerKey && bits_per_key_ <= kMaxBitsPerKey) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("bits_per_key ", bits_per_key_, " is not within ",
                     kMinBitsPerKey, " to ", kMaxBitsPerKey));
  }
  if (target_fpr_ >= lowest_fpr_ && target_fpr_ <= highest_fpr_) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("target_fpr ", target_fpr_, " is not within ", lowest_fpr_,
                   " to ", highest_fpr_, ", the range of family ", family_));
}

double FilterSpec::expected_fpr() const {
  const filter::FilterFamily* family =
      filter::FindFamily(std::string_view(family_));
  return family == nullptr ? 1.0 : family->expected_fpr(bits_per_key_);
}

}  // namespace rowbloom
