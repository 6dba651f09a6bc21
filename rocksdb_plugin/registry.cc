// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "budget/budget_listener.h"
#include "policy/composed_policy.h"
#include "policy/native_policy.h"
#include "policy/row_prefix_extractor.h"
#include "policy/text_policy.h"
#include "release.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/utilities/object_registry.h"
#include "rowbloom/rocksdb.h"
#include "status.h"

namespace rowbloom {

using plugin::BudgetListener;
using plugin::CheckRocksDbRelease;
using plugin::ComposedPolicy;
using plugin::NativePolicy;
using plugin::ParseNativePolicy;
using plugin::RefusedPolicy;
using plugin::RowPrefixExtractor;
using plugin::ToRocksDbStatus;

namespace {

// Adds a factory unless the library has it; returns how many were added. The
// factory makes nothing, and says why, if another release of RocksDB is loaded.
template <typename T, typename Entry, typename Parse>
int AddOnce(const char* name, const Entry& entry, Parse parse,
            rdb::ObjectLibrary* library) {
  if (library->FindFactory<T>(name)) return 0;
  library->AddFactory<T>(
      entry,
      [parse](const std::string& id, std::unique_ptr<T>* guard,
              std::string* error) -> T* {
        absl::Status status = CheckRocksDbRelease();
        if (status.ok()) {
          auto parsed = parse(id);
          status = parsed.status();
          if (parsed.ok()) *guard = *std::move(parsed);
        }
        *error = std::string(status.message());
        return status.ok() ? guard->get() : nullptr;
      });
  return 1;
}

// Matches NAME or NAME:anything; the factory then reports an error behind the
// colon, instead of RocksDB's "could not load".
template <typename T, typename Parse>
int AddPattern(const char* name, Parse parse, rdb::ObjectLibrary* library) {
  const auto pattern = rdb::ObjectLibrary::PatternEntry(name).AddSeparator(
      ":", /*at_least_one=*/false);
  return AddOnce<T>(name, pattern, parse, library);
}

using Policy = std::unique_ptr<const rdb::FilterPolicy>;

constexpr char kMisspelt[] = "rowblom";

Policy Refused(const std::string& id, absl::string_view why) {
  return std::make_unique<const RefusedPolicy>(
      id, absl::InvalidArgumentError(
              absl::StrCat("filter_policy \"", id, "\": ", why)));
}

// RocksDB reports success without a policy if a factory returns an error, so
// the policies that these two make remember theirs.
template <typename Parse>
auto OrRefused(Parse parse) {
  return [parse](const std::string& id) -> absl::StatusOr<Policy> {
    auto parsed = parse(id);
    if (parsed.ok()) return Policy(*std::move(parsed));
    return Refused(id, parsed.status().message());
  };
}

absl::StatusOr<Policy> RefuseName(const std::string& id) {
  return Refused(
      id, absl::StrCat("no such policy; known: ", NativePolicy::kClassName(),
                       ", ", ComposedPolicy::kClassName()));
}

// Names that are one letter away from `name`: one more, one less, another one,
// or two that changed places.
std::set<std::string> MisspeltNames(const std::string& name) {
  std::set<std::string> names;
  const std::string letters = "abcdefghijklmnopqrstuvwxyz_-.";
  for (size_t i = 0; i <= name.size(); ++i) {
    for (const char c : letters) {
      names.insert(name.substr(0, i) + c + name.substr(i));
    }
    if (i == name.size()) break;
    const std::string behind = name.substr(i + 1);
    names.insert(name.substr(0, i) + behind);
    const bool is_lower = absl::ascii_islower(name[i]);
    for (const char c : letters + (is_lower ? absl::ascii_toupper(name[i])
                                            : absl::ascii_tolower(name[i]))) {
      names.insert(name.substr(0, i) + c + behind);
    }
    if (behind.empty()) continue;
    std::string swapped = name;
    std::swap(swapped[i], swapped[i + 1]);
    names.insert(swapped);
  }
  names.erase(name);
  return names;
}

// Matches misspelt names, with anything behind a colon. Composed mode's are
// misspelt here in front of the dot; NamesLikeOurs() has the others.
rdb::ObjectLibrary::PatternEntry MisspeltPolicies() {
  const std::string native = NativePolicy::kClassName();
  const std::string behind =
      std::string(ComposedPolicy::kClassName()).substr(native.size());
  std::set<std::string> names = MisspeltNames(native);
  // Capitals, wherever they are.
  for (unsigned capitals = 1; capitals < 1u << native.size(); ++capitals) {
    std::string other = native;
    for (size_t i = 0; i < other.size(); ++i) {
      if (capitals >> i & 1) other[i] = absl::ascii_toupper(other[i]);
    }
    names.insert(other);
  }
  rdb::ObjectLibrary::PatternEntry entry(kMisspelt);
  for (const std::string& name : names) {
    entry.AnotherName(name).AnotherName(name + behind);
  }
  entry.AddSeparator(":", /*at_least_one=*/false);
  return entry;
}

// Matches all names that begin as ours do and that the entries before it do
// not match.
rdb::ObjectLibrary::PatternEntry NamesLikeOurs() {
  rdb::ObjectLibrary::PatternEntry entry("rowbloo", /*optional=*/false);
  entry.AddSeparator("m");
  return entry;
}

absl::StatusOr<std::unique_ptr<BudgetListener>> ParseListener(
    std::string_view /*id*/) {
  return std::make_unique<BudgetListener>();
}

}  // namespace

int RegisterRocksDb(rdb::ObjectLibrary& library, const std::string&) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return AddPattern<const rdb::FilterPolicy>(NativePolicy::kClassName(),
                                             OrRefused(ParseNativePolicy),
                                             &library) +
         AddPattern<const rdb::FilterPolicy>(ComposedPolicy::kClassName(),
                                             OrRefused(ComposedPolicy::Parse),
                                             &library) +
         AddOnce<const rdb::FilterPolicy>(kMisspelt, MisspeltPolicies(),
                                          RefuseName, &library) +
         AddOnce<const rdb::FilterPolicy>("rowbloomfilter", NamesLikeOurs(),
                                          RefuseName, &library) +
         AddPattern<const rdb::SliceTransform>(RowPrefixExtractor::kClassName(),
                                               RowPrefixExtractor::Parse,
                                               &library) +
         AddOnce<rdb::EventListener>(BudgetListener::kClassName(),
                                     BudgetListener::kClassName(),
                                     ParseListener, &library);
}

int RegisterRocksDb() {
  return RegisterRocksDb(*rdb::ObjectLibrary::Default(), "");
}

rdb::Status ParseRocksDbFilterPolicy(
    const std::string& text, std::shared_ptr<const rdb::FilterPolicy>* policy) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) {
    return ToRocksDbStatus(s);
  }
  RegisterRocksDb();
  rdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.ignore_unsupported_options = false;
  std::shared_ptr<const rdb::FilterPolicy> parsed;
  rdb::Status status = rdb::FilterPolicy::CreateFromString(
      config, std::string(absl::StripAsciiWhitespace(text)), &parsed);
  if (status.IsNotSupported() || status.IsNotFound()) {
    status = rdb::Status::InvalidArgument(
        absl::StrCat("filter_policy \"", text, "\": ", status.ToString()));
  }
  if (status.ok()) *policy = std::move(parsed);
  return status;
}

}  // namespace rowbloom

// For builds of RocksDB that compile this plugin into themselves: rowbloom.mk
// says  rowbloom_FUNC = rowbloom_register .
extern "C" int rowbloom_register(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                 const std::string& arg) {
  return rowbloom::RegisterRocksDb(library, arg);
}
