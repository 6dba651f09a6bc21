// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/hfile_types.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/absl_view.h"

namespace rowbloom {

namespace {

constexpr HFileHash kHashes[] = {HFileHash::kJenkins, HFileHash::kMurmur,
                                 HFileHash::kMurmur3};
constexpr HFileChecksum kChecksums[] = {
    HFileChecksum::kNull, HFileChecksum::kCrc32, HFileChecksum::kCrc32c};
constexpr HFileEncoding kEncodings[] = {
    HFileEncoding::kNone,       HFileEncoding::kPrefix,
    HFileEncoding::kDiff,       HFileEncoding::kFastDiff,
    HFileEncoding::kPrefixTree, HFileEncoding::kRowIndexV1,
};
constexpr HFileCompression kCompressions[] = {
    HFileCompression::kLzo,    HFileCompression::kGz,
    HFileCompression::kNone,   HFileCompression::kSnappy,
    HFileCompression::kLz4,    HFileCompression::kBzip2,
    HFileCompression::kZstd,   HFileCompression::kLzma,
    HFileCompression::kBrotli,
};

// `name_of` gives the name of each value; `what` is the name of their kind.
template <typename T>
absl::StatusOr<T> Parse(const char* what, std::string_view name,
                        absl::Span<const T> values,
                        std::string_view (*name_of)(T)) {
  std::string known;
  for (const T value : values) {
    const absl::string_view candidate = base::AbslView(name_of(value));
    if (absl::EqualsIgnoreCase(base::AbslView(name), candidate)) return value;
    absl::StrAppend(&known, known.empty() ? "" : ", ", candidate);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, " \"", base::AbslView(name), "\" is none of ", known));
}

}  // namespace

std::string_view HFileHashName(HFileHash hash) {
  switch (hash) {
    case HFileHash::kJenkins:
      return "JENKINS";
    case HFileHash::kMurmur:
      return "MURMUR";
    case HFileHash::kMurmur3:
      return "MURMUR3";
  }
  return "UNKNOWN";
}

std::string_view HFileChecksumName(HFileChecksum checksum) {
  switch (checksum) {
    case HFileChecksum::kNull:
      return "NULL";
    case HFileChecksum::kCrc32:
      return "CRC32";
    case HFileChecksum::kCrc32c:
      return "CRC32C";
  }
  return "UNKNOWN";
}

std::string_view HFileCompressionName(HFileCompression compression) {
  switch (compression) {
    case HFileCompression::kLzo:
      return "LZO";
    case HFileCompression::kGz:
      return "GZ";
    case HFileCompression::kNone:
      return "NONE";
    case HFileCompression::kSnappy:
      return "SNAPPY";
    case HFileCompression::kLz4:
      return "LZ4";
    case HFileCompression::kBzip2:
      return "BZIP2";
    case HFileCompression::kZstd:
      return "ZSTD";
    case HFileCompression::kLzma:
      return "LZMA";
    case HFileCompression::kBrotli:
      return "BROTLI";
  }
  return "UNKNOWN";
}

std::string_view HFileEncodingName(HFileEncoding encoding) {
  switch (encoding) {
    case HFileEncoding::kNone:
      return "NONE";
    case HFileEncoding::kPrefix:
      return "PREFIX";
    case HFileEncoding::kDiff:
      return "DIFF";
    case HFileEncoding::kFastDiff:
      return "FAST_DIFF";
    case HFileEncoding::kPrefixTree:
      return "PREFIX_TREE";
    case HFileEncoding::kRowIndexV1:
      return "ROW_INDEX_V1";
    case HFileEncoding::kUnknown:
      break;
  }
  return "UNKNOWN";
}

absl::StatusOr<HFileHash> ParseHFileHash(std::string_view name) {
  return Parse<HFileHash>("hash", name, kHashes, HFileHashName);
}

absl::StatusOr<HFileChecksum> ParseHFileChecksum(std::string_view name) {
  return Parse<HFileChecksum>("checksum", name, kChecksums, HFileChecksumName);
}

absl::StatusOr<HFileCompression> ParseHFileCompression(std::string_view name) {
  return Parse<HFileCompression>("compression", name, kCompressions,
                                 HFileCompressionName);
}

absl::StatusOr<HFileEncoding> ParseHFileEncoding(std::string_view name) {
  return Parse<HFileEncoding>("encoding", name, kEncodings, HFileEncodingName);
}

}  // namespace rowbloom
