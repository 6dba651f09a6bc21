// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "filter/family.h"

namespace rowbloom::filter {

namespace {

constexpr uint8_t kCode = 1;

class AlwaysMaybeBuilder final : public FilterBuilder {
 public:
  void Add(KeyDigest digest) override {
    if (key_count_ > 0 && digest == last_) return;
    last_ = digest;
    ++key_count_;
  }
  uint64_t key_count() const override { return key_count_; }
  size_t memory_usage_bytes() const override { return 0; }
  void SetBitsPerKey(double /*bits_per_key*/) override {}
  EncodedFilter Finish() override {
    EncodedFilter filter;
    filter.descriptor.family_code = kCode;
    filter.descriptor.key_count = key_count_;
    key_count_ = 0;
    return filter;
  }

 private:
  KeyDigest last_;
  uint64_t key_count_ = 0;
};

absl::Status Parse(const FilterDescriptor& descriptor, Kernel /*kernel*/,
                   FilterState* /*state*/, FilterLookup* lookup) {
  if (descriptor.unit_count != 0 || descriptor.parameters != 0) {
    return absl::DataLossError("always_maybe with units or parameters");
  }
  *lookup = kAlwaysMaybeLookup;
  return absl::OkStatus();
}

}  // namespace

const FilterLookup kAlwaysMaybeLookup = {
    [](const FilterState&, uint64_t) { return true; },
    [](const FilterState&, const uint64_t*, size_t count, bool* may_contain) {
      std::fill_n(may_contain, count, true);
    },
    [](const FilterState&, uint64_t) { return 1.0; },
    [](const FilterState&, uint64_t) {}};

const FilterFamily kAlwaysMaybeFamily = {
    kCode,
    "always_maybe",
    [](double) { return 1.0; },
    [](double, uint64_t) { return std::numeric_limits<uint64_t>::max(); },
    [](double, uint64_t) { return uint64_t{0}; },
    [](double, Kernel) -> std::unique_ptr<FilterBuilder> {
      return std::make_unique<AlwaysMaybeBuilder>();
    },
    Parse,
    nullptr};

}  // namespace rowbloom::filter
