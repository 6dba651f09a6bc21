/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A million rows in a filter block, those of even numbers, and four threads
 * that ask for them and the others. docs/bindings.md has other languages.
 *
 *   cc million_keys.c $(pkg-config --cflags --libs rowbloom-c) -pthread
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowbloom/c.h"

enum { KEYS = 1000000, THREADS = 4 };

/* An engine's file, in memory. */
struct file {
  char* bytes;
  size_t size;
};

static rowbloom_code append(void* context, const void* bytes, size_t size,
                            rowbloom_error* error) {
  struct file* file = context;
  char* grown = realloc(file->bytes, file->size + size);
  if (grown == NULL) {
    strcpy(error->message, "the file finds no memory");
    return ROWBLOOM_RESOURCE_EXHAUSTED;
  }
  memcpy(grown + file->size, bytes, size);
  file->bytes = grown;
  file->size += size;
  return ROWBLOOM_OK;
}

static rowbloom_code read_file(void* context, uint64_t offset, void* to,
                               size_t size, rowbloom_error* error) {
  const struct file* file = context;
  (void)error;
  if (offset > file->size || size > file->size - offset)
    return ROWBLOOM_OUT_OF_RANGE;
  memcpy(to, file->bytes + offset, size);
  return ROWBLOOM_OK;
}

static void check(rowbloom_code code, const rowbloom_error* error) {
  if (code == ROWBLOOM_OK) return;
  fprintf(stderr, "error %d: %s\n", (int)code, error->message);
  exit(1);
}

struct lookups {
  pthread_t thread;
  const rowbloom_reader* reader;
  int first;
  int false_negatives, false_positives;
};

static void* ask(void* context) {
  struct lookups* mine = context;
  for (int i = mine->first; i < mine->first + 2 * KEYS / THREADS; ++i) {
    char row[16];
    const int size = snprintf(row, sizeof(row), "user%08d", i);
    const bool maybe =
        rowbloom_reader_may_contain(mine->reader, row, (size_t)size, NULL, 0);
    if (i % 2 == 0)
      mine->false_negatives += !maybe;
    else
      mine->false_positives += maybe;
  }
  return NULL;
}

int main(void) {
  rowbloom_error error;
  struct file file = {NULL, 0};
  printf("rowbloom %s\n", rowbloom_version());

  rowbloom_writer* writer = NULL;
  rowbloom_writer_new("filter_spec=ribbon", append, &file, &writer, &error);
  printf("error %d: %s\n", (int)error.code, error.message);

  check(rowbloom_writer_new("filter_spec=compact:bits_per_key=10", append,
                            &file, &writer, &error),
        &error);
  for (int i = 0; i < 2 * KEYS; i += 2) {
    char row[16];
    const int size = snprintf(row, sizeof(row), "user%08d", i);
    rowbloom_writer_add(writer, row, (size_t)size, NULL, 0);
  }
  rowbloom_block_info info;
  check(rowbloom_writer_finish(writer, &info, &error), &error);
  rowbloom_writer_free(writer);
  printf("%" PRIu64 " keys in %" PRIu64 " bytes, %" PRIu64 " chunks\n",
         info.key_count, info.size_bytes, info.chunk_count);

  rowbloom_cache* cache = NULL;
  rowbloom_stats* stats = NULL;
  rowbloom_reader* reader = NULL;
  check(rowbloom_cache_new(64 << 20, &cache, &error), &error);
  check(rowbloom_stats_new(&stats, &error), &error);
  const rowbloom_source source = {read_file, &file, file.size, "000012.sst"};
  check(rowbloom_reader_open(&source, 0, file.size, "prefetch=true", cache,
                             stats, &reader, &error),
        &error);

  struct lookups threads[THREADS];
  int false_negatives = 0, false_positives = 0;
  for (int t = 0; t < THREADS; ++t) {
    threads[t] =
        (struct lookups){.reader = reader, .first = t * (2 * KEYS / THREADS)};
    if (pthread_create(&threads[t].thread, NULL, ask, &threads[t]) != 0)
      return 1;
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t].thread, NULL);
    false_negatives += threads[t].false_negatives;
    false_positives += threads[t].false_positives;
  }
  printf("%d threads: %d false negatives, %d false positives (%.3f%%)\n",
         THREADS, false_negatives, false_positives,
         100.0 * false_positives / KEYS);
  printf("%" PRIu64 " lookups, %" PRIu64 " negatives\n",
         rowbloom_stats_get(stats, ROWBLOOM_LOOKUPS),
         rowbloom_stats_get(stats, ROWBLOOM_NEGATIVES));

  rowbloom_reader_free(reader);
  rowbloom_cache_free(cache);
  rowbloom_stats_free(stats);
  free(file.bytes);
  return false_negatives == 0 ? 0 : 1;
}
