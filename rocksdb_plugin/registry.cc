// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <mutex>
#include <string>

#include "budget/budget_listener.h"
#include "policy/composed_policy.h"
#include "policy/native_policy.h"
#include "policy/row_prefix_extractor.h"
#include "release.h"
#include "rocksdb/utilities/object_registry.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

namespace {

const rdb::FilterPolicy* MakeComposedPolicy(
    const std::string& id, std::unique_ptr<const rdb::FilterPolicy>* guard,
    std::string* error) {
  absl::StatusOr<std::unique_ptr<ComposedPolicy>> policy =
      ComposedPolicy::Parse(id);
  if (!policy.ok()) {
    *error = std::string(policy.status().message());
    return nullptr;
  }
  *guard = *std::move(policy);
  return guard->get();
}

const rdb::SliceTransform* MakeExtractor(
    const std::string& id, std::unique_ptr<const rdb::SliceTransform>* guard,
    std::string* error) {
  absl::StatusOr<std::unique_ptr<const RowPrefixExtractor>> extractor =
      RowPrefixExtractor::Parse(id);
  if (!extractor.ok()) {
    *error = std::string(extractor.status().message());
    return nullptr;
  }
  *guard = *std::move(extractor);
  return guard->get();
}

rdb::EventListener* MakeListener(const std::string&,
                                 std::unique_ptr<rdb::EventListener>* guard,
                                 std::string*) {
  *guard = std::make_unique<BudgetListener>();
  return guard->get();
}

// Wraps a factory: it makes nothing, and says why, if another release of
// RocksDB is loaded.
template <typename T, typename Make>
auto OfThisRelease(Make make) {
  return [make](const std::string& id, std::unique_ptr<T>* guard,
                std::string* error) -> T* {
    const absl::Status& release = CheckRocksDbRelease();
    if (release.ok()) return make(id, guard, error);
    *error = std::string(release.message());
    return nullptr;
  };
}

// Matches NAME or NAME:anything; the factory then reports an error behind the
// colon, instead of RocksDB's "could not load".
rdb::ObjectLibrary::PatternEntry Pattern(const char* name) {
  return rdb::ObjectLibrary::PatternEntry(name).AddSeparator(
      ":",
      /*at_least_one=*/false);
}

}  // namespace

int RegisterRocksDb(rdb::ObjectLibrary& library, const std::string&) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  int added = 0;
  if (!library.FindFactory<const rdb::FilterPolicy>(
          NativePolicy::kClassName())) {
    library.AddFactory<const rdb::FilterPolicy>(
        Pattern(NativePolicy::kClassName()),
        OfThisRelease<const rdb::FilterPolicy>(MakeNativePolicy));
    ++added;
  }
  if (!library.FindFactory<const rdb::FilterPolicy>(
          ComposedPolicy::kClassName())) {
    library.AddFactory<const rdb::FilterPolicy>(
        Pattern(ComposedPolicy::kClassName()),
        OfThisRelease<const rdb::FilterPolicy>(MakeComposedPolicy));
    ++added;
  }
  if (!library.FindFactory<const rdb::SliceTransform>(
          RowPrefixExtractor::kClassName())) {
    library.AddFactory<const rdb::SliceTransform>(
        Pattern(RowPrefixExtractor::kClassName()),
        OfThisRelease<const rdb::SliceTransform>(MakeExtractor));
    ++added;
  }
  if (!library.FindFactory<rdb::EventListener>(BudgetListener::kClassName())) {
    library.AddFactory<rdb::EventListener>(
        BudgetListener::kClassName(),
        OfThisRelease<rdb::EventListener>(MakeListener));
    ++added;
  }
  return added;
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
