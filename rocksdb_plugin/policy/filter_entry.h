// SPDX-License-Identifier: Apache-2.0
//
// Turns an entry, as RocksDB passes it to a filter, into filter keys. Builders
// and readers use the same function, so a lookup always asks for a key that was
// added for the same entry, whatever the entry is.
//
//   EntryParts parts = SplitEntry(BloomType::kRowCol, codec, entry);
//   asks:  parts.asked
//   adds:  parts.asked, and parts.row if parts.has_column
//
// | bloom type | entry holds   | asked         | added              |
// |------------|---------------|---------------|--------------------|
// | ROW        | a row         | its row part  | the same           |
// | ROWCOL     | a column      | column part   | the same, row part |
// | ROWCOL     | a row only    | its row part  | the same           |
// | either     | no whole row  | all of it     | the same           |

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_

#include <string_view>

#include "absl/status/status.h"
#include "rdb.h"
#include "rocksdb/slice.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom {

struct EntryParts {
  std::string_view asked;
  std::string_view row;  // Empty if the entry holds no whole row.
  bool has_column = false;
};

// `bloom_type` is ROW or ROWCOL. The parts view `entry`.
EntryParts SplitEntry(BloomType bloom_type, const KeyCodec& codec,
                      std::string_view entry);

// True if the entry may be the bound of a column that an extractor for
// "ordered" keys made, while the filter was built with another codec: nobody
// added it, so a filter cannot deny it.
bool IsBoundOfOtherCodec(const KeyCodec& codec, std::string_view entry);

// InvalidArgument unless ROW or ROWCOL: RocksDB has no row prefix of ours by
// which both a cell and a shorter row could be asked, and no filter at all is
// filter_policy=nullptr.
absl::Status CheckBloomType(BloomType bloom_type);

inline std::string_view ViewOf(const rdb::Slice& slice) {
  return std::string_view(slice.data(), slice.size());
}

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_
