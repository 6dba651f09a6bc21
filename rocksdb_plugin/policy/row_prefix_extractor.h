// SPDX-License-Identifier: Apache-2.0
//
// The SliceTransform by which RocksDB's seeks ask our filters.
//
// A key maps to its prefix of key level 1, its row prefix. For the scans of
// RocksDbRows it maps to their prefix instead, with ROW only to one of key
// level 1: scan_question.h. With ROWCOL and "ordered" keys of row and column
// there are two more exceptions, the bounds of a column, which no stored key
// equals:
//
//   esc(row) 00 01 esc(qual) 00       lower  ->  the column prefix
//   esc(row) 00 01 esc(qual) 00 04    upper  ->  the column prefix
//
// A scan between these two therefore asks the same filter for the column that
// any other seek asks for the row. Stored keys must all map to their row:
// RocksDB seeks again, to its current key, after many versions of a key or a
// range tombstone. If that key mapped to its column, the files without the
// column would drop out in the middle of a row scan. The same holds for keys at
// which tombstones end (rocksdb.h: RocksDbDeletion). The other codecs cannot
// tell a column's bound from a stored key and map to rows only.
//
// Name and id are "rowbloom.RowPrefix:ROWCOL:ordered". RocksDB stores it with
// each SST and asks no filter that was built with another mapping than the
// configured one, so the name contains everything that the mapping depends on.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_PREFIX_EXTRACTOR_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_PREFIX_EXTRACTOR_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "policy/scan_question.h"
#include "rdb.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

// Follows a column prefix. It is greater than 01, which each key of the column
// has there, and not FF, which would continue the qualifier. It is not 02,
// since RocksDB's separator between the columns q and q\0... ends with 02, and
// RocksDB cuts range tombstones at separators. It differs from kColumnEnd.
inline constexpr char kColumnUpperBound = '\x04';

// Also follows a column prefix, but the key maps to the row: the end of range
// tombstones.
inline constexpr char kColumnEnd = '\x03';

class RowPrefixExtractor final : public rdb::SliceTransform {
 public:
  static const char* kClassName() { return "rowbloom.RowPrefix"; }

  // From "rowbloom.RowPrefix:BLOOM_TYPE:CODEC".
  static absl::StatusOr<std::unique_ptr<const RowPrefixExtractor>> Parse(
      std::string_view id);

  // `bloom_type` is ROW or ROWCOL.
  RowPrefixExtractor(BloomType bloom_type, const KeyCodec& key_codec);
  ~RowPrefixExtractor() override;
  RowPrefixExtractor(const RowPrefixExtractor&) = delete;
  RowPrefixExtractor& operator=(const RowPrefixExtractor&) = delete;

  BloomType bloom_type() const { return bloom_type_; }
  const KeyCodec& key_codec() const { return key_codec_; }
  // Some keys map to a column part, which RocksDB itself never stores.
  bool maps_columns() const { return maps_columns_; }

  const char* Name() const noexcept override { return id_.c_str(); }
  bool IsInstanceOf(const std::string& name) const noexcept override;
  rdb::Slice Transform(const rdb::Slice& key) const noexcept override;
  bool InDomain(const rdb::Slice& key) const noexcept override;
  // Always false. For rows of a fixed length it could be true, but then
  // auto_prefix_mode assumes that [row, next row) holds keys of that row only,
  // and shorter keys, which lie there but hold no row, would be lost.
  bool FullLengthEnabled(size_t* length) const noexcept override;
  bool SameResultWhenAppended(const rdb::Slice& prefix) const noexcept override;

 private:
  // The question of this thread if the key maps to its prefix, else null.
  const ScanQuestion* QuestionFor(std::string_view key) const;
  // Size of the key's prefix; 0 if it is out of domain.
  size_t PrefixSize(std::string_view key) const;

  const BloomType bloom_type_;
  const KeyCodec key_codec_;
  const bool maps_columns_;
  const std::string id_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_PREFIX_EXTRACTOR_H_
