// SPDX-License-Identifier: Apache-2.0

#include "native_policy.h"

#include <string>
#include <unordered_map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "filter_bits_abi.h"
#include "filter_entry.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_type.h"
#include "row_filter_builder.h"
#include "row_filter_reader.h"

namespace rowbloom {

using ROCKSDB_NAMESPACE::ConfigOptions;
using ROCKSDB_NAMESPACE::OptionType;
using ROCKSDB_NAMESPACE::OptionTypeFlags;
using ROCKSDB_NAMESPACE::OptionTypeInfo;
using ROCKSDB_NAMESPACE::OptionVerificationType;
using ROCKSDB_NAMESPACE::Status;

namespace {

Status ToRocksDb(const absl::Status& status) {
  if (status.ok()) return Status::OK();
  return Status::InvalidArgument(std::string(status.message()));
}

// How one field of RocksDbOptions is read from and written to text.
struct OptionText {
  absl::Status (*parse)(std::string_view text, RocksDbOptions* options);
  std::string (*print)(const RocksDbOptions& options);
};

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

OptionTypeInfo TextOption(const OptionText& text) {
  // Offset 0: each function is given the whole RocksDbOptions.
  return OptionTypeInfo(
      0, OptionType::kUnknown, OptionVerificationType::kNormal,
      OptionTypeFlags::kNone,
      [text](const ConfigOptions&, const std::string& name,
             const std::string& value, void* options) {
        const absl::Status status =
            text.parse(value, static_cast<RocksDbOptions*>(options));
        if (status.ok()) return Status::OK();
        return Status::InvalidArgument(absl::StrCat("rowbloom.", name),
                                       std::string(status.message()));
      },
      [text](const ConfigOptions&, const std::string&, const void* options,
             std::string* value) {
        *value = text.print(*static_cast<const RocksDbOptions*>(options));
        return Status::OK();
      },
      [text](const ConfigOptions&, const std::string& name, const void* a,
             const void* b, std::string* mismatch) {
        const bool equal = text.print(*static_cast<const RocksDbOptions*>(a)) ==
                           text.print(*static_cast<const RocksDbOptions*>(b));
        if (!equal) *mismatch = name;
        return equal;
      });
}

const std::unordered_map<std::string, OptionTypeInfo>& OptionTable() {
  static const auto* const table =
      new std::unordered_map<std::string, OptionTypeInfo>{
          {"bloom_type", TextOption({ParseBloomTypeOption,
                                     [](const RocksDbOptions& o) {
                                       return std::string(
                                           BloomTypeName(o.bloom_type));
                                     }})},
          {"key_codec", TextOption({ParseKeyCodecOption,
                                    [](const RocksDbOptions& o) {
                                      return o.key_codec.ToString();
                                    }})},
          {"policy", TextOption({ParsePolicyOption,
                                 [](const RocksDbOptions& o) {
                                   return o.policy.ToString();
                                 }})},
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
    const RocksDbOptions& options, Status* error) {
  absl::Status status = CheckRocksDbVersion(RunningRocksDbVersion());
  if (status.ok()) status = ValidateRocksDbOptions(options);
  if (error != nullptr) *error = ToRocksDb(status);
  if (!status.ok()) return nullptr;
  return std::make_shared<NativePolicy>(options);
}

}  // namespace rowbloom
