// SPDX-License-Identifier: Apache-2.0
//
// Writes the database leveldb/ beside this file, with LevelDB 1.23 of Debian:
//
//   c++ -std=c++17 make_leveldb.cc -lleveldb -o make_leveldb
//   ./make_leveldb leveldb && rm leveldb/LOCK leveldb/LOG*

#include <cstdio>
#include <memory>

#include "leveldb/db.h"
#include "leveldb/filter_policy.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::unique_ptr<const leveldb::FilterPolicy> policy(
      leveldb::NewBloomFilterPolicy(10));
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy.get();
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, argv[1], &opened).ok()) return 1;
  const std::unique_ptr<leveldb::DB> db(opened);
  for (int i = 0; i < 100; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "row%05d", i);
    if (!db->Put({}, key, "value").ok()) return 1;
  }
  db->CompactRange(nullptr, nullptr);
  return 0;
}
