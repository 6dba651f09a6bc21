// SPDX-License-Identifier: Apache-2.0
//
// The budget of a policy's options, for native and composed mode.
//
//   if (const auto budget = BudgetOf(policy->options())) Check(budget->mode);

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_POLICY_BUDGET_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_POLICY_BUDGET_H_

#include <optional>

#include "policy/native_policy.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget_options.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::plugin {

// Lives as long as the options of the policy.
struct PolicyBudget {
  const RocksDbBudgetOptions& options;
  BudgetMode mode;
  double bits_per_key;
};

// nullopt without a budget.
inline std::optional<PolicyBudget> BudgetOf(const RocksDbOptions& native) {
  const std::optional<BudgetMode> mode = native.effective_budget();
  if (!mode.has_value()) return std::nullopt;
  return PolicyBudget{native, *mode, BudgetBitsPerKey(native)};
}
inline std::optional<PolicyBudget> BudgetOf(
    const RocksDbComposedOptions& composed) {
  return PolicyBudget{composed, composed.budget, composed.bits_per_key};
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_POLICY_BUDGET_H_
