// SPDX-License-Identifier: Apache-2.0
//
// The registry of a program that never called RegisterRocksDb().
//
//   ConfigOptions config;
//   config.registry = StockRegistry();

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_STOCK_REGISTRY_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_STOCK_REGISTRY_H_

#include <memory>
#include <string>

#include "rdb.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/object_registry.h"

namespace rowbloom::testing {

// Other tests of the process register ours in the default library, so this one
// has a library of its own, with the one factory that RocksDB looks up there.
inline std::shared_ptr<rdb::ObjectRegistry> StockRegistry() {
  using rdb::TableFactory;
  auto library = std::make_shared<rdb::ObjectLibrary>("stock");
  library->AddFactory<TableFactory>(
      TableFactory::kBlockBasedTableName(),
      [](const std::string&, std::unique_ptr<TableFactory>* guard,
         std::string*) {
        guard->reset(rdb::NewBlockBasedTableFactory());
        return guard->get();
      });
  return std::make_shared<rdb::ObjectRegistry>(library);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_STOCK_REGISTRY_H_
