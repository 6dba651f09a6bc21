// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "budget/budget_listener.h"
#include "policy/composed_policy.h"
#include "policy/native_policy.h"
#include "policy/row_prefix_extractor.h"
#include "release.h"
#include "rocksdb/utilities/object_registry.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

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

absl::StatusOr<std::unique_ptr<BudgetListener>> ParseListener(
    std::string_view /*id*/) {
  return std::make_unique<BudgetListener>();
}

}  // namespace

int RegisterRocksDb(rdb::ObjectLibrary& library, const std::string&) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return AddPattern<const rdb::FilterPolicy>(NativePolicy::kClassName(),
                                             ParseNativePolicy, &library) +
         AddPattern<const rdb::FilterPolicy>(ComposedPolicy::kClassName(),
                                             ComposedPolicy::Parse, &library) +
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

}  // namespace rowbloom

// For builds of RocksDB that compile this plugin into themselves: rowbloom.mk
// says  rowbloom_FUNC = rowbloom_register .
extern "C" int rowbloom_register(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                                 const std::string& arg) {
  return rowbloom::RegisterRocksDb(library, arg);
}
