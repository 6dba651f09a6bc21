// SPDX-License-Identifier: Apache-2.0
//
// One Bloom filter of an open file: finds the chunk for a key, has it in
// memory, and asks it. It never says "no" for want of a chunk.

#ifndef ROWBLOOM_HFILE_BLOOM_FILTER_H_
#define ROWBLOOM_HFILE_BLOOM_FILTER_H_

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
#include "reader/chunk_slots.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

class BloomFilter {
 public:
  // A question. `hashed` is what the filter hashes, `key` what it orders by:
  // of ROWCOL all of it, else the row.
  struct Question {
    CellKey key;
    std::string_view hashed;
  };

  // DataLoss if the first keys are not keys in order. Cached chunks of another
  // `file_digest` are not ours. The digest covers what is loaded when the file
  // is opened: two files that differ only in their cells may have the same
  // one, hence the rule about ids in hfile.h.
  static absl::StatusOr<std::unique_ptr<BloomFilter>> Make(
      const BlockFormat& format, BloomMeta meta, bool is_rowcol,
      RowOrder row_order, const reader::ChunkPlace& place, uint64_t file_digest,
      const HFileReaderOptions& options);
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
  // Reads every chunk, in order, and puts it into the cache.
  void Prefetch() const;

 private:
  class CachedBits;

  BloomFilter(const BlockFormat& format, BloomMeta meta, bool is_rowcol,
              RowOrder row_order, const reader::ChunkPlace& place,
              uint64_t file_digest, const HFileReaderOptions& options);

  // Calls ask(bits) with what is in the cache or, if that is to be loaded, in
  // the file. False if the chunk cannot be had.
  template <typename AskFilter>
  bool AskMissing(size_t chunk, const AskFilter& ask) const;
  void Count(FilterCounter counter, uint64_t delta = 1) const {
    if (options_.stats != nullptr) options_.stats->Add(counter, delta);
  }

  const BlockFormat format_;
  const BloomMeta meta_;
  const bool is_rowcol_;
  const RowOrder row_order_;
  const uint64_t file_digest_;
  const HFileReaderOptions options_;
  std::vector<CellKey> first_keys_;  // Views into meta_.
  mutable reader::ChunkSlots slots_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_FILTER_H_
