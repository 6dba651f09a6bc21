// SPDX-License-Identifier: Apache-2.0
//
// Options of our policies for RocksDB's Configurable: two functions read each
// of them from text and write it as text.
//
//   {"bloom_type", TextOption<RocksDbOptions>(
//                      "rowbloom", {ParseBloomTypeOption, PrintBloomType})}

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_TEXT_OPTION_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_TEXT_OPTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rdb.h"
#include "rocksdb/status.h"
#include "rocksdb/utilities/options_type.h"

namespace rowbloom::plugin {

template <typename Options>
struct OptionText {
  absl::Status (*parse)(std::string_view text, Options* options);
  std::string (*print)(const Options& options);
};

// `policy` is the option's owner, for messages. The option is registered with
// the whole Options, so the offset is 0.
template <typename Options>
rdb::OptionTypeInfo TextOption(const char* policy,
                               const OptionText<Options>& text) {
  using rdb::ConfigOptions;
  using rdb::Status;
  return rdb::OptionTypeInfo(
      0, rdb::OptionType::kUnknown, rdb::OptionVerificationType::kNormal,
      rdb::OptionTypeFlags::kNone,
      [policy, text](const ConfigOptions&, const std::string& name,
                     const std::string& value, void* options) {
        const absl::Status status =
            text.parse(value, static_cast<Options*>(options));
        if (status.ok()) return Status::OK();
        return Status::InvalidArgument(absl::StrCat(policy, ".", name),
                                       std::string(status.message()));
      },
      [text](const ConfigOptions&, const std::string&, const void* options,
             std::string* value) {
        *value = text.print(*static_cast<const Options*>(options));
        return Status::OK();
      },
      [text](const ConfigOptions&, const std::string& name, const void* a,
             const void* b, std::string* mismatch) {
        const bool equal = text.print(*static_cast<const Options*>(a)) ==
                           text.print(*static_cast<const Options*>(b));
        if (!equal) *mismatch = name;
        return equal;
      });
}

// A table of names; `text` must be one of them.
template <typename Value>
struct Named {
  const char* name;
  Value value;
};

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
      "unknown value \"", std::string(text), "\"; allowed: ", allowed));
}

template <typename Value, size_t kSize>
std::string PrintName(const Named<Value> (&all)[kSize], Value value) {
  for (const Named<Value>& named : all) {
    if (named.value == value) return named.name;
  }
  return "";
}

// False for anything but a decimal number; absl would also read "0x10" and
// " +10".
inline bool ParseDecimal(std::string_view text, double* value) {
  return text.find_first_of("xX+ \t\n\v\f\r") == std::string_view::npos &&
         absl::SimpleAtod(std::string(text), value);
}

// *value does not change if `validate` refuses the new one.
template <typename Validate>
absl::Status ParseNumber(std::string_view text, const Validate& validate,
                         double* value) {
  double parsed = 0;
  if (!ParseDecimal(text, &parsed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text), "\" is not a number"));
  }
  absl::Status status = validate(parsed);
  if (status.ok()) *value = parsed;
  return status;
}

inline absl::Status ParseBytes(std::string_view text, uint64_t* value) {
  uint64_t parsed = 0;
  if (!absl::SimpleAtoi(std::string(text), &parsed)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text), "\" is not a number of bytes"));
  }
  *value = parsed;
  return absl::OkStatus();
}

// The functions for a member that is a number.
template <typename Options, auto kMember, absl::Status (*kValidate)(double)>
OptionText<Options> NumberText() {
  return {[](std::string_view text, Options* options) {
            return ParseNumber(text, kValidate, &(options->*kMember));
          },
          [](const Options& options) {
            return absl::StrFormat("%.15g", options.*kMember);
          }};
}

using OptionTypeTable = std::unordered_map<std::string, rdb::OptionTypeInfo>;

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_TEXT_OPTION_H_
