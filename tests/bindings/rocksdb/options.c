// SPDX-License-Identifier: Apache-2.0
//
// options DB OPTIONS: a C program that knows RocksDB's C API only. The filter
// policy is named in the options string:
//
//   rocksdb_get_options_from_string(defaults, text, options, &error);
//   rocksdb_t* db = rocksdb_open(options, path, &error);
//
// It writes the column "name" of 50,000 rows to a new database, reads them, and
// asks for an absent column and an absent row for each. Prints
// "lost N, filtered M"; exit code 1 if a row was lost or fewer than 98% of the
// absent cells were filtered, 2 after an error.

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 50000, kMinFiltered = 2 * kRows * 98 / 100 };

static void Check(char* error, const char* what) {
  if (error == NULL) return;
  fprintf(stderr, "%s: %s\n", what, error);
  exit(2);
}

// Returns whether the cell exists. Rows have even numbers.
static int Exists(rocksdb_t* db, const rocksdb_readoptions_t* options, int row,
                  const char* column) {
  char key[64];
  char* error = NULL;
  size_t size = 0;
  const int key_size = snprintf(key, sizeof(key), "user%06d/%s", row, column);
  char* value = rocksdb_get(db, options, key, (size_t)key_size, &size, &error);
  Check(error, "get");
  rocksdb_free(value);
  return value != NULL;
}

static void Fill(rocksdb_t* db) {
  char* error = NULL;
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  for (int i = 0; i < kRows; ++i) {
    char key[64];
    const int key_size = snprintf(key, sizeof(key), "user%06d/name", 2 * i);
    rocksdb_put(db, write, key, (size_t)key_size, "value", 5, &error);
    Check(error, "put");
  }
  rocksdb_writeoptions_destroy(write);
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);
  Check(error, "flush");
  rocksdb_flushoptions_destroy(flush);
}

// Returns how many files the filters kept gets from reading.
static long Filtered(rocksdb_options_t* options) {
  static const char kTicker[] = "rocksdb.bloom.filter.useful COUNT : ";
  char* text = rocksdb_options_statistics_get_string(options);
  const char* line = strstr(text, kTicker);
  const long count = line ? atol(line + sizeof(kTicker) - 1) : -1;
  rocksdb_free(text);
  return count;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s DB OPTIONS\n", argv[0]);
    return 2;
  }
  char* error = NULL;
  rocksdb_options_t* defaults = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(defaults, 1);
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_get_options_from_string(defaults, argv[2], options, &error);
  Check(error, "options");
  rocksdb_options_enable_statistics(options);
  rocksdb_t* db = rocksdb_open(options, argv[1], &error);
  Check(error, "open");

  Fill(db);
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  int lost = 0;
  int wrong = 0;
  for (int i = 0; i < kRows; ++i) {
    lost += !Exists(db, read, 2 * i, "name");
    wrong += Exists(db, read, 2 * i, "mail");
    wrong += Exists(db, read, 2 * i + 1, "name");
  }
  const long filtered = Filtered(options);
  printf("lost %d, filtered %ld\n", lost, filtered);

  rocksdb_readoptions_destroy(read);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_options_destroy(defaults);
  return lost == 0 && wrong == 0 && filtered >= kMinFiltered ? 0 : 1;
}
