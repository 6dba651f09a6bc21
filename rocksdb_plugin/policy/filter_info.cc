// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_info.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "policy/filter_entry.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

namespace {

uint8_t ByteAt(std::string_view bytes, size_t offset) {
  return static_cast<uint8_t>(bytes[offset]);
}

absl::StatusOr<KeyCodec> ParseShortForm(std::string_view metadata) {
  uint32_t parameter = 0;
  for (size_t i = 0; i < sizeof(parameter); ++i) {
    parameter |= uint32_t{ByteAt(metadata, kMetadataCodecParameterOffset + i)}
                 << (8 * i);
  }
  return KeyCodec::FromShortForm(ByteAt(metadata, kMetadataCodecKindOffset),
                                 parameter);
}

absl::Status ParseMetadata(std::string_view metadata, RocksDbFilterInfo* info) {
  if (metadata.empty()) {
    return absl::DataLossError("filter blob without RocksDB metadata");
  }
  const uint8_t version = ByteAt(metadata, kMetadataVersionOffset);
  if (version > kMetadataTextVersion) {
    return absl::UnimplementedError(absl::StrCat("RocksDB metadata version ",
                                                 version, ", newer than ",
                                                 kMetadataTextVersion));
  }
  const bool is_whole = version == kMetadataVersion
                            ? metadata.size() == kMetadataSize &&
                                  metadata[kMetadataReservedOffset] == 0
                            : version == kMetadataTextVersion &&
                                  metadata.size() > kMetadataTextOffset;
  if (!is_whole) {
    return absl::DataLossError(absl::StrCat("malformed RocksDB metadata of ",
                                            metadata.size(), " bytes, version ",
                                            version));
  }
  const auto bloom_type =
      static_cast<BloomType>(metadata[kMetadataBloomTypeOffset]);
  absl::StatusOr<KeyCodec> codec =
      version == kMetadataVersion
          ? ParseShortForm(metadata)
          : KeyCodec::Parse(metadata.substr(kMetadataTextOffset));
  if (!codec.ok()) {
    // A newer library may write other key codecs, as in our filter blocks.
    return version == kMetadataVersion
               ? absl::DataLossError(codec.status().message())
               : absl::UnimplementedError(codec.status().message());
  }
  if (absl::Status s = CheckBloomType(bloom_type); !s.ok()) {
    return absl::DataLossError(s.message());
  }
  info->bloom_type = bloom_type;
  info->key_codec = *std::move(codec);
  return absl::OkStatus();
}

}  // namespace

std::string EncodeMetadata(BloomType bloom_type, const KeyCodec& codec) {
  if (!codec.HasShortForm()) {
    return absl::StrCat(std::string{static_cast<char>(kMetadataTextVersion),
                                    static_cast<char>(bloom_type)},
                        codec.ToString());
  }
  std::string metadata(kMetadataSize, '\0');
  metadata[kMetadataVersionOffset] = static_cast<char>(kMetadataVersion);
  metadata[kMetadataBloomTypeOffset] = static_cast<char>(bloom_type);
  const KeyCodec::Segment& first = codec.segment(0);
  metadata[kMetadataCodecKindOffset] = static_cast<char>(first.kind);
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    metadata[kMetadataCodecParameterOffset + i] =
        static_cast<char>(first.parameter >> (8 * i) & 0xff);
  }
  return metadata;
}

}  // namespace rowbloom::plugin

namespace rowbloom {

absl::StatusOr<RocksDbFilterInfo> ParseRocksDbFilter(std::string_view bytes) {
  absl::StatusOr<FilterBlob> blob = ParseFilterBlob(bytes);
  if (!blob.ok()) return blob.status();
  RocksDbFilterInfo info;
  info.blob = *blob;
  if (absl::Status s = plugin::ParseMetadata(info.blob.metadata, &info);
      !s.ok()) {
    return s;
  }
  return info;
}

bool RocksDbFilterMayContain(const RocksDbFilterInfo& filter,
                             std::string_view entry) {
  const std::optional<std::string_view> asked = plugin::AskedKey(
      plugin::KeyLevelCount(filter.bloom_type, filter.key_codec),
      filter.key_codec, plugin::HasColumnPrefix(filter.key_codec), entry);
  return !asked.has_value() || filter.blob.view.MayContain(DigestBytes(*asked));
}

}  // namespace rowbloom
