// SPDX-License-Identifier: Apache-2.0
//
// Tells an operator the meaning of an HFile's properties.
//
//   HBaseVersionsFor(reader);   // "0.98-4"

#ifndef ROWBLOOM_TOOLS_HBASE_PROPERTIES_H_
#define ROWBLOOM_TOOLS_HBASE_PROPERTIES_H_

#include <string>

#include "rowbloom/hfile.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

// The first and the last one, by version, codec, encoding, bloom type and
// comparators of the file. "none" if no version has all of them. HBase 0.98.24,
// 1.0.0, 1.2.0, 1.4.0, 1.7.2 and 2.6.4 were tried; the versions between them,
// and 3 and 4, are by their release notes.
std::string HBaseVersionsFor(const HFileReader& reader);
// Says what damage goes unnoticed if the file has no checksums; else nullptr.
const char* ChecksumNote(const HFileProperties& properties);

// The rate that the filter's own bits give, for lookups of absent keys; null if
// it has no chunk that can be read. Reads the chunks.
Json ExpectedFprOf(const HFileReader& reader, const HFileBloomInfo& filter);

// The entries of file info by name: numbers, flags and time ranges as such, any
// other value as escaped bytes.
Json FileInfoOf(const HFileProperties& properties);

// The encoding of the data index that the file info names; NONE if none.
std::string IndexEncoding(const HFileProperties& properties);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HBASE_PROPERTIES_H_
