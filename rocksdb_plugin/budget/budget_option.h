// SPDX-License-Identifier: Apache-2.0
//
// The text options that native and composed mode share: the id that may contain
// the bits, and the options of a budget.
//
//   AddBudgetOptions<RocksDbOptions>("rowbloom", &table);
//   absl::Status status = ParsePolicyId("rowbloom:8", "rowbloom", &bits);

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_OPTION_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_OPTION_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "budget/tree_budget.h"
#include "text_option.h"

namespace rowbloom::plugin {

// `id` is `policy`, `policy`:BITS_PER_KEY or `policy`:auto; RocksDB's
// Configurable reads other options later. *bits_per_key and *auto_bits change
// only if the id says so.
inline absl::Status ParsePolicyId(std::string_view id,
                                  const std::string& policy,
                                  double* bits_per_key, bool* auto_bits) {
  if (id == policy) return absl::OkStatus();
  if (id == policy + ":auto") {
    *auto_bits = true;
    return absl::OkStatus();
  }
  const size_t name_size = policy.size() + 1;
  if (id.substr(0, name_size) == policy + ":" &&
      ParseDecimal(id.substr(name_size), bits_per_key)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("not of the form ", policy, ", ", policy, ":BITS_PER_KEY, ",
                   policy, ":auto or {id=", policy, ";OPTION=VALUE;...}"));
}

inline constexpr Named<bool> kBooleans[] = {{"true", true}, {"false", false}};

template <typename Options>
void AddBudgetOptions(const char* policy, OptionTypeTable* table) {
  const auto add = [&](const char* name, const OptionText<Options>& text) {
    table->emplace(name, TextOption<Options>(policy, text));
  };
  add("auto_bits",
      {[](std::string_view text, Options* o) {
         return ParseName(kBooleans, text, &o->auto_bits);
       },
       [](const Options& o) { return PrintName(kBooleans, o.auto_bits); }});
  add("budget_bytes",
      {[](std::string_view text, Options* o) {
         return ParseBytes(text, &o->budget_bytes);
       },
       [](const Options& o) { return absl::StrCat(o.budget_bytes); }});
  add("max_bits_per_key",
      NumberText<Options, &Options::max_bits_per_key, ValidateMaxBits>());
  add("min_bits_per_key",
      NumberText<Options, &Options::min_bits_per_key, ValidateMinBits>());
  add("missing_share",
      NumberText<Options, &Options::missing_share, ValidateMissingShare>());
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_OPTION_H_
