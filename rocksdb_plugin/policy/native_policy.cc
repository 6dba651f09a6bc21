// SPDX-License-Identifier: Apache-2.0

#include "policy/native_policy.h"

#include <string>

#include "budget/budget_option.h"
#include "policy/filter_entry.h"
#include "policy/row_filter_builder.h"
#include "policy/row_filter_reader.h"
#include "release.h"
#include "rocksdb/table.h"
#include "status.h"
#include "text_option.h"

namespace rowbloom::plugin {

namespace {

absl::Status ParseBloomTypeOption(std::string_view text,
                                  RocksDbOptions* options) {
  if (text.empty()) {  // As it is printed if it is not set.
    options->bloom_type.reset();
    return absl::OkStatus();
  }
  absl::StatusOr<BloomType> type = ParseBloomType(text);
  absl::Status status = type.ok() ? CheckBloomType(*type) : type.status();
  if (status.ok()) options->bloom_type = *type;
  return status;
}

absl::Status ParseKeyCodecOption(std::string_view text,
                                 RocksDbOptions* options) {
  absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(text);
  if (codec.ok()) options->key_codec = *codec;
  return codec.status();
}

absl::Status ValidateSpec(const FilterSpec& spec) {
  absl::Status status = spec.Validate();
  if (!status.ok() || spec.family() != "always_maybe") return status;
  return absl::InvalidArgumentError(
      "filter_spec always_maybe is no filter: set no filter_policy");
}

absl::Status ParseSpecOption(std::string_view text, RocksDbOptions* options) {
  absl::StatusOr<FilterSpec> spec = FilterSpec::Parse(text);
  if (!spec.ok()) return spec.status();
  // A family without bits takes the bits of the id.
  if (text == spec->family()) {
    spec = FilterSpec::BitsPerKey(text, options->filter_spec.bits_per_key());
  }
  absl::Status status = ValidateSpec(*spec);
  if (status.ok()) options->filter_spec = *spec;
  return status;
}

using Budget = std::optional<BudgetMode>;
constexpr Named<Budget> kBudgets[] = {{"none", std::nullopt},
                                      {"balanced", BudgetMode::kBalanced},
                                      {"hits_only", BudgetMode::kHitsOnly},
                                      {"fixed", BudgetMode::kFixed}};

absl::Status ValidateBudgetBitsOrNone(double bits_per_key) {
  if (bits_per_key == 0) return absl::OkStatus();
  return ValidateBudgetBits("budget_bits_per_key", bits_per_key);
}

const OptionTypeTable& NativeOptionTable() {
  using Options = RocksDbOptions;
  const auto option = [](const OptionText<Options>& text) {
    return TextOption<Options>(NativePolicy::kClassName(), text);
  };
  static const auto* const table = [&] {
    auto* const built = new OptionTypeTable{
        {"bloom_type", option({ParseBloomTypeOption,
                               [](const Options& o) {
                                 return o.bloom_type.has_value()
                                            ? std::string(
                                                  BloomTypeName(*o.bloom_type))
                                            : std::string();
                               }})},
        {"budget", option({[](std::string_view text, Options* o) {
                             return ParseName(kBudgets, text, &o->budget);
                           },
                           [](const Options& o) {
                             return PrintName(kBudgets, o.budget);
                           }})},
        {"budget_bits_per_key",
         option(NumberText<Options, &Options::budget_bits_per_key,
                           ValidateBudgetBitsOrNone>())},
        {"key_codec",
         option({ParseKeyCodecOption,
                 [](const Options& o) { return o.key_codec.ToString(); }})},
        {"filter_spec",
         option({ParseSpecOption,
                 [](const Options& o) { return o.filter_spec.ToString(); }})},
    };
    AddBudgetOptions<Options>(NativePolicy::kClassName(), built);
    return built;
  }();
  return *table;
}

}  // namespace

absl::Status ValidateRocksDbOptions(const RocksDbOptions& options) {
  absl::Status status =
      CheckBloomType(options.effective_bloom_type(), options.key_codec);
  if (status.ok()) status = ValidateSpec(options.filter_spec);
  if (status.ok()) {
    status = ValidateBudgetBitsOrNone(options.budget_bits_per_key);
  }
  if (status.ok()) status = ValidateBudgetOptions(options);
  return status;
}

absl::StatusOr<std::unique_ptr<const rdb::FilterPolicy>> ParseNativePolicy(
    std::string_view id) {
  RocksDbOptions options;
  double bits_per_key = options.filter_spec.bits_per_key();
  absl::Status status = ParsePolicyId(id, NativePolicy::kClassName(),
                                      &bits_per_key, &options.auto_bits);
  if (!status.ok()) return status;
  options.filter_spec = rowbloom::FilterSpec::BitsPerKey(
      options.filter_spec.family(), bits_per_key);
  status = options.filter_spec.Validate();
  if (!status.ok()) return status;
  return std::make_unique<const NativePolicy>(options);
}

NativePolicy::NativePolicy(const RocksDbOptions& options) : options_(options) {
  RegisterOptions("RowbloomOptions", &options_, &NativeOptionTable());
}

absl::Status NativePolicy::CheckTexts(const rdb::ConfigOptions& config,
                                      const Texts& texts) const {
  return CheckOptionTexts(kClassName(), NativeOptionTable(), config, texts,
                          options_, ValidateRocksDbOptions);
}

FilterSetting NativePolicy::SettingFor(
    const rdb::FilterBuildingContext& context) const {
  // Valid options have a cost. Builders take the bits of a setting for all
  // bytes of a filter, so the cost is that of a large one.
  std::call_once(cost_once_, [this] {
    absl::StatusOr<FilterCost> cost =
        FilterCost::OfFamily(options_.filter_spec.family());
    if (cost.ok()) cost_ = *std::move(cost);
  });
  if (!cost_.has_value()) return {};
  return tree_.SettingFor(
      context, *cost_, options_, BudgetBitsPerKey(options_),
      options_.effective_budget().value_or(BudgetMode::kFixed));
}

rdb::FilterBitsBuilder* NativePolicy::GetBuilderWithContext(
    const rdb::FilterBuildingContext& context) const noexcept {
  RocksDbOptions options = options_;
  // If only prefixes are added, they are rows. The filter must record that, or
  // it would deny the columns that it was never given.
  if (!context.table_options.whole_key_filtering) {
    options.bloom_type = BloomType::kRow;
  }
  if (options.effective_budget().has_value()) {
    const double bits = SettingFor(context).builder_bits;
    if (bits == 0) return nullptr;  // No filter.
    options.filter_spec =
        rowbloom::FilterSpec::BitsPerKey(options.filter_spec.family(), bits);
  }
  return new RowFilterBuilder(
      options, context.table_options.detect_filter_construct_corruption,
      context.table_options.partition_filters);
}

rdb::FilterBitsReader* NativePolicy::GetFilterBitsReader(
    const rdb::Slice& contents) const noexcept {
  return new RowFilterReader(contents);
}

}  // namespace rowbloom::plugin

namespace rowbloom {

std::shared_ptr<const rdb::FilterPolicy> NewRocksDbFilterPolicy(
    const RocksDbOptions& options, rdb::Status* error) {
  absl::Status status = plugin::CheckRocksDbRelease();
  if (status.ok()) status = plugin::ValidateRocksDbOptions(options);
  if (!plugin::IsOk(status, error)) return nullptr;
  return std::make_shared<plugin::NativePolicy>(options);
}

}  // namespace rowbloom
