// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/properties.h"

#include <algorithm>

namespace rowbloom::tools {
namespace {

// In the order of their release.
enum Version { k092, k094, k096, k098, k10, k14, k17, k20, k22, k3, k4 };
constexpr const char* kNames[] = {"0.92", "0.94", "0.96", "0.98", "1.0", "1.4",
                                  "1.7",  "2.0",  "2.2",  "3",    "4"};

}  // namespace

std::string HBaseVersionsFor(const HFileReader& reader) {
  const HFileProperties& properties = reader.properties();
  const HFileBloomInfo& general = reader.general_filter();
  int first = k092;
  int last = k4;
  const auto since = [&](int version) { first = std::max(first, version); };
  const auto until = [&](int version) { last = std::min(last, version); };

  if (properties.major_version == 3) {
    since(k098);
  } else if (properties.minor_version < 3) {  // HBase 2 reads 2.3 and 3.
    until(k17);
    since(properties.minor_version + k092);
  } else {
    since(k098);
  }
  if (properties.compression == HFileCompression::kLz4) since(k094);
  if (properties.compression == HFileCompression::kZstd) since(k14);
  if (properties.encoding == HFileEncoding::kRowIndexV1) since(k14);
  if (properties.encoding == HFileEncoding::kPrefixTree) until(k17);
  if (general.bloom_type == BloomType::kRowPrefixFixedLength) since(k22);
  // HBase opens a file without the filter whose comparator it does not know.
  const auto comparator = [&](const std::string& name) {
    if (name.find(".CellComparatorImpl") != std::string::npos) since(k14);
    if (name.find(".InnerStoreCellComparator") != std::string::npos ||
        name.find(".MetaCellComparator") != std::string::npos) {
      since(k3);
    }
    if (name.find("KeyValue$KeyComparator") != std::string::npos ||
        name.find("KeyValue$MetaKeyComparator") != std::string::npos) {
      until(k3);
    }
  };
  comparator(properties.comparator);
  comparator(general.comparator);
  // Byte comparators without a name.
  for (const HFileBloomInfo* filter :
       {&general, &reader.delete_family_filter()}) {
    if (!filter->chunks.empty() && filter->comparator.empty()) since(k14);
  }
  if (first > last) return "none";
  return std::string(kNames[first]) + "-" + kNames[last];
}

const char* ChecksumNote(const HFileProperties& properties) {
  if (properties.bytes_per_checksum > 0 &&
      properties.checksum != HFileChecksum::kNull) {
    return nullptr;
  }
  return "has no checksums: damage to values, and to filters without --cells, "
         "goes unnoticed";
}

std::string IndexEncoding(const HFileProperties& properties) {
  const auto found = properties.file_info.find("INDEX_BLOCK_ENCODING");
  return found == properties.file_info.end() ? "NONE" : found->second;
}

}  // namespace rowbloom::tools
