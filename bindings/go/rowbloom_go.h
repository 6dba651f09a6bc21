/* SPDX-License-Identifier: Apache-2.0 */
/* The C API with arguments that suit cgo. */

#ifndef ROWBLOOM_GO_H_
#define ROWBLOOM_GO_H_

#include <rowbloom/c.h>
#include <stdlib.h>

/* Keys and bytes are passed as char*: for a void* Go would look through all of
 * the memory around the bytes, and refuse it if it holds pointers of Go. */
typedef struct key {
  const char* row;
  size_t row_size;
  const char* qualifier;
  size_t qualifier_size;
} key;
#define KEY k.row, k.row_size, k.qualifier, k.qualifier_size

/* Results are returned as structs: what Go passes by pointer, it allocates. */
typedef struct answer {
  int32_t answer;
  rowbloom_load load;
} answer;

static inline void builder_add(rowbloom_builder* builder, key k) {
  rowbloom_builder_add(builder, KEY);
}
static inline bool filter_may_contain(const rowbloom_filter* filter, key k) {
  return rowbloom_filter_may_contain(filter, KEY);
}
static inline void writer_add(rowbloom_writer* writer, key k) {
  rowbloom_writer_add(writer, KEY);
}
static inline bool reader_may_contain(const rowbloom_reader* reader, key k) {
  return rowbloom_reader_may_contain(reader, KEY);
}
static inline void readers_may_contain(const rowbloom_reader* const* readers,
                                       size_t count, key k, bool* answers) {
  rowbloom_readers_may_contain(readers, count, KEY, answers);
}
static inline answer reader_ask(const rowbloom_reader* reader, key k) {
  answer a = {0, {0, 0, 0, 0}};
  a.answer = rowbloom_reader_ask(reader, KEY, &a.load);
  return a;
}
static inline int32_t reader_offer(const rowbloom_reader* reader,
                                   rowbloom_load load, rowbloom_code code,
                                   const char* bytes, size_t size, key k) {
  return rowbloom_reader_offer(reader, &load, code, bytes, size, KEY);
}
static inline bool memo_denies(const rowbloom_memo* memo, uint64_t file_id,
                               key k) {
  return rowbloom_memo_denies(memo, file_id, KEY);
}
static inline void memo_remember(rowbloom_memo* memo, uint64_t file_id, key k) {
  rowbloom_memo_remember(memo, file_id, KEY);
}
/* 1 if the key is new, 0 if it may not be, -1 if it was not added. */
static inline int memfilter_add(rowbloom_memfilter* filter, key k) {
  bool added = false;
  return rowbloom_memfilter_add(filter, KEY, &added, NULL) == ROWBLOOM_OK
             ? added
             : -1;
}
static inline rowbloom_code memfilter_add_error(rowbloom_memfilter* filter,
                                                key k, rowbloom_error* error) {
  return rowbloom_memfilter_add(filter, KEY, NULL, error);
}
static inline bool memfilter_may_contain(const rowbloom_memfilter* filter,
                                         key k) {
  return rowbloom_memfilter_may_contain(filter, KEY);
}
static inline rowbloom_code memfilter_load(const char* bytes, size_t size,
                                           rowbloom_memfilter** out,
                                           rowbloom_error* error) {
  return rowbloom_memfilter_load(bytes, size, out, error);
}
static inline rowbloom_code codec_encode(const rowbloom_codec* codec, key k,
                                         rowbloom_buffer* to,
                                         rowbloom_error* error) {
  return rowbloom_codec_encode(codec, KEY, to, error);
}
static inline rowbloom_code codec_decode(const rowbloom_codec* codec, key k,
                                         rowbloom_buffer* to,
                                         rowbloom_error* error) {
  return rowbloom_codec_decode(codec, k.row, k.row_size, to, to + 1, error);
}
static inline rowbloom_code codec_bounds(const rowbloom_codec* codec, key k,
                                         rowbloom_buffer* to,
                                         rowbloom_error* error) {
  return rowbloom_codec_bounds(codec, k.row, k.row_size, to, to + 1, error);
}
static inline rowbloom_code codec_decode_segments(const rowbloom_codec* codec,
                                                  key k, rowbloom_buffer* to,
                                                  size_t count,
                                                  rowbloom_error* error) {
  return rowbloom_codec_decode_segments(codec, k.row, k.row_size, to, count,
                                        error);
}
static inline rowbloom_code codec_bounds_of_segments(
    const rowbloom_codec* codec, const rowbloom_bytes* segments, size_t count,
    rowbloom_buffer* to, rowbloom_error* error) {
  return rowbloom_codec_bounds_of_segments(codec, segments, count, to, to + 1,
                                           error);
}
static inline size_t codec_key_levels(const rowbloom_codec* codec, key k,
                                      size_t* sizes, size_t count) {
  return rowbloom_codec_key_levels(codec, k.row, k.row_size, sizes, count);
}
static inline void codec_prefix_sizes(const rowbloom_codec* codec, key k,
                                      size_t* sizes) {
  rowbloom_codec_prefix_sizes(codec, k.row, k.row_size, sizes, sizes + 1);
}

/* In callbacks.c: sinks, sources and groups are handles of Go. */
rowbloom_code rowbloom_go_writer_new(const char* options, uintptr_t sink,
                                     rowbloom_cache* cache,
                                     rowbloom_writer** out,
                                     rowbloom_error* error);
/* No group has the number 0. */
rowbloom_code rowbloom_go_reader_open(
    uintptr_t source, uintptr_t group, uint64_t source_size, const char* name,
    uint64_t offset, uint64_t size, const char* options, rowbloom_cache* cache,
    rowbloom_stats* stats, rowbloom_reader** out, rowbloom_error* error);

#endif /* ROWBLOOM_GO_H_ */
