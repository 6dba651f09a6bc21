// SPDX-License-Identifier: Apache-2.0
//
// Answers "may this SST hold the row?" from the SST's filter block.
//
//   auto reader = FilterReader::Open(source, {offset, size}, options);
//   if (!reader.ok()) return ReadWithoutFilter();  // Never an empty answer.
//   if (!(*reader)->MayContain("user17")) return NotFound();
//
// An engine that must not wait for a read in a lookup asks and offers:
//
//   FilterLoad load;
//   FilterAnswer answer = (*reader)->Ask(key, &load);    // No I/O.
//   if (answer == FilterAnswer::kNotInMemory) {
//     answer = (*reader)->Offer(load, co_await Read(load), key);
//   }
//   if (answer == FilterAnswer::kNo) return NotFound();
//
// Immutable after Open(); all methods may run on any number of threads.
// `source`, options.cache and options.stats must outlive the reader. Bytes:
// docs/filter_block_format.md.
//
// Loading. A lookup of a chunk that is not in memory loads it only if that pays
// (docs/embedding.md); until then the answer is "maybe". The cache is filled
// once for free. Afterwards filters must have saved the bytes that loads cost,
// and lookups without the chunk must have wasted half of its load. Under memory
// pressure `compact` chunks drop fingerprint bits instead of being evicted.
//
// Waiting. MayContain() reads in the calling thread and waits for its own reads
// only. Lookups of a chunk that another thread is loading answer "maybe".
//
// Open() and Verify() are strict: DataLoss for damaged bytes, Unimplemented
// for a newer format, FailedPrecondition for a block that was written with
// another secret, and the source's own errors. MayContain(), Ask() and Offer()
// are lenient: a chunk that cannot be read answers "maybe" and is counted. A
// lookup whose chunk is in memory does no I/O and allocates nothing; nor does a
// batch, if all of its chunks are.
//
// Memory. The cache is charged for chunks and for readers: 352 bytes, the index
// and properties of the block, and 38 bytes a chunk. Readers get half of the
// cache; beyond that their memory counts as Usage::index_bytes_outside, and
// is_within_capacity() is false. The filter of a block's only chunk, if it has
// at most 256 bytes, is part of the reader. Also outside are loads under way (a
// thread that loads holds its chunk up to twice, and up to 32 MiB of others in
// a batch, 4 in a prefetch) and counters: 16 bytes for each reader and each
// thread that asks it, in pages of 4 KiB, up to 1 MiB a thread. Later readers
// and threads use the pages again; they are never freed.

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

namespace rowbloom::internal::reader {
class BlockReader;
}

namespace ROWBLOOM_EXPORT rowbloom {

enum class FilterLoading : uint8_t {
  kWhenItPays,
  // Each lookup of a missing chunk loads all of it, unless its last load failed
  // a moment ago. Threads that miss it at the same time all read it.
  kAlways,
};

struct FilterReaderOptions {
  // The cache of chunks that readers share. nullptr: the reader makes one of
  // its own, of ShardedLruCacheOptions' default capacity.
  FilterCache* cache = nullptr;
  // Optional.
  FilterStats* stats = nullptr;
  // The file's id in the cache. Must be below 2^63, or Open() returns
  // InvalidArgument. 0 takes a fresh one, whose chunks leave the cache with the
  // reader. Two readers of the same immutable block may share an id, and then
  // share chunks. Never give one id to two different blocks. Their readers
  // displace each other's chunks, and one may answer for the other, which loses
  // rows: by chance for one of 2^64 pairs of blocks, or one of 2^32 if the
  // blocks agree in spec, counts, the index's keys and the last key. Someone
  // who chooses the rows can bring that about.
  uint64_t file_id = 0;
  // Where the file is in the tree, for statistics.
  int level = FilterStats::kUnknownLevel;
  // The priority of the chunks in the cache. If it is kPinned and the engine
  // gave the file_id, they stay when the reader goes, until EraseFile(file_id).
  FilterCachePriority priority = FilterCachePriority::kNormal;
  FilterLoading loading = FilterLoading::kWhenItPays;
  // If true, Open() loads chunks in order until the cache is full. Chunks that
  // cannot be read are counted, and are no error.
  bool prefetch = false;
  // The bytes that the engine usually reads after a "maybe". TellOutcome() may
  // report better ones.
  uint64_t data_block_size_bytes = 4096;
  // Bytes of the first read, from the end, up to 64 MiB. FilterBlockInfo's
  // tail_size_bytes, if it is known, makes it the only one, of that size.
  // Blocks of up to 768 bytes are read as a whole; a filter of more than 256
  // bytes is read once more when it is asked.
  uint64_t tail_size_bytes = 16 << 10;
  // The secret of the store, if it has one: digest_secret.h.
  DigestSecret secret;
  Kernel kernel = Kernel::kBest;
};

// Where the block lies in its source. By default it is all of the source. An
// SST without a filter block has size_bytes 0: Open() returns NotFound.
struct FilterBlockRange {
  static constexpr uint64_t kToEnd = ~uint64_t{0};
  uint64_t offset = 0;
  uint64_t size_bytes = kToEnd;
};

// The properties that the block stores.
struct FilterBlockProperties {
  BloomType bloom_type = BloomType::kNone;
  uint32_t prefix_length_bytes = 0;
  bool has_row_keys = false;  // A row alone can be asked.
  // Its prefixes can be asked: the text of a KeyCodec, or empty. A
  // ROWPREFIX_FIXED_LENGTH block answers for prefixes without it.
  std::string key_codec;
  uint64_t cell_count = 0;  // Add() calls; 0 for bloom type NONE.
  uint64_t key_count = 0;   // Distinct filter keys.
  uint64_t chunk_count = 0;
  uint64_t filter_size_bytes = 0;          // The sum of all chunks.
  std::string filter_spec;                 // The writer's.
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

// The read that would bring a filter chunk into memory, or a more precise form
// of one that is there.
struct FilterLoad {
  uint64_t chunk = 0;
  uint64_t offset = 0;  // In the source.
  uint64_t size_bytes = 0;
  uint32_t steps = 0;  // Steps of precision in memory after it.
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
  // Open() without a read, from the last bytes of the block, which the engine
  // has read or has just written: FilterBlockWriter::tail(), or at least
  // FilterBlockInfo::tail_size_bytes of them. With fewer it returns OutOfRange
  // and says how many there are. `tail` may go when it returns. The tail of
  // another block loses rows; only Verify() notices. options.prefetch must be
  // false.
  static absl::StatusOr<std::unique_ptr<FilterReader>> OpenFromTail(
      const RandomAccessSource* source, const FilterBlockRange& range,
      std::string_view tail, const FilterReaderOptions& options);
  virtual ~FilterReader();
  FilterReader(const FilterReader&) = delete;
  FilterReader& operator=(const FilterReader&) = delete;

  // "May the SST hold a cell of this row?" On a ROWCOL block without row keys
  // it is always "maybe".
  bool MayContain(std::string_view row) const;
  // "May it hold this cell?" A ROW block answers for the row.
  bool MayContain(std::string_view row, std::string_view qualifier) const;
  // Uses the key's digests. A prefix is answered for the longest key level of
  // the block's key codec that it holds whole, or on a ROWPREFIX_FIXED_LENGTH
  // block for its first prefix_length_bytes; if there is none, with "maybe".
  bool MayContain(const FilterKey& key) const;
  // Many keys. may_contain[i] answers keys[i].
  void MayContain(absl::Span<const FilterKey> keys, bool* may_contain) const;
  // Many keys in many SSTs. Each missing chunk that pays is loaded, up to 32
  // MiB and one chunk of them by one call of ReadMany() for each group of
  // sources (io.h): a batch over cold files then waits for one read if its
  // source can have many under way, and for one more for each further 32 MiB.
  static void MayContain(absl::Span<const FilterQuestion> questions,
                         bool* may_contain) {
    if (questions.size() == 1 && questions[0].reader != nullptr &&
        questions[0].key != nullptr && may_contain != nullptr) {
      *may_contain = questions[0].reader->MayContain(*questions[0].key);
    } else {
      AskTogether(questions, may_contain);
    }
  }

  // MayContain() without its read. kNotInMemory sets *load: the engine reads
  // these bytes, in its own way, and gives them to Offer(). It may as well
  // treat the answer as kMaybe. Ask() does not remember its answers: others
  // that ask meanwhile get the same load. A lookup that is not offered counts
  // as a positive, and not as unloaded. `load` must not be null (checked).
  FilterAnswer Ask(const FilterKey& key, FilterLoad* load) const;
  // Checks the bytes of a load, gives the chunk to the cache, and answers the
  // key: kNo or kMaybe. `bytes` may go when it returns. An error status, and
  // damaged bytes, count as load_errors; then the chunk's next loads wait for
  // some lookups. If several lookups waited for one read, each offers its bytes
  // with its own key, once for its Ask(): once the chunk is in memory, Offer()
  // only answers.
  FilterAnswer Offer(const FilterLoad& load,
                     const absl::StatusOr<std::string_view>& bytes,
                     const FilterKey& key) const;

  // Reports what the engine found after a "maybe", and how many bytes it read
  // for it. Statistics and the choice of what to keep in memory use it.
  // `key_was_there`: the file has a cell of the key, even one that is deleted,
  // too new or too old to be returned, or a tombstone.
  static constexpr uint64_t kUnknownBytes = ~uint64_t{0};
  void TellOutcome(bool key_was_there,
                   uint64_t read_bytes = kUnknownBytes) const;

  // Reads the whole block and checks every checksum and invariant.
  absl::Status Verify() const;

  // Decoded from the bytes in memory by each call.
  FilterBlockProperties properties() const;
  // All chunks, in key order.
  std::vector<FilterChunkInfo> Chunks() const;
  // The chunk that a lookup of this key would ask; -1 if the index alone says
  // "no" or the key cannot be asked.
  int64_t ChunkOf(const FilterKey& key) const;
  uint64_t file_id() const;
  // The counters of this reader alone.
  FilterStatsSnapshot stats() const;
  // False if open readers take more than half of the cache, or of a shard of
  // it, at present: the rest is Usage::index_bytes_outside. Give the cache more
  // capacity, or open fewer SSTs.
  bool is_within_capacity() const;

 private:
  static void AskTogether(absl::Span<const FilterQuestion> questions,
                          bool* may_contain);

  friend class internal::reader::BlockReader;  // The only one that derives from
                                               // it.
  FilterReader() = default;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_READER_H_
