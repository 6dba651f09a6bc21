// SPDX-License-Identifier: Apache-2.0
//
// Turns cells into the chunks of a Bloom filter: selects the keys of a bloom
// type, and seals full chunks.

#ifndef ROWBLOOM_HFILE_BLOOM_WRITER_H_
#define ROWBLOOM_HFILE_BLOOM_WRITER_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "hfile/bloom_chunk.h"
#include "hfile/bloom_meta.h"
#include "hfile/cell_key.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/hfile.h"

namespace rowbloom::hfile {

inline bool IsFamilyDelete(const HFileCell& cell) {
  return cell.type == HFileCell::kDeleteFamily ||
         cell.type == HFileCell::kDeleteFamilyVersion;
}

// The keys of a bloom type in cells that come in order. A key that repeats the
// previous one is skipped.
class BloomKeys {
 public:
  BloomKeys(BloomType type, uint32_t prefix_length_bytes)
      : type_(type), prefix_length_bytes_(prefix_length_bytes) {}

  // True if the cell has a key that differs from the previous key.
  bool Next(const HFileCell& cell);
  // The last key: as it is hashed and stored, and as it is ordered.
  std::string_view hashed() const { return hashed_; }
  CellKey key() const { return Parse(hashed_); }
  // True if the last key is after the previous one, as lookups require.
  bool InOrder(RowOrder row_order) const;
  uint64_t count() const { return count_; }

 private:
  CellKey Parse(std::string_view hashed) const;

  const BloomType type_;
  const uint32_t prefix_length_bytes_;
  std::string hashed_;
  std::string before_;
  uint64_t count_ = 0;
};

class BloomWriter {
 public:
  struct ReadyChunk {
    std::string bits;
    std::string first_key;
  };

  BloomWriter(BloomType type, uint32_t prefix_length_bytes, RowOrder row_order,
              HFileHash hash, const ChunkGeometry& geometry)
      : keys_(type, prefix_length_bytes),
        row_order_(row_order),
        hash_(hash),
        geometry_(geometry) {}

  // InvalidArgument if the cell's key is before that of another cell: cells
  // that are in order may have keys that are not.
  absl::Status Add(const HFileCell& cell);
  const BloomKeys& keys() const { return keys_; }

  // The next chunk to write: a full one or, if `closing`, also the last one.
  // The caller then calls ChunkWritten().
  std::optional<ReadyChunk> NextChunk(bool closing);
  void ChunkWritten(uint64_t offset, uint32_t size, std::string first_key);

  // Describes the chunks that were written, without a comparator.
  const BloomMeta& meta() const { return meta_; }

 private:
  void SealChunk();

  BloomKeys keys_;
  const RowOrder row_order_;
  const HFileHash hash_;
  const ChunkGeometry geometry_;
  std::optional<ChunkBuilder> open_;
  std::string first_key_;  // The open chunk's.
  std::deque<ReadyChunk> ready_;
  BloomMeta meta_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_WRITER_H_
