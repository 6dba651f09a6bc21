// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filters inside RocksDB: a filter policy, the row prefix extractor
// that belongs to it, and their registration for options strings.
//
//   // Whole keys of any layout, 10 bits per key.
//   table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy({});
//   options.table_factory.reset(NewBlockBasedTableFactory(table_options));
//   rocksdb::Status s = rowbloom::CheckRocksDbOptions(options);  // traps
//
//   rowbloom::RocksDbOptions o;  // Rows and columns: the codec says where
//   o.key_codec = rowbloom::KeyCodec::Ordered();     // a row ends.
//   table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy(o);
//   options.prefix_extractor = rowbloom::NewRowPrefixExtractor(o);
//
// Or from an options string, after RegisterRocksDb():
//   filter_policy=rowbloom:10
//   filter_policy=rowbloom:auto     (rocksdb_budget_options.h: auto_bits)
//   filter_policy={id=rowbloom;key_codec=ordered;filter_spec=compact}
//   prefix_extractor=rowbloom.RowPrefix:ROWCOL:ordered
//
// With whole keys, Get asks for the key, and a seek for the prefix of any
// prefix extractor, as with RocksDB's own filters. With rows and columns, Get
// asks for the column (ROW: for the row), a seek for the row, a RocksDbScan for
// the row or the column it was made for. With codecs of other segments, Get
// asks for the longest key level, a seek for key level 1, and RocksDbRows for
// any key level.
//
// Policies and readers are immutable and thread-safe. Readers live in
// RocksDB's block cache and may outlive the policy and the database: they
// point to neither, but this library must stay loaded. Nothing throws.
//
// The bytes of each filter carry the bloom type and the codec they were built
// with, so a changed configuration can never ask a filter the wrong question.
//
// The loaded RocksDB must be of the minor release that rowbloom was compiled
// for: minor releases change classes and structs. With another release every
// function that makes or reads an object of RocksDB only returns an error that
// names both releases: FailedPrecondition as absl::Status, InvalidArgument as
// RocksDB's Status, nullptr where it returns a pointer. RegisterRocksDb() still
// adds its factories, so that options strings fail with that error.
//
// If the extractor is ROWCOL over "ordered" keys, the codec must have written
// all keys of the column family: a key that ends as a RocksDbScan's bound does
// would be looked up in its column alone. A filter's own checksums are compared
// whenever RocksDB has read it from a file, whatever RocksDB's block checksums
// are set to.

#ifndef ROWBLOOM_ROCKSDB_H_
#define ROWBLOOM_ROCKSDB_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb_budget_options.h"

namespace ROCKSDB_NAMESPACE {
class FilterPolicy;
class ObjectLibrary;
class SliceTransform;
struct ColumnFamilyOptions;
struct Options;
struct ReadOptions;
}  // namespace ROCKSDB_NAMESPACE

namespace ROWBLOOM_EXPORT rowbloom {

struct RocksDbOptions : RocksDbBudgetOptions {
  // How user keys hold (row, qualifier), or other segments. The default fits
  // any keys. Keys that another codec does not fit share filter keys, and then
  // the filter passes what it could stop; VerifyRocksDbFilters() warns of it.
  KeyCodec key_codec = KeyCodec::WholeKey();
  // ROW: one filter key per row; Gets of a cell ask for its row.
  // ROWCOL: one per row and one per cell. With codecs of other segments, ROW is
  // key level 1, and ROWCOL all key levels, of which there must be two. Unset:
  // all key levels of the codec.
  std::optional<BloomType> bloom_type;
  // Family and size goal. Bits per filter key are those of all bytes that
  // RocksDB stores, but filters of very few keys take more.
  FilterSpec filter_spec;

  // Chooses bits by SST, from one budget for the tree: fewer for the oldest
  // run, which has most keys, more for newer ones (filter_budget.h:
  // FileBudget). The bits of `filter_spec` are then the average.
  // Unset, or without the listener of rocksdb_budget.h: the same bits
  // everywhere.
  std::optional<BudgetMode> budget;
  // Replaces the bits of `filter_spec`, to allow averages below 1: above 0, at
  // most 24. 0: the bits of `filter_spec`.
  double budget_bits_per_key = 0;

  // `budget`; if it is unset, kBalanced with an option that is of a budget.
  std::optional<BudgetMode> effective_budget() const {
    const RocksDbBudgetOptions none;
    const bool has_budget = auto_bits || budget_bits_per_key > 0 ||
                            budget_bytes > 0 ||
                            missing_share != none.missing_share;
    return budget.has_value() || !has_budget ? budget : BudgetMode::kBalanced;
  }
  // `bloom_type`, or what it stands for if it is unset.
  BloomType effective_bloom_type() const {
    return bloom_type.value_or(
        key_codec.key_level_count() > 1 ? BloomType::kRowCol : BloomType::kRow);
  }
};

// Names the filters that a policy can read. It never changes, and is never the
// name of RocksDB's own filters.
inline constexpr char kRocksDbCompatibilityName[] = "rowbloom.Filter";

// nullptr if the loaded RocksDB is of another release, this build has no native
// mode or the options are invalid; *error, if given, says why.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewRocksDbFilterPolicy(
    const RocksDbOptions& options, ROCKSDB_NAMESPACE::Status* error = nullptr);

// The filter policy that an options string names, rowbloom's or another that is
// registered: what stands behind "filter_policy=". Unlike RocksDB, which
// reports success and uses defaults or no policy, it refuses what is misspelt:
// InvalidArgument names the option, the value and what is allowed, and *policy
// does not change. Calls RegisterRocksDb().
ROCKSDB_NAMESPACE::Status ParseRocksDbFilterPolicy(
    const std::string& text,
    std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy>* policy);

// Maps a key to its row prefix; with ROWCOL and "ordered" keys, the bounds of a
// RocksDbScan over a column to their column prefix. Keys without a whole row
// are out of domain. nullptr for other bloom types, for a codec whose first
// key level is the whole key, or if the loaded RocksDB is of another release;
// *error, if given, says why. Options with nullptr have no prefix extractor:
// scans then ask no filter.
std::shared_ptr<const ROCKSDB_NAMESPACE::SliceTransform> NewRowPrefixExtractor(
    const RocksDbOptions& options, ROCKSDB_NAMESPACE::Status* error = nullptr);

// Adds "rowbloom", "rowbloom.Composed" (rocksdb_composed.h),
// "rowbloom.RowPrefix" and "rowbloom.BudgetListener" (rocksdb_budget.h) to
// RocksDB's object registry. Call it before you open a database by an options
// string or OPTIONS file; any number of times. Returns how many factories were
// added.
int RegisterRocksDb();
int RegisterRocksDb(ROCKSDB_NAMESPACE::ObjectLibrary& library,
                    const std::string& arg);

// InvalidArgument, naming the option and its remedy, for combinations in
// which RocksDB would lose rows or silently ignore the filter, or filters would
// miss their budget; for text of filter_policy that RocksDB could not read and
// dropped in silence; and if the loaded RocksDB is of another release.
//
// If `warnings` is given, it is replaced by a sentence for each combination
// that makes reads slow or fail and loses nothing, with its remedy:
// - Block based tables without any filter policy. RocksDB also drops, without
//   an error, a policy whose name it does not know.
// - Unpartitioned filters, also RocksDB's own, are in the block cache, which
//   may evict them, and the filter of a single SST can outgrow a shard of it.
//   The options hold the size of an SST and the bits of a key but not the size
//   of an entry. The warning therefore names the entry size below which it
//   applies, and it is left out if that is below 32 bytes.
//   VerifyRocksDbFilters() checks the existing filters.
// - Filter partitions that are not pinned: with a prefix extractor, scans with
//   fill_cache=false read them from the file, and RocksDB before 9.6 makes them
//   large. The same if their top-level index is not pinned. Without a block
//   cache each lookup reads one.
// - A budget that cannot be spent: optimize_filters_for_hits, unless it is
//   kHitsOnly, or a budget_bytes of less than 1 KiB; and auto_bits for whole
//   filters in the block cache, which get the average.
// - A comparator under which RocksDbRows cannot scan, with a filter policy or
//   an extractor of rowbloom for keys of more than one segment.
// - No prefix extractor, with a filter policy for such keys.
ROCKSDB_NAMESPACE::Status CheckRocksDbOptions(
    const ROCKSDB_NAMESPACE::ColumnFamilyOptions& options,
    std::vector<std::string>* warnings = nullptr);
// The same, and what the policy needs of DBOptions: InvalidArgument for
// auto_bits, a limit or kHitsOnly without the listener of rocksdb_budget.h, or
// under FIFO compaction; warnings for another budget without the listener, and
// for auto_bits without statistics.
ROCKSDB_NAMESPACE::Status CheckRocksDbOptions(
    const ROCKSDB_NAMESPACE::Options& options,
    std::vector<std::string>* warnings = nullptr);

// A scan over one row, or over the versions of one column, that asks the filter
// and finds every key with any prefix extractor.
//
//   auto scan = RocksDbScan::OfColumn(codec, "user17", "email");
//   if (!scan.ok()) return scan.status();  // No such key can be stored.
//   scan->Configure(&read_options);
//   std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read_options));
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Use(it->key());
//
// It must outlive every iterator made with these ReadOptions, and stay at the
// address where Configure() was called, until their bounds are set again; for
// one ReadOptions at a time. Filters are asked for forward scans only, and only
// if both bounds have one prefix: rows and columns of "ordered" keys, or more
// segments than key level 1 has, for which the filter is asked for key level 1.
// A scan over a column returns its keys and, while the process has an extractor
// for ROWCOL of "ordered" keys, also the key that is the column's prefix, which
// no codec writes.
// With fill_cache = false get a column that is absent first, unless partitions
// are pinned: each scan would read one from the file (docs/rocksdb.md,
// "Memory"). Do not use its bounds for DeleteRange(): see RocksDbDeletion.
class RocksDbScan {
 public:
  // Errors as KeyCodec::Encode(); FailedPrecondition if the loaded RocksDB is
  // of another release.
  static absl::StatusOr<RocksDbScan> OfRow(const KeyCodec& key_codec,
                                           std::string_view row);
  static absl::StatusOr<RocksDbScan> OfColumn(const KeyCodec& key_codec,
                                              std::string_view row,
                                              std::string_view qualifier);
  // Keys that begin with these segments, at least one.
  static absl::StatusOr<RocksDbScan> OfSegments(
      const KeyCodec& key_codec, absl::Span<const std::string_view> segments);

  // Sets the bounds and the seek mode of *read. If `tailing` is set, which must
  // happen before this call, a scan over a column asks for its row. RocksDB's
  // tailing iterators do not know DeleteRange(), and so no RocksDbDeletion.
  void Configure(ROCKSDB_NAMESPACE::ReadOptions* read);

 private:
  RocksDbScan() = default;

  std::string lower_;
  std::string upper_;  // Empty: to the end.
  // The bounds of the column and of nothing else, which map to the row: for
  // tailing iterators, which treat bounds as stored keys, and where no
  // extractor maps bounds of columns.
  std::string exact_lower_;
  std::string exact_upper_;
  ROCKSDB_NAMESPACE::Slice lower_slice_;
  ROCKSDB_NAMESPACE::Slice upper_slice_;
};

// A range for DeleteRange(): a row, or a column with all its versions.
//
//   auto range = RocksDbDeletion::OfColumn(codec, "user17", "email");
//   if (!range.ok()) return range.status();  // No such key can be stored.
//   db->DeleteRange(write_options, cf, range->begin, range->end);
//
// Bounds by KeyCodec::Encode() are safe too, for example for a range of
// columns. A tombstone that begins or ends at a bound of a column, as
// RocksDbScan sets it, hides the rest of the row from plain seeks and
// prefix_same_as_start: after a tombstone RocksDB seeks again, to its end, and
// would ask filters for that column.
struct RocksDbDeletion {
  // Errors as KeyCodec::Encode(). OutOfRange for a row that no key can follow,
  // for example the last of "fixed" rows.
  static absl::StatusOr<RocksDbDeletion> OfRow(const KeyCodec& key_codec,
                                               std::string_view row);
  static absl::StatusOr<RocksDbDeletion> OfColumn(const KeyCodec& key_codec,
                                                  std::string_view row,
                                                  std::string_view qualifier);

  std::string begin;
  std::string end;  // Exclusive.
};

// The properties that one of our filters stores, parsed from RocksDB's bytes of
// it. For tools. Errors as ParseFilterBlob().
struct RocksDbFilterInfo {
  BloomType bloom_type = BloomType::kNone;
  KeyCodec key_codec = KeyCodec::Ordered();
  FilterBlob blob;
};
absl::StatusOr<RocksDbFilterInfo> ParseRocksDbFilter(std::string_view bytes);

// The filter's answer for a user key or a prefix of one, as RocksDB would ask
// it. An entry that it cannot read gets "maybe".
bool RocksDbFilterMayContain(const RocksDbFilterInfo& filter,
                             std::string_view entry);

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_H_
