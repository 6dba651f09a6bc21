// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a descriptor: docs/filter_families.md, section "Descriptor".

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/family.h"
#include "filter/units.h"
#include "rowbloom/compiler.h"
#include "rowbloom/filter.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom {

namespace {

constexpr uint8_t kDescriptorVersion = 1;

absl::Status TooShort() {
  return absl::DataLossError("filter descriptor ends early or is malformed");
}

void CheckUnits(const FilterDescriptor& descriptor) {
  RB_CHECK(descriptor.unit_count <= FilterDescriptor::kMaxUnits,
           "FilterDescriptor::unit_count is above kMaxUnits");
}

}  // namespace

uint64_t FilterDescriptor::total_size_bytes() const {
  CheckUnits(*this);
  uint64_t total = 0;
  for (size_t i = 0; i < unit_count; ++i) total += unit_size_bytes[i];
  return total;
}

std::string_view FilterDescriptor::family_name() const {
  const filter::FilterFamily* family = filter::FindFamily(family_code);
  return family == nullptr ? "unknown" : family->name;
}

void FilterDescriptor::AppendTo(std::string* out) const {
  RB_CHECK(out != nullptr, "FilterDescriptor::AppendTo(): out is null");
  CheckUnits(*this);
  out->push_back(static_cast<char>(kDescriptorVersion));
  out->push_back(static_cast<char>(family_code));
  out->push_back(static_cast<char>(unit_count));
  util::AppendVarint(parameters, out);
  util::AppendVarint(key_count, out);
  for (size_t i = 0; i < unit_count; ++i) {
    util::AppendVarint(unit_size_bytes[i], out);
    util::AppendFixed<uint32_t>(unit_checksum[i], out);
  }
}

absl::StatusOr<FilterDescriptor> FilterDescriptor::Parse(std::string_view* in) {
  RB_CHECK(in != nullptr, "FilterDescriptor::Parse(): in is null");
  FilterDescriptor descriptor;
  uint8_t version = 0;
  if (!util::ReadFixed(in, &version)) return TooShort();
  if (version == 0) return absl::DataLossError("filter descriptor version 0");
  if (version != kDescriptorVersion) {
    return absl::UnimplementedError(
        absl::StrCat("filter descriptor version ", static_cast<int>(version),
                     " is newer than ", static_cast<int>(kDescriptorVersion)));
  }
  if (!util::ReadFixed(in, &descriptor.family_code) ||
      !util::ReadFixed(in, &descriptor.unit_count)) {
    return TooShort();
  }
  if (descriptor.family_code == 0) {
    return absl::DataLossError("filter family code 0");
  }
  if (descriptor.unit_count > kMaxUnits) {
    return absl::DataLossError(
        absl::StrCat("filter of ", static_cast<int>(descriptor.unit_count),
                     " units: at most ", kMaxUnits));
  }
  if (!util::ReadVarint(in, &descriptor.parameters) ||
      !util::ReadVarint(in, &descriptor.key_count)) {
    return TooShort();
  }
  uint64_t total = 0;
  for (size_t i = 0; i < descriptor.unit_count; ++i) {
    if (!util::ReadVarint(in, &descriptor.unit_size_bytes[i]) ||
        !util::ReadFixed(in, &descriptor.unit_checksum[i])) {
      return TooShort();
    }
    if (internal::AddOverflows(total, descriptor.unit_size_bytes[i], &total)) {
      return absl::DataLossError("filter unit sizes exceed 2^64");
    }
  }
  if (filter::FindFamily(descriptor.family_code) == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("filter family code ",
                     static_cast<int>(descriptor.family_code), " is unknown"));
  }
  return descriptor;
}

std::vector<std::string_view> EncodedFilter::UnitViews() const {
  CheckUnits(descriptor);
  filter::UnitArray array;
  const auto views = filter::SplitUnits(descriptor, units, &array);
  return {views.begin(), views.end()};
}

absl::Status filter::VerifyUnit(const FilterDescriptor& descriptor, size_t unit,
                                std::string_view bytes) {
  if (unit >= descriptor.unit_count || unit >= FilterDescriptor::kMaxUnits ||
      bytes.size() != descriptor.unit_size_bytes[unit]) {
    return absl::DataLossError(
        absl::StrCat("filter unit ", unit, " of ", bytes.size(),
                     " bytes is not what the descriptor says"));
  }
  const uint32_t checksum = util::Checksum32(bytes);
  if (checksum != descriptor.unit_checksum[unit]) {
    return absl::DataLossError(absl::StrCat(
        "checksum of filter unit ", unit, " is ",
        absl::Hex(checksum, absl::kZeroPad8), ", stored is ",
        absl::Hex(descriptor.unit_checksum[unit], absl::kZeroPad8)));
  }
  return absl::OkStatus();
}

absl::Status VerifyUnits(const FilterDescriptor& descriptor,
                         absl::Span<const std::string_view> units) {
  for (size_t i = 0; i < units.size(); ++i) {
    absl::Status status = filter::VerifyUnit(descriptor, i, units[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace rowbloom
