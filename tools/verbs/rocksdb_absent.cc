// SPDX-License-Identifier: Apache-2.0
//
// Stands for advise_database.cc where rowbloom is built without RocksDB.

#include <iostream>

#include "tools/verbs/advise.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {

int AdviseDatabase(AdviseArguments* arguments) {
  std::cerr << "rowbloom: " << EscapeControls(arguments->paths.front())
            << ": a database of RocksDB, and this rowbloom was built without "
               "it\n";
  return kExitUsage;
}

}  // namespace rowbloom::tools
