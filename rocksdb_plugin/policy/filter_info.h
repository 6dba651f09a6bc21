// SPDX-License-Identifier: Apache-2.0
//
// The metadata of our filter blobs in RocksDB: a filter is asked as it was
// built, whatever is configured by then. Version 1 is for whole keys and the
// three codecs of row and column, version 2 for all other key codecs:
//
// | version | offset | bytes | field                                        |
// |---------|--------|-------|----------------------------------------------|
// | 1, 2    | 0      | 1     | version                                      |
// | 1, 2    | 1      | 1     | bloom type: 2 ROW, of key level 1, or        |
// |         |        |       | 3 ROWCOL, of all                             |
// | 1       | 2      | 1     | kind of the row: 1 ordered, 2 fixed,         |
// |         |        |       | 3 delimiter; 5: the key is one filter key    |
// | 1       | 3      | 1     | reserved, 0                                  |
// | 1       | 4      | 4     | parameter of that kind, little-endian        |
// | 2       | 2      | rest  | KeyCodec::ToString()                         |
//
// The parser is ParseRocksDbFilter() in rowbloom/rocksdb.h.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_INFO_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_INFO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

inline constexpr uint8_t kMetadataVersion = 1;
inline constexpr uint8_t kMetadataTextVersion = 2;
inline constexpr size_t kMetadataVersionOffset = 0;
inline constexpr size_t kMetadataBloomTypeOffset = 1;
inline constexpr size_t kMetadataTextOffset = 2;
inline constexpr size_t kMetadataCodecKindOffset = 2;
inline constexpr size_t kMetadataReservedOffset = 3;
inline constexpr size_t kMetadataCodecParameterOffset = 4;
inline constexpr size_t kMetadataSize = 8;
static_assert(kMetadataCodecParameterOffset + sizeof(uint32_t) ==
              kMetadataSize);

std::string EncodeMetadata(BloomType bloom_type, const KeyCodec& codec);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_INFO_H_
