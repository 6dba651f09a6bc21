// SPDX-License-Identifier: Apache-2.0
//
// The end of an HFile, from which everything else is found. Versions 2.0 to
// 3.3; 1 is refused. 212 bytes in version 2, 4096 in version 3: a magic number,
// fields, zeros, and the version in the last four bytes.

#ifndef ROWBLOOM_HFILE_TRAILER_H_
#define ROWBLOOM_HFILE_TRAILER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/io.h"

namespace rowbloom::hfile {

inline constexpr std::string_view kTrailerMagic = "TRABLK\"$";

struct Trailer {
  int major_version = 3;
  int minor_version = 3;
  uint64_t offset = 0;  // The trailer's start.
  uint64_t file_info_offset = 0;
  uint64_t load_on_open_offset = 0;
  uint64_t uncompressed_data_index_size = 0;
  uint64_t total_uncompressed_bytes = 0;
  uint64_t data_index_count = 0;  // Entries of the root index.
  uint64_t meta_index_count = 0;
  uint64_t entry_count = 0;  // Cells.
  uint64_t data_index_levels = 1;
  int64_t first_data_block_offset = -1;  // -1 if there is none.
  int64_t last_data_block_offset = -1;
  std::string comparator;    // A Java class.
  uint64_t compression = 2;  // HFileCompression, if it is known.
  std::optional<std::string> encryption_key;  // As stored.

  bool is_encrypted() const { return encryption_key.has_value(); }
  // Version 2.0 had no checksums.
  bool blocks_have_checksums() const {
    return major_version > 2 || minor_version > 0;
  }
  // True if the fields are a protocol buffer.
  bool is_proto() const { return major_version > 2 || minor_version >= 2; }
  uint64_t size() const { return major_version == 2 ? 212 : 4096; }
};

// Unimplemented for versions it does not know, InvalidArgument if the file is
// not an HFile. All offsets that it returns lie within the file.
absl::StatusOr<Trailer> ReadTrailer(const RandomAccessSource& source);

// Serializes version 2.2 and later, from kTrailerMagic to the version.
std::string SerializeTrailer(const Trailer& trailer);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_TRAILER_H_
