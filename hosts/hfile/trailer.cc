// SPDX-License-Identifier: Apache-2.0

#include "hfile/trailer.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hfile/errors.h"
#include "hfile/proto.h"
#include "hfile/vlong.h"
#include "util/coding.h"
#include "util/source_read.h"

namespace rowbloom::hfile {

namespace {

constexpr size_t kVersionSize = 4;
constexpr size_t kComparatorSize = 128;  // In versions 2.0 and 2.1.

bool AllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

// Parses versions before 2.2. `fields` are between magic and version.
bool ParseFixedFields(std::string_view fields, Trailer* trailer) {
  uint32_t data_index_count;
  uint32_t meta_index_count;
  uint32_t compression;
  uint32_t levels;
  std::string_view comparator;
  if (!util::ReadBigEndian(&fields, &trailer->file_info_offset) ||
      !util::ReadBigEndian(&fields, &trailer->load_on_open_offset) ||
      !util::ReadBigEndian(&fields, &data_index_count) ||
      !util::ReadBigEndian(&fields, &trailer->uncompressed_data_index_size) ||
      !util::ReadBigEndian(&fields, &meta_index_count) ||
      !util::ReadBigEndian(&fields, &trailer->total_uncompressed_bytes) ||
      !util::ReadBigEndian(&fields, &trailer->entry_count) ||
      !util::ReadBigEndian(&fields, &compression) ||
      !util::ReadBigEndian(&fields, &levels) ||
      !util::ReadBigEndian(&fields, &trailer->first_data_block_offset) ||
      !util::ReadBigEndian(&fields, &trailer->last_data_block_offset) ||
      !ReadBytes(&fields, kComparatorSize, &comparator)) {
    return false;
  }
  trailer->data_index_count = data_index_count;
  trailer->meta_index_count = meta_index_count;
  trailer->compression = compression;
  trailer->data_index_levels = levels;
  const size_t end = std::min(comparator.find('\0'), comparator.size());
  trailer->comparator = comparator.substr(0, end);
  return AllZero(comparator.substr(end)) && AllZero(fields);
}

bool ParseProtoFields(std::string_view fields, Trailer* trailer) {
  std::string_view message;
  return util::ReadSized(&fields, &message) &&
         ParseTrailerProto(message, trailer) && AllZero(fields);
}

// Checks that every offset is possible.
absl::Status CheckPlaces(const RandomAccessSource& source,
                         const Trailer& trailer) {
  const uint64_t end = trailer.offset;
  if (trailer.load_on_open_offset > end || trailer.file_info_offset > end ||
      trailer.file_info_offset < trailer.load_on_open_offset) {
    return DataLossAt(source, end, "the trailer has file info at ",
                      trailer.file_info_offset, " and what to load at ",
                      trailer.load_on_open_offset);
  }
  const int64_t first = trailer.first_data_block_offset;
  const int64_t last = trailer.last_data_block_offset;
  const bool is_empty = first == -1 && last == -1;
  if (!is_empty &&
      (first < 0 || last < first ||
       static_cast<uint64_t>(last) >= trailer.load_on_open_offset)) {
    return DataLossAt(source, end, "the trailer has data blocks from ", first,
                      " to ", last);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Trailer> ReadTrailer(const RandomAccessSource& source) {
  const uint64_t file_size = SizeOf(source);
  char scratch[4096];
  const size_t tail_size =
      static_cast<size_t>(std::min<uint64_t>(sizeof(scratch), file_size));
  std::string_view tail;
  absl::Status status = util::ReadExactly(source, file_size - tail_size,
                                          tail_size, scratch, &tail);
  if (!status.ok()) return status;
  const auto no_hfile = [&](std::string_view why) {
    return Annotate(source, file_size - tail_size,
                    InvalidArgument("not an HFile: ", util::AbslView(why)));
  };
  if (tail.size() < kVersionSize) return no_hfile("shorter than a version");

  Trailer trailer;
  const auto version =
      util::LoadBigEndian<uint32_t>(tail.data() + tail.size() - kVersionSize);
  trailer.major_version = static_cast<int>(version & 0xffffff);
  trailer.minor_version = static_cast<int>(version >> 24);
  if (trailer.major_version == 1 && trailer.minor_version == 0 &&
      tail.find(kTrailerMagic) != std::string_view::npos) {
    return Annotate(source, file_size - kVersionSize,
                    Older("HFile version 1, of HBase 0.90 and before; it has "
                          "no filter that HBase still reads"));
  }
  if (trailer.major_version < 2 || trailer.major_version > 3) {
    return no_hfile(absl::StrCat("version ", trailer.major_version));
  }
  if (tail.size() < trailer.size()) {
    return no_hfile("shorter than its trailer");
  }
  tail.remove_prefix(tail.size() - trailer.size());
  trailer.offset = file_size - trailer.size();
  if (tail.substr(0, kTrailerMagic.size()) != kTrailerMagic) {
    return no_hfile("no trailer");
  }
  if (trailer.minor_version > 3) {
    return UnimplementedAt(source, file_size - kVersionSize, "HFile version ",
                           trailer.major_version, ".", trailer.minor_version,
                           "; 2.0 to 3.3 are known");
  }
  tail.remove_prefix(kTrailerMagic.size());
  tail.remove_suffix(kVersionSize);
  if (!(trailer.is_proto() ? ParseProtoFields(tail, &trailer)
                           : ParseFixedFields(tail, &trailer))) {
    return DataLossAt(source, trailer.offset, "the trailer cannot be parsed");
  }
  status = CheckPlaces(source, trailer);
  if (!status.ok()) return status;
  return trailer;
}

std::string SerializeTrailer(const Trailer& trailer) {
  std::string bytes(kTrailerMagic);
  util::AppendSized(TrailerProto(trailer), &bytes);
  bytes.resize(trailer.size() - kVersionSize, '\0');
  util::AppendBigEndian(static_cast<uint32_t>(trailer.minor_version) << 24 |
                            static_cast<uint32_t>(trailer.major_version),
                        &bytes);
  return bytes;
}

}  // namespace rowbloom::hfile
