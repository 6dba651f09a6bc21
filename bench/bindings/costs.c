/* SPDX-License-Identifier: Apache-2.0 */
/* costs.py has what the programs of each language measure. */

#include <rowbloom/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kFiles = 8, kKeysOfABatch = 32, kRowSize = 12, kAdds = 1000 };

typedef struct bytes {
  char* data;
  size_t size;
} bytes;

static char* rows;
static char* asked;
static int count;
static bytes block;
static rowbloom_reader* readers[kFiles];
static long maybes;

static void Check(rowbloom_code code, const rowbloom_error* error) {
  if (code == ROWBLOOM_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static rowbloom_code Append(void* context, const void* data, size_t size,
                            rowbloom_error* error) {
  bytes* to = context;
  (void)error;
  to->data = realloc(to->data, to->size + size);
  memcpy(to->data + to->size, data, size);
  to->size += size;
  return ROWBLOOM_OK;
}

static rowbloom_code Read(void* context, uint64_t offset, void* to, size_t size,
                          rowbloom_error* error) {
  (void)error;
  memcpy(to, ((bytes*)context)->data + offset, size);
  return ROWBLOOM_OK;
}

static void Write(int in_batches) {
  rowbloom_error error;
  rowbloom_writer* writer;
  rowbloom_key keys[kAdds];
  block.size = 0;
  Check(rowbloom_writer_new("", Append, &block, &writer, &error), &error);
  if (in_batches) {
    for (int i = 0; i < count; i += kAdds) {
      const int some = count - i < kAdds ? count - i : kAdds;
      for (int k = 0; k < some; ++k) {
        keys[k] = (rowbloom_key){rows + (size_t)(i + k) * kRowSize, kRowSize,
                                 NULL, 0};
      }
      rowbloom_writer_add_many(writer, keys, some);
    }
  } else {
    for (int i = 0; i < count; ++i) {
      rowbloom_writer_add(writer, rows + (size_t)i * kRowSize, kRowSize, NULL,
                          0);
    }
  }
  Check(rowbloom_writer_finish(writer, NULL, &error), &error);
  rowbloom_writer_free(writer);
}

static void Add(void) { Write(0); }
static void AddMany(void) { Write(1); }

static void Lookup(void) {
  for (int i = 0; i < count; ++i) {
    maybes += rowbloom_reader_may_contain(
        readers[0], asked + (size_t)i * kRowSize, kRowSize, NULL, 0);
  }
}

static void Each(void) {
  bool answers[kFiles];
  for (int i = 0; i < count / kFiles; ++i) {
    rowbloom_readers_may_contain((const rowbloom_reader* const*)readers, kFiles,
                                 asked + (size_t)i * kRowSize, kRowSize, NULL,
                                 0, answers);
    for (int f = 0; f < kFiles; ++f) maybes += answers[f];
  }
}

static void Batch(void) {
  rowbloom_key keys[kKeysOfABatch];
  rowbloom_question questions[kKeysOfABatch * kFiles];
  bool answers[kKeysOfABatch * kFiles];
  for (int i = 0; i + kKeysOfABatch <= count / kFiles; i += kKeysOfABatch) {
    for (int k = 0; k < kKeysOfABatch; ++k) {
      keys[k] = (rowbloom_key){asked + (size_t)(i + k) * kRowSize, kRowSize,
                               NULL, 0};
      for (int f = 0; f < kFiles; ++f) {
        questions[k * kFiles + f] = (rowbloom_question){readers[f], k};
      }
    }
    rowbloom_may_contain_many(keys, kKeysOfABatch, questions,
                              kKeysOfABatch * kFiles, answers);
    for (int q = 0; q < kKeysOfABatch * kFiles; ++q) maybes += answers[q];
  }
}

static int Compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return x < y ? -1 : x > y;
}

static double Nanoseconds(int passes, void (*pass)(void)) {
  double times[1000];
  for (int i = 0; i < passes; ++i) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    pass();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    times[i] = (1e9 * (double)(end.tv_sec - begin.tv_sec) +
                (double)(end.tv_nsec - begin.tv_nsec)) /
               count;
  }
  qsort(times, (size_t)passes, sizeof(*times), Compare);
  return times[passes / 2];
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  count = atoi(argv[1]);
  const int passes = atoi(argv[2]);
  if (count < 1 || passes < 1 || passes > 1000) return 2;
  rows = malloc((size_t)count * kRowSize + 1);
  asked = malloc((size_t)count * kRowSize + 1);
  for (int i = 0; i < count; ++i) {
    const long other = (long)i * 7919 % (2L * count);
    snprintf(rows + (size_t)i * kRowSize, kRowSize + 1, "user%08d", 2 * i);
    snprintf(asked + (size_t)i * kRowSize, kRowSize + 1, "user%08ld", other);
  }
  const double add = Nanoseconds(passes, Add);
  const double add_many = Nanoseconds(passes, AddMany);
  rowbloom_error error;
  rowbloom_cache* cache;
  Check(rowbloom_cache_new(64 << 20, &cache, &error), &error);
  const rowbloom_source source = {Read, &block, block.size, NULL};
  for (int i = 0; i < kFiles; ++i) {
    Check(rowbloom_reader_open(&source, 0, block.size, "prefetch=true", cache,
                               NULL, &readers[i], &error),
          &error);
  }
  const double lookup = Nanoseconds(passes, Lookup);
  const double each = Nanoseconds(passes, Each);
  const double batch = Nanoseconds(passes, Batch);
  printf(
      "{\"add\": %.2f, \"add_many\": %.2f, \"lookup\": %.2f, "
      "\"each_of_8\": %.2f, \"batch\": %.2f, \"maybes\": %ld}\n",
      add, add_many, lookup, each, batch, maybes);
  return 0;
}
