// SPDX-License-Identifier: Apache-2.0
//
// The two classes through which RocksDB builds and asks a filter. They have
// been in a private header since RocksDB 7.0, so their layout is declared here
// again; no other file of ours depends on the RocksDB release.
//
// A wrong declaration compiles, links and crashes, so both ends are guarded:
// the compiler refuses releases whose layout nobody has looked at, and
// CheckRocksDbRelease() refuses a library of another release than the headers,
// before any object of these types exists.
//
// | layout | releases       | FilterBitsBuilder                              |
// |--------|----------------|------------------------------------------------|
// | A      | 7.0.3 to 9.5   | as below                                       |
// | B      | 9.6 to 10.8    | AddKeyAndAlt behind AddKey                     |
// | C      | 10.9 to 11.12  | also CalculateSpace, EstimatedFpRate at the end |
//
// FilterBitsReader has not changed. To admit a new release, move the bound and
// run scripts/check_rocksdb_tree.sh on its source tree.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_FILTER_BITS_ABI_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_FILTER_BITS_ABI_H_

#include "rocksdb/version.h"

#define ROWBLOOM_ROCKSDB_RELEASE (ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR)

#if ROWBLOOM_ROCKSDB_RELEASE < 700 || \
    (ROWBLOOM_ROCKSDB_RELEASE == 700 && ROCKSDB_PATCH < 3)
#error "rowbloom: RocksDB before 7.0.3 has another filter interface"
#elif ROWBLOOM_ROCKSDB_RELEASE <= 905
#define ROWBLOOM_ROCKSDB_LAYOUT_A
#elif ROWBLOOM_ROCKSDB_RELEASE <= 1008
#define ROWBLOOM_ROCKSDB_LAYOUT_B
#elif ROWBLOOM_ROCKSDB_RELEASE <= 1112
#define ROWBLOOM_ROCKSDB_LAYOUT_C
#else
#error "rowbloom: RocksDB is newer than 11.12: set ROWBLOOM_ROCKSDB_NATIVE=OFF"
#endif

#include <cstddef>
#include <memory>

#include "rocksdb/filter_policy.h"
#include "rocksdb/slice.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {

// The inline members do the same as RocksDB's: the linker may keep either copy.

class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() {}

  // A key, or a prefix of one; RocksDB does not say which. In key order, with
  // duplicates, possibly empty.
  virtual void AddKey(const Slice& entry) = 0;
#if !defined(ROWBLOOM_ROCKSDB_LAYOUT_A)
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
#endif
  // 0 exactly if nothing was added since the last Finish.
  virtual size_t EstimateEntriesAdded() = 0;
  // Fills *buf; the result views it. One builder finishes many partitions.
  virtual Slice Finish(std::unique_ptr<const char[]>* buf) = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buf, Status*) {
    return Finish(buf);
  }
  // A Status that is not OK fails the flush and stops writes to the database.
  virtual Status MaybePostVerify(const Slice&) { return Status::OK(); }
  // Decides where partitions are cut.
  virtual size_t ApproximateNumEntries(size_t size_bytes) = 0;
#if defined(ROWBLOOM_ROCKSDB_LAYOUT_C)
  virtual size_t CalculateSpace(size_t entry_count) = 0;
  virtual double EstimatedFpRate(size_t entry_count, size_t size_bytes) = 0;
#endif
};

class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() {}

  // Called by many threads at once.
  virtual bool MayMatch(const Slice& entry) = 0;
  virtual void MayMatch(int count, Slice** entries, bool* may_match) {
    for (int i = 0; i < count; ++i) may_match[i] = MayMatch(*entries[i]);
  }
};

}  // namespace ROCKSDB_NAMESPACE

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_FILTER_BITS_ABI_H_
