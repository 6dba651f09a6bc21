// SPDX-License-Identifier: Apache-2.0
//
// An LSM tree without data: files are sets of keys, compactions are those of
// the engines. It shows which filters are live.
//
//   Tree tree(options, [&](const FileFacts& f) { return budget.ForFile(f); });
//   tree.Flush(keys);      // And all compactions that follow from it.

#ifndef ROWBLOOM_BENCH_TREE_SIM_TREE_H_
#define ROWBLOOM_BENCH_TREE_SIM_TREE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::tree_sim {

struct File {
  std::vector<uint64_t> keys;  // In order, at least one.
  FilterSetting filter;

  bool Covers(uint64_t key) const {
    return keys.front() <= key && key <= keys.back();
  }
};
// Moved between levels, never changed.
using FilePtr = std::shared_ptr<const File>;
using SortedRun = std::vector<FilePtr>;  // Disjoint, in key order.
using Level = std::deque<SortedRun>;     // The newest first.

uint64_t KeyCount(const SortedRun& run);
uint64_t KeyCount(const Level& level);

struct TreeOptions {
  TreeKind kind = TreeKind::kLeveled;
  // Leveled: RocksDB's level_compaction_dynamic_level_bytes.
  bool dynamic_levels = false;
  double size_ratio = 10;  // Leveled.
  size_t keys_per_file = 64;
  size_t flush_trigger = 4;      // Leveled: files in level 0.
  size_t runs_per_level = 4;     // Tiered and lazy-leveled.
  size_t universal_trigger = 8;  // Universal: sorted runs.
};

class Tree {
 public:
  using Builder = std::function<FilterSetting(const FileFacts&)>;

  // As RocksDB has by default.
  static constexpr size_t kLevels = 7;

  Tree(const TreeOptions& options, Builder builder)
      : options_(options), builder_(std::move(builder)), levels_(kLevels) {}

  // `keys` in order. The budget of level 1 is that of `flush_trigger` flushes
  // of as many keys as the first.
  void Flush(std::vector<uint64_t> keys);
  // A file that was built outside, about which its builder knew nothing.
  void Ingest(std::vector<uint64_t> keys);

  // Universal trees have all runs in the first.
  const std::vector<Level>& levels() const { return levels_; }
  // All runs with keys, the newest first.
  std::vector<const SortedRun*> Runs() const;
  uint64_t key_count() const;
  uint64_t merges() const { return merges_; }
  uint64_t moves() const { return moves_; }

 private:
  struct Targets {
    size_t base_level = 1;
    std::vector<double> keys;
  };

  void Compact();
  bool CompactLeveled();
  bool CompactTiered();
  bool CompactUniversal();

  Targets LevelTargets() const;
  void CompactLevel0(size_t base_level);
  void CompactLevel(size_t level);
  // Into the one run of `level`.
  void MoveInto(size_t level, const FilePtr& file);
  void MergeInto(size_t level, const SortedRun& inputs);
  void MergeUniversal(size_t count);

  bool AnyOverlaps(size_t first_level, uint64_t first, uint64_t last) const;
  size_t LevelCount() const;
  // The facts that a builder could know if its run will have `run_keys` and the
  // tree `new_keys` more than now.
  FileFacts FactsOf(size_t level, bool is_bottommost, uint64_t run_keys,
                    uint64_t new_keys) const;
  SortedRun Build(std::vector<uint64_t> keys, const FileFacts& facts);

  const TreeOptions options_;
  const Builder builder_;
  std::vector<Level> levels_;
  std::vector<uint64_t> cursors_ = std::vector<uint64_t>(kLevels);
  double keys_per_flush_ = 0;
  uint64_t merges_ = 0;
  uint64_t moves_ = 0;
};

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_TREE_H_
