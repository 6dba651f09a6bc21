// SPDX-License-Identifier: Apache-2.0
//
// Rows and cells of a RocksDB column family: reads that ask its filters and
// miss nothing, with any ReadOptions, prefix extractor and table options. Where
// RocksDB's own Get() misses (docs/rocksdb_reference.md, "Traps"), GetCell
// does.
//
//   RocksDbRows rows(db, db->DefaultColumnFamily(), KeyCodec::Ordered());
//   bool exists = false;
//   Status s = rows.RowExists(read, "user17", &exists);
//   s = rows.GetCell(read, "user17", "email", &value);        // As by Get().
//   s = rows.GetNewestCell(read, "user17", "email", &value);  // The newest.
//   s = rows.GetRow(read, "user17", &cells);
//
// Keys are written with the codec's Encode(). A version may follow an "ordered"
// key, so that the newest comes first in bytewise order (as the complement of a
// time, big-endian). A cell without a version is its own newest version.
//
// | call              | asks the filter for                                  |
// |-------------------|------------------------------------------------------|
// | GetCell           | the column (ROW: the row)                            |
// | GetNewestCell     | the column, with ROWCOL in policy and extractor;     |
// |                   | with a ROW extractor, the row                        |
// | RowExists, GetRow | the row, with an extractor                           |
// | Exists, Scan      | the longest key level that the segments hold, with   |
// |                   | ROWCOL in policy and extractor; otherwise key        |
// |                   | level 1                                              |
//
// For codecs of more segments, or one, there are Exists() and Scan(), and
// RocksDB's own Get() with a key of Encode(), which asks for the longest key
// level that the filter holds. Calls that name rows and qualifiers need a codec
// of two segments.
//
// `read` gives snapshot, timestamp, cache, checksums, deadline and the rest;
// its bounds, seek modes, `tailing`, `iter_start_ts` and
// `allow_unprepared_value` are not used. RocksDB 8.0 and later would read
// filters unchecked with `verify_checksums=false`, which is ignored there.
//
// Errors: NotFound for an absent cell. InvalidArgument for a row that the codec
// cannot hold, and from every call if the loaded RocksDB is of another release
// than rowbloom was compiled for (rocksdb.h). Corruption for keys within a row
// that are not the codec's. NotSupported for scans (all but GetCell) under a
// comparator other than RocksDB's bytewise ones. RocksDB's own errors pass
// through.
//
// During Scan, Exists and Next, callbacks (merge operators, table_filter, file
// systems) must not read a column family with an extractor of this codec, in
// any database, except through RocksDbRows: they could miss keys. No fiber may
// switch within a call.
//
// Immutable; any number of threads. Database, column family and statistics must
// outlive it. The constructor looks at the filter policy, and that must hold as
// long as the database is open. SetOptions() may change the prefix extractor
// (without a memtable Bloom filter and without tailing iterators, which make
// RocksDB crash then), and up to RocksDB 9.7 it cannot change the policy. Newer
// releases can: if any file was written with the ROWCOL extractor, do not
// change between a policy of rowbloom and another policy, in either direction,
// without reopening the database. Open files go on using filters of the old
// policy, and filters that are not rowbloom's hide columns from GetNewestCell
// (CheckRocksDbOptions refuses them with that extractor).

#ifndef ROWBLOOM_ROCKSDB_ROWS_H_
#define ROWBLOOM_ROCKSDB_ROWS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rowbloom/export.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb_stats.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct RocksDbCell {
  std::string qualifier;
  std::string version;  // The bytes after the codec's key; may be empty.
  std::string value;
};

// The keys of a RocksDbRows::Scan(), in key order. Database, column family, and
// the snapshot and timestamp of its ReadOptions must outlive it. One thread at
// a time.
class RocksDbPrefixScan {
 public:
  RocksDbPrefixScan(RocksDbPrefixScan&&) noexcept;
  RocksDbPrefixScan& operator=(RocksDbPrefixScan&&) noexcept;
  ~RocksDbPrefixScan();

  // False at the end and after an error; status() tells which.
  bool Valid() const;
  // Does nothing unless Valid().
  void Next();
  // If Valid().
  ROCKSDB_NAMESPACE::Slice key() const;
  ROCKSDB_NAMESPACE::Slice value() const;

  ROCKSDB_NAMESPACE::Status status() const;

 private:
  friend class RocksDbRows;
  struct State;
  explicit RocksDbPrefixScan(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class RocksDbRows {
 public:
  RocksDbRows(ROCKSDB_NAMESPACE::DB* db,
              ROCKSDB_NAMESPACE::ColumnFamilyHandle* column_family,
              const KeyCodec& key_codec, const RocksDbSampling& sampling = {});

  // All keys that begin with the first segments of the codec, at least one: a
  // tenant's, a user's, a row's or a single key. It is at the first of them. A
  // prefix without an upper bound, which is one of ff bytes alone, is found
  // without asking a filter.
  //
  //   for (auto scan = rows.Scan(read, {"acme", "ann"}); scan.Valid();
  //        scan.Next()) { Use(scan.key(), scan.value()); }
  RocksDbPrefixScan Scan(const ROCKSDB_NAMESPACE::ReadOptions& read,
                         absl::Span<const std::string_view> segments) const;

  // Sets *exists to true if there is such a key.
  ROCKSDB_NAMESPACE::Status Exists(const ROCKSDB_NAMESPACE::ReadOptions& read,
                                   absl::Span<const std::string_view> segments,
                                   bool* exists) const;

  // Sets *exists to true if the row has any key.
  ROCKSDB_NAMESPACE::Status RowExists(
      const ROCKSDB_NAMESPACE::ReadOptions& read, std::string_view row,
      bool* exists) const;

  // All cells of the row, with all versions, in key order; empty if there is no
  // such row, and on error.
  ROCKSDB_NAMESPACE::Status GetRow(const ROCKSDB_NAMESPACE::ReadOptions& read,
                                   std::string_view row,
                                   std::vector<RocksDbCell>* cells) const;

  // A cell that was written without a version.
  ROCKSDB_NAMESPACE::Status GetCell(
      const ROCKSDB_NAMESPACE::ReadOptions& read, std::string_view row,
      std::string_view qualifier,
      ROCKSDB_NAMESPACE::PinnableSlice* value) const;

  // The first of a cell's versions in key order. *version, if given, receives
  // the bytes after the codec's key.
  ROCKSDB_NAMESPACE::Status GetNewestCell(
      const ROCKSDB_NAMESPACE::ReadOptions& read, std::string_view row,
      std::string_view qualifier, ROCKSDB_NAMESPACE::PinnableSlice* value,
      std::string* version = nullptr) const;

 private:
  ROCKSDB_NAMESPACE::DB* const db_;
  ROCKSDB_NAMESPACE::ColumnFamilyHandle* const column_family_;
  const KeyCodec key_codec_;
  const RocksDbSampling sampling_;
  // OK, or an error that names both releases.
  const ROCKSDB_NAMESPACE::Status release_;
  // OK, or the error of release_, or why a scan might miss keys.
  const ROCKSDB_NAMESPACE::Status scannable_;
  // The longest key level that a scan may ask filters for.
  const size_t askable_key_levels_;
  // OK, or the error of calls that name rows and qualifiers.
  const ROCKSDB_NAMESPACE::Status has_columns_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_ROWS_H_
