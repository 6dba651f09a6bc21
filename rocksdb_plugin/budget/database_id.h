// SPDX-License-Identifier: Apache-2.0
//
// Tells open databases apart, for a policy that is about to build a filter and
// for the listener of the same database.
//
//   const DatabaseId database = DatabaseOf(context);
//
// RocksDB gives both the logger, which is a database's own unless applications
// share one. RocksDB 11.12 also gives the policy the name of the database, as
// db_name.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_DATABASE_ID_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_DATABASE_ID_H_

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rdb.h"

namespace ROCKSDB_NAMESPACE {
class Logger;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

struct DatabaseId {
  const rdb::Logger* logger = nullptr;
  std::string name;  // Empty if the release gives policies no name.

  friend bool operator==(const DatabaseId& a, const DatabaseId& b) {
    return a.logger == b.logger && a.name == b.name;
  }
  friend bool operator<(const DatabaseId& a, const DatabaseId& b) {
    return std::tie(a.logger, a.name) < std::tie(b.logger, b.name);
  }
};

template <typename Context, typename = void>
struct HasDatabaseName : std::false_type {};
template <typename Context>
struct HasDatabaseName<
    Context, std::void_t<decltype(std::declval<const Context&>().db_name)>>
    : std::true_type {};

// Returns the database whose SST RocksDB is about to write. Context is
// FilterBuildingContext of the release.
template <typename Context>
DatabaseId DatabaseOf(const Context& context) {
  DatabaseId database = {context.info_log, ""};
  if constexpr (HasDatabaseName<Context>::value) {
    database.name.assign(context.db_name.data(), context.db_name.size());
  }
  return database;
}

// Returns the same for an open database; `name` is its DB::GetName().
template <typename Context>
DatabaseId OpenDatabase(const rdb::Logger* logger, const std::string& name) {
  return {logger, HasDatabaseName<Context>::value ? name : ""};
}

// Gives the context the name of the database, as RocksDB does, if the release
// has one. `name` must outlive it.
template <typename Context>
void SetDatabaseName(const std::string& name, Context* context) {
  if constexpr (HasDatabaseName<Context>::value) context->db_name = name;
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_DATABASE_ID_H_
