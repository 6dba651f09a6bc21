// SPDX-License-Identifier: Apache-2.0
//
// Stands for the other files here where rowbloom is built without HFiles: they
// are files of no known format.

#include "tools/formats/filter_file.h"

namespace rowbloom::tools {

bool IsOlder(const absl::Status& /*status*/) { return false; }

std::unique_ptr<FilterFile> OpenByPlace(const std::string& /*place*/) {
  return nullptr;
}

FilterFileOrError OpenHFile(
    const std::string& /*path*/,
    const std::shared_ptr<const RandomAccessSource>& /*source*/) {
  return nullptr;
}

}  // namespace rowbloom::tools
