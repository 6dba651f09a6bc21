// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace rowbloom::tree_sim {
namespace {

// A simulated key stands for so many, that filters are large.
constexpr double kScale = 1e6;

double FilterBits(const SortedRun& run) {
  double bits = 0;
  for (const FilePtr& file : run) {
    bits += static_cast<double>(file->keys.size()) * file->filter.bits_per_key;
  }
  return bits;
}

const File* FileFor(const SortedRun& run, uint64_t key) {
  const auto it = std::lower_bound(
      run.begin(), run.end(), key,
      [](const FilePtr& f, uint64_t k) { return f->keys.back() < k; });
  return it != run.end() && (*it)->Covers(key) ? it->get() : nullptr;
}

}  // namespace

LiveFilters LiveOf(const Tree& tree) {
  LiveFilters live;
  double bits = 0;
  for (const SortedRun* run : tree.Runs()) {
    const auto keys =
        static_cast<uint64_t>(kScale * static_cast<double>(KeyCount(*run)));
    bits += kScale * FilterBits(*run);
    live.key_count += keys;
    live.runs.push_back({keys});
  }
  live.filter_bytes = static_cast<uint64_t>(bits / 8);
  return live;
}

Snapshot Measure(const Tree& tree, const FilterCost& cost, size_t samples,
                 std::mt19937_64* random) {
  const std::vector<const SortedRun*> runs = tree.Runs();
  std::vector<const File*> files;
  std::vector<double> weights;
  Snapshot snapshot;
  snapshot.runs = runs.size();
  double bits = 0;
  for (const SortedRun* run : runs) {
    bits += FilterBits(*run);
    for (const FilePtr& file : *run) {
      files.push_back(file.get());
      weights.push_back(static_cast<double>(file->keys.size()));
    }
  }
  snapshot.bits_per_key = bits / static_cast<double>(tree.key_count());
  std::discrete_distribution<size_t> any_file(weights.begin(), weights.end());
  std::vector<PerGet> asks(runs.size());
  const double weight = 1 / static_cast<double>(samples);
  for (size_t i = 0; i < samples; ++i) {
    const File* const own = files[any_file(*random)];
    const uint64_t key = own->keys[(*random)() % own->keys.size()];
    bool found = false;
    for (size_t r = 0; r < runs.size(); ++r) {
      const File* const file = FileFor(*runs[r], key);
      if (file == nullptr) continue;
      asks[r].miss += weight;
      snapshot.wasted.miss += weight * file->filter.fpr;
      found |= file == own;
      if (found) continue;
      asks[r].hit += weight;
      snapshot.wasted.hit += weight * file->filter.fpr;
    }
  }
  std::vector<TreeRun> tree_runs;
  for (size_t r = 0; r < runs.size(); ++r) {
    snapshot.asks.hit += asks[r].hit;
    snapshot.asks.miss += asks[r].miss;
    TreeRun run;
    run.key_count =
        static_cast<uint64_t>(kScale * static_cast<double>(KeyCount(*runs[r])));
    run.absent_asks = std::min(1.0, asks[r].At(0.5));
    tree_runs.push_back(run);
  }
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(snapshot.bits_per_key);
  const auto best = PlanFilterBudget(cost, tree_runs, options);
  if (!best.ok()) throw std::runtime_error(best.status().ToString());
  snapshot.least_wasted = best->wasted_reads;
  return snapshot;
}

}  // namespace rowbloom::tree_sim
