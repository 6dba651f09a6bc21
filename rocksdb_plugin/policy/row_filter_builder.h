// SPDX-License-Identifier: Apache-2.0
//
// Builds the filters of one SST as RocksDB feeds it: one full filter, or one
// for each partition.
//
// Calls match  (AddKey* Finish)* . One thread at a time. Keeps digests and,
// where it pays or AddSeparators() needs it, the last entry, whose prefixes the
// next one need not hash again where it begins with them. A mistake here loses
// rows, so four promises matter most:
//
// - Finish never returns an empty slice. In a partitioned filter RocksDB takes
//   that as "the key is out of range" and answers NotFound.
// - EstimateEntriesAdded is 0 exactly if nothing was added since the last
//   Finish (RocksDB 9.6 and newer skip an empty filter by it).
// - The last two distinct filter keys of each key level before a Finish are
//   added to the next partition too. RocksDB chooses the partition for
//   SeekForPrev by a separator between two keys, so the next partition may be
//   asked for the entry before the cut. Two are needed because RocksDB adds the
//   prefix of the next key before the cut.
// - A partition holds the prefixes of key level 2 and deeper that the separator
//   behind it may be. The separator is the beginning of the last entry with its
//   last byte increased. If it is the prefix that the next partition begins
//   with, a seek to this prefix asks the partition before the cut. RocksDB adds
//   the prefix of key level 1 there itself, and no deeper one.
//
// The bits per key of the options are those of all bytes that RocksDB stores:
// the filter gets fewer, by what its blob takes beside the units, and by what
// partitions of few keys took too much before. It gets at most a twentieth
// fewer: a filter of very few keys takes more than its bits.
//
// Memory: a digest takes 8 bytes from its Add to Finish, in addition to
// kFixedMemoryBytes. Finish takes at most 9 bytes a digest, the bytes of the
// filter and kFinishMemoryBytes (100 bytes a digest if there are few). The
// builder keeps at most kFinishMemoryBytes for the next Finish: many partitions
// take no more than one. RocksDB does not let policies charge this to its block
// cache. With verify_result a second copy of each digest takes 8 bytes more.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_BUILDER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_BUILDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "filter_bits_abi.h"
#include "rdb.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

class RowFilterBuilder : public rdb::FilterBitsBuilder {
 public:
  // `options` are valid. `verify_result` is RocksDB's
  // detect_filter_construct_corruption, `partitioned` its partition_filters.
  // `filter` is null but in tests.
  RowFilterBuilder(const RocksDbOptions& options, bool verify_result,
                   bool partitioned = true,
                   std::unique_ptr<FilterBuilder> filter = nullptr);

  void AddKey(const rdb::Slice& entry) noexcept override;
  size_t EstimateEntriesAdded() noexcept override;
  rdb::Slice Finish(std::unique_ptr<const char[]>* buf) noexcept override;
  rdb::Slice Finish(std::unique_ptr<const char[]>* buf,
                    rdb::Status* status) noexcept override;
  rdb::Status MaybePostVerify(const rdb::Slice& filter) noexcept override;
  size_t ApproximateNumEntries(size_t size_bytes) noexcept override;
  // A user key and the prefix of it, which is often that of the key before.
  void AddKeyAndAlt(const rdb::Slice& key, const rdb::Slice& alt) noexcept
#if !defined(ROWBLOOM_ROCKSDB_LAYOUT_A)
      override
#endif
      ;
#if defined(ROWBLOOM_ROCKSDB_LAYOUT_C)
  size_t CalculateSpace(size_t entry_count) noexcept override;
  double EstimatedFpRate(size_t entry_count,
                         size_t size_bytes) noexcept override;
#endif

  // The maximum of a blob's bytes besides the units and a key codec of more
  // than two segments; tests check it.
  static constexpr size_t kBlobOverheadBytes = 80;
  // See above.
  static constexpr int64_t kFixedMemoryBytes = 8 << 10;
  static constexpr int64_t kFinishMemoryBytes = 3 << 20;

 private:
  // The latest two distinct filter keys of one key level, the last first.
  using Run = std::array<std::optional<KeyDigest>, 2>;

  std::string_view Last() const { return {last_buffer_.data(), last_size_}; }
  // True if the first `size` bytes of the last entry are all of it, or a
  // prefix.
  bool IsRepeated(size_t size) const;
  // Keeps an entry that begins with `common_size` bytes of the last one.
  void KeepLast(std::string_view entry, size_t common_size);
  void Add(KeyDigest digest, Run* run);
  void AddToFilter(KeyDigest digest);
  // The filter of all that was added. If the result is verified: Corruption if
  // the filter denies any of it, as after a bit that flipped in the digests.
  rdb::Status FinishFilter(EncodedFilter* filter);
  // Sets the bits at which the filter and its blob take those of the spec.
  void SetBits();
  // Adds the keys carried over from the previous partition.
  void AddCarried();
  // Adds the prefixes that the separator behind the last entry may be. False if
  // there are too many candidates.
  bool AddSeparators();

  const RocksDbOptions options_;
  const bool verify_result_;
  const std::string metadata_;
  const size_t overhead_bytes_;
  const FilterSpec weakest_spec_;  // That of the fewest bits.
  const size_t key_level_count_;
  // With more key levels, it is cheaper to keep the last entry than to read and
  // hash the prefixes of each from its beginning.
  static constexpr size_t kMaxKeyLevelsReadAgain = 2;
  const bool adds_separators_;
  const bool keeps_last_;
  const std::unique_ptr<FilterBuilder> filter_;
  // A copy of what `filter_` was given, if the result is verified.
  std::deque<KeyDigest> added_;
  bool has_last_ = false;
  // Begins with the last entry, if that is kept. It never shrinks: most entries
  // change few bytes of it.
  std::string last_buffer_;
  size_t last_size_ = 0;
  KeyCodec::Prefixes prefixes_;
  // Key levels alternate, so repeats are dropped in each key level separately.
  // The first run is also that of entries without prefixes.
  std::array<Run, KeyCodec::kMaxSegments> runs_;
  std::optional<std::string> last_prefix_;  // That of AddKeyAndAlt().
  bool at_partition_start_ = false;
  // The bytes of all filters so far beyond the bits of the spec, and those of
  // the last blob beside its units.
  double excess_bytes_ = 0;
  size_t last_overhead_bytes_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_ROW_FILTER_BUILDER_H_
