// SPDX-License-Identifier: Apache-2.0

#include "memfilter/options_text.h"

#include "absl/strings/str_cat.h"

namespace rowbloom::internal::memfilter {

std::string OptionsText(const BloomShape& shape) {
  return absl::StrCat(shape.bit_count, " bits, ", shape.probe_count, " probes");
}

std::string OptionsText(const CountingOptions& options) {
  return absl::StrCat(options.shape.bit_count, " counters of ",
                      options.counter_bits, " bits, ",
                      options.shape.probe_count, " probes");
}

std::string OptionsText(const ScalableOptions& options) {
  return absl::StrCat(
      "target_fpr ", options.target_fpr, ", capacity ", options.capacity,
      options.non_scaling ? ", non-scaling"
                          : absl::StrCat(", expansion ", options.expansion,
                                         ", tightening ", options.tightening));
}

std::string OptionsText(const DynamicOptions& options) {
  return absl::StrCat("layers of ", OptionsText(options.layer), ", ",
                      options.keys_per_layer, " keys");
}

std::string OptionsText(const SplitOptions& options) {
  return absl::StrCat(options.layer_count, " layers of ",
                      OptionsText(options.layer), ", ", options.keys_per_layer,
                      " keys");
}

std::string OptionsText(const BalancedOptions& options) {
  return absl::StrCat("layers of ", OptionsText(options.layer),
                      ", in groups of ", options.group_size);
}

std::string OptionsText(const MatrixOptions& options) {
  return absl::StrCat(options.layer_count, " layers of ",
                      OptionsText(options.layer), ", in ", options.group_count,
                      " groups, tie ", static_cast<int>(options.tie));
}

std::string OptionsText(const std::pair<BloomShape, GuavaStrategy>& options) {
  return absl::StrCat(OptionsText(options.first), ", strategy ",
                      static_cast<int>(options.second));
}

}  // namespace rowbloom::internal::memfilter
