// SPDX-License-Identifier: Apache-2.0
//
// The enumerations of HBase's HFiles, with the numbers and names that HBase
// persists. rowbloom knows no number that is not listed here.

#ifndef ROWBLOOM_HFILE_TYPES_H_
#define ROWBLOOM_HFILE_TYPES_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

// HBase's option hbase.hash.type.
enum class HFileHash : int32_t { kJenkins = 0, kMurmur = 1, kMurmur3 = 2 };

enum class HFileChecksum : uint8_t { kNull = 0, kCrc32 = 1, kCrc32c = 2 };

// HBase also has LZO, BZIP2, LZMA and BROTLI; rowbloom cannot read them.
enum class HFileCompression : uint8_t {
  kLzo = 0,
  kGz = 1,
  kNone = 2,
  kSnappy = 3,
  kLz4 = 4,
  kBzip2 = 5,
  kZstd = 6,
  kLzma = 7,
  kBrotli = 8,
};

// The encoding of data blocks. HBase 2.0 dropped PREFIX_TREE (6).
enum class HFileEncoding : uint16_t {
  kNone = 0,
  kPrefix = 2,
  kDiff = 3,
  kFastDiff = 4,
  kPrefixTree = 6,
  kRowIndexV1 = 7,
  kUnknown = 0xffff,
};

// Upper-case, as HBase writes them; "UNKNOWN" for any other value.
std::string_view HFileHashName(HFileHash hash);
std::string_view HFileChecksumName(HFileChecksum checksum);
std::string_view HFileCompressionName(HFileCompression compression);
std::string_view HFileEncodingName(HFileEncoding encoding);

// They accept these names in any case; an InvalidArgument lists them.
absl::StatusOr<HFileHash> ParseHFileHash(std::string_view name);
absl::StatusOr<HFileCompression> ParseHFileCompression(std::string_view name);
absl::StatusOr<HFileEncoding> ParseHFileEncoding(std::string_view name);

}  // namespace rowbloom

#endif  // ROWBLOOM_HFILE_TYPES_H_
