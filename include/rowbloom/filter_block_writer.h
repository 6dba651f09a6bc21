// SPDX-License-Identifier: Apache-2.0
//
// Turns cells in flush order into a filter block.
//
//   FilterBlockWriter writer(options, &sink);
//   for (const Cell& c : memtable) writer.Add(c.row, c.qualifier);
//   absl::StatusOr<FilterBlockInfo> info = writer.Finish();
//   // Keep info->size_bytes (and info->tail_size_bytes) with the SST.
//
// Calls match  Add* Finish : Add() after Finish() is checked, a second Finish()
// returns FailedPrecondition. One thread. Memory: the digests of one open
// chunk, the chunk being written, a few keys, and for each chunk some 20 bytes
// and the bytes that its first filter key shares with the key before it. Bytes:
// docs/filter_block_format.md.
//
// Errors are kept and returned by Finish: the sink's own, and InvalidArgument
// for cells out of order or bad options. The sink then holds no filter block,
// and the SST must be read without one.

#ifndef ROWBLOOM_FILTER_BLOCK_WRITER_H_
#define ROWBLOOM_FILTER_BLOCK_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/digest_secret.h"
#include "rowbloom/export.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/io.h"
#include "rowbloom/key_codec.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct FilterOptions {
  BloomType bloom_type = BloomType::kRow;
  // Bytes of the row that are the filter key, for ROWPREFIX_FIXED_LENGTH
  // only: 1 to 65535. A shorter row is its own prefix.
  uint32_t prefix_length_bytes = 0;
  FilterSpec filter_spec;
  // A chunk is closed when its filter reaches this size: 256 bytes to 1 GiB.
  // HBase's name: io.storefile.bloom.block.size.
  uint32_t chunk_size_bytes = 128 << 10;
  // ROWCOL only: also add each row, so that row lookups are answered too.
  bool rowcol_adds_rows = true;
  // The secret of the store, if it has one: digest_secret.h.
  DigestSecret secret;
  // ROW and ROWCOL only: also add the prefixes of each row that end a key level
  // of this key codec, for lookups of FilterKey::Prefix(). Rows are flat keys
  // of it, or any other bytes: a row that holds no whole segment adds none.
  // Prefixes that whole rows are equal to count as rows. ROWPREFIX_FIXED_LENGTH
  // blocks need none to answer these lookups.
  std::optional<KeyCodec> key_codec;
};

absl::Status ValidateFilterOptions(const FilterOptions& options);

struct FilterBlockInfo {
  uint64_t size_bytes = 0;       // All bytes appended to the sink.
  uint64_t tail_size_bytes = 0;  // The last bytes, which Open() needs.
  uint64_t key_count = 0;        // Distinct filter keys.
  uint64_t chunk_count = 0;
  uint64_t saturated_keys = 0;  // EncodedFilter::saturated_keys of all chunks.
};

// Sees each chunk when it is written: see filter_warmer.h. Calls match
// OnChunk* OnFinish? ; a block that could not be written has no OnFinish. An
// exception that leaves one ends the process (std::terminate).
class FilterChunkObserver {
 public:
  virtual ~FilterChunkObserver() = default;

  virtual void OnChunk(uint64_t chunk, const EncodedFilter& filter) = 0;
  // `identity` is a hash of the block's chunk index and properties.
  virtual void OnFinish(uint64_t identity) = 0;
};

class FilterBlockWriter {
 public:
  // `sink`, which must not be null (checked), and `observer`, if there is one,
  // must outlive the writer.
  FilterBlockWriter(const FilterOptions& options, ByteSink* sink,
                    FilterChunkObserver* observer = nullptr);
  ~FilterBlockWriter();
  FilterBlockWriter(const FilterBlockWriter&) = delete;
  FilterBlockWriter& operator=(const FilterBlockWriter&) = delete;

  // Takes cells in order of (row, qualifier); versions of a cell may repeat.
  // Bloom type NONE accepts and drops them.
  void Add(std::string_view row, std::string_view qualifier);
  // Takes a key with its digests, as a memtable with a filter keeps them, and
  // hashes nothing except prefixes. ROWCOL needs keys with a qualifier
  // (checked).
  void Add(const FilterKey& cell);

  // Ends the block. Without cells the block answers "no" to every lookup that
  // its bloom type can answer.
  absl::StatusOr<FilterBlockInfo> Finish();
  // The last bytes of the block, which FilterReader::OpenFromTail() takes, as
  // long as the writer lives: at least info->tail_size_bytes. Empty unless
  // Finish() returned OK.
  std::string_view tail() const;

 private:
  class ROWBLOOM_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_BLOCK_WRITER_H_
