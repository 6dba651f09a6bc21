// SPDX-License-Identifier: Apache-2.0
//
// A stranger's program: a filter as LevelDB makes it, and a database that
// takes the policy.

#include <leveldb/db.h>
#include <leveldb/filter_policy.h>

#include <cstdio>
#include <memory>
#include <string>

#include "rowbloom/leveldb.h"

int main(int argc, char** argv) {
  auto policy = rowbloom::NewLevelDbFilterPolicy(
      rowbloom::FilterSpec::BitsPerKey("compact", 10));
  if (!policy.ok()) return 1;
  const leveldb::Slice keys[] = {"key1", "key2"};
  std::string filter;
  (*policy)->CreateFilter(keys, 2, &filter);
  if (!(*policy)->KeyMayMatch("key1", filter)) return 2;
  if (!(*policy)->KeyMayMatch("key2", filter)) return 3;

  const std::string path = std::string(argv[argc - 1]) + "_leveldb_db";
  leveldb::Options options;
  options.create_if_missing = true;
  options.filter_policy = policy->get();
  leveldb::DB* opened = nullptr;
  if (!leveldb::DB::Open(options, path, &opened).ok()) return 4;
  std::unique_ptr<leveldb::DB> db(opened);
  if (!db->Put({}, "key1", "value").ok()) return 5;
  db->CompactRange(nullptr, nullptr);
  std::string value;
  if (!db->Get({}, "key1", &value).ok() || value != "value") return 6;
  db.reset();
  if (!leveldb::DestroyDB(path, options).ok()) return 7;
  std::printf("%s\n", (*policy)->Name());
  return 0;
}
