// SPDX-License-Identifier: Apache-2.0
//
// The FilterPolicy that has RocksDB's own policies build each filter, with the
// bits that a FileBudget gives the SST. Made by NewRocksDbComposedPolicy() or
// from an options string:
//
//   rowbloom.Composed        rowbloom.Composed:8      (bits per key)
//   {id=rowbloom.Composed;bits_per_key=8;filter=bloom;budget=fixed}
//
// RocksDB's public API only: no file of composed mode may include
// filter_bits_abi.h.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMPOSED_POLICY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMPOSED_POLICY_H_

#include <map>
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
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::plugin {

absl::Status ValidateComposedOptions(const RocksDbComposedOptions& options);

class ComposedPolicy final : public TextPolicy {
 public:
  static const char* kClassName() { return "rowbloom.Composed"; }

  // From "rowbloom.Composed" or "rowbloom.Composed:BITS_PER_KEY"; RocksDB's
  // Configurable reads other options later.
  static absl::StatusOr<std::unique_ptr<ComposedPolicy>> Parse(
      std::string_view id);

  // `options` are valid.
  explicit ComposedPolicy(const RocksDbComposedOptions& options);

  const RocksDbComposedOptions& options() const { return options_; }

  const char* Name() const noexcept override { return kClassName(); }
  const char* CompatibilityName() const noexcept override {
    return any_->CompatibilityName();
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& context) const noexcept override;
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& contents) const noexcept override;

  // 0 builder_bits: no filter.
  FilterSetting SettingFor(const rdb::FilterBuildingContext& context) const;
  std::optional<TreePlan> PlanOf(
      const std::shared_ptr<const LiveTree>& tree) const {
    return tree_.PlanOf(tree);
  }

 private:
  using BuiltIn = std::unique_ptr<const rdb::FilterPolicy>;

  absl::Status CheckTexts(const rdb::ConfigOptions& config,
                          const Texts& texts) const override;
  const rdb::FilterPolicy* BuiltInFor(double bits_per_key) const;

  RocksDbComposedOptions options_;  // Registered with Configurable.
  const BuiltIn any_;               // Reads what any of them has built.

  mutable TreeBudget tree_;
  mutable std::mutex mutex_;
  // The key is hundredths of bits, so there are some thousands at most.
  // Builders point into the policies, so they stay.
  mutable std::map<long, BuiltIn> built_ins_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMPOSED_POLICY_H_
