// SPDX-License-Identifier: Apache-2.0
//
// A bloom type, in HBase's words: which keys of a cell a filter holds.
//
//   NONE                     no filter is written
//   ROW                      one filter key per row
//   ROWCOL                   one per row and one per (row, qualifier), so the
//                            same filter answers "is the row here" and "is
//                            the column here". (HBase's own ROWCOL has no row
//                            entries; FilterOptions can leave them out.)
//   ROWPREFIX_FIXED_LENGTH   one per distinct row prefix of a fixed length n;
//                            a shorter row is its own prefix. A lookup with
//                            fewer than n bytes answers for the row of exactly
//                            those bytes, not for rows that begin with them.
//
//   absl::StatusOr<BloomType> type = ParseBloomType("ROWCOL");
//   if (type.ok()) printf("%s\n", BloomTypeName(*type).data());
//
// The numbers are persisted and never reused. Zero is not a bloom type.

#ifndef ROWBLOOM_BLOOM_TYPE_H_
#define ROWBLOOM_BLOOM_TYPE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

enum class BloomType : uint8_t {
  kNone = 1,
  kRow = 2,
  kRowCol = 3,
  kRowPrefixFixedLength = 4,
};

// The upper-case name as HBase writes it. "UNKNOWN" for any other value.
std::string_view BloomTypeName(BloomType type);

// Accepts the names above in any case; an InvalidArgument lists them.
absl::StatusOr<BloomType> ParseBloomType(std::string_view name);

}  // namespace rowbloom

#endif  // ROWBLOOM_BLOOM_TYPE_H_
