// SPDX-License-Identifier: Apache-2.0
//
// The named properties of an HFile: their block, and the names that rowbloom
// reads or writes.

#ifndef ROWBLOOM_HFILE_FILE_INFO_H_
#define ROWBLOOM_HFILE_FILE_INFO_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hfile/proto.h"
#include "util/coding.h"

namespace rowbloom::hfile {

// The names of all entries about filters begin with it.
inline constexpr char kBloomPrefix[] = "BLOOM_FILTER";
inline constexpr char kBloomTypeName[] = "BLOOM_FILTER_TYPE";
inline constexpr char kBloomParamName[] = "BLOOM_FILTER_PARAM";
inline constexpr char kLastBloomKeyName[] = "LAST_BLOOM_KEY";
inline constexpr char kDeleteFamilyCountName[] = "DELETE_FAMILY_COUNT";
inline constexpr char kDataBlockEncodingName[] = "DATA_BLOCK_ENCODING";
inline constexpr char kIndexBlockEncodingName[] = "INDEX_BLOCK_ENCODING";
inline constexpr char kKeyValueVersionName[] = "KEY_VALUE_VERSION";
inline constexpr char kMaxMemstoreTsName[] = "MAX_MEMSTORE_TS_KEY";
inline constexpr char kMaxTagsLenName[] = "hfile.MAX_TAGS_LEN";
inline constexpr char kTagsCompressedName[] = "hfile.TAGS_COMPRESSED";
inline constexpr char kLastKeyName[] = "hfile.LASTKEY";
inline constexpr char kAvgKeyLenName[] = "hfile.AVG_KEY_LEN";
inline constexpr char kAvgValueLenName[] = "hfile.AVG_VALUE_LEN";
inline constexpr char kCreateTimeName[] = "hfile.CREATE_TIME_TS";

// Parses both forms: a protocol buffer, and the form of HBase 0.92 and 0.94.
absl::StatusOr<FileInfo> ParseFileInfo(std::string_view payload);
std::string SerializeFileInfo(const FileInfo& info);

// nullptr if there is none.
const std::string* FindInfo(const FileInfo& info, std::string_view name);

// True for entries about filters that only a newer HBase knows: they may change
// what the filters hold.
bool IsUnknownBloomEntry(std::string_view name);
// Unimplemented if there is such an entry.
absl::Status CheckBloomEntries(const FileInfo& info);

// nullopt if there is no such value, or it has another size.
template <typename T>
std::optional<T> FindNumber(const FileInfo& info, std::string_view name) {
  const std::string* bytes = FindInfo(info, name);
  if (bytes == nullptr || bytes->size() != sizeof(T)) return std::nullopt;
  return util::LoadBigEndian<T>(bytes->data());
}

template <typename T>
std::string NumberBytes(T value) {
  std::string bytes;
  util::AppendBigEndian(value, &bytes);
  return bytes;
}

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_FILE_INFO_H_
