// SPDX-License-Identifier: Apache-2.0

#include "policy/composed_policy.h"

#include <cmath>

#include "budget/budget_option.h"
#include "release.h"
#include "status.h"
#include "text_option.h"

namespace rowbloom::plugin {

namespace {

constexpr Named<RocksDbFilter> kFilters[] = {
    {"bloom", RocksDbFilter::kBloom}, {"ribbon", RocksDbFilter::kRibbon}};
constexpr Named<BudgetMode> kBudgetModes[] = {
    {"balanced", BudgetMode::kBalanced},
    {"hits_only", BudgetMode::kHitsOnly},
    {"fixed", BudgetMode::kFixed}};

absl::Status ValidateBits(double bits_per_key) {
  return ValidateBudgetBits("bits_per_key", bits_per_key);
}

const OptionTypeTable& ComposedOptionTable() {
  using Options = RocksDbComposedOptions;
  const auto option = [](const OptionText<Options>& text) {
    return TextOption<Options>(ComposedPolicy::kClassName(), text);
  };
  static const auto* const table = [&] {
    auto* const built = new OptionTypeTable{
        {"bits_per_key",
         option(NumberText<Options, &Options::bits_per_key, ValidateBits>())},
        {"filter", option({[](std::string_view text, Options* o) {
                             return ParseName(kFilters, text, &o->filter);
                           },
                           [](const Options& o) {
                             return PrintName(kFilters, o.filter);
                           }})},
        {"budget", option({[](std::string_view text, Options* o) {
                             return ParseName(kBudgetModes, text, &o->budget);
                           },
                           [](const Options& o) {
                             return PrintName(kBudgetModes, o.budget);
                           }})},
    };
    AddBudgetOptions<Options>(ComposedPolicy::kClassName(), built);
    return built;
  }();
  return *table;
}

const FilterCost& CostOf(RocksDbFilter filter) {
  static const auto* const bloom = new FilterCost(FilterCost::OfRocksDbBloom());
  static const auto* const ribbon =
      new FilterCost(FilterCost::OfRocksDbRibbon());
  return filter == RocksDbFilter::kBloom ? *bloom : *ribbon;
}

}  // namespace

absl::Status ValidateComposedOptions(const RocksDbComposedOptions& options) {
  absl::Status status = ValidateBits(options.bits_per_key);
  if (status.ok()) status = ValidateBudgetOptions(options);
  return status;
}

absl::StatusOr<std::unique_ptr<ComposedPolicy>> ComposedPolicy::Parse(
    std::string_view id) {
  RocksDbComposedOptions options;
  absl::Status status = ParsePolicyId(id, kClassName(), &options.bits_per_key,
                                      &options.auto_bits);
  if (status.ok()) status = ValidateComposedOptions(options);
  if (!status.ok()) return status;
  return std::make_unique<ComposedPolicy>(options);
}

ComposedPolicy::ComposedPolicy(const RocksDbComposedOptions& options)
    : options_(options), any_(rdb::NewBloomFilterPolicy(10)) {
  RegisterOptions("RowbloomComposedOptions", &options_, &ComposedOptionTable());
}

absl::Status ComposedPolicy::CheckTexts(const rdb::ConfigOptions& config,
                                        const Texts& texts) const {
  return CheckOptionTexts(kClassName(), ComposedOptionTable(), config, texts,
                          options_, ValidateComposedOptions);
}

FilterSetting ComposedPolicy::SettingFor(
    const rdb::FilterBuildingContext& context) const {
  return tree_.SettingFor(context, CostOf(options_.filter), options_,
                          options_.bits_per_key, options_.budget);
}

const rdb::FilterPolicy* ComposedPolicy::BuiltInFor(double bits_per_key) const {
  const long hundredths = std::lround(100 * bits_per_key);
  const double bits = static_cast<double>(hundredths) / 100;
  const std::lock_guard<std::mutex> lock(mutex_);
  BuiltIn& built_in = built_ins_[hundredths];
  if (built_in == nullptr) {
    constexpr int kRibbonAtEachLevel = -1;
    built_in.reset(options_.filter == RocksDbFilter::kBloom
                       ? rdb::NewBloomFilterPolicy(bits)
                       : rdb::NewRibbonFilterPolicy(bits, kRibbonAtEachLevel));
  }
  return built_in.get();
}

rdb::FilterBitsBuilder* ComposedPolicy::GetBuilderWithContext(
    const rdb::FilterBuildingContext& context) const noexcept {
  const double bits = SettingFor(context).builder_bits;
  return bits == 0 ? nullptr : BuiltInFor(bits)->GetBuilderWithContext(context);
}

rdb::FilterBitsReader* ComposedPolicy::GetFilterBitsReader(
    const rdb::Slice& contents) const noexcept {
  return any_->GetFilterBitsReader(contents);
}

}  // namespace rowbloom::plugin

namespace rowbloom {

std::shared_ptr<const rdb::FilterPolicy> NewRocksDbComposedPolicy(
    const RocksDbComposedOptions& options, rdb::Status* error) {
  absl::Status status = plugin::CheckRocksDbRelease();
  if (status.ok()) status = plugin::ValidateComposedOptions(options);
  if (!plugin::IsOk(status, error)) return nullptr;
  return std::make_shared<plugin::ComposedPolicy>(options);
}

}  // namespace rowbloom
