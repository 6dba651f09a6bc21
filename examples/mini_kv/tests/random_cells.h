// SPDX-License-Identifier: Apache-2.0
//
// Random writes over a small set of cells, so that cells are overwritten and
// deleted many times, and the expected contents of a store after them.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_TESTS_RANDOM_CELLS_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_TESTS_RANDOM_CELLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "../mini_kv.h"

namespace mini_kv {

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
    const uint64_t row = Below(kRows);
    return {row == 0 ? std::string() : "r" + Bytes(row),
            Bytes(Below(kQualifiers))};
  }
  RandomWrite Write() {
    RandomWrite write = {Key(), std::nullopt};
    if (Below(4) != 0) {
      write.value = std::to_string(random_()) +
                    std::string(static_cast<size_t>(Below(60)), '\0');
    }
    return write;
  }

  static constexpr uint64_t kRows = 500;
  static constexpr uint64_t kQualifiers = 4;

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

// The contents by Scan().
inline absl::StatusOr<Model> Contents(MiniKv* store) {
  Model contents;
  const absl::Status status = store->Scan("", [&](const Cell& cell) {
    contents.emplace(ModelKey(cell.key.row, cell.key.qualifier), *cell.value);
    return true;
  });
  if (!status.ok()) return status;
  return contents;
}

// Sizes so small that flushes and compactions happen all the time.
inline Options SmallOptions() {
  Options options;
  options.memtable_size_bytes = 8 << 10;
  options.block_size_bytes = 512;
  options.file_size_bytes = 8 << 10;
  options.level0_file_limit = 3;
  options.level1_size_bytes = 12 << 10;
  options.level_ratio = 2;
  options.filter.chunk_size_bytes = 256;
  return options;
}

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_TESTS_RANDOM_CELLS_H_
