/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks that C calls, over functions of Go. */

#include "_cgo_export.h"

static rowbloom_code append(void* sink, const void* bytes, size_t size,
                            rowbloom_error* error) {
  return rowbloomGoAppend((uintptr_t)sink, (void*)bytes, size, error);
}

static rowbloom_code read(void* source, uint64_t offset, void* to, size_t size,
                          rowbloom_error* error) {
  return rowbloomGoRead((uintptr_t)source, offset, to, size, error);
}

static void read_many(void* group, rowbloom_read* reads, size_t count) {
  rowbloomGoReadMany((uintptr_t)group, reads, count);
}

rowbloom_code rowbloom_go_writer_new(const char* options, uintptr_t sink,
                                     rowbloom_cache* cache,
                                     rowbloom_writer** out,
                                     rowbloom_error* error) {
  if (cache != NULL) {
    return rowbloom_writer_new_warm(options, append, (void*)sink, cache, out,
                                    error);
  }
  return rowbloom_writer_new(options, append, (void*)sink, out, error);
}

rowbloom_code rowbloom_go_reader_open(
    uintptr_t source, uintptr_t group, uint64_t source_size, const char* name,
    uint64_t offset, uint64_t size, const char* options, rowbloom_cache* cache,
    rowbloom_stats* stats, rowbloom_reader** out, rowbloom_error* error) {
  const rowbloom_source c_source = {read, (void*)source, source_size, name};
  const rowbloom_read_group c_group = {read_many, (void*)group};
  if (group == 0) {
    return rowbloom_reader_open(&c_source, offset, size, options, cache, stats,
                                out, error);
  }
  return rowbloom_reader_open_in_group(&c_source, &c_group, offset, size,
                                       options, cache, stats, out, error);
}
