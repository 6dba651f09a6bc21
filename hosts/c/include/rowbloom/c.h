// SPDX-License-Identifier: Apache-2.0
//
// rowbloom in C, for every language that calls C: filters over bytes of one's
// own, filter blocks of SSTs with their reader and cache, key codecs, and
// filters in memory. docs/bindings.md lists the packages of other languages.
//
//   rowbloom_error error;
//   rowbloom_builder* builder = NULL;
//   rowbloom_buffer filter = {0};
//   if (rowbloom_builder_new("compact:bits_per_key=10", &builder, &error) != 0)
//     return puts(error.message);
//   rowbloom_builder_add(builder, "user17", 6, NULL, 0);
//   if (rowbloom_builder_finish(builder, &filter, &error) == 0) ...
//
// Stability. Within a major version of rowbloom, functions and constants are
// added to this header, and no function, struct or constant is changed or
// removed. A later major version that does so has another ROWBLOOM_ABI; it is
// the number in the library's SONAME.
//
// Keys. `row, row_size, qualifier, qualifier_size` are a cell, or the row alone
// if `qualifier` is NULL and `qualifier_size` is 0. An empty qualifier is a
// pointer other than NULL with size 0. A flat key is a row. Keys may have any
// bytes, which need not outlive the call. With NULL and ROWBLOOM_PREFIX a
// lookup of a reader asks for all rows that begin with `row`.
//
// Handles. A function that makes an object stores it in *out, or NULL if it
// fails. The caller frees it once, by the function whose name ends with _free,
// when no thread uses it; NULL is ignored. A reader keeps its cache and its
// statistics alive: their handles may be freed before it.
//
// Mistakes. A call with a NULL handle, with NULL and a size above 0, with a bad
// text, or out of order returns ROWBLOOM_INVALID_ARGUMENT or
// ROWBLOOM_FAILED_PRECONDITION; a lookup answers "maybe". No mistake of these
// ends the process.
//
// Memory. Where a call on a builder, a filter, a writer, a codec, a budget or
// a memory filter finds no memory, it returns ROWBLOOM_RESOURCE_EXHAUSTED. A
// call on a cache, statistics, a reader or a writer with a cache then ends the
// process, as in C++: they share locks. No exception leaves the library, and
// none may leave a callback.
//
// Texts of `options` are `name=value;name=value`; NULL or "" are the defaults.
// An empty value is refused unless the table of the options names it.
//
// Threads. Each group says how many threads may call it at once. Sizes are in
// bytes. Texts are UTF-8 and end with a zero byte.

#ifndef ROWBLOOM_C_H_
#define ROWBLOOM_C_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ROWBLOOM_API __attribute__((visibility("default")))
#else
#define ROWBLOOM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------
// Versions and errors
// ---------------------------------------------------------------------------

#define ROWBLOOM_ABI 1

// The version of the library that the program runs with, such as "0.1.0", and
// its ROWBLOOM_ABI. A program that loads the library itself compares the
// latter with that of its own header.
ROWBLOOM_API const char* rowbloom_version(void);
ROWBLOOM_API uint32_t rowbloom_abi(void);

// The size of a qualifier that is NULL if `row` is a prefix. A block answers if
// it was written with a key_codec, for the longest prefix of its key levels in
// `row`, or if its bloom type is ROWPREFIX_FIXED_LENGTH; others say "maybe".
#define ROWBLOOM_PREFIX SIZE_MAX

// The codes have the numbers of absl::StatusCode, as in gRPC. Callbacks may
// return the other codes up to 16, too.
typedef int32_t rowbloom_code;
enum {
  ROWBLOOM_OK = 0,
  ROWBLOOM_UNKNOWN = 2,
  ROWBLOOM_INVALID_ARGUMENT = 3,
  ROWBLOOM_NOT_FOUND = 5,
  ROWBLOOM_RESOURCE_EXHAUSTED = 8,
  ROWBLOOM_FAILED_PRECONDITION = 9,
  ROWBLOOM_OUT_OF_RANGE = 11,
  ROWBLOOM_UNIMPLEMENTED = 12,  // A newer format.
  ROWBLOOM_INTERNAL = 13,
  ROWBLOOM_UNAVAILABLE = 14,
  ROWBLOOM_DATA_LOSS = 15  // Damaged bytes.
};

// Belongs to the caller, who usually has it on the stack. A call overwrites it
// with the code that it returns and with a message, which is empty for
// ROWBLOOM_OK; a longer one is cut. A call may be given NULL instead.
typedef struct rowbloom_error {
  rowbloom_code code;
  char message[1020];
} rowbloom_error;

// Bytes that the library allocates for the caller, who sets all fields to zero
// before the first use and frees it after the last. A call that fills a buffer
// replaces its content, reuses its memory, and may move it; if the call fails,
// the size is 0. The input of the call may lie in it; two results need two
// buffers. A zero byte, which `size` does not count, follows the data.
typedef struct rowbloom_buffer {
  char* data;
  size_t size;
  size_t capacity;
} rowbloom_buffer;

// Sets all fields to zero. NULL is allowed.
ROWBLOOM_API void rowbloom_buffer_free(rowbloom_buffer* buffer);

// ---------------------------------------------------------------------------
// Filters over bytes of one's own
// ---------------------------------------------------------------------------
//
// For a host that keeps filters in a container of its own. Keys come in any
// order. A builder belongs to one thread at a time. Bytes:
// docs/filter_block_format.md, section "Filter blob".

typedef struct rowbloom_builder rowbloom_builder;

// `spec` is "FAMILY", "FAMILY:bits_per_key=B" or "FAMILY:target_fpr=R"; the
// families are in docs/filter_families.md. NULL: compact with 10 bits.
ROWBLOOM_API rowbloom_code rowbloom_builder_new(const char* spec,
                                                rowbloom_builder** out,
                                                rowbloom_error* error);
// Adds a row, or a cell. A cell does not add its row: to ask for both, add
// both. rowbloom_builder_finish() returns the first mistake, so that no filter
// lacks a key.
ROWBLOOM_API void rowbloom_builder_add(rowbloom_builder* builder,
                                       const void* row, size_t row_size,
                                       const void* qualifier,
                                       size_t qualifier_size);
// Encodes the keys that were added. The builder is empty afterwards, even if
// the call fails; where it finds no memory, it may keep the keys and the first
// mistake instead. A filter without keys answers "maybe".
ROWBLOOM_API rowbloom_code rowbloom_builder_finish(rowbloom_builder* builder,
                                                   rowbloom_buffer* filter,
                                                   rowbloom_error* error);
ROWBLOOM_API void rowbloom_builder_free(rowbloom_builder* builder);

// A view over a filter's bytes, which must outlive it and not change, at any
// alignment. Any number of threads may ask it.
typedef struct rowbloom_filter rowbloom_filter;

// Checks the structure of the bytes in O(1), but not the checksum of each unit:
// ROWBLOOM_DATA_LOSS for damage, ROWBLOOM_UNIMPLEMENTED for a newer version.
ROWBLOOM_API rowbloom_code rowbloom_filter_open(const void* bytes, size_t size,
                                                rowbloom_filter** out,
                                                rowbloom_error* error);
// False: the key was certainly not added. Allocates nothing. Call
// rowbloom_filter_verify() first on bytes that may be damaged: without it they
// may answer false for a key that was added.
ROWBLOOM_API bool rowbloom_filter_may_contain(const rowbloom_filter* filter,
                                              const void* row, size_t row_size,
                                              const void* qualifier,
                                              size_t qualifier_size);
// Compares all checksums.
ROWBLOOM_API rowbloom_code rowbloom_filter_verify(const void* bytes,
                                                  size_t size,
                                                  rowbloom_error* error);
ROWBLOOM_API void rowbloom_filter_free(rowbloom_filter* filter);

// ---------------------------------------------------------------------------
// Writing the filter block of an SST
// ---------------------------------------------------------------------------
//
// One thread at a time. Memory and bytes: rowbloom/filter_block_writer.h.

typedef struct rowbloom_writer rowbloom_writer;

// Appends all bytes, or returns another code than ROWBLOOM_OK and is not called
// again. `error` is never NULL, and all zero; rowbloom_writer_finish() returns
// a message that is written to it. Runs in the thread that calls the writer,
// which it must not call itself.
typedef rowbloom_code (*rowbloom_append_fn)(void* context, const void* bytes,
                                            size_t size, rowbloom_error* error);

// The caller keeps the two sizes with the SST.
typedef struct rowbloom_block_info {
  uint64_t size_bytes;       // All bytes that were appended.
  uint64_t tail_size_bytes;  // The last bytes, for rowbloom_reader_open().
  uint64_t key_count;        // Distinct filter keys.
  uint64_t chunk_count;
} rowbloom_block_info;

// | option              | default       | values                           |
// |---------------------|---------------|----------------------------------|
// | bloom_type          | ROW           | NONE, ROW, ROWCOL,               |
// |                     |               | ROWPREFIX_FIXED_LENGTH           |
// | prefix_length_bytes | 0             | 1 to 65535, with that type only  |
// | filter_spec         | compact       | as in rowbloom_builder_new()     |
// |                     |               | or empty: as bloom_type NONE     |
// | chunk_size_bytes    | 131072        | 256 to 2^30                      |
// | rowcol_adds_rows    | true          | true, false                      |
// | secret              |               | 32 hexadecimal digits; 32 zeros  |
// |                     |               | are no secret:                   |
// |                     |               | rowbloom/digest_secret.h         |
// | key_codec           |               | as in rowbloom_codec_new(): rows |
// |                     |               | are its keys, and their prefixes |
// |                     |               | can be asked                     |
ROWBLOOM_API rowbloom_code rowbloom_writer_new(const char* options,
                                               rowbloom_append_fn append,
                                               void* context,
                                               rowbloom_writer** out,
                                               rowbloom_error* error);
// Adds a cell, in bytewise order of (row, qualifier); cells may repeat. Every
// entry of the SST must be added, deletes too. A block of bloom type ROWCOL
// needs a qualifier. rowbloom_writer_finish() returns the first mistake.
ROWBLOOM_API void rowbloom_writer_add(rowbloom_writer* writer, const void* row,
                                      size_t row_size, const void* qualifier,
                                      size_t qualifier_size);
// Ends the block; nothing may be added after it. `info` may be NULL. If it
// fails, what was appended is no filter block, and the SST has no filter.
ROWBLOOM_API rowbloom_code rowbloom_writer_finish(rowbloom_writer* writer,
                                                  rowbloom_block_info* info,
                                                  rowbloom_error* error);
ROWBLOOM_API void rowbloom_writer_free(rowbloom_writer* writer);

// ---------------------------------------------------------------------------
// The cache of filter chunks, and statistics
// ---------------------------------------------------------------------------
//
// Readers share them. Any number of threads may call all but _free.

typedef struct rowbloom_cache rowbloom_cache;

// The capacity bounds the memory of chunks and open readers; see
// rowbloom/filter_cache.h.
ROWBLOOM_API rowbloom_code rowbloom_cache_new(uint64_t capacity,
                                              rowbloom_cache** out,
                                              rowbloom_error* error);
ROWBLOOM_API void rowbloom_cache_set_capacity(rowbloom_cache* cache,
                                              uint64_t capacity);
// Drops the chunks of a file_id that the caller chose.
ROWBLOOM_API void rowbloom_cache_erase_file(rowbloom_cache* cache,
                                            uint64_t file_id);
// The text has one line `name value` for each number.
ROWBLOOM_API rowbloom_code rowbloom_cache_usage(const rowbloom_cache* cache,
                                                rowbloom_buffer* text,
                                                rowbloom_error* error);

// The places of rowbloom_cache_numbers(). FilterCache::Usage in
// rowbloom/filter_cache.h says what each is.
enum {
  ROWBLOOM_CAPACITY_BYTES = 0,
  ROWBLOOM_USAGE_BYTES = 1,
  ROWBLOOM_PINNED_BYTES = 2,
  ROWBLOOM_RETIRED_BYTES = 3,
  ROWBLOOM_INDEX_BYTES_OUTSIDE = 4,  // Above 0: too small for its readers.
  ROWBLOOM_RESIDENT_BYTES = 5,
  ROWBLOOM_CHUNK_BYTES = 6,  // This and the next are parts of the usage.
  ROWBLOOM_INDEX_BYTES = 7,
  ROWBLOOM_ENTRIES = 8,
  ROWBLOOM_HITS = 9,
  ROWBLOOM_MISSES = 10,
  ROWBLOOM_INSERTS = 11,
  ROWBLOOM_EVICTIONS = 12,
  ROWBLOOM_SHRINKS = 13,
  ROWBLOOM_REJECTIONS = 14
};

// Stores the first `count` numbers, 0 for those that the library does not know,
// and returns how many it knows, or 0 for NULL. A later library may know more.
ROWBLOOM_API size_t rowbloom_cache_numbers(const rowbloom_cache* cache,
                                           uint64_t* numbers, size_t count);
ROWBLOOM_API void rowbloom_cache_free(rowbloom_cache* cache);

typedef struct rowbloom_stats rowbloom_stats;

enum {
  ROWBLOOM_LOOKUPS = 0,
  ROWBLOOM_NEGATIVES = 1,  // Answered "no".
  ROWBLOOM_TRUE_POSITIVES = 2,
  ROWBLOOM_FALSE_POSITIVES = 3,
  ROWBLOOM_UNLOADED = 4,  // "maybe", because the chunk was not in memory.
  ROWBLOOM_CHUNK_LOADS = 5,
  ROWBLOOM_CHUNK_LOAD_BYTES = 6,
  ROWBLOOM_LOAD_ERRORS = 7,
  ROWBLOOM_OPEN_ERRORS = 8,     // Only rowbloom_stats_add() counts these.
  ROWBLOOM_PREFIX_LOOKUPS = 9,  // Lookups of prefixes, also of no key level.
  ROWBLOOM_PREFIX_NEGATIVES = 10
};

ROWBLOOM_API rowbloom_code rowbloom_stats_new(rowbloom_stats** out,
                                              rowbloom_error* error);
// Ignores other counters than those above.
ROWBLOOM_API void rowbloom_stats_add(rowbloom_stats* stats, int32_t counter,
                                     uint64_t delta);
// Returns 0 for other counters than those above. The numbers are exact once the
// readers are quiet.
ROWBLOOM_API uint64_t rowbloom_stats_get(const rowbloom_stats* stats,
                                         int32_t counter);
// Sums over the files of one level of the tree; level -1 is the unknown one.
ROWBLOOM_API uint64_t rowbloom_stats_get_of_level(const rowbloom_stats* stats,
                                                  int32_t level,
                                                  int32_t counter);
// Stores the first `count` levels that were counted, in order, and returns how
// many there are. `levels` may be NULL if `count` is 0.
ROWBLOOM_API size_t rowbloom_stats_levels(const rowbloom_stats* stats,
                                          int32_t* levels, size_t count);
// ROWBLOOM_PREFIX_LOOKUPS or ROWBLOOM_PREFIX_NEGATIVES of a key level, from 1;
// otherwise 0.
ROWBLOOM_API uint64_t rowbloom_stats_get_of_key_level(
    const rowbloom_stats* stats, size_t key_level, int32_t counter);
// All counters by level, in Prometheus' text format.
ROWBLOOM_API rowbloom_code rowbloom_stats_prometheus(
    const rowbloom_stats* stats, rowbloom_buffer* text, rowbloom_error* error);
ROWBLOOM_API void rowbloom_stats_free(rowbloom_stats* stats);

// Writes the block and gives its chunks to the cache, as far as it has room:
// the first lookups of a reader with the same cache and file_id load nothing.
// Takes the options of rowbloom_writer_new(), and two of
// rowbloom_reader_open(): `file_id`, from 1, which must be given, and `pinned`.
// If the block is not finished, or never read, call
// rowbloom_cache_erase_file(). The writer keeps the cache alive.
// rowbloom/filter_warmer.h.
ROWBLOOM_API rowbloom_code rowbloom_writer_new_warm(
    const char* options, rowbloom_append_fn append, void* context,
    rowbloom_cache* cache, rowbloom_writer** out, rowbloom_error* error);

// ---------------------------------------------------------------------------
// Reading the filter block of an SST
// ---------------------------------------------------------------------------
//
// Any number of threads may call all but _free. Loading, waiting and memory:
// rowbloom/filter_reader.h.

typedef struct rowbloom_reader rowbloom_reader;

// Reads exactly `size` bytes at `offset` to `to`, or returns another code than
// ROWBLOOM_OK. `error` is never NULL, and all zero; a message that is written
// to it is passed on. The threads that open, verify and ask call it, several at
// once. It may call rowbloom, even with the same reader, cache and statistics,
// but must not free them.
typedef rowbloom_code (*rowbloom_read_fn)(void* context, uint64_t offset,
                                          void* to, size_t size,
                                          rowbloom_error* error);

// Bytes that do not change until the reader is freed. `context` must live as
// long; the struct itself and the name are copied.
typedef struct rowbloom_source {
  rowbloom_read_fn read;
  void* context;
  uint64_t size_bytes;
  const char* name;  // For messages, usually a path. May be NULL.
} rowbloom_source;

// The block lies at `offset` and has `size` bytes; size UINT64_MAX means up to
// the end of the source, and 0 an SST without a filter: ROWBLOOM_NOT_FOUND.
// Reads the block's tail. `cache` may be NULL: the reader then makes one of 32
// MiB. `stats` may be NULL.
//
// | option                | default      | meaning                         |
// |-----------------------|--------------|---------------------------------|
// | file_id               | 0: a new one | names the file in the cache, up |
// |                       |              | to 2^63 - 1; no two blocks may  |
// |                       |              | ever have the same              |
// | level                 | -1: unknown  | the file's, for statistics      |
// | pinned                | false        | chunks are never evicted        |
// | always_load           | false        | also loads chunks that do not   |
// |                       |              | pay                             |
// | prefetch              | false        | loads chunks now, until the     |
// |                       |              | cache is full                   |
// | data_block_size_bytes | 4096         | what a "maybe" usually costs    |
// | tail_size_bytes       | 16384        | rowbloom_block_info's makes it  |
// |                       |              | one read                        |
// | secret                |              | the writer's                    |
ROWBLOOM_API rowbloom_code rowbloom_reader_open(
    const rowbloom_source* source, uint64_t offset, uint64_t size,
    const char* options, rowbloom_cache* cache, rowbloom_stats* stats,
    rowbloom_reader** out, rowbloom_error* error);
// False: the SST does not hold the row, or the cell. May read in this thread.
ROWBLOOM_API bool rowbloom_reader_may_contain(const rowbloom_reader* reader,
                                              const void* row, size_t row_size,
                                              const void* qualifier,
                                              size_t qualifier_size);

// One key in many SSTs, as a point get asks: may_contain[i] is the answer of
// readers[i], and true if that is NULL. The key is hashed once. Languages whose
// calls of C cost more than a lookup make one call.
ROWBLOOM_API void rowbloom_readers_may_contain(
    const rowbloom_reader* const* readers, size_t count, const void* row,
    size_t row_size, const void* qualifier, size_t qualifier_size,
    bool* may_contain);

// A key, as the arguments of other lookups.
typedef struct rowbloom_key {
  const void* row;
  size_t row_size;
  const void* qualifier;
  size_t qualifier_size;
} rowbloom_key;

// rowbloom_builder_add() and rowbloom_writer_add() of each key in order, by one
// call.
ROWBLOOM_API void rowbloom_builder_add_many(rowbloom_builder* builder,
                                            const rowbloom_key* keys,
                                            size_t count);
ROWBLOOM_API void rowbloom_writer_add_many(rowbloom_writer* writer,
                                           const rowbloom_key* cells,
                                           size_t count);

// A lookup of a key in one of many SSTs.
typedef struct rowbloom_question {
  const rowbloom_reader* reader;
  size_t key;  // The index of one of the keys.
} rowbloom_question;

// Many keys in many SSTs: may_contain[i] is the answer of questions[i], and
// true if that has no reader or no key. Each key is hashed once. All chunks
// that are missing and pay are loaded together, 32 MiB at a time, those of a
// group of sources by one call of its read_many. It pays for cold files and for
// filters larger than the processor's caches; see docs/embedding.md.
ROWBLOOM_API void rowbloom_may_contain_many(const rowbloom_key* keys,
                                            size_t key_count,
                                            const rowbloom_question* questions,
                                            size_t count, bool* may_contain);

// One of the reads of a rowbloom_read_many_fn: reads exactly `size` bytes at
// `offset` of the source with this context to `to`, and sets `code`, which is
// ROWBLOOM_UNKNOWN before.
typedef struct rowbloom_read {
  void* context;
  uint64_t offset;
  void* to;
  size_t size;
  rowbloom_code code;
} rowbloom_read;

// Makes many reads, several at a time, and returns when all have ended. Is
// called as a rowbloom_read_fn is, but should not ask readers of its group if
// their reads could wait for its own. `context` is that of the group.
typedef void (*rowbloom_read_many_fn)(void* context, rowbloom_read* reads,
                                      size_t count);

// Sources with the same context, other than NULL, are a group, and must have
// the same read_many. It must live as long as the readers; the struct is
// copied.
typedef struct rowbloom_read_group {
  rowbloom_read_many_fn read_many;
  void* context;
} rowbloom_read_group;

// As rowbloom_reader_open(), of a source that can have many reads under way.
ROWBLOOM_API rowbloom_code rowbloom_reader_open_in_group(
    const rowbloom_source* source, const rowbloom_read_group* group,
    uint64_t offset, uint64_t size, const char* options, rowbloom_cache* cache,
    rowbloom_stats* stats, rowbloom_reader** out, rowbloom_error* error);

enum {
  ROWBLOOM_NO = 0,            // The SST does not hold the key.
  ROWBLOOM_MAYBE = 1,         // Read the SST.
  ROWBLOOM_NOT_IN_MEMORY = 2  // The load would answer.
};

// The read that would answer.
typedef struct rowbloom_load {
  uint64_t chunk;
  uint64_t offset;  // In the source.
  uint64_t size_bytes;
  uint32_t steps;
} rowbloom_load;

// The lookup that does no I/O. ROWBLOOM_NOT_IN_MEMORY sets *load: the caller
// reads these bytes in its own way and offers them, or goes on as for
// ROWBLOOM_MAYBE.
ROWBLOOM_API int32_t rowbloom_reader_ask(const rowbloom_reader* reader,
                                         const void* row, size_t row_size,
                                         const void* qualifier,
                                         size_t qualifier_size,
                                         rowbloom_load* load);
// Checks the bytes of a load, gives the chunk to the cache and answers
// ROWBLOOM_NO or ROWBLOOM_MAYBE. `bytes` need not outlive the call. A read that
// failed is offered with its `code`; the bytes are then ignored.
ROWBLOOM_API int32_t rowbloom_reader_offer(
    const rowbloom_reader* reader, const rowbloom_load* load,
    rowbloom_code code, const void* bytes, size_t size, const void* row,
    size_t row_size, const void* qualifier, size_t qualifier_size);

#define ROWBLOOM_UNKNOWN_BYTES UINT64_MAX

// Tells the reader what the caller found after a "maybe": if the SST had the
// key, even as a tombstone or with a version that is not returned, and how many
// bytes the caller read for it.
ROWBLOOM_API void rowbloom_reader_tell_outcome(const rowbloom_reader* reader,
                                               bool key_was_there,
                                               uint64_t read_bytes);
// A counter of this reader alone; 0 for others than those of rowbloom_stats.
ROWBLOOM_API uint64_t rowbloom_reader_get(const rowbloom_reader* reader,
                                          int32_t counter);

// Properties of a block: the first are numbers, those from 100 on are bytes.
// FilterBlockProperties in rowbloom/filter_reader.h says what each is.
enum {
  ROWBLOOM_BLOCK_CELLS = 0,
  ROWBLOOM_BLOCK_KEYS = 1,
  ROWBLOOM_BLOCK_CHUNKS = 2,
  ROWBLOOM_BLOCK_FILTER_BYTES = 3,
  ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES = 4,
  ROWBLOOM_BLOCK_HAS_ROW_KEYS = 5,  // 1 if a row alone can be asked.
  ROWBLOOM_BLOCK_FILE_ID = 6,       // The reader's.
  // 0 if the cache is too small for its readers: ROWBLOOM_INDEX_BYTES_OUTSIDE.
  ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY = 7,
  ROWBLOOM_BLOCK_BLOOM_TYPE = 100,
  ROWBLOOM_BLOCK_KEY_CODEC = 101,  // Empty for a block without one.
  ROWBLOOM_BLOCK_FILTER_SPEC = 102,
  ROWBLOOM_BLOCK_WRITER = 103,
  // The first and last filter key. With a key codec the first is a prefix of
  // the first row.
  ROWBLOOM_BLOCK_FIRST_ROW = 104,
  ROWBLOOM_BLOCK_FIRST_QUALIFIER = 105,
  ROWBLOOM_BLOCK_LAST_ROW = 106,
  ROWBLOOM_BLOCK_LAST_QUALIFIER = 107
};

// Both decode what is in memory and read nothing.
ROWBLOOM_API rowbloom_code rowbloom_reader_number(const rowbloom_reader* reader,
                                                  int32_t property,
                                                  uint64_t* number,
                                                  rowbloom_error* error);
ROWBLOOM_API rowbloom_code rowbloom_reader_bytes(const rowbloom_reader* reader,
                                                 int32_t property,
                                                 rowbloom_buffer* bytes,
                                                 rowbloom_error* error);
// Reads the whole block and checks every checksum.
ROWBLOOM_API rowbloom_code rowbloom_reader_verify(const rowbloom_reader* reader,
                                                  rowbloom_error* error);
ROWBLOOM_API void rowbloom_reader_free(rowbloom_reader* reader);

// ---------------------------------------------------------------------------
// False positives that are remembered
// ---------------------------------------------------------------------------
//
// A key that is absent and is asked again and again then costs one read; see
// rowbloom/false_positive_memo.h. Any number of threads may call all but _free.

typedef struct rowbloom_memo rowbloom_memo;

// The capacity bounds the memory of all entries.
ROWBLOOM_API rowbloom_code rowbloom_memo_new(uint64_t capacity,
                                             rowbloom_memo** out,
                                             rowbloom_error* error);
// True: the file was found not to have the key. False after a mistake.
ROWBLOOM_API bool rowbloom_memo_denies(const rowbloom_memo* memo,
                                       uint64_t file_id, const void* row,
                                       size_t row_size, const void* qualifier,
                                       size_t qualifier_size);
// Call it only if the file has no cell of the key, not even a tombstone or one
// that is too new or too old to be returned: otherwise rows are lost. A file_id
// must never name a second file.
ROWBLOOM_API void rowbloom_memo_remember(rowbloom_memo* memo, uint64_t file_id,
                                         const void* row, size_t row_size,
                                         const void* qualifier,
                                         size_t qualifier_size);
ROWBLOOM_API void rowbloom_memo_erase_file(rowbloom_memo* memo,
                                           uint64_t file_id);
ROWBLOOM_API void rowbloom_memo_free(rowbloom_memo* memo);

// ---------------------------------------------------------------------------
// A budget for the filters of a tree
// ---------------------------------------------------------------------------
//
// Gives each SST, when it is written, the bits per key that save the most
// reads: rowbloom/filter_budget.h and docs/memory_budget.md. One thread at a
// time.

typedef struct rowbloom_budget rowbloom_budget;

// | option           | default  | meaning                                     |
// |------------------|----------|---------------------------------------------|
// | family           | compact  | the filter family of all SSTs               |
// | bits_per_key     | 10       | the memory, for each key of the tree; none  |
// |                  |          | if memory_bytes alone is given              |
// | memory_bytes     |          | the memory; the smaller if both are given   |
// | mode             | balanced | balanced, hits_only, fixed                  |
// | missing_share    | 0.5      | the share of gets whose key is nowhere      |
// | max_bits_per_key | 24       | of each filter                              |
// | size_ratio       | 10       | the tree that is assumed where nothing      |
// | level_count      | 4        | better is known                             |
ROWBLOOM_API rowbloom_code rowbloom_budget_new(const char* options,
                                               rowbloom_budget** out,
                                               rowbloom_error* error);

#define ROWBLOOM_UNKNOWN_SHARE (-1.0)

// A run is what a get asks once: a level of a leveled tree, an SST of level 0.
typedef struct rowbloom_run {
  uint64_t key_count;
  double block_miss_share;  // The share of its data blocks read from storage.
  double absent_asks;       // The share of gets that ask it for a key that it
                            // does not have, or ROWBLOOM_UNKNOWN_SHARE.
} rowbloom_run;

// Tells the tree's filters, whenever it changed. `runs`: the newest first; NULL
// if they are not known. ROWBLOOM_INVALID_ARGUMENT changes nothing.
//
// | option        | default | meaning                                        |
// |---------------|---------|------------------------------------------------|
// | key_count     | 0       | keys of all SSTs                               |
// | filter_bytes  | 0       | the size of all filters                        |
// | moved_share   |         | the share of keys that enter the oldest run    |
// |               |         | with an SST that is not rewritten, if known    |
// | missing_share |         | as counted; replaces that of the budget        |
ROWBLOOM_API rowbloom_code rowbloom_budget_set_live(rowbloom_budget* budget,
                                                    const char* options,
                                                    const rowbloom_run* runs,
                                                    size_t count,
                                                    rowbloom_error* error);
// Fills in the filter_spec of an SST that is to be written, for
// rowbloom_writer_new(). It is empty if the SST is to have no filter.
//
// | option        | default | meaning                                        |
// |---------------|---------|------------------------------------------------|
// | is_flush      | false   | the SST is a memtable's                        |
// | is_bottommost | false   | no deeper level has an older version of a key  |
// | level         |         | it is written to it; 0 is the newest           |
// | level_count   |         | one more than the deepest level with SSTs      |
// | run_share     |         | of the tree's keys, of the run it is part of   |
ROWBLOOM_API rowbloom_code
rowbloom_budget_for_file(const rowbloom_budget* budget, const char* options,
                         rowbloom_buffer* filter_spec, rowbloom_error* error);
ROWBLOOM_API void rowbloom_budget_free(rowbloom_budget* budget);

// ---------------------------------------------------------------------------
// Key codecs
// ---------------------------------------------------------------------------
//
// How a flat key of the engine holds 1 to 8 segments, row and qualifier for
// example; see rowbloom/key_codec.h. Any number of threads may call all but
// _free.

typedef struct rowbloom_codec rowbloom_codec;

// `text` is "ordered", "fixed:8" or "delimiter:|", of two segments, or a list
// such as "tenant.fixed:4,user.delimiter:/,at.rest".
ROWBLOOM_API rowbloom_code rowbloom_codec_new(const char* text,
                                              rowbloom_codec** out,
                                              rowbloom_error* error);
// These two need a codec of two segments; others are refused with
// ROWBLOOM_INVALID_ARGUMENT. NULL is an empty qualifier here.
ROWBLOOM_API rowbloom_code rowbloom_codec_encode(
    const rowbloom_codec* codec, const void* row, size_t row_size,
    const void* qualifier, size_t qualifier_size, rowbloom_buffer* key,
    rowbloom_error* error);
ROWBLOOM_API rowbloom_code rowbloom_codec_decode(
    const rowbloom_codec* codec, const void* key, size_t key_size,
    rowbloom_buffer* row, rowbloom_buffer* qualifier, rowbloom_error* error);
// All keys of the row, and no others, are at or above `lower` and below
// `upper`. An empty `upper` means "to the end".
ROWBLOOM_API rowbloom_code rowbloom_codec_bounds(
    const rowbloom_codec* codec, const void* row, size_t row_size,
    rowbloom_buffer* lower, rowbloom_buffer* upper, rowbloom_error* error);
// The sizes of the key's row prefix and column prefix; 0 if it has none. The
// last two arguments may be NULL.
ROWBLOOM_API void rowbloom_codec_prefix_sizes(const rowbloom_codec* codec,
                                              const void* key, size_t key_size,
                                              size_t* row_prefix,
                                              size_t* column_prefix);

// Bytes of the caller's, which need not outlive the call.
typedef struct rowbloom_bytes {
  const void* data;
  size_t size;
} rowbloom_bytes;

// 0 for NULL.
ROWBLOOM_API size_t rowbloom_codec_segment_count(const rowbloom_codec* codec);
// Encodes the flat key of the first `count` segments, up to all.
ROWBLOOM_API rowbloom_code rowbloom_codec_encode_segments(
    const rowbloom_codec* codec, const rowbloom_bytes* segments, size_t count,
    rowbloom_buffer* key, rowbloom_error* error);
// Encodes the prefix by which a block is asked for all keys that begin with
// these segments, at least one, if the last of them ends a key level.
ROWBLOOM_API rowbloom_code rowbloom_codec_encode_prefix(
    const rowbloom_codec* codec, const rowbloom_bytes* segments, size_t count,
    rowbloom_buffer* prefix, rowbloom_error* error);
// Fills an array of buffers, one for each segment of the codec: `count` is
// rowbloom_codec_segment_count(). If it fails, all of up to 8 are empty.
ROWBLOOM_API rowbloom_code rowbloom_codec_decode_segments(
    const rowbloom_codec* codec, const void* key, size_t key_size,
    rowbloom_buffer* segments, size_t count, rowbloom_error* error);
// As rowbloom_codec_bounds(), for all keys that begin with these segments, at
// least one.
ROWBLOOM_API rowbloom_code rowbloom_codec_bounds_of_segments(
    const rowbloom_codec* codec, const rowbloom_bytes* segments, size_t count,
    rowbloom_buffer* lower, rowbloom_buffer* upper, rowbloom_error* error);
// Returns the number of key levels, up to 8, that the key holds whole. Stores
// the size of its prefix of each, the shortest first, in the first elements of
// `prefix_sizes`, which has `count` elements, and 0 in the others; NULL is
// allowed. They are those of RocksDB's filters, without the last byte of an
// `ordered` segment: rowbloom_codec_encode_prefix() has it.
ROWBLOOM_API size_t rowbloom_codec_key_levels(const rowbloom_codec* codec,
                                              const void* key, size_t key_size,
                                              size_t* prefix_sizes,
                                              size_t count);
ROWBLOOM_API void rowbloom_codec_free(rowbloom_codec* codec);

// ---------------------------------------------------------------------------
// Filters in memory that grow
// ---------------------------------------------------------------------------
//
// See docs/memfilters.md. Any number of threads may add to a concurrent filter
// and look up at once. In other kinds many threads may look up, or one may add.

typedef struct rowbloom_memfilter rowbloom_memfilter;

// | option           | default  | of kind    | meaning                        |
// |------------------|----------|------------|--------------------------------|
// | kind             | scalable |            | scalable, concurrent           |
// | target_fpr       | 0.01     | both       | above 0, below 1               |
// | key_count        |          | concurrent | its keys at that rate; must be |
// |                  |          |            | given                          |
// | capacity         | 100      | scalable   | keys of the first layer        |
// | expansion        | 2        | scalable   | how many times as many keys a  |
// |                  |          |            | layer has as the one before:   |
// |                  |          |            | 1 to 2^15                      |
// | max_memory_bytes | 2^30     | scalable   | the filter grows up to it      |
ROWBLOOM_API rowbloom_code rowbloom_memfilter_new(const char* options,
                                                  rowbloom_memfilter** out,
                                                  rowbloom_error* error);
// Loads a saved filter of any kind of docs/memfilters.md but Redisson's; a
// standard one becomes concurrent, a scalable one grows up to 2^30 bytes. The
// bytes need not outlive the call.
ROWBLOOM_API rowbloom_code rowbloom_memfilter_load(const void* bytes,
                                                   size_t size,
                                                   rowbloom_memfilter** out,
                                                   rowbloom_error* error);
// *added, which may be NULL, is false if the key may have been there already.
// If it fails, the filter does not have the key.
ROWBLOOM_API rowbloom_code rowbloom_memfilter_add(
    rowbloom_memfilter* filter, const void* row, size_t row_size,
    const void* qualifier, size_t qualifier_size, bool* added,
    rowbloom_error* error);
ROWBLOOM_API bool rowbloom_memfilter_may_contain(
    const rowbloom_memfilter* filter, const void* row, size_t row_size,
    const void* qualifier, size_t qualifier_size);
ROWBLOOM_API rowbloom_code
rowbloom_memfilter_save(const rowbloom_memfilter* filter,
                        rowbloom_buffer* bytes, rowbloom_error* error);
ROWBLOOM_API void rowbloom_memfilter_free(rowbloom_memfilter* filter);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // ROWBLOOM_C_H_
