// SPDX-License-Identifier: Apache-2.0

#include "compaction.h"

#include <algorithm>
#include <cstdio>
#include <limits>

namespace mini_kv {
namespace {

constexpr size_t kLastLevel = kLevelCount - 1;

uint64_t DataBytes(const Level& level) {
  uint64_t sum = 0;
  for (const auto& sst : level) sum += sst->data_bytes();
  return sum;
}

uint64_t FilterKeys(const Level& level) {
  uint64_t sum = 0;
  for (const auto& sst : level) sum += sst->filter_keys();
  return sum;
}

bool Contains(const Level& level, const std::shared_ptr<const SstReader>& sst) {
  return std::find(level.begin(), level.end(), sst) != level.end();
}

// The last level has no limit.
uint64_t SizeLimit(const Options& options, size_t level) {
  if (level == kLastLevel) return std::numeric_limits<uint64_t>::max();
  uint64_t limit = options.level1_size_bytes;
  for (size_t i = 1; i < level; ++i) limit *= options.level_ratio;
  return limit;
}

// The keys from the first to the last of all files.
struct KeyRange {
  explicit KeyRange(const Level& ssts)
      : first(ssts.front()->first_key()), last(ssts.front()->last_key()) {
    for (const auto& sst : ssts) {
      if (sst->first_key() < first) first = sst->first_key();
      if (last < sst->last_key()) last = sst->last_key();
    }
  }
  bool Meets(const SstReader& sst) const {
    return !(last < sst.first_key()) && !(sst.last_key() < first);
  }

  CellKey first;
  CellKey last;
};

// Merges `upper`, files of one level, with the files of the next level between
// their first and last key: a new file may span a gap between two old ones.
// Upper files have newer cells, so they come first.
Compaction IntoNextLevel(const Levels& levels, const Level& upper,
                         size_t output_level) {
  Compaction compaction;
  compaction.inputs = upper;
  compaction.output_level = output_level;
  const KeyRange upper_range(upper);
  for (const auto& sst : levels[output_level]) {
    if (upper_range.Meets(*sst)) compaction.inputs.push_back(sst);
  }
  const KeyRange range(compaction.inputs);
  compaction.drops_tombstones = true;
  for (size_t below = output_level + 1; below < kLevelCount; ++below) {
    for (const auto& sst : levels[below]) {
      if (range.Meets(*sst)) compaction.drops_tombstones = false;
    }
  }
  return compaction;
}

}  // namespace

std::optional<Compaction> PickCompaction(const Options& options,
                                         const Levels& levels) {
  // Takes all of level 0: of two files that overlap, the older may not stay
  // above.
  if (levels[0].size() >= options.level0_file_limit) {
    return IntoNextLevel(levels, levels[0], 1);
  }
  for (size_t level = 1; level < kLastLevel; ++level) {
    if (DataBytes(levels[level]) <= SizeLimit(options, level)) continue;
    // Takes the file that needs the least rewriting. That leaves a thin place
    // in its level and a thick one below, so the next choice lies elsewhere.
    const auto cost = [&](const auto& sst) {
      return static_cast<double>(
                 DataBytes(IntoNextLevel(levels, {sst}, level + 1).inputs)) /
             static_cast<double>(sst->data_bytes());
    };
    const auto cheapest = *std::min_element(
        levels[level].begin(), levels[level].end(),
        [&](const auto& a, const auto& b) { return cost(a) < cost(b); });
    return IntoNextLevel(levels, {cheapest}, level + 1);
  }
  return std::nullopt;
}

Compaction WholeCompaction(const Levels& levels) {
  Compaction compaction;
  for (const Level& level : levels) {
    compaction.inputs.insert(compaction.inputs.end(), level.begin(),
                             level.end());
  }
  compaction.output_level = kLastLevel;
  compaction.drops_tombstones = true;
  return compaction;
}

Levels AfterCompaction(const Levels& levels, const Compaction& compaction,
                       const Level& outputs) {
  Levels after;
  for (size_t level = 0; level < kLevelCount; ++level) {
    for (const auto& sst : levels[level]) {
      if (!Contains(compaction.inputs, sst)) after[level].push_back(sst);
    }
  }
  Level& output_level = after[compaction.output_level];
  output_level.insert(output_level.end(), outputs.begin(), outputs.end());
  std::sort(output_level.begin(), output_level.end(),
            [](const auto& a, const auto& b) {
              return a->first_key() < b->first_key();
            });
  return after;
}

rowbloom::FileFacts FactsOf(const Levels& levels,
                            const Compaction& compaction) {
  uint64_t all = 0;
  uint64_t run = FilterKeys(levels[compaction.output_level]);
  auto level_count = static_cast<uint32_t>(compaction.output_level + 1);
  for (uint32_t level = 0; level < kLevelCount; ++level) {
    all += FilterKeys(levels[level]);
    if (!levels[level].empty()) level_count = std::max(level_count, level + 1);
  }
  for (const auto& sst : compaction.inputs) {
    if (!Contains(levels[compaction.output_level], sst)) {
      run += sst->filter_keys();
    }
  }
  rowbloom::FileFacts facts;
  facts.is_bottommost = compaction.drops_tombstones;
  facts.level = static_cast<uint32_t>(compaction.output_level);
  facts.level_count = level_count;
  facts.run_share =
      all == 0 ? 1 : static_cast<double>(run) / static_cast<double>(all);
  return facts;
}

rowbloom::LiveFilters LiveFiltersOf(const Levels& levels) {
  rowbloom::LiveFilters live;
  // A get reads each SST of level 0, and one of each other level.
  for (const auto& sst : levels[0]) live.runs.push_back({sst->filter_keys()});
  for (size_t level = 1; level < kLevelCount; ++level) {
    live.runs.push_back({FilterKeys(levels[level])});
  }
  for (const Level& level : levels) {
    live.key_count += FilterKeys(level);
    for (const auto& sst : level) live.filter_bytes += sst->filter_bytes();
  }
  return live;
}

std::string SstPath(const std::string& directory, uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "/%06llu.sst",
                static_cast<unsigned long long>(number));
  return directory + name;
}

absl::StatusOr<std::vector<uint64_t>> WriteSsts(const CellIterators& sources,
                                                bool drops_tombstones,
                                                uint64_t file_size_bytes,
                                                const SstPlace& place,
                                                const Options& options) {
  std::vector<uint64_t> numbers;
  std::unique_ptr<SstWriter> writer;
  absl::Status status;
  const absl::Status read = MergeCells(sources, [&](const Cell& cell) {
    if (drops_tombstones && !cell.value) return true;
    if (writer == nullptr) {
      numbers.push_back((*place.next_number)++);
      const std::string path = SstPath(place.directory, numbers.back());
      auto sink = rowbloom::OpenFileSink(path);
      status = sink.status();
      if (!status.ok()) return false;
      writer = std::make_unique<SstWriter>(
          *std::move(sink), place.filter, options.block_size_bytes,
          options.filter_cache, FilterIdOf(path));
    }
    status = writer->Add(cell);
    if (status.ok() && writer->data_bytes() >= file_size_bytes) {
      status = writer->Finish();
      writer.reset();
    }
    return status.ok();
  });
  // Cells that could not be read must not be dropped silently.
  if (status.ok()) status = read;
  if (status.ok() && writer != nullptr) status = writer->Finish();
  if (!status.ok()) return status;
  return numbers;
}

}  // namespace mini_kv
