// SPDX-License-Identifier: Apache-2.0
//
// The SliceTransform by which RocksDB's seeks ask our filters.
//
// A key maps to its row part. With ROWCOL and "ordered" keys there are two
// exceptions, the bounds of a column, which no stored key equals:
//
//   esc(row) 00 01 esc(qual) 00       lower  ->  the column part
//   esc(row) 00 01 esc(qual) 00 04    upper  ->  the column part
//
// So a scan between these two asks for the column, of the same filter that
// any other seek asks for the row. Stored keys must all map to their row:
// RocksDB seeks anew, to the key it stands on, behind many versions of a key
// or a range tombstone, and were that key mapped to its column, the files
// without the column would drop out in the middle of a row scan. The same goes
// for keys that tombstones end at (rocksdb.h: RocksDbDeletion). The other
// codecs cannot tell a column's bound from a stored key and map to rows only.
//
// Name and id are "rowbloom.RowPrefix:ROWCOL:ordered". RocksDB stores it with
// each SST and asks no filter that was fed by another mapping than the one
// configured, so the name says all that the mapping depends on.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_ROW_PREFIX_EXTRACTOR_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_ROW_PREFIX_EXTRACTOR_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "rocksdb/slice_transform.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom {

// Behind a column part: greater than 01, which each key of the column has
// there, and not FF, which would continue the qualifier. Not 02: RocksDB's
// separator between the columns q and q\0... ends so, and it cuts range
// tombstones at separators. Nor kColumnEnd.
inline constexpr char kColumnUpperBound = '\x04';

// Behind a column part, too, but it maps to the row: range tombstones end so.
inline constexpr char kColumnEnd = '\x03';

class RowPrefixExtractor final : public ROCKSDB_NAMESPACE::SliceTransform {
 public:
  static const char* kClassName() { return "rowbloom.RowPrefix"; }

  // From "rowbloom.RowPrefix:BLOOM_TYPE:CODEC".
  static absl::StatusOr<std::unique_ptr<const RowPrefixExtractor>> Parse(
      std::string_view id);

  // `bloom_type` is ROW or ROWCOL.
  RowPrefixExtractor(BloomType bloom_type, const KeyCodec& key_codec);

  BloomType bloom_type() const { return bloom_type_; }
  const KeyCodec& key_codec() const { return key_codec_; }
  // Some keys map to a column part, which RocksDB itself never stores.
  bool maps_columns() const {
    return bloom_type_ == BloomType::kRowCol &&
           key_codec_.kind() == KeyCodec::Kind::kOrdered;
  }

  const char* Name() const noexcept override { return id_.c_str(); }
  bool IsInstanceOf(const std::string& name) const noexcept override;
  ROCKSDB_NAMESPACE::Slice Transform(
      const ROCKSDB_NAMESPACE::Slice& key) const noexcept override;
  bool InDomain(const ROCKSDB_NAMESPACE::Slice& key) const noexcept override;
  // False for all. For rows of a fixed length it could be true, but then
  // auto_prefix_mode takes [row, next row) to hold keys of that row only, and
  // shorter keys, which lie there but hold no row, would be lost.
  bool FullLengthEnabled(size_t* length) const noexcept override;
  bool SameResultWhenAppended(
      const ROCKSDB_NAMESPACE::Slice& prefix) const noexcept override;

 private:
  // Bytes of the key's prefix; 0 if it is out of domain.
  size_t PrefixSize(std::string_view key) const;

  const BloomType bloom_type_;
  const KeyCodec key_codec_;
  const std::string id_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_ROW_PREFIX_EXTRACTOR_H_
