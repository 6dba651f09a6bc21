// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/family.h"
#include "rowbloom/filter.h"
#include "util/absl_view.h"
#include "util/check.h"

namespace rowbloom {

namespace {

// Decoders accept no larger filters, and sizes in bits fit 64 bits.
constexpr uint64_t kMaxFilterSizeBytes = filter::kMaxKeyCount / 8;

// The family of a valid spec; otherwise always_maybe, which cannot lose a
// row.
const filter::FilterFamily& FamilyOf(const FilterSpec& spec) {
  return spec.Validate().ok()
             ? *filter::FindFamily(std::string_view(spec.family()))
             : filter::kAlwaysMaybeFamily;
}

}  // namespace

std::unique_ptr<FilterBuilder> NewFilterBuilder(const FilterSpec& spec,
                                                Kernel kernel) {
  RB_CHECK(KernelAvailable(kernel),
           "NewFilterBuilder(): this machine does not have the kernel; ask "
           "KernelAvailable()");
  return FamilyOf(spec).new_builder(spec.bits_per_key(), kernel);
}

uint64_t MaxKeys(const FilterSpec& spec, uint64_t size_bytes) {
  return FamilyOf(spec).max_keys(spec.bits_per_key(),
                                 std::min(size_bytes, kMaxFilterSizeBytes));
}

uint64_t FilterSizeBytes(const FilterSpec& spec, uint64_t key_count) {
  return FamilyOf(spec).size_bytes(spec.bits_per_key(),
                                   std::min(key_count, filter::kMaxKeyCount));
}

FilterView::FilterView() : lookup_(filter::kAlwaysMaybeLookup) {}

absl::StatusOr<FilterView> FilterView::Parse(
    const FilterDescriptor& descriptor,
    absl::Span<const std::string_view> units, Kernel kernel) {
  const filter::FilterFamily* family =
      filter::FindFamily(descriptor.family_code);
  if (family == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("filter family code ",
                     static_cast<int>(descriptor.family_code), " is unknown"));
  }
  if (!KernelAvailable(kernel)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", util::AbslView(KernelName(kernel)),
                     " is not available here"));
  }
  if (descriptor.unit_count > FilterDescriptor::kMaxUnits) {
    return absl::DataLossError(
        absl::StrCat("filter of ", static_cast<int>(descriptor.unit_count),
                     " units: at most ", FilterDescriptor::kMaxUnits));
  }
  if (units.size() > descriptor.unit_count ||
      (units.empty() && descriptor.unit_count > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        units.size(), " units given of a filter of ",
        static_cast<int>(descriptor.unit_count), ": at least one, no more"));
  }
  FilterView view;
  for (size_t i = 0; i < units.size(); ++i) {
    if (units[i].size() != descriptor.unit_size_bytes[i]) {
      return absl::DataLossError(
          absl::StrCat("filter unit ", i, " has ", units[i].size(),
                       " bytes instead of ", descriptor.unit_size_bytes[i]));
    }
    view.state_.unit[i] = units[i].data();
  }
  view.state_.unit_count = static_cast<uint32_t>(units.size());
  view.key_count_ = descriptor.key_count;
  absl::Status status =
      family->parse(descriptor, kernel, &view.state_, &view.lookup_);
  if (!status.ok()) return status;
  return view;
}

void FilterView::MayContain(absl::Span<const KeyDigest> digests,
                            bool* may_contain) const {
  static_assert(sizeof(KeyDigest) == sizeof(uint64_t));
  if (digests.empty()) return;
  RB_CHECK(may_contain != nullptr,
           "FilterView::MayContain(): may_contain is null");
  lookup_.may_contain_batch(state_, &digests.data()->value, digests.size(),
                            may_contain);
}

}  // namespace rowbloom
