// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_info.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "policy/filter_entry.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

namespace {

uint8_t ByteAt(std::string_view bytes, size_t offset) {
  return static_cast<uint8_t>(bytes[offset]);
}

absl::Status ParseMetadata(std::string_view metadata, RocksDbFilterInfo* info) {
  if (metadata.empty()) {
    return absl::DataLossError("filter blob without RocksDB metadata");
  }
  const uint8_t version = ByteAt(metadata, kMetadataVersionOffset);
  if (version > kMetadataVersion) {
    return absl::UnimplementedError(absl::StrCat("RocksDB metadata version ",
                                                 version, ", newer than ",
                                                 kMetadataVersion));
  }
  if (version == 0 || metadata.size() != kMetadataSize ||
      metadata[kMetadataReservedOffset] != 0) {
    return absl::DataLossError(absl::StrCat("malformed RocksDB metadata of ",
                                            metadata.size(), " bytes, version ",
                                            version));
  }
  const auto bloom_type =
      static_cast<BloomType>(metadata[kMetadataBloomTypeOffset]);
  uint32_t parameter = 0;
  for (size_t i = 0; i < sizeof(parameter); ++i) {
    parameter |= uint32_t{ByteAt(metadata, kMetadataCodecParameterOffset + i)}
                 << (8 * i);
  }
  absl::StatusOr<KeyCodec> codec = KeyCodec::FromParts(
      ByteAt(metadata, kMetadataCodecKindOffset), parameter);
  if (!codec.ok()) return absl::DataLossError(codec.status().message());
  if (absl::Status s = CheckBloomType(bloom_type); !s.ok()) {
    return absl::DataLossError(s.message());
  }
  info->bloom_type = bloom_type;
  info->key_codec = *codec;
  return absl::OkStatus();
}

}  // namespace

std::string EncodeMetadata(BloomType bloom_type, const KeyCodec& codec) {
  std::string metadata(kMetadataSize, '\0');
  metadata[kMetadataVersionOffset] = static_cast<char>(kMetadataVersion);
  metadata[kMetadataBloomTypeOffset] = static_cast<char>(bloom_type);
  metadata[kMetadataCodecKindOffset] = static_cast<char>(codec.kind());
  for (size_t i = 0; i < sizeof(uint32_t); ++i) {
    metadata[kMetadataCodecParameterOffset + i] =
        static_cast<char>(codec.parameter() >> (8 * i) & 0xff);
  }
  return metadata;
}

absl::StatusOr<RocksDbFilterInfo> ParseRocksDbFilter(std::string_view bytes) {
  absl::StatusOr<FilterBlob> blob = ParseFilterBlob(bytes);
  if (!blob.ok()) return blob.status();
  RocksDbFilterInfo info;
  info.blob = *blob;
  if (absl::Status s = ParseMetadata(info.blob.metadata, &info); !s.ok()) {
    return s;
  }
  return info;
}

bool RocksDbFilterMayContain(const RocksDbFilterInfo& filter,
                             std::string_view entry) {
  if (IsBoundOfOtherCodec(filter.key_codec, entry)) return true;
  const EntryParts parts =
      SplitEntry(filter.bloom_type, filter.key_codec, entry);
  return filter.blob.view.MayContain(DigestBytes(parts.asked));
}

}  // namespace rowbloom
