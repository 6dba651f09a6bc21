// SPDX-License-Identifier: Apache-2.0

#include "native_policy.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "filter_bits_abi.h"
#include "filter_entry.h"
#include "rocksdb/table.h"
#include "row_filter_builder.h"
#include "row_filter_reader.h"
#include "status.h"
#include "text_option.h"

namespace rowbloom {

namespace {

absl::Status ParseBloomTypeOption(std::string_view text,
                                  RocksDbOptions* options) {
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

absl::Status ParsePolicyOption(std::string_view text, RocksDbOptions* options) {
  absl::StatusOr<FilterPolicy> policy = FilterPolicy::Parse(text);
  if (policy.ok()) options->policy = *policy;
  return policy.status();
}

const OptionTypeTable& OptionTable() {
  using Options = RocksDbOptions;
  const auto option = [](const OptionText<Options>& text) {
    return TextOption<Options>(NativePolicy::kClassName(), text);
  };
  static const auto* const table = new OptionTypeTable{
      {"bloom_type", option({ParseBloomTypeOption,
                             [](const Options& o) {
                               return std::string(BloomTypeName(o.bloom_type));
                             }})},
      {"key_codec",
       option({ParseKeyCodecOption,
               [](const Options& o) { return o.key_codec.ToString(); }})},
      {"policy",
       option({ParsePolicyOption,
               [](const Options& o) { return o.policy.ToString(); }})},
  };
  return *table;
}

}  // namespace

absl::Status ValidateRocksDbOptions(const RocksDbOptions& options) {
  if (absl::Status s = CheckBloomType(options.bloom_type); !s.ok()) return s;
  return options.policy.Validate();
}

absl::StatusOr<std::unique_ptr<NativePolicy>> NativePolicy::Parse(
    std::string_view id) {
  RocksDbOptions options;
  const std::string_view name = kClassName();
  if (id != name) {
    double bits_per_key = 0;
    if (id.substr(0, name.size() + 1) != absl::StrCat(kClassName(), ":") ||
        !absl::SimpleAtod(std::string(id.substr(name.size() + 1)),
                          &bits_per_key)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "filter_policy \"", std::string(id), "\" is neither ", kClassName(),
          " nor ", kClassName(), ":BITS_PER_KEY nor {id=", kClassName(),
          ";bloom_type=...;key_codec=...;policy=...}"));
    }
    options.policy = rowbloom::FilterPolicy::BitsPerKey(options.policy.family(),
                                                        bits_per_key);
    if (absl::Status s = options.policy.Validate(); !s.ok()) return s;
  }
  return std::make_unique<NativePolicy>(options);
}

NativePolicy::NativePolicy(const RocksDbOptions& options) : options_(options) {
  RegisterOptions("RowbloomOptions", &options_, &OptionTable());
}

ROCKSDB_NAMESPACE::FilterBitsBuilder* NativePolicy::GetBuilderWithContext(
    const ROCKSDB_NAMESPACE::FilterBuildingContext& context) const noexcept {
  RocksDbOptions options = options_;
  // Prefixes alone bring rows alone. The filter must say so, or it would deny
  // the columns that it was never given.
  if (!context.table_options.whole_key_filtering) {
    options.bloom_type = BloomType::kRow;
  }
  return new RowFilterBuilder(
      options, context.table_options.detect_filter_construct_corruption);
}

ROCKSDB_NAMESPACE::FilterBitsReader* NativePolicy::GetFilterBitsReader(
    const ROCKSDB_NAMESPACE::Slice& contents) const noexcept {
  return new RowFilterReader(contents);
}

const ROCKSDB_NAMESPACE::FilterPolicy* MakeNativePolicy(
    const std::string& id,
    std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>* guard,
    std::string* error) {
  absl::Status status = CheckRocksDbVersion(RunningRocksDbVersion());
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<NativePolicy>> policy =
        NativePolicy::Parse(id);
    if (policy.ok()) {
      *guard = *std::move(policy);
      return guard->get();
    }
    status = policy.status();
  }
  *error = std::string(status.message());
  return nullptr;
}

std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewRocksDbFilterPolicy(
    const RocksDbOptions& options, ROCKSDB_NAMESPACE::Status* error) {
  absl::Status status = CheckRocksDbVersion(RunningRocksDbVersion());
  if (status.ok()) status = ValidateRocksDbOptions(options);
  if (error != nullptr) *error = ToRocksDbStatus(status);
  if (!status.ok()) return nullptr;
  return std::make_shared<NativePolicy>(options);
}

}  // namespace rowbloom
