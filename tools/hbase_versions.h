// SPDX-License-Identifier: Apache-2.0
//
// The versions of HBase that open an HFile and use its filters.
//
//   HBaseVersionsFor(reader);   // "0.98-4"

#ifndef ROWBLOOM_TOOLS_HBASE_VERSIONS_H_
#define ROWBLOOM_TOOLS_HBASE_VERSIONS_H_

#include <string>

#include "rowbloom/hfile.h"

namespace rowbloom::tools {

// The first and the last one, by version, codec, encoding, bloom type and
// comparators of the file: HBase of later releases of a version may have been
// given what is new in the next. "none" if no version has all of them.
std::string HBaseVersionsFor(const HFileReader& reader);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_VERSIONS_H_
