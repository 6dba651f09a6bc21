// SPDX-License-Identifier: Apache-2.0
//
// Options as people read them: "4096 bits, 8 probes".

#ifndef ROWBLOOM_MEMFILTER_OPTIONS_TEXT_H_
#define ROWBLOOM_MEMFILTER_OPTIONS_TEXT_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/memfilter/guava.h"
#include "rowbloom/memfilter/mem_filter.h"

namespace rowbloom::internal::memfilter {

std::string OptionsText(const BloomShape& shape);
std::string OptionsText(const CountingOptions& options);
std::string OptionsText(const ScalableOptions& options);
std::string OptionsText(const DynamicOptions& options);
std::string OptionsText(const SplitOptions& options);
std::string OptionsText(const BalancedOptions& options);
std::string OptionsText(const MatrixOptions& options);
std::string OptionsText(const std::pair<BloomShape, GuavaStrategy>& options);

// Checks that filters have equal options, as a union requires.
template <typename Options>
absl::Status CheckSameOptions(const Options& ours, const Options& theirs) {
  if (ours == theirs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("union of filters of different options: ", OptionsText(ours),
                   "; ", OptionsText(theirs)));
}

}  // namespace rowbloom::internal::memfilter

#endif  // ROWBLOOM_MEMFILTER_OPTIONS_TEXT_H_
