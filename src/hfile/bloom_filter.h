// SPDX-License-Identifier: Apache-2.0
//
// One Bloom filter of an open file: finds the chunk for a key, has it in
// memory, and asks it. It never says "no" for want of a chunk.

#ifndef ROWBLOOM_HFILE_BLOOM_FILTER_H_
#define ROWBLOOM_HFILE_BLOOM_FILTER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hfile/block.h"
#include "hfile/bloom_meta.h"
#include "hfile/cell_key.h"
#include "reader/single_flight.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

// Where the chunks of a filter are in the cache.
struct CachePlace {
  uint64_t file_id = 0;
  bool is_private = true;  // No other reader uses the id.
  uint64_t first_chunk = 0;
  // Chunks of a file that says something else about itself are not ours. It is
  // of what is loaded when the file is opened: two files that differ only in
  // their cells may have one digest. Hence the rule about ids in hfile.h.
  uint64_t file_digest = 0;
};

class BloomFilter {
 public:
  // A question. `hashed` is what the filter hashes, `key` what it orders by:
  // of ROWCOL all of it, else the row.
  struct Question {
    CellKey key;
    std::string_view hashed;
  };

  // DataLoss if the first keys are not keys in order.
  static absl::StatusOr<std::unique_ptr<BloomFilter>> Make(
      const BlockFormat& format, BloomMeta meta, bool is_rowcol,
      RowOrder row_order, const CachePlace& place,
      const HFileReaderOptions& options);
  ~BloomFilter();
  BloomFilter(const BloomFilter&) = delete;
  BloomFilter& operator=(const BloomFilter&) = delete;

  const BloomMeta& meta() const { return meta_; }
  int Compare(const CellKey& a, const CellKey& b) const {
    return is_rowcol_ ? CompareCellKeys(row_order_, a, b)
                      : CompareRows(row_order_, a.row, b.row);
  }
  // Parses a key as the filter stores it.
  bool ParseKey(std::string_view bytes, CellKey* key) const;

  bool MayContain(const Question& question) const;
  // The same, and how. *status is why a chunk could not be asked.
  bool Explain(const Question& question, HFileProbe* probe,
               absl::Status* status) const;
  // -1: before the first one, and so not in the filter.
  int64_t FindChunk(const CellKey& key) const;
  // Its bits, from the source. Says no more than that they are well formed.
  absl::StatusOr<std::string> ReadChunk(size_t chunk) const;
  // Into the cache, as far as there is room.
  void Prefetch() const;

 private:
  using Bits = std::shared_ptr<const std::string>;
  class CachedBits;
  // Aligned so that lookups of one chunk do not disturb those of another.
  struct alignas(64) Slot {
    FilterCache::Hint hint;
    // It was found to be damaged, and is not read again.
    std::atomic<bool> is_damaged{false};
  };

  BloomFilter(const BlockFormat& format, BloomMeta meta, bool is_rowcol,
              RowOrder row_order, const CachePlace& place,
              const HFileReaderOptions& options);

  FilterCacheKey CacheKey(size_t chunk) const {
    return {place_.file_id, place_.first_chunk + chunk};
  }
  // Null if the chunk cannot be had.
  Bits GetBits(size_t chunk) const;
  Bits LookUp(size_t chunk) const;
  Bits Load(size_t chunk) const;
  void Count(FilterCounter counter, uint64_t delta = 1) const {
    if (options_.stats != nullptr) options_.stats->Add(counter, delta);
  }

  const BlockFormat format_;
  const BloomMeta meta_;
  const bool is_rowcol_;
  const RowOrder row_order_;
  const CachePlace place_;
  const HFileReaderOptions options_;
  std::vector<CellKey> first_keys_;  // Views into meta_.
  mutable std::vector<Slot> slots_;
  mutable reader::SingleFlight<Bits> flights_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_FILTER_H_
