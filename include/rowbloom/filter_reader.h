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
// What is loaded when. A lookup that needs a chunk that is not in memory loads
// it, if that pays: the cache's ledger (filter_ledger.h) has to allow it, and
// once its grants are used up, lookups of the chunk have to have wasted half of
// what loading it costs. Until then the answer is "maybe". Of a compact chunk
// only as many columns are kept as it is asked for: those whose savings, for
// each byte of memory, are worth the cache's price (FilterCache::Price).
//
// Open() and Verify() are strict: DataLoss for damaged bytes, Unimplemented
// for a newer format, FailedPrecondition for a block that was written with
// another secret, I/O errors as they came, each with file and offset.
// MayContain() is lenient: whatever it cannot read answers "maybe" and is
// counted. On a cache hit it does no I/O, and a single lookup allocates nothing
// (a batch does).
//
// The cache is charged for chunks and the chunk index. An index for which it
// has no room is in memory all the same. Counters are not charged: 16 bytes for
// each reader and each thread that asks it, in pages of 4 KiB, up to 1 MiB a
// thread. Later readers and threads use them again; they are never freed.

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
#include "rowbloom/digest_secret.h"
#include "rowbloom/export.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/io.h"

namespace ROWBLOOM_EXPORT rowbloom {

enum class FilterLoading : uint8_t {
  kWhenItPays,
  kAlways,  // At the first lookup, with all columns.
};

struct FilterReaderOptions {
  // Shared cache of chunks. nullptr: each lookup reads its chunk.
  FilterCache* cache = nullptr;
  // Optional.
  FilterStats* stats = nullptr;
  // Optional. Remembers the keys of TellOutcome(key, false), so that a false
  // positive costs one read only. Its capacity bounds what is remembered. If
  // it is `cache`, Open() returns InvalidArgument.
  FilterCache* false_positive_memo = nullptr;
  // The file's id in the cache, below 2^63: of another one Open() says
  // InvalidArgument. 0 takes a fresh one, whose chunks leave the cache with the
  // reader. Two readers of the same immutable block may share an id, and then
  // share chunks. Never give one id to two different blocks. Their readers
  // displace each other's chunks, and one may answer for the other, which loses
  // rows: by chance for one of 2^64 pairs of blocks, or one of 2^32 if the
  // blocks agree in offset, policy, counts, first keys and last key. Someone
  // who chooses the rows can bring that about.
  uint64_t file_id = 0;
  // Where the file is in the tree, for statistics.
  int level = FilterStats::kUnknownLevel;
  // The priority of the chunks in the cache. If it is kPinned and the engine
  // gave the file_id, they stay when the reader goes, until EraseFile(file_id).
  FilterCachePriority priority = FilterCachePriority::kLow;
  FilterLoading loading = FilterLoading::kWhenItPays;
  // Whether Open() loads chunks, the first ones first, as many as the cache has
  // free room for. Chunks that cannot be read are counted, and are no error.
  bool prefetch = false;
  // What a "maybe" usually makes the engine read. TellOutcome() may know
  // better.
  uint64_t data_block_size_bytes = 4096;
  // Bytes of the first read, from the end. Give FilterBlockInfo's
  // tail_size_bytes if it is known: exactly one read, of exactly that size.
  uint64_t tail_size_bytes = 16 << 10;
  // The secret of the store, if it has one: digest_secret.h.
  DigestSecret secret;
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

// One chunk, for tools. Its first key is a lower bound of its filter keys, and
// usually shorter than them: only the block's first key is stored in full.
struct FilterChunkInfo {
  std::string first_row, first_qualifier;
  bool first_has_qualifier = false;
  uint64_t offset = 0;  // In the source.
  FilterDescriptor descriptor;
};

class FilterReader;

// A lookup of a key in one of many SSTs.
struct FilterQuestion {
  const FilterReader* reader = nullptr;
  const FilterKey* key = nullptr;
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

  // The same over many SSTs. Chunks that have to be loaded and lie together in
  // a source are read together, in order of offset.
  static void MayContain(absl::Span<const FilterQuestion> questions,
                         bool* may_contain);

  // What the engine found after a "maybe", and how many bytes it read for it.
  // `key_was_there`: the file has a cell of the key, any cell: one that is
  // deleted, too new or too old to be returned counts, and so does a tombstone.
  // With a memo of false positives a wrong "false" loses the row.
  // Feeds the statistics, the choice of what to keep in memory and, if there is
  // one, the memo of false positives.
  static constexpr uint64_t kUnknownBytes = ~uint64_t{0};
  void TellOutcome(const FilterKey& key, bool key_was_there,
                   uint64_t read_bytes = kUnknownBytes) const;

  // Reads the whole block and checks every checksum and invariant.
  absl::Status Verify() const;

  const FilterBlockProperties& properties() const;
  // All chunks, in key order.
  std::vector<FilterChunkInfo> Chunks() const;
  // The chunk that a lookup of this key would ask; -1 if the index alone says
  // "no" or the key cannot be asked.
  int64_t ChunkOf(const FilterKey& key) const;
  uint64_t file_id() const;
  // Of this reader alone.
  FilterStatsSnapshot stats() const;
  // Of each chunk, the steps of precision in memory (FilterSteps()); 0 if it is
  // not. Only what this reader loaded, and only for caches that keep hints.
  std::vector<uint32_t> LoadedSteps() const;

 private:
  class Impl;
  explicit FilterReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_READER_H_
