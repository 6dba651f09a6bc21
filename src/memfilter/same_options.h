// SPDX-License-Identifier: Apache-2.0
//
// Checks that filters have equal options, as a union requires.

#ifndef ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_
#define ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "memfilter/options_text.h"

namespace rowbloom::memfilter {

template <typename Options>
absl::Status CheckSameOptions(const Options& ours, const Options& theirs) {
  if (ours == theirs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("union of filters of different options: ", OptionsText(ours),
                   "; ", OptionsText(theirs)));
}

}  // namespace rowbloom::memfilter

#endif  // ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_
