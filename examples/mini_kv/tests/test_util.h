// SPDX-License-Identifier: Apache-2.0
//
// A directory that is removed with its object, random writes over a small set
// of cells, so that cells are overwritten and deleted many times, and the
// expected contents of a store after them.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEST_UTIL_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEST_UTIL_H_

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "../mini_kv.h"
#include "gtest/gtest.h"

namespace mini_kv {

// In memory if the system allows it: otherwise the tests would wait for fsync.
class TempDirectory {
 public:
  TempDirectory() {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ =
      std::string(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
      "/mini_kv.XXXXXX";
};

using ModelKey = std::pair<std::string, std::string>;
using Model = std::map<ModelKey, std::string>;

struct RandomWrite {
  ModelKey key;
  std::optional<std::string> value;  // None: a delete.
};

// The same seed gives the same writes.
class RandomCells {
 public:
  explicit RandomCells(uint64_t seed) : random_(seed) {}

  uint64_t Below(uint64_t limit) { return random_() % limit; }

  // Any bytes, including zeros; sometimes empty.
  ModelKey Key() {
    const uint64_t row = Below(500);
    return {row == 0 ? std::string() : "r" + Bytes(row), Bytes(Below(4))};
  }
  RandomWrite Write() {
    RandomWrite write = {Key(), std::nullopt};
    if (Below(4) == 0) return write;
    write.value = std::string(Below(80), 'v') + Bytes(random_());
    return write;
  }

 private:
  static std::string Bytes(uint64_t number) {
    std::string bytes;
    for (; number != 0; number /= 7) {
      bytes.push_back("\0\1az\x7f\x80\xff"[number % 7]);
    }
    return bytes;
  }

  std::mt19937_64 random_;
};

inline absl::Status Apply(const RandomWrite& write, MiniKv* store) {
  const auto& [row, qualifier] = write.key;
  return write.value ? store->Put(row, qualifier, *write.value)
                     : store->Delete(row, qualifier);
}

inline void Apply(const RandomWrite& write, Model* model) {
  if (write.value) {
    (*model)[write.key] = *write.value;
  } else {
    model->erase(write.key);
  }
}

// A visitor that adds all cells to *model.
inline CellVisitor AddTo(Model* model) {
  return [model](const Cell& cell) {
    model->emplace(ModelKey(cell.key.row, cell.key.qualifier), *cell.value);
    return true;
  };
}

// The contents by Scan(), which asks no filter.
inline Model Contents(MiniKv* store) {
  Model contents;
  if (!store->Scan(AddTo(&contents)).ok()) std::abort();
  return contents;
}

// Gets each cell, and asks for its row: a filter with a false negative would
// hide one.
inline void CheckGets(const Model& contents, MiniKv* store) {
  for (const auto& [key, value] : contents) {
    EXPECT_EQ(*store->Get(key.first, key.second), value);
    EXPECT_TRUE(*store->RowExists(key.first));
  }
}

// Sizes so small that flushes and compactions happen all the time.
inline Options SmallOptions() {
  Options options;
  options.memtable_size_bytes = 8 << 10;
  options.block_size_bytes = 512;
  options.level1_size_bytes = 12 << 10;
  options.level_ratio = 2;
  options.filter.chunk_size_bytes = 256;
  return options;
}

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEST_UTIL_H_
