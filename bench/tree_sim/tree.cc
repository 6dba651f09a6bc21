// SPDX-License-Identifier: Apache-2.0

#include "tree.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace rowbloom::tree_sim {
namespace {

// RocksDB's max_size_amplification_percent and size_ratio, of universal trees.
constexpr double kMaxSizeAmplification = 2;
constexpr double kUniversalRatio = 1.01;

bool Overlaps(const File& file, uint64_t first, uint64_t last) {
  return file.keys.front() <= last && first <= file.keys.back();
}

// The files of `run` that overlap the range: [first, second).
std::pair<size_t, size_t> OverlapOf(const SortedRun& run, uint64_t first,
                                    uint64_t last) {
  const auto begin = std::lower_bound(
      run.begin(), run.end(), first,
      [](const FilePtr& f, uint64_t key) { return f->keys.back() < key; });
  const auto end = std::upper_bound(
      begin, run.end(), last,
      [](uint64_t key, const FilePtr& f) { return key < f->keys.front(); });
  return {begin - run.begin(), end - run.begin()};
}

std::vector<uint64_t> MergedKeys(const SortedRun& files) {
  std::vector<uint64_t> keys;
  for (const FilePtr& file : files) {
    keys.insert(keys.end(), file->keys.begin(), file->keys.end());
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::pair<uint64_t, uint64_t> RangeOf(const SortedRun& files) {
  uint64_t first = files.front()->keys.front();
  uint64_t last = files.front()->keys.back();
  for (const FilePtr& file : files) {
    first = std::min(first, file->keys.front());
    last = std::max(last, file->keys.back());
  }
  return {first, last};
}

SortedRun FilesOf(const Level& level) {
  SortedRun files;
  for (const SortedRun& run : level) {
    files.insert(files.end(), run.begin(), run.end());
  }
  return files;
}

}  // namespace

uint64_t KeyCount(const SortedRun& run) {
  uint64_t count = 0;
  for (const FilePtr& file : run) count += file->keys.size();
  return count;
}

uint64_t KeyCount(const Level& level) {
  uint64_t count = 0;
  for (const SortedRun& run : level) count += KeyCount(run);
  return count;
}

std::vector<const SortedRun*> Tree::Runs() const {
  std::vector<const SortedRun*> runs;
  for (const Level& level : levels_) {
    for (const SortedRun& run : level) {
      if (!run.empty()) runs.push_back(&run);
    }
  }
  return runs;
}

uint64_t Tree::key_count() const {
  uint64_t count = 0;
  for (const Level& level : levels_) count += KeyCount(level);
  return count;
}

void Tree::Flush(std::vector<uint64_t> keys) {
  if (keys_per_flush_ == 0) keys_per_flush_ = static_cast<double>(keys.size());
  FileFacts facts = FactsOf(0, false, keys.size(), keys.size());
  facts.is_flush = true;
  if (options_.kind == TreeKind::kUniversal) facts.level_count = kLevels;
  levels_[0].push_front(
      {std::make_shared<File>(File{std::move(keys), builder_(facts)})});
  Compact();
}

void Tree::Ingest(std::vector<uint64_t> keys) {
  const uint64_t first = keys.front();
  const uint64_t last = keys.back();
  const FilePtr file =
      std::make_shared<File>(File{std::move(keys), builder_(FileFacts())});
  // The deepest level that no overlapping file keeps it above.
  size_t level = 0;
  if (options_.kind == TreeKind::kLeveled && !AnyOverlaps(0, first, last)) {
    level = options_.dynamic_levels ? kLevels - 1
                                    : std::max<size_t>(LevelCount(), 2) - 1;
  }
  if (level == 0) {
    levels_[0].push_front({file});
  } else {
    MoveInto(level, file);
  }
  Compact();
}

void Tree::Compact() {
  const auto compact_once = [this] {
    switch (options_.kind) {
      case TreeKind::kLeveled:
        return CompactLeveled();
      case TreeKind::kTiered:
      case TreeKind::kLazyLeveled:
        return CompactTiered();
      case TreeKind::kUniversal:
        return CompactUniversal();
    }
    return false;
  };
  while (compact_once()) {
  }
}

// RocksDB's VersionStorageInfo::CalculateBaseBytes.
Tree::Targets Tree::LevelTargets() const {
  Targets targets;
  targets.keys.resize(kLevels);
  const double base =
      keys_per_flush_ * static_cast<double>(options_.flush_trigger);
  double target = base;
  if (options_.dynamic_levels) {
    double largest = 0;
    for (size_t i = 1; i < kLevels; ++i) {
      largest = std::max(largest, static_cast<double>(KeyCount(levels_[i])));
    }
    targets.base_level = kLevels - 1;
    for (target = largest; targets.base_level > 1 && target > base;
         --targets.base_level) {
      target /= options_.size_ratio;
    }
    target = std::clamp(target, base / options_.size_ratio + 1, base);
  }
  for (size_t i = targets.base_level; i < kLevels; ++i) {
    targets.keys[i] = target;
    target *= options_.size_ratio;
  }
  return targets;
}

bool Tree::CompactLeveled() {
  const Targets targets = LevelTargets();
  double best = static_cast<double>(levels_[0].size()) /
                static_cast<double>(options_.flush_trigger);
  size_t level = 0;
  for (size_t i = 1; i + 1 < kLevels; ++i) {
    const double keys = static_cast<double>(KeyCount(levels_[i]));
    // Levels above the base are emptied.
    const double score = keys == 0                ? 0
                         : i < targets.base_level ? 1000
                                                  : keys / targets.keys[i];
    if (score > best) {
      best = score;
      level = i;
    }
  }
  if (level == 0 ? best < 1 : best <= 1) return false;
  if (level == 0) {
    CompactLevel0(targets.base_level);
  } else {
    CompactLevel(level);
  }
  return true;
}

void Tree::CompactLevel0(size_t base_level) {
  // The oldest files that nothing in the base level overlaps are moved.
  bool any_moved = false;
  while (!levels_[0].empty()) {
    const FilePtr oldest = levels_[0].back().front();
    const uint64_t first = oldest->keys.front();
    const uint64_t last = oldest->keys.back();
    const bool overlaps =
        !levels_[base_level].empty() &&
        std::any_of(levels_[base_level].front().begin(),
                    levels_[base_level].front().end(), [&](const FilePtr& f) {
                      return Overlaps(*f, first, last);
                    });
    if (overlaps) break;
    levels_[0].pop_back();
    MoveInto(base_level, oldest);
    any_moved = true;
  }
  if (any_moved) return;
  const SortedRun inputs = FilesOf(levels_[0]);
  levels_[0].clear();
  MergeInto(base_level, inputs);
}

// One file, the next behind the last one, into the next level.
void Tree::CompactLevel(size_t level) {
  SortedRun& run = levels_[level].front();
  auto it = std::upper_bound(
      run.begin(), run.end(), cursors_[level],
      [](uint64_t key, const FilePtr& f) { return key < f->keys.front(); });
  if (it == run.end()) it = run.begin();
  const FilePtr file = *it;
  cursors_[level] = file->keys.front();
  run.erase(it);
  if (run.empty()) levels_[level].clear();
  const size_t next = level + 1;
  if (!levels_[next].empty()) {
    const auto [begin, end] =
        OverlapOf(levels_[next].front(), file->keys.front(), file->keys.back());
    if (begin != end) {
      MergeInto(next, {file});
      return;
    }
  }
  MoveInto(next, file);
}

void Tree::MoveInto(size_t level, const FilePtr& file) {
  ++moves_;
  if (levels_[level].empty()) levels_[level].emplace_back();
  SortedRun& run = levels_[level].front();
  run.insert(std::upper_bound(run.begin(), run.end(), file,
                              [](const FilePtr& a, const FilePtr& b) {
                                return a->keys.front() < b->keys.front();
                              }),
             file);
}

void Tree::MergeInto(size_t level, const SortedRun& inputs) {
  ++merges_;
  if (levels_[level].empty()) levels_[level].emplace_back();
  SortedRun& run = levels_[level].front();
  const auto [first, last] = RangeOf(inputs);
  const auto [begin, end] = OverlapOf(run, first, last);
  SortedRun all = inputs;
  all.insert(all.end(), run.begin() + begin, run.begin() + end);
  const auto [all_first, all_last] = RangeOf(all);
  const FileFacts facts =
      FactsOf(level, !AnyOverlaps(level + 1, all_first, all_last),
              KeyCount(run) + KeyCount(inputs), KeyCount(inputs));
  const SortedRun built = Build(MergedKeys(all), facts);
  run.erase(run.begin() + begin, run.begin() + end);
  run.insert(run.begin() + begin, built.begin(), built.end());
}

bool Tree::CompactTiered() {
  for (size_t i = 0; i + 1 < kLevels; ++i) {
    Level& level = levels_[i];
    if (level.size() < options_.runs_per_level) continue;
    const SortedRun inputs = FilesOf(level);
    const bool is_last = LevelCount() == i + 1;
    level.clear();
    if (options_.kind == TreeKind::kLazyLeveled && i + 2 >= LevelCount() &&
        !is_last) {
      // All but the last level are tiered. It goes one deeper when it is as
      // large as a tiered level would be.
      Level& last = levels_[i + 1];
      SortedRun all = inputs;
      for (const FilePtr& file : FilesOf(last)) all.push_back(file);
      last.clear();
      ++merges_;
      const uint64_t keys = KeyCount(all);
      const double limit =
          keys_per_flush_ *
          std::pow(options_.runs_per_level, static_cast<double>(i + 2));
      const size_t to =
          static_cast<double>(keys) >= limit && i + 2 < kLevels ? i + 2 : i + 1;
      levels_[to].push_front(
          Build(MergedKeys(all), FactsOf(to, true, keys, keys)));
      return true;
    }
    ++merges_;
    const auto [first, last] = RangeOf(inputs);
    const FileFacts facts = FactsOf(i + 1, !AnyOverlaps(i + 1, first, last),
                                    KeyCount(inputs), KeyCount(inputs));
    levels_[i + 1].push_front(Build(MergedKeys(inputs), facts));
    return true;
  }
  return false;
}

// As RocksDB picks: for size, for similar sizes, then for number.
bool Tree::CompactUniversal() {
  const Level& runs = levels_[0];
  if (runs.size() < options_.universal_trigger) return false;
  std::vector<double> keys;
  for (const SortedRun& run : runs) {
    keys.push_back(static_cast<double>(KeyCount(run)));
  }
  double newer = 0;
  for (size_t i = 0; i + 1 < keys.size(); ++i) newer += keys[i];
  if (newer >= kMaxSizeAmplification * keys.back()) {
    MergeUniversal(keys.size());
    return true;
  }
  double sum = keys[0];
  size_t count = 1;
  while (count < keys.size() && sum * kUniversalRatio >= keys[count]) {
    sum += keys[count++];
  }
  // RocksDB also looks behind the first run; that is rare and left out.
  MergeUniversal(
      std::max<size_t>(count, keys.size() - options_.universal_trigger + 2));
  return true;
}

// The newest `count` runs, into one.
void Tree::MergeUniversal(size_t count) {
  ++merges_;
  Level& runs = levels_[0];
  SortedRun inputs;
  for (size_t i = 0; i < count; ++i) {
    inputs.insert(inputs.end(), runs[i].begin(), runs[i].end());
  }
  FileFacts facts = FactsOf(0, count == runs.size(), KeyCount(inputs), 0);
  // As RocksDB does: the oldest run in the last level, others above it.
  const size_t older_runs = runs.size() - count;
  facts.level =
      static_cast<uint32_t>(kLevels - 1 - std::min(older_runs, kLevels - 1));
  facts.level_count = kLevels;
  runs.erase(runs.begin(), runs.begin() + static_cast<ptrdiff_t>(count));
  runs.push_front(Build(MergedKeys(inputs), facts));
}

bool Tree::AnyOverlaps(size_t first_level, uint64_t first,
                       uint64_t last) const {
  for (size_t i = first_level; i < kLevels; ++i) {
    for (const SortedRun& run : levels_[i]) {
      const auto [begin, end] = OverlapOf(run, first, last);
      if (begin != end) return true;
    }
  }
  return false;
}

size_t Tree::LevelCount() const {
  size_t count = kLevels;
  while (count > 0 && levels_[count - 1].empty()) --count;
  return count;
}

FileFacts Tree::FactsOf(size_t level, bool is_bottommost, uint64_t run_keys,
                        uint64_t new_keys) const {
  FileFacts facts;
  facts.is_bottommost = is_bottommost;
  facts.level = static_cast<uint32_t>(level);
  facts.level_count = static_cast<uint32_t>(std::max(LevelCount(), level + 1));
  facts.run_share = static_cast<double>(run_keys) /
                    static_cast<double>(key_count() + new_keys);
  return facts;
}

SortedRun Tree::Build(std::vector<uint64_t> keys, const FileFacts& facts) {
  SortedRun run;
  const FilterSetting filter = builder_(facts);
  for (size_t begin = 0; begin < keys.size(); begin += options_.keys_per_file) {
    const size_t end = std::min(keys.size(), begin + options_.keys_per_file);
    File file;
    file.keys.assign(keys.begin() + static_cast<ptrdiff_t>(begin),
                     keys.begin() + static_cast<ptrdiff_t>(end));
    file.filter = filter;
    run.push_back(std::make_shared<File>(std::move(file)));
  }
  return run;
}

}  // namespace rowbloom::tree_sim
