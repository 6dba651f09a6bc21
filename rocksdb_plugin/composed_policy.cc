// SPDX-License-Identifier: Apache-2.0

#include "composed_policy.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_cost.h"
#include "status.h"
#include "text_option.h"

namespace rowbloom {

using ROCKSDB_NAMESPACE::FilterBuildingContext;
using ROCKSDB_NAMESPACE::TableFileCreationReason;
using RocksDbFilterPolicy = ROCKSDB_NAMESPACE::FilterPolicy;

namespace {

constexpr double kMaxBitsPerKey = 24;

// A table of names, of which text is one.
template <typename Value>
struct Named {
  const char* name;
  Value value;
};
constexpr Named<RocksDbFilter> kFilters[] = {
    {"bloom", RocksDbFilter::kBloom},
    {"ribbon", RocksDbFilter::kRibbon},
    {"hybrid", RocksDbFilter::kHybrid}};
constexpr Named<BudgetMode> kModes[] = {{"balanced", BudgetMode::kBalanced},
                                        {"hits_only", BudgetMode::kHitsOnly},
                                        {"fixed", BudgetMode::kFixed}};

template <typename Value, size_t kSize>
absl::Status ParseName(const Named<Value> (&all)[kSize], std::string_view text,
                       Value* value) {
  std::string allowed;
  for (const Named<Value>& named : all) {
    if (text == named.name) {
      *value = named.value;
      return absl::OkStatus();
    }
    absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", named.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", std::string(text), "\" is unknown; allowed: ", allowed));
}

template <typename Value, size_t kSize>
std::string PrintName(const Named<Value> (&all)[kSize], Value value) {
  for (const Named<Value>& named : all) {
    if (named.value == value) return named.name;
  }
  return "";
}

// Parses into *value, which is one of options'; the old one stays if the
// options would not be valid.
absl::Status ParseNumber(std::string_view text, double* value,
                         RocksDbComposedOptions* options) {
  const double old = *value;
  if (!absl::SimpleAtod(std::string(text), value)) {
    *value = old;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text), "\" is not a number"));
  }
  absl::Status status = ValidateComposedOptions(*options);
  if (!status.ok()) *value = old;
  return status;
}

const OptionTypeTable& OptionTable() {
  using Options = RocksDbComposedOptions;
  const auto option = [](const OptionText<Options>& text) {
    return TextOption<Options>(ComposedPolicy::kClassName(), text);
  };
  static const auto* const table = new OptionTypeTable{
      {"bits_per_key",
       option({[](std::string_view text, Options* o) {
                 return ParseNumber(text, &o->bits_per_key, o);
               },
               [](const Options& o) { return absl::StrCat(o.bits_per_key); }})},
      {"filter", option({[](std::string_view text, Options* o) {
                           return ParseName(kFilters, text, &o->filter);
                         },
                         [](const Options& o) {
                           return PrintName(kFilters, o.filter);
                         }})},
      {"mode",
       option({[](std::string_view text, Options* o) {
                 return ParseName(kModes, text, &o->mode);
               },
               [](const Options& o) { return PrintName(kModes, o.mode); }})},
      {"size_ratio",
       option({[](std::string_view text, Options* o) {
                 return ParseNumber(text, &o->size_ratio, o);
               },
               [](const Options& o) { return absl::StrCat(o.size_ratio); }})},
  };
  return *table;
}

const FilterCost& CostOf(RocksDbFilter filter) {
  static const auto* const bloom = new FilterCost(FilterCost::OfRocksDbBloom());
  static const auto* const ribbon =
      new FilterCost(FilterCost::OfRocksDbRibbon());
  return filter == RocksDbFilter::kBloom ? *bloom : *ribbon;
}

FileBudgetOptions BudgetOptions(const RocksDbComposedOptions& options) {
  FileBudgetOptions budget;
  budget.budget.memory = FilterMemory::BitsPerKey(options.bits_per_key);
  budget.budget.mode = options.mode;
  budget.size_ratio = options.size_ratio;
  return budget;
}

double MostBitsOfFlush(const FileBudgetOptions& budget, double bits_per_key) {
  switch (budget.budget.mode) {
    case BudgetMode::kBalanced:
      return budget.flush_ratio * bits_per_key;
    case BudgetMode::kHitsOnly:
      return budget.budget.max_bits_per_key;
    case BudgetMode::kFixed:
      return bits_per_key;
  }
  return bits_per_key;
}

FileFacts FactsOf(const FilterBuildingContext& context) {
  FileFacts facts;
  // FIFO keeps SSTs as they were flushed: none is the oldest for long.
  if (context.compaction_style == ROCKSDB_NAMESPACE::kCompactionStyleFIFO) {
    return facts;
  }
  facts.is_flush = context.reason == TableFileCreationReason::kFlush ||
                   context.reason == TableFileCreationReason::kRecovery;
  facts.is_bottommost = context.is_bottommost;
  if (context.level_at_creation >= 0) facts.level = context.level_at_creation;
  if (context.num_levels > 0) facts.level_count = context.num_levels;
  return facts;
}

}  // namespace

absl::Status ValidateComposedOptions(const RocksDbComposedOptions& options) {
  // Written so that NaN fails, too.
  if (!(options.bits_per_key > 0 && options.bits_per_key <= kMaxBitsPerKey)) {
    return absl::InvalidArgumentError(
        absl::StrCat("bits_per_key ", options.bits_per_key,
                     " is not above 0 and at most ", kMaxBitsPerKey));
  }
  if (!(options.size_ratio > 1 && std::isfinite(options.size_ratio))) {
    return absl::InvalidArgumentError(
        absl::StrCat("size_ratio ", options.size_ratio, " is not above 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ComposedPolicy>> ComposedPolicy::Parse(
    std::string_view id) {
  RocksDbComposedOptions options;
  const std::string_view name = kClassName();
  if (id != name) {
    if (id.substr(0, name.size() + 1) != absl::StrCat(kClassName(), ":") ||
        !absl::SimpleAtod(std::string(id.substr(name.size() + 1)),
                          &options.bits_per_key)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "filter_policy \"", std::string(id), "\" is neither ", kClassName(),
          " nor ", kClassName(), ":BITS_PER_KEY nor {id=", kClassName(),
          ";bits_per_key=...;filter=...;mode=...;size_ratio=...}"));
    }
    absl::Status status = ValidateComposedOptions(options);
    if (!status.ok()) return status;
  }
  return std::make_unique<ComposedPolicy>(options);
}

ComposedPolicy::ComposedPolicy(const RocksDbComposedOptions& options)
    : options_(options), any_(ROCKSDB_NAMESPACE::NewBloomFilterPolicy(10)) {
  RegisterOptions("RowbloomComposedOptions", &options_, &OptionTable());
}

ComposedSetting ComposedPolicy::SettingFor(
    const FilterBuildingContext& context) const {
  const FileFacts facts = FactsOf(context);
  const FileBudgetOptions budget_options = BudgetOptions(options_);
  ComposedSetting result;
  result.filter = options_.filter == RocksDbFilter::kBloom
                      ? RocksDbFilter::kBloom
                      : RocksDbFilter::kRibbon;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!budget_.has_value()) {
      absl::StatusOr<FileBudget> budget =
          FileBudget::Create(CostOf(result.filter), budget_options);
      // Valid options always have one. An SST without a filter is slow only.
      if (!budget.ok()) return result;
      budget_ = *std::move(budget);
    }
    result.setting = budget_->ForFile(facts);
  }
  if (facts.is_flush && result.setting.policy_bits > 0 &&
      options_.filter == RocksDbFilter::kHybrid) {
    // The same rate, which costs Bloom more, within what a flush may take.
    const FilterCost& bloom = CostOf(RocksDbFilter::kBloom);
    result.filter = RocksDbFilter::kBloom;
    result.setting = bloom.ForFpr(result.setting.fpr);
    const double most = MostBitsOfFlush(budget_options, options_.bits_per_key);
    if (result.setting.bits_per_key > most)
      result.setting = bloom.ForBits(most);
  }
  return result;
}

const RocksDbFilterPolicy* ComposedPolicy::BuiltInFor(
    const ComposedSetting& setting) const {
  const long thousandths = std::lround(1000 * setting.setting.policy_bits);
  const double bits = static_cast<double>(thousandths) / 1000;
  const std::lock_guard<std::mutex> lock(mutex_);
  BuiltIn& built_in = built_ins_[{setting.filter, thousandths}];
  if (built_in == nullptr) {
    constexpr int kRibbonAtEachLevel = -1;
    built_in.reset(setting.filter == RocksDbFilter::kBloom
                       ? ROCKSDB_NAMESPACE::NewBloomFilterPolicy(bits)
                       : ROCKSDB_NAMESPACE::NewRibbonFilterPolicy(
                             bits, kRibbonAtEachLevel));
  }
  return built_in.get();
}

ROCKSDB_NAMESPACE::FilterBitsBuilder* ComposedPolicy::GetBuilderWithContext(
    const FilterBuildingContext& context) const noexcept {
  const ComposedSetting setting = SettingFor(context);
  if (setting.setting.policy_bits == 0) return nullptr;
  return BuiltInFor(setting)->GetBuilderWithContext(context);
}

ROCKSDB_NAMESPACE::FilterBitsReader* ComposedPolicy::GetFilterBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents) const noexcept {
  return any_->GetFilterBitsReader(contents);
}

std::shared_ptr<const RocksDbFilterPolicy> NewRocksDbComposedPolicy(
    const RocksDbComposedOptions& options, ROCKSDB_NAMESPACE::Status* error) {
  const absl::Status status = ValidateComposedOptions(options);
  if (error != nullptr) *error = ToRocksDbStatus(status);
  if (!status.ok()) return nullptr;
  return std::make_shared<ComposedPolicy>(options);
}

}  // namespace rowbloom
