// SPDX-License-Identifier: Apache-2.0
//
// A filter as one self-contained byte string, for hosts that keep filters in
// a container of their own: RocksDB's filter blocks, LevelDB's.
//
//   std::string blob = EncodeFilterBlob(builder->Finish(), metadata);
//   ...
//   absl::StatusOr<FilterBlob> parsed = ParseFilterBlob(blob);
//   const bool intact = parsed.ok() && VerifyUnits(*parsed).ok();
//   FilterView view = intact ? parsed->view : FilterView();  // "maybe"
//
// `metadata` belongs to the host: at most kMaxBlobMetadataSize bytes that tell
// a lookup how the writer made its keys (for RocksDB, the bloom type and the
// key codec). Bytes: docs/filter_block_format.md, section "Filter blob".
//
// ParseFilterBlob is O(1) and allocates nothing on success: it checks the
// blob's tail (checksummed) and structure, not the unit bytes. Damaged units
// may answer "no" for a key that was added, so a host calls VerifyUnits once
// for each blob, unless its container has compared a checksum of the same
// bytes, as RocksDB does for its blocks. The blob must outlive the FilterBlob.

#ifndef ROWBLOOM_FILTER_BLOB_H_
#define ROWBLOOM_FILTER_BLOB_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/filter.h"

namespace ROWBLOOM_EXPORT rowbloom {

inline constexpr size_t kMaxBlobMetadataSize = 255;

// Never empty, not even for a filter without keys. `metadata` longer than
// kMaxBlobMetadataSize is the caller's mistake (checked).
std::string EncodeFilterBlob(const EncodedFilter& filter,
                             std::string_view metadata);

struct FilterBlob {
  FilterDescriptor descriptor;
  FilterView view;
  std::string_view metadata;
  std::string_view units;
};

// DataLoss for short or damaged bytes, Unimplemented for a newer version.
absl::StatusOr<FilterBlob> ParseFilterBlob(std::string_view blob,
                                           Kernel kernel = Kernel::kBest);

// Strict: also compares every unit's checksum.
absl::Status VerifyFilterBlob(std::string_view blob);
// Compares the unit checksums of a parsed blob, for a host whose filters are
// small enough to be checked at each lookup. Allocates nothing on success.
absl::Status VerifyUnits(const FilterBlob& blob);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_BLOB_H_
