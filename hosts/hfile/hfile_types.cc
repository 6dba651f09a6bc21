// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/hfile_types.h"

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

template <typename T>
struct Named {
  T value;
  std::string_view name;
};

constexpr Named<HFileHash> kHashes[] = {{HFileHash::kJenkins, "JENKINS"},
                                        {HFileHash::kMurmur, "MURMUR"},
                                        {HFileHash::kMurmur3, "MURMUR3"}};
constexpr Named<HFileChecksum> kChecksums[] = {
    {HFileChecksum::kNull, "NULL"},
    {HFileChecksum::kCrc32, "CRC32"},
    {HFileChecksum::kCrc32c, "CRC32C"}};
constexpr Named<HFileEncoding> kEncodings[] = {
    {HFileEncoding::kNone, "NONE"},
    {HFileEncoding::kPrefix, "PREFIX"},
    {HFileEncoding::kDiff, "DIFF"},
    {HFileEncoding::kFastDiff, "FAST_DIFF"},
    {HFileEncoding::kPrefixTree, "PREFIX_TREE"},
    {HFileEncoding::kRowIndexV1, "ROW_INDEX_V1"}};
constexpr Named<HFileCompression> kCompressions[] = {
    {HFileCompression::kLzo, "LZO"},      {HFileCompression::kGz, "GZ"},
    {HFileCompression::kNone, "NONE"},    {HFileCompression::kSnappy, "SNAPPY"},
    {HFileCompression::kLz4, "LZ4"},      {HFileCompression::kBzip2, "BZIP2"},
    {HFileCompression::kZstd, "ZSTD"},    {HFileCompression::kLzma, "LZMA"},
    {HFileCompression::kBrotli, "BROTLI"}};

template <typename T, size_t kCount>
std::string_view NameOf(const Named<T> (&all)[kCount], T value) {
  for (const Named<T>& named : all) {
    if (named.value == value) return named.name;
  }
  return "UNKNOWN";
}

// `what` is the name of the values' kind.
template <typename T, size_t kCount>
absl::StatusOr<T> Parse(const char* what, std::string_view name,
                        const Named<T> (&all)[kCount]) {
  std::string known;
  for (const Named<T>& named : all) {
    const absl::string_view candidate = util::AbslView(named.name);
    if (absl::EqualsIgnoreCase(util::AbslView(name), candidate)) {
      return named.value;
    }
    absl::StrAppend(&known, known.empty() ? "" : ", ", candidate);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown ", what, " \"", util::AbslView(name), "\"; known: ", known));
}

}  // namespace

std::string_view HFileHashName(HFileHash hash) { return NameOf(kHashes, hash); }

std::string_view HFileChecksumName(HFileChecksum checksum) {
  return NameOf(kChecksums, checksum);
}

std::string_view HFileCompressionName(HFileCompression compression) {
  return NameOf(kCompressions, compression);
}

std::string_view HFileEncodingName(HFileEncoding encoding) {
  return NameOf(kEncodings, encoding);
}

absl::StatusOr<HFileHash> ParseHFileHash(std::string_view name) {
  return Parse("hash", name, kHashes);
}

absl::StatusOr<HFileCompression> ParseHFileCompression(std::string_view name) {
  return Parse("compression", name, kCompressions);
}

absl::StatusOr<HFileEncoding> ParseHFileEncoding(std::string_view name) {
  return Parse("encoding", name, kEncodings);
}

}  // namespace rowbloom
