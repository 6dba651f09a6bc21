// SPDX-License-Identifier: Apache-2.0
//
// The base of our filter policies: remembers what RocksDB could not read of the
// text that a policy was made from.
//
//   RocksDB drops such errors: for {id=rowbloom;key_codec=fixd:8} it reports
//   success and goes on with a policy of defaults. Our policies remember the
//   error, so that CheckRocksDbOptions() and DB::Open() return it.
//
// Immutable once configured: DB::SetOptions() on a policy in use fails and
// changes nothing. From RocksDB 9.8 on it makes another policy, of which
// CheckRocksDbOptions() returns the error.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_TEXT_POLICY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_TEXT_POLICY_H_

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "status.h"
#include "text_option.h"

namespace rowbloom::plugin {

class TextPolicy : public rdb::FilterPolicy {
 public:
  static const char* kClassName() { return "rowbloom.TextPolicy"; }
  bool IsInstanceOf(const std::string& name) const noexcept override {
    return name == kClassName() || rdb::FilterPolicy::IsInstanceOf(name);
  }

  // InvalidArgument names each option, its value and what is allowed.
  const absl::Status& text_error() const { return text_error_; }

  // RocksDB calls it when it opens a database.
  rdb::Status ValidateOptions(
      const rdb::DBOptions& db_options,
      const rdb::ColumnFamilyOptions& options) const override {
    if (!text_error_.ok()) return ToRocksDbStatus(text_error_);
    return rdb::FilterPolicy::ValidateOptions(db_options, options);
  }

 protected:
  using Texts = std::unordered_map<std::string, std::string>;

  explicit TextPolicy(absl::Status text_error = absl::OkStatus())
      : text_error_(std::move(text_error)) {}

  // Reads the texts as RocksDB will, and checks the result as a whole.
  virtual absl::Status CheckTexts(const rdb::ConfigOptions& config,
                                  const Texts& texts) const = 0;

  // RocksDB calls it for each policy that it makes from text.
  rdb::Status ConfigureOptions(const rdb::ConfigOptions& config,
                               const Texts& texts, Texts* unused) override {
    absl::Status error = CheckTexts(config, texts);
    rdb::Status status =
        rdb::FilterPolicy::ConfigureOptions(config, texts, unused);
    if (config.mutable_options_only) {  // DB::SetOptions().
      return error.ok() ? status : ToRocksDbStatus(error);
    }
    if (text_error_.ok()) text_error_ = std::move(error);
    return text_error_.ok() ? status : ToRocksDbStatus(text_error_);
  }

 private:
  absl::Status text_error_;
};

// For TextPolicy::CheckTexts(): `options` are those before the texts are read,
// and `validate` checks them afterwards.
template <typename Options, typename Validate>
absl::Status CheckOptionTexts(
    const std::string& policy, const OptionTypeTable& table,
    const rdb::ConfigOptions& config,
    const std::unordered_map<std::string, std::string>& texts, Options options,
    const Validate& validate) {
  std::vector<std::string> errors;
  for (const auto& [long_name, value] : texts) {
    const bool has_prefix = long_name.rfind(policy + ".", 0) == 0;
    const std::string name =
        has_prefix ? long_name.substr(policy.size() + 1) : long_name;
    if (name == rdb::OptionTypeInfo::kIdPropName()) continue;
    const auto found = table.find(name);
    if (found != table.end()) {
      const rdb::Status status =
          found->second.Parse(config, name, value, &options);
      if (!status.ok()) {
        errors.push_back(absl::StrCat(name, "=", value, ": ",
                                      status.getState() == nullptr
                                          ? status.ToString()
                                          : std::string(status.getState())));
      }
    } else if (!config.ignore_unknown_options) {
      std::vector<std::string> known;
      for (const auto& entry : table) known.push_back(entry.first);
      std::sort(known.begin(), known.end());
      std::string list;
      for (const std::string& each : known) {
        absl::StrAppend(&list, list.empty() ? "" : ", ", each);
      }
      errors.push_back(
          absl::StrCat(name, "=", value, ": no such option; known: ", list));
    }
  }
  if (errors.empty()) {
    absl::Status status = validate(options);
    if (status.ok()) return status;
    errors.emplace_back(status.message());
  }
  std::sort(errors.begin(), errors.end());
  std::string message = absl::StrCat("filter_policy ", policy, ": ");
  for (const std::string& error : errors) {
    absl::StrAppend(&message, &error == errors.data() ? "" : "; ", error);
  }
  return absl::InvalidArgumentError(message);
}

// Stands for a policy that could not be made, for example of a misspelt name:
// RocksDB would go on without any policy, in silence. It builds and reads no
// filters. OPTIONS files keep the text that it was made from.
class RefusedPolicy final : public TextPolicy {
 public:
  static const char* kClassName() { return "rowbloom.Refused"; }

  RefusedPolicy(std::string id, absl::Status error)
      : TextPolicy(std::move(error)), id_(std::move(id)) {}

  std::string GetId() const override { return id_; }

  const char* Name() const noexcept override { return kClassName(); }
  const char* CompatibilityName() const noexcept override {
    return kClassName();
  }
  rdb::FilterBitsBuilder* GetBuilderWithContext(
      const rdb::FilterBuildingContext& /*context*/) const noexcept override {
    return nullptr;
  }
  rdb::FilterBitsReader* GetFilterBitsReader(
      const rdb::Slice& /*contents*/) const noexcept override {
    return nullptr;
  }

 private:
  absl::Status CheckTexts(const rdb::ConfigOptions& /*config*/,
                          const Texts& /*texts*/) const override {
    return absl::OkStatus();
  }

  const std::string id_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_TEXT_POLICY_H_
