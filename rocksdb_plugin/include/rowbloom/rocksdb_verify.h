// SPDX-License-Identifier: Apache-2.0
//
// Reports which live SSTs of a column family carry the filter that its options
// ask for, and the properties of those filters. RocksDB does not report it:
// with an unregistered policy, a filter that it cannot read or a damaged one,
// reads stay right and become slow, in silence.
//
//   absl::StatusOr<RocksDbFilterReport> report =
//       VerifyRocksDbFilters(db, db->DefaultColumnFamily());
//   for (const std::string& warning : report->warnings()) Log(warning);
//
// The bytes of each filter are read from its file, past the block cache, and
// checked, and the filter is asked for some 1000 of the file's keys: to deny
// one is damage. With RocksDbVerifyOptions::read_data_blocks all other blocks
// are checked, and all keys asked. Reads, writes and compactions may run
// meanwhile; deleted files are left out. NNNNNN.ldb is found where NNNNNN.sst
// is not there, as RocksDB finds it. Nothing is written.
//
// ReadRocksDbSst() reads the filters of an SST by its path. Errors there:
// DataLoss if the footer, the properties, the index or a filter partition is
// damaged, Unimplemented for a newer format_version or another part that this
// release of RocksDB does not read, InvalidArgument for a table of LevelDB,
// which has no properties, Unavailable for bytes that cannot be read, with the
// file's name and the offset in it.
//
// All functions that return a status return FailedPrecondition if the loaded
// RocksDB is of another release than rowbloom was compiled for (rocksdb.h).

#ifndef ROWBLOOM_ROCKSDB_VERIFY_H_
#define ROWBLOOM_ROCKSDB_VERIFY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/options.h"
#include "rowbloom/export.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_composed.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
}  // namespace ROCKSDB_NAMESPACE

namespace ROWBLOOM_EXPORT rowbloom {

// --- One SST ----------------------------------------------------------------

// The owner of a filter decides who can read it.
enum class RocksDbFilterOwner : uint8_t {
  kNobody,    // The SST has no filter.
  kRowbloom,  // NewRocksDbFilterPolicy()'s policies read it.
  kRocksDb,   // RocksDB's Bloom or Ribbon, of any of its policies.
  kUnknown,   // A third party's, or lost: see VerifyRocksDbSst().
};

struct RocksDbSst {
  // From the table properties.
  std::string column_family_name;
  std::string filter_policy_name;  // Empty: written without a policy.
  std::string prefix_extractor_name;
  uint64_t entry_count = 0;  // Includes range tombstones.
  uint64_t range_tombstone_count = 0;
  uint64_t filter_key_count = 0;   // As RocksDB counted them.
  uint64_t filter_size_bytes = 0;  // With the index over partitions, if any.

  RocksDbFilterOwner owner = RocksDbFilterOwner::kNobody;
  // The filter's bytes, or those of its partitions in key order.
  std::vector<std::string> filters;

  // True if there are several filters, or one with an index over it.
  bool is_partitioned() const {
    return filters.size() > 1 ||
           (filters.size() == 1 && filters[0].size() != filter_size_bytes);
  }
};

// `options` give the environment and the comparator. RocksDB drops a damaged
// full filter without an error: the owner is kUnknown then.
absl::StatusOr<RocksDbSst> ReadRocksDbSst(
    const std::string& path, const ROCKSDB_NAMESPACE::Options& options = {});

// Checks every checksum in the file except those of filter partitions, which
// ReadRocksDbSst() has checked.
absl::Status VerifyRocksDbSstChecksums(
    const std::string& path, const ROCKSDB_NAMESPACE::Options& options = {});

// --- The filters of a column family -----------------------------------------

// The filter that the options of a column family ask for.
struct RocksDbExpectedFilter {
  std::string filter_policy;  // Its name; empty if there is none.
  RocksDbFilterOwner owner = RocksDbFilterOwner::kNobody;  // Filters it reads.
  // For rowbloom's own filters, with the bloom type that is in effect.
  std::optional<RocksDbOptions> rowbloom;
  std::optional<RocksDbComposedOptions> composed;  // For composed mode.
  std::string prefix_extractor;                    // Empty if there is none.
  bool is_partitioned = false;
  uint64_t metadata_block_size_bytes = 0;
  bool none_at_bottom = false;  // RocksDB's optimize_filters_for_hits.
  // Unpartitioned filters are read into the block cache, which may evict them.
  bool evicts_whole_filters = false;
  // The error in the text of filter_policy that RocksDB dropped, or empty:
  // DB::Open() refuses these options.
  std::string error;

  // For example "rowbloom ROW whole_key compact:bits_per_key=10".
  std::string ToString() const;
};
// Empty if the loaded RocksDB is of another release.
RocksDbExpectedFilter ExpectedRocksDbFilter(
    const ROCKSDB_NAMESPACE::ColumnFamilyOptions& options);

// Other options are
// - another bloom type or key codec, or another of RocksDB's own policies,
// - another prefix extractor than the options name: scans do not ask the filter
//   then (options without an extractor ask nothing, and are not compared),
// - another family than the policy builds, or, if filters have 1000 keys or
//   more on average, a size that differs by more than a tenth from the policy's
//   size for that number of keys: below it, sizes tell too little,
// - with a budget instead, again for 1000 keys or more, bits per key below 0.9
//   times its average less FileBudget::kMaxExtraBits, or above 1.25 times its
//   average plus these (kFixed: further from it than a quarter; kHitsOnly and
//   `auto`: any are right). If that range begins at 0, for example with a limit
//   in bytes, an SST may also have no filter,
// - in composed mode Ribbon for Bloom, or the reverse.
// Bits per key of RocksDB's own policies are not compared.
enum class RocksDbFilterState : uint8_t {
  kExpected,
  kOtherOptions,  // It is read, but was written under other options, so it may
                  // say "maybe" more often, or take more memory.
  kForeign,       // The configured policy does not read it.
  kNone,          // There is no filter, or the SST is a table of LevelDB.
  kUnusable,      // The filter is damaged or of a newer format: see `status`.
  kUnreadable,    // The SST, or a block of it other than the filter, is damaged
                  // or cannot be read.
  kNewer,         // The SST is of a newer format than this RocksDB reads.
  kCount,
};
// For example "other options".
std::string_view RocksDbFilterStateName(RocksDbFilterState state);

struct RocksDbFilterFile {
  std::string path;
  int level = 0;
  RocksDbFilterState state = RocksDbFilterState::kUnreadable;
  absl::Status status;  // The damage, newer format or read error.
  std::string note;     // Why the state is not kExpected.

  std::string filter_policy;     // Its writer's; empty if none.
  std::string prefix_extractor;  // "nullptr" if none, as RocksDB writes.
  RocksDbFilterOwner owner = RocksDbFilterOwner::kNobody;
  std::string family;  // RocksDB's as rocksdb_bloom, rocksdb_ribbon.
  std::optional<BloomType> bloom_type;  // For rowbloom's.
  std::optional<KeyCodec> key_codec;    // For rowbloom's.

  uint64_t entry_count = 0;
  uint64_t range_tombstone_count = 0;
  bool is_partitioned = false;
  uint64_t filter_count = 0;  // Partitions, or 1.
  uint64_t filter_size_bytes = 0;
  uint64_t largest_filter_bytes = 0;
  // For rowbloom's filters: their size without metadata and descriptors.
  uint64_t unit_size_bytes = 0;
  uint64_t filter_key_count = 0;
  // For rowbloom's filters: the expected rate of false positives, and the
  // number of them among `neighbour_count` neighbours: keys that the file does
  // not hold and that differ little from keys that it does, asked for as a get
  // asks.
  std::optional<double> expected_fpr;
  uint64_t neighbour_count = 0;
  uint64_t false_positive_count = 0;
  // Stored keys that the filter was asked for. If it denies any, the state is
  // kUnusable; how many it denies is exact unless it has partitions.
  uint64_t asked_key_count = 0;
  uint64_t denied_key_count = 0;
  // Stored keys that were sampled, and those of them that the filter's key
  // codec does not fit.
  uint64_t sampled_key_count = 0;
  uint64_t misfit_key_count = 0;
  // Misfits that share the filter key of the key before them.
  uint64_t sharing_misfit_count = 0;
  // Why neighbours, or stored keys, were not asked, or not all; or empty.
  std::string unobserved;

  double bits_per_key() const;  // 0 without keys.
  std::optional<double> observed_fpr() const;
  // Why the filter passes keys that it should stop, with the remedy; empty if
  // it does not. "Should" is twice the expected rate, and six standard
  // deviations and six keys more.
  std::string warning() const;
};

struct RocksDbVerifyOptions {
  // Also checks every checksum outside of filters, and asks the filters for all
  // keys that gets can find, which takes as long as reading the whole database
  // twice.
  bool read_data_blocks = false;
  // Neighbours of stored keys asked of each file's filters, at most; 0: neither
  // neighbours nor, without read_data_blocks, stored keys. For each file they
  // take a millisecond or two, and the reads of some 20 data blocks.
  uint32_t neighbours_per_file = 5000;
  // Called before each file; may be empty.
  std::function<void(size_t done, size_t total)> progress;
};

// Reads and checks one file. The state is kUnusable, kUnreadable or kNewer, or,
// until CompareWithExpected() decides, kNone or kExpected.
RocksDbFilterFile VerifyRocksDbSst(const std::string& path,
                                   const ROCKSDB_NAMESPACE::Options& options,
                                   const RocksDbVerifyOptions& verify = {});
// Decides state and note, unless the file could not be checked.
void CompareWithExpected(const RocksDbExpectedFilter& expected,
                         RocksDbFilterFile* file);

struct RocksDbFilterReport {
  std::string column_family;
  RocksDbExpectedFilter expected;
  std::vector<RocksDbFilterFile> files;  // By level and name.
  // Capacity of the block cache and of one of its shards; unset if only an
  // OPTIONS file is known, which does not hold them.
  std::optional<uint64_t> block_cache_bytes;
  std::optional<uint64_t> block_cache_shard_bytes;

  uint64_t CountOf(RocksDbFilterState state) const;
  // Unpartitioned filters that the block cache may evict. If it cannot hold all
  // of them, or a shard the largest, lookups read whole filters from files.
  struct WholeFilters {
    uint64_t count = 0;
    uint64_t total_bytes = 0;
    uint64_t largest_bytes = 0;
  };
  WholeFilters EvictableWholeFilters() const;
  // Problems that need attention, each with a remedy; empty if there are none.
  std::vector<std::string> warnings() const;
};

// Unavailable if the list of files cannot be read; the error of a file is in
// its entry.
absl::StatusOr<RocksDbFilterReport> VerifyRocksDbFilters(
    ROCKSDB_NAMESPACE::DB* db,
    ROCKSDB_NAMESPACE::ColumnFamilyHandle* column_family,
    const RocksDbVerifyOptions& verify = {});

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_VERIFY_H_
