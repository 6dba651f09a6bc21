// SPDX-License-Identifier: Apache-2.0
//
// The FilterPolicy that writes and reads rowbloom's own filter families.
// Made by NewRocksDbFilterPolicy() or from an options string:
//
//   rowbloom        rowbloom:12.5 (bits per filter key)        rowbloom:auto
//   {id=rowbloom;key_codec=ordered;filter_spec=FAMILY:target_fpr=R}
//   {id=rowbloom;filter_spec=compact;budget=balanced}
//
// Immutable once configured, thread-safe; its readers do not point to it.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_NATIVE_POLICY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_NATIVE_POLICY_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "budget/tree_budget.h"
#include "policy/text_policy.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

class NativePolicy final : public TextPolicy {
 public:
  static const char* kClassName() { return "rowbloom"; }

  // `options` are valid.
  explicit NativePolicy(const RocksDbOptions& options);

  const RocksDbOptions& options() const { return options_; }

  const char* Name() const noexcept override { return kClassName(); }
  const char* CompatibilityName() const noexcept override {
    return kRocksDbCompatibilityName;
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& context) const noexcept override;
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const noexcept override;

  // With a budget, its setting for the SST; 0 builder_bits: no filter.
  FilterSetting SettingFor(const rdb::FilterBuildingContext& context) const;
  std::optional<TreePlan> PlanOf(
      const std::shared_ptr<const LiveTree>& tree) const {
    return tree_.PlanOf(tree);
  }

 private:
  absl::Status CheckTexts(const rdb::ConfigOptions& config,
                          const Texts& texts) const override;

  RocksDbOptions options_;  // Registered with Configurable.
  mutable TreeBudget tree_;
  mutable std::once_flag cost_once_;
  mutable std::optional<FilterCost> cost_;  // Made when it is needed.
};

// The average of the budget, if there is one.
inline double BudgetBitsPerKey(const RocksDbOptions& options) {
  return options.budget_bits_per_key > 0 ? options.budget_bits_per_key
                                         : options.filter_spec.bits_per_key();
}

absl::Status ValidateRocksDbOptions(const RocksDbOptions& options);

// Makes the policy of an id, "rowbloom", "rowbloom:auto" or "rowbloom:BITS";
// RocksDB's Configurable reads other options later. A build without native mode
// makes none. CheckRocksDbRelease() is OK.
absl::StatusOr<std::unique_ptr<const rdb::FilterPolicy>> ParseNativePolicy(
    std::string_view id);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_NATIVE_POLICY_H_
