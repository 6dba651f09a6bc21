// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filters inside LevelDB: a filter policy over any family.
//
//   auto filters = rowbloom::NewLevelDbFilterPolicy(
//       rowbloom::FilterSpec::BitsPerKey("compact", 10));
//   if (!filters.ok()) return filters.status();
//   leveldb::Options options;
//   options.filter_policy = filters->get();  // Must outlive the database.
//   options.block_size = 64 << 10;           // See "Size" below.
//
// Link rowbloom::leveldb. The policy is immutable and thread-safe; nothing
// throws. Lookups allocate nothing unless the filter is damaged.
//
// Filter keys are whole user keys: LevelDB asks filters in Get only, and never
// for a row or a prefix, so a bloom type would change nothing. As with
// LevelDB's own policy, the comparator must not call keys equal that differ in
// bytes.
//
// Each filter is a filter blob without metadata (rowbloom/filter_blob.h) that
// describes itself: files written with another family or size stay readable.
// LevelDB does not check its filter block's checksum unless paranoid_checks is
// set. Each lookup therefore compares the checksum of the filter that it asks:
// damaged, foreign and newer bytes answer "maybe". Set paranoid_checks all the
// same: only it sees damage to the places of filters, which LevelDB keeps.
//
// Size: LevelDB makes one filter for each data block (of 2 KiB or more), so
// with its default of 4 KiB they hold a few dozen keys. docs/leveldb.md shows
// what that costs.

#ifndef ROWBLOOM_LEVELDB_H_
#define ROWBLOOM_LEVELDB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "leveldb/filter_policy.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/filter_stats.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The name by which LevelDB finds an SST's filters; it never changes. It stands
// for filter blobs over the digests (DigestBytes) of user keys.
inline constexpr char kLevelDbFilterPolicyName[] = "rowbloom.LevelDbFilter";

// InvalidArgument as spec.Validate(). `stats`, if given, counts lookups,
// negatives and load errors, and must outlive the policy.
absl::StatusOr<std::unique_ptr<const leveldb::FilterPolicy>>
NewLevelDbFilterPolicy(const FilterSpec& spec, FilterStats* stats = nullptr);

}  // namespace rowbloom

#endif  // ROWBLOOM_LEVELDB_H_
