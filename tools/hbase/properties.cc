// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/properties.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace rowbloom::tools {
namespace {

// In the order of their release.
enum Version { k092, k094, k096, k098, k10, k14, k17, k20, k22, k3, k4 };
constexpr const char* kNames[] = {"0.92", "0.94", "0.96", "0.98", "1.0", "1.4",
                                  "1.7",  "2.0",  "2.2",  "3",    "4"};

// The entries that HBase stores as numbers or flags, by their size.
constexpr const char* kNumberNames[] = {
    "BULKLOAD_TIMESTAMP",   "DELETE_FAMILY_COUNT", "EARLIEST_PUT_TS",
    "KEY_VALUE_VERSION",    "MAX_MEMSTORE_TS_KEY", "MAX_SEQ_ID_KEY",
    "MOB_CELLS_COUNT",      "hfile.AVG_KEY_LEN",   "hfile.AVG_VALUE_LEN",
    "hfile.CREATE_TIME_TS", "hfile.MAX_TAGS_LEN",  "hfile.LEN_OF_BIGGEST_CELL",
    "BLOOM_FILTER_PARAM"};
constexpr const char* kFlagNames[] = {"EXCLUDE_FROM_MINOR_COMPACTION",
                                      "HISTORICAL", "MAJOR_COMPACTION_KEY",
                                      "hfile.TAGS_COMPRESSED"};

int64_t BigEndianOf(std::string_view bytes) {
  uint64_t number = 0;
  for (const char byte : bytes) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  if (bytes.size() == 4) return static_cast<int32_t>(number);
  return static_cast<int64_t>(number);
}

bool ReadProtoVarint(std::string_view* bytes, uint64_t* number) {
  *number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *number |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Two longs in front up to HBase 1; since 2 a message with fields 1 and 2.
Json TimeRangeOf(std::string_view bytes) {
  constexpr std::string_view kProto = "PBUF";
  if (bytes.substr(0, 4) != kProto) {
    if (bytes.size() < 16) return nullptr;
    return {{"from", BigEndianOf(bytes.substr(0, 8))},
            {"to", BigEndianOf(bytes.substr(8, 8))}};
  }
  bytes.remove_prefix(kProto.size());
  Json range{{"from", nullptr}, {"to", nullptr}};
  while (!bytes.empty()) {
    const char tag = bytes.front();
    bytes.remove_prefix(1);
    uint64_t number;
    if ((tag != 0x08 && tag != 0x10) || !ReadProtoVarint(&bytes, &number)) {
      return nullptr;
    }
    range[tag == 0x08 ? "from" : "to"] = static_cast<int64_t>(number);
  }
  return range;
}

Json InfoValue(const std::string& name, const std::string& bytes) {
  const auto is_one_of = [&](const auto& names) {
    return std::find(std::begin(names), std::end(names), name) !=
           std::end(names);
  };
  const size_t size = bytes.size();
  if ((size == 4 || size == 8) && is_one_of(kNumberNames)) {
    return BigEndianOf(bytes);
  }
  if (size == 1 && is_one_of(kFlagNames)) return bytes[0] != 0;
  if (name == "TIMERANGE") {
    if (Json range = TimeRangeOf(bytes); !range.is_null()) return range;
  }
  return EscapeBytes(bytes);
}

}  // namespace

Json FileInfoOf(const HFileProperties& properties) {
  Json info = Json::object();
  for (const auto& [name, bytes] : properties.file_info) {
    info[EscapeBytes(name)] = InfoValue(name, bytes);
  }
  return info;
}

Json ExpectedFprOf(const HFileReader& reader, const HFileBloomInfo& filter) {
  double positives = 0;
  double bytes = 0;
  if (!filter.is_usable) return nullptr;
  // Chunks have keys in proportion to their size.
  for (size_t i = 0; i < filter.chunks.size(); ++i) {
    const auto chunk = reader.ReadChunk(filter, i);
    if (!chunk.ok()) continue;
    const auto size = static_cast<double>(chunk->size());
    positives += size * HFileReader::ExpectedFpr(filter, *chunk);
    bytes += size;
  }
  return Ratio(positives, bytes);
}

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
