// SPDX-License-Identifier: Apache-2.0
//
// One Bloom filter of an open file: finds the chunk of a key, loads it into
// memory, and looks the key up. A missing chunk never makes it answer "no".

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
#include "cache/cached_chunks.h"
#include "hfile/block.h"
#include "hfile/bloom_meta.h"
#include "hfile/cell_key.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

class BloomFilter {
 public:
  // A question. The filter hashes `hashed` and orders by `key`: by all of it
  // for ROWCOL, else by the row.
  struct Question {
    CellKey key;
    std::string_view hashed;
  };

  // DataLoss if the first keys are not keys in order. Cached chunks with
  // another `file_digest` are foreign. The digest covers the section that is
  // loaded when the file is opened: two files that differ only in their cells
  // may have the same digest. This is the reason for the rule about ids in
  // hfile.h.
  static absl::StatusOr<std::unique_ptr<BloomFilter>> Make(
      const BlockFormat& format, BloomMeta meta, bool is_rowcol,
      RowOrder row_order, const internal::cache::CachedChunksOptions& cached,
      uint64_t file_digest, const HFileReaderOptions& options);
  BloomFilter(const BloomFilter&) = delete;
  BloomFilter& operator=(const BloomFilter&) = delete;

  int Compare(const CellKey& a, const CellKey& b) const {
    return is_rowcol_ ? CompareCellKeys(row_order_, a, b)
                      : CompareRows(row_order_, a.row, b.row);
  }
  // Parses a key as the filter stores it.
  bool ParseKey(std::string_view bytes, CellKey* key) const;

  bool MayContain(const Question& question) const;
  // Answers as MayContain() does, and describes the lookup in *probe. *status
  // is the error if a chunk could not be read.
  bool Explain(const Question& question, HFileProbe* probe,
               absl::Status* status) const;
  // Reads the chunk's bits from the source; checks only that they are well
  // formed.
  absl::StatusOr<std::string> ReadChunk(size_t chunk) const;
  // Takes the offsets of the Bloom chunks of all filters of the file, sorted.
  // Each chunk's header has the offset of the chunk before it: with both, a
  // chunk that was written to another's place is seen. Call it before the first
  // lookup.
  void TakeChunkOrder(const std::vector<uint64_t>& offsets);
  // Reads every chunk, in order, and puts it into the cache.
  void Prefetch() const;

 private:
  class CachedBits;

  BloomFilter(const BlockFormat& format, BloomMeta meta, bool is_rowcol,
              RowOrder row_order,
              const internal::cache::CachedChunksOptions& cached,
              uint64_t file_digest, const HFileReaderOptions& options);

  // -1 if the key is before the first chunk, and so not in the filter.
  int64_t FindChunk(const CellKey& key) const;
  // Calls ask(bits) with the bits in the cache or, if they are not there, in
  // the file. Returns false if the chunk is not available.
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
  // For each chunk, the offset of the chunk before it in the file, or -1.
  std::vector<int64_t> previous_offsets_;
  mutable internal::cache::CachedChunks chunks_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_FILTER_H_
