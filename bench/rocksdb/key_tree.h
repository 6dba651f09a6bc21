// SPDX-License-Identifier: Apache-2.0
//
// One tree of fixed shape of 8-byte keys, built with the filters of one policy
// after another, and the gets that are asked of each.
//
//   KeyTree keys(shape, &run);
//   auto tree = keys.Build("compact", 10);
//   Wasted w = CountWasted(tree->db(),
//                          GetsOf(keys, {0.5, Mix::kUniform}, seed), 100000,
//                          2000, /*fill_cache=*/false, &run);
//   w.reads / w.gets
//
// Keys look random, no two are equal, and no absent key is present. The same
// arguments give the same keys, gets and counts. Each answer is checked. Errors
// are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_ROCKSDB_KEY_TREE_H_
#define ROWBLOOM_BENCH_ROCKSDB_KEY_TREE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rowbloom/tree_shape.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {

inline constexpr double kMissingShares[] = {1, 0.5, 0};

// 8 bytes that sort as their numbers do.
std::string KeyOf(uint64_t number);

// 8 bytes by KeyOf(), or URLs of some 50 to 90 bytes.
enum class KeyForm { kBinary, kUrls };
// The key, and as many bytes as the value needs beside it.
std::string ValueOf(const std::string& key, size_t size = sizeof(uint64_t));

class KeyTree {
 public:
  // `run` must outlive it. `place`: see TreeOptions.
  KeyTree(const TreeShape& shape, Run* run,
          FilterPlace place = FilterPlace::kTableReaders,
          size_t value_size = sizeof(uint64_t),
          KeyForm form = KeyForm::kBinary);

  // Gives the policy this number of bits per key. SSTs of a budget are written
  // anew until its control has settled, unless it follows gets.
  std::unique_ptr<Tree> Build(const std::string& name, double bits_asked);
  // Writes each SST once.
  std::unique_ptr<Tree> BuildOnce(const Policy& policy, double bits_asked);
  // Gives it what makes its filters take this number of bits per key, as nearly
  // as a few trials allow.
  std::unique_ptr<Tree> BuildWith(const std::string& policy,
                                  double bits_per_key);

  std::string KeyOfNumber(uint64_t number) const;  // In the form of all keys.
  std::string Key(uint64_t index) const;
  std::string AbsentKey(uint64_t index) const;  // For any index below 2^40.
  // The level that holds the key; 1 is the newest run.
  int LevelOf(uint64_t index) const;

  const TreeShape shape;
  const size_t value_size;
  const KeyForm form;
  const std::vector<uint64_t> run_ends;  // Where each run's indices end.
  const uint64_t key_count;
  const ZipfSampler zipf;
  // Caches data blocks. Its capacity is 0 until a run changes it.
  const std::shared_ptr<rocksdb::Cache> cache;
  // As LevelsJson(). Null before the first tree; every tree has the same.
  Json levels;

 private:
  void Fill(int level, Database* database);

  Run& run_;
  const FilterPlace place_;
};

struct GetMix {
  double missing_share = 1;
  Mix popularity = Mix::kUniform;
  double cache_share = 0;  // Cached data blocks, as a share of the data.
};

struct Get {
  static constexpr int kSomewhere = -1;

  std::string key;
  int level = 0;  // The level that holds it; 0 if it is absent.
};

// Endless gets. Hits find their keys in each run in proportion to its keys.
// `keys` must outlive the result.
std::function<Get()> GetsOf(const KeyTree& keys, const GetMix& mix,
                            uint64_t seed);

// Gets the key and checks the answer.
void Ask(rocksdb::DB* db, const Get& get, bool fill_cache, Answers* answers);

struct Wasted {
  uint64_t gets = 0;
  uint64_t reads = 0;  // Data blocks that did not hold the key.

  void operator+=(const Wasted& other) {
    gets += other.gets;
    reads += other.reads;
  }
  double PerThousand() const {
    return 1000 * static_cast<double>(reads) / static_cast<double>(gets);
  }
};

// Ends with `most_gets`, or with `most_wasted` wasted reads: they are then
// known well enough. If `fill_cache`, data blocks that are read go to the block
// cache.
Wasted CountWasted(rocksdb::DB* db, const std::function<Get()>& gets,
                   uint64_t most_gets, uint64_t most_wasted, bool fill_cache,
                   Run* run);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_KEY_TREE_H_
