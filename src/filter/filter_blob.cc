// SPDX-License-Identifier: Apache-2.0
//
// Bytes: docs/filter_block_format.md, section "Filter blob".

#include "rowbloom/filter_blob.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/units.h"
#include "rowbloom/version.h"
#include "util/check.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom {

namespace {

// The trailer, the last bytes of a blob. Offsets from its start.
struct Trailer {
  static constexpr size_t kTailSize = 0;  // 2 bytes: descriptor and metadata.
  static constexpr size_t kChecksum = 2;  // 4 bytes: of those and kTailSize.
  static constexpr size_t kVersion = 6;   // 1 byte.
  static constexpr size_t kMagic = 7;     // 1 byte.
  static constexpr size_t kSize = 8;
};
static_assert(Trailer::kMagic + 1 == Trailer::kSize);
// RocksDB's own filters never end with this byte.
constexpr uint8_t kMagic = 0xb7;

// The checksum of the tail, the tail size and the version, as they are stored.
uint32_t TailChecksum(std::string_view tail, std::string_view trailer) {
  return static_cast<uint32_t>(util::Hash64(
      tail, util::LoadFixed<uint16_t>(trailer.data() + Trailer::kTailSize) |
                static_cast<uint64_t>(
                    static_cast<uint8_t>(trailer[Trailer::kVersion]))
                    << 16));
}

}  // namespace

std::string EncodeFilterBlob(const EncodedFilter& filter,
                             std::string_view metadata) {
  RB_CHECK(metadata.size() <= kMaxBlobMetadataSize,
           "EncodeFilterBlob(): metadata of more than kMaxBlobMetadataSize");
  std::string tail;
  filter.descriptor.AppendTo(&tail);
  tail.push_back(static_cast<char>(metadata.size()));
  tail.append(metadata);

  std::string trailer;
  util::AppendFixed<uint16_t>(static_cast<uint16_t>(tail.size()), &trailer);
  util::AppendFixed<uint32_t>(0, &trailer);
  trailer.push_back(static_cast<char>(kFilterBlobFormatVersion));
  trailer.push_back(static_cast<char>(kMagic));
  std::string checksum;
  util::AppendFixed<uint32_t>(TailChecksum(tail, trailer), &checksum);
  trailer.replace(Trailer::kChecksum, checksum.size(), checksum);

  std::string blob;
  blob.reserve(filter.units.size() + tail.size() + trailer.size());
  return blob.append(filter.units).append(tail).append(trailer);
}

absl::StatusOr<FilterBlob> ParseFilterBlob(std::string_view blob,
                                           Kernel kernel) {
  if (blob.size() < Trailer::kSize) {
    return absl::DataLossError(absl::StrCat(
        "filter blob of ", blob.size(), " bytes is shorter than its trailer"));
  }
  const size_t trailer_offset = blob.size() - Trailer::kSize;
  const std::string_view trailer = blob.substr(trailer_offset);
  const uint8_t magic = static_cast<uint8_t>(trailer[Trailer::kMagic]);
  if (magic != kMagic) {
    return absl::DataLossError(absl::StrCat(
        "filter blob ends with magic byte ", absl::Hex(magic), " at ",
        trailer_offset + Trailer::kMagic, " instead of ", absl::Hex(kMagic)));
  }
  const size_t tail_size =
      util::LoadFixed<uint16_t>(trailer.data() + Trailer::kTailSize);
  if (tail_size > trailer_offset) {
    return absl::DataLossError(absl::StrCat("filter blob's tail of ", tail_size,
                                            " bytes does not fit into it"));
  }
  std::string_view tail = blob.substr(trailer_offset - tail_size, tail_size);
  const uint8_t version = static_cast<uint8_t>(trailer[Trailer::kVersion]);
  if (TailChecksum(tail, trailer) !=
      util::LoadFixed<uint32_t>(trailer.data() + Trailer::kChecksum)) {
    return absl::DataLossError(
        absl::StrCat("checksum of the filter blob's tail at ",
                     trailer_offset - tail_size, " does not match"));
  }
  if (version != kFilterBlobFormatVersion) {
    return absl::UnimplementedError(
        absl::StrCat("filter blob version ", static_cast<int>(version),
                     " is not ", static_cast<int>(kFilterBlobFormatVersion)));
  }
  absl::StatusOr<FilterDescriptor> descriptor = FilterDescriptor::Parse(&tail);
  if (!descriptor.ok()) return descriptor.status();

  FilterBlob parsed;
  parsed.descriptor = *descriptor;
  uint8_t metadata_size = 0;
  if (!util::ReadFixed(&tail, &metadata_size) || metadata_size != tail.size()) {
    return absl::DataLossError("filter blob's metadata has the wrong size");
  }
  parsed.metadata = tail;
  parsed.units = blob.substr(0, trailer_offset - tail_size);
  if (parsed.units.size() != descriptor->total_size_bytes()) {
    return absl::DataLossError(
        absl::StrCat("filter blob holds ", parsed.units.size(),
                     " bytes of units, its descriptor says ",
                     descriptor->total_size_bytes()));
  }
  filter::UnitArray units;
  absl::StatusOr<FilterView> view = FilterView::Parse(
      *descriptor, filter::SplitUnits(*descriptor, parsed.units, &units),
      kernel);
  if (!view.ok()) return view.status();
  parsed.view = *view;
  return parsed;
}

absl::Status VerifyFilterBlob(std::string_view blob) {
  absl::StatusOr<FilterBlob> parsed = ParseFilterBlob(blob);
  if (!parsed.ok()) return parsed.status();
  return VerifyUnits(*parsed);
}

absl::Status VerifyUnits(const FilterBlob& blob) {
  filter::UnitArray units;
  return VerifyUnits(blob.descriptor,
                     filter::SplitUnits(blob.descriptor, blob.units, &units));
}

}  // namespace rowbloom
