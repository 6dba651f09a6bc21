// SPDX-License-Identifier: Apache-2.0
//
// Answers "may this SST hold the row?" from the SST's filter block.
//
//   auto reader = FilterReader::Open(source, {offset, size}, options);
//   if (!reader.ok()) return ReadWithoutFilter();  // Never an empty answer.
//   if (!(*reader)->MayContain("user17")) return NotFound();
//
// Immutable after Open(); MayContain() may run on any number of threads.
// `source`, options.cache and options.stats must outlive the reader. Bytes:
// docs/filter_block_format.md.
//
// Open() and Verify() are strict: DataLoss for damaged bytes, Unimplemented
// for a newer format, I/O errors as they came, each with file and offset.
// MayContain() is lenient: whatever it cannot read answers "maybe" and is
// counted. On a cache hit it does no I/O, and a single lookup allocates nothing
// (a batch allocates one array).

#ifndef ROWBLOOM_FILTER_READER_H_
#define ROWBLOOM_FILTER_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"

namespace rowbloom {

struct FilterReaderOptions {
  // Shared cache of chunks. nullptr: each lookup reads its chunk.
  FilterCache* cache = nullptr;
  // Optional.
  FilterStats* stats = nullptr;
  // The file's id in the cache, below 2^63; 0 takes a fresh one, whose chunks
  // leave the cache with the reader. Two readers of the same immutable block
  // may share an id, and then share chunks. Under an id that two different
  // blocks use they displace each other's chunks, but never answer for each
  // other.
  uint64_t file_id = 0;
  // Bytes of the first read, from the end. Give FilterBlockInfo's
  // tail_size_bytes if it is known: exactly one read, of exactly that size.
  uint64_t tail_size_bytes = 16 << 10;
  Kernel kernel = Kernel::kBest;
};

// Where the block lies in its source. size_bytes 0: up to the source's end.
struct FilterBlockRange {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

// What the block says about itself.
struct FilterBlockProperties {
  BloomType bloom_type = BloomType::kNone;
  uint32_t prefix_length_bytes = 0;
  bool has_row_keys = false;  // A row alone can be asked.
  uint64_t cell_count = 0;    // Add() calls.
  uint64_t key_count = 0;     // Distinct filter keys.
  uint64_t chunk_count = 0;
  uint64_t filter_size_bytes = 0;          // Of all chunks.
  std::string policy;                      // What the writer was asked for.
  std::string writer;                      // "rowbloom 0.1.0"
  std::string first_row, first_qualifier;  // First and last filter key.
  std::string last_row, last_qualifier;
};

// One chunk, for tools.
struct FilterChunkInfo {
  std::string first_row, first_qualifier;
  bool first_has_qualifier = false;
  uint64_t offset = 0;  // In the source.
  FilterDescriptor descriptor;
};

class FilterReader {
 public:
  static absl::StatusOr<std::unique_ptr<FilterReader>> Open(
      const RandomAccessSource* source, const FilterBlockRange& range,
      const FilterReaderOptions& options);
  ~FilterReader();
  FilterReader(const FilterReader&) = delete;
  FilterReader& operator=(const FilterReader&) = delete;

  // "May the SST hold a cell of this row?" On a ROWCOL block without row keys
  // it is always "maybe".
  bool MayContain(std::string_view row) const;
  // "May it hold this cell?" A ROW block answers for the row.
  bool MayContain(std::string_view row, std::string_view qualifier) const;
  // The same with the digest already computed.
  bool MayContain(const FilterKey& key) const;
  // Many at once: each needed chunk is fetched once.
  // may_contain[i] answers keys[i].
  void MayContain(absl::Span<const FilterKey> keys, bool* may_contain) const;

  // Reads the whole block and checks every checksum and invariant.
  absl::Status Verify() const;

  const FilterBlockProperties& properties() const;
  // All chunks, in key order.
  std::vector<FilterChunkInfo> Chunks() const;
  // The chunk that a lookup of this key would ask; -1 if the index alone says
  // "no" or the key cannot be asked.
  int64_t ChunkOf(const FilterKey& key) const;
  uint64_t file_id() const;

 private:
  class Impl;
  explicit FilterReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_READER_H_
