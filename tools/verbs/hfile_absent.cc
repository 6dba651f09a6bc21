// SPDX-License-Identifier: Apache-2.0
//
// Stands for rebuild.cc and advise_hfiles.cc where rowbloom is built without
// HFiles.

#include <iostream>

#include "tools/verbs/advise.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {

// There is no such verb.
void AddRebuild(CLI::App* /*app*/, int* /*exit_code*/) {}

int AdviseHFiles(const AdviseArguments& arguments) {
  std::cerr << "rowbloom: " << EscapeControls(arguments.paths.front())
            << ": not a RocksDB database, and this rowbloom was built without "
               "HFiles\n";
  return kExitUsage;
}

}  // namespace rowbloom::tools
