// SPDX-License-Identifier: Apache-2.0
//
// Asks one filter, or one partition of it, for RocksDB.
//
//   std::unique_ptr<FilterBitsReader> reader(new RowFilterReader(contents));
//
// Lives in the block cache beside `contents`, which outlive it. It may itself
// outlive the policy and the database, and so points to neither. RocksDB makes
// one at each cache miss: construction compares the checksums of all bytes and
// allocates nothing but long names of segments. Damaged or unknown bytes answer
// "maybe". Any number of threads.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_READER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_READER_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "filter_bits_abi.h"
#include "rdb.h"
#include "rowbloom/filter.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

class RowFilterReader final : public rdb::FilterBitsReader {
 public:
  explicit RowFilterReader(const rdb::Slice& contents) noexcept;

  bool MayMatch(const rdb::Slice& entry) noexcept override;
  void MayMatch(int count, rdb::Slice** entries,
                bool* may_match) noexcept override;

 private:
  // The filter key to ask for; none if the filter cannot deny the entry.
  std::optional<std::string_view> Asked(const rdb::Slice& entry) const;
  bool MayMatchPrefix(const rdb::Slice& entry) const;

  FilterView view_;  // Answers "maybe" until the bytes are checked.
  KeyCodec key_codec_ = KeyCodec::Ordered();
  size_t key_level_count_ = 1;
  bool has_column_prefix_ = true;
  bool has_whole_keys_ = false;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_READER_H_
