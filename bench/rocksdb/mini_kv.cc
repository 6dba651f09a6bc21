// SPDX-License-Identifier: Apache-2.0
//
// mini_kv: point gets of rows and columns in examples/mini_kv, without filters
// and with those of each family.
//
// Cells are put in an order that looks random, so that each level has cells of
// each part of the key space. The store runs in one thread, and the sizes of
// its files do not depend on their filters: with any policy the tree is the
// same.

#include "examples/mini_kv/mini_kv.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policies.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_spec.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

using ::mini_kv::MiniKv;

constexpr size_t kStoreValueSize = 32;
constexpr uint64_t kStoreLevelRatio = 4;
// Each choice that is made by a hash has its own seed.
constexpr uint64_t kPutOrderSeed = 300;
constexpr uint64_t kStoreColumnSeed = 301;
constexpr uint64_t kRowSeed = 310;  // Plus the query.

// The filters that a store writes.
struct Filters {
  std::string name;
  FilterOptions filter;
  std::optional<FileBudgetOptions> budget;
};

std::vector<Filters> AllFilters() {
  std::vector<Filters> all = {{kNone, {}, {}}};
  all[0].filter.bloom_type = BloomType::kNone;
  const auto add = [&](const char* family,
                       const std::optional<FileBudgetOptions>& budget) {
    FilterOptions filter;
    filter.bloom_type = BloomType::kRowCol;
    filter.filter_spec = FilterSpec::BitsPerKey(family, kBitsPerKey);
    all.push_back(
        {budget ? std::string(family) + ", by run" : family, filter, budget});
  };
  for (const char* family : {"blocked_bloom", "fast", "compact"}) {
    add(family, std::nullopt);
  }
  FileBudgetOptions budget;
  budget.budget.memory = FilterMemory::BitsPerKey(kBitsPerKey);
  budget.size_ratio = kStoreLevelRatio;
  for (const char* family : {"blocked_bloom", "compact"}) add(family, budget);
  return all;
}

::mini_kv::Options StoreOptions(const Options& options) {
  ::mini_kv::Options store;
  store.memtable_size_bytes = options.quick ? 100000 : 1 << 20;
  store.level1_size_bytes = 2 * store.memtable_size_bytes;
  store.level_ratio = kStoreLevelRatio;
  store.block_size_bytes = 4096;
  return store;
}

std::string CellValue(const std::string& row, const std::string& qualifier) {
  return MakeValue(EncodeKey(row, qualifier), kStoreValueSize);
}

// Fills a new store and returns its levels.
std::vector<Level> Load(const Dataset& data, const Filters& filters,
                        const std::string& path, Run* run) {
  std::vector<std::tuple<uint64_t, size_t, uint32_t>> cells;
  for (size_t row = 0; row < data.row_count(); ++row) {
    for (const uint32_t q : data.columns(row)) {
      cells.emplace_back(Scramble(data.row(row), kPutOrderSeed + q), row, q);
    }
  }
  std::sort(cells.begin(), cells.end());

  ::mini_kv::Options options = StoreOptions(run->options);
  options.filter = filters.filter;
  options.filter_budget = filters.budget;
  run->progress.Begin("load " + filters.name, cells.size());
  const auto store = OrThrow(MiniKv::Open(options, path));
  for (const auto& [order, i, q] : cells) {
    const std::string& row = data.row(i);
    const std::string& qualifier = data.qualifier(q);
    CheckOk(store->Put(row, qualifier, CellValue(row, qualifier)));
    run->progress.Add(1);
  }
  CheckOk(store->Flush());
  run->progress.End();
  std::vector<Level> levels;
  for (const ::mini_kv::LevelStats& level : store->levels()) {
    levels.push_back({static_cast<int>(levels.size()), level.ssts, level.cells,
                      level.data_blocks, level.data_bytes, level.filter_bytes});
  }
  return levels;
}

bool IsRight(Query query, const Cell& cell, MiniKv* store) {
  if (AsksRow(query)) {
    return OrThrow(store->RowExists(cell.row)) == (query == Query::kPresentRow);
  }
  const std::optional<std::string> value =
      OrThrow(store->Get(cell.row, cell.qualifier));
  return query == Query::kAbsentColumn
             ? !value.has_value()
             : value == CellValue(cell.row, cell.qualifier);
}

// Opens the store, so that no filter is in the cache, and asks.
Json AskAll(const Dataset& data, Query query, const std::string& path,
            uint64_t gets, Run* run) {
  const auto cache = NewShardedLruCache({32 << 20});
  ::mini_kv::Options options = StoreOptions(run->options);
  options.filter_cache = cache.get();
  const auto store = OrThrow(MiniKv::Open(options, path));
  const uint64_t seed = kRowSeed + static_cast<uint64_t>(query);
  for (uint64_t i = 0; i < gets; ++i) {
    const Cell cell = data.Draw(query, Scramble(i, seed) % data.row_count(),
                                Scramble(i, kStoreColumnSeed));
    run->answers.Add(IsRight(query, cell, store.get()), QueryName(query),
                     cell.row);
    run->progress.Add(1);
  }
  const auto data_reads = static_cast<double>(store->stats().reads.data_blocks);
  return {{"query", QueryName(query)},
          {"gets", gets},
          {"data_reads_per_get", data_reads / static_cast<double>(gets)}};
}

}  // namespace

Json MeasureMiniKv(Run* run) {
  const Options& options = run->options;
  run->progress.Begin("read the input", 0);
  const Dataset data(options.input, options.Or(options.rows, 8000, 100000));
  run->progress.End();
  const uint64_t gets = options.Or(options.gets, 20000, 100000);
  Json tree;
  Json runs = Json::array();
  for (const Filters& filters : AllFilters()) {
    const std::string path = run->NewPath();
    const auto levels = Load(data, filters, path, run);
    if (tree.is_null()) tree = LevelsJson(levels);
    if (tree != LevelsJson(levels)) {
      throw std::runtime_error("two policies made different trees");
    }
    run->progress.Begin("ask " + filters.name, gets * std::size(kQueries));
    for (const Query query : kQueries) {
      Json json = {{"policy", filters.name},
                   {"filter_bytes", SumOf(levels).filter_bytes}};
      json.update(AskAll(data, query, path, gets, run));
      runs.push_back(std::move(json));
    }
    run->progress.End();
    std::filesystem::remove_all(path);
  }
  return {{"tree",
           {{"rows", data.row_count()},
            {"cells", data.cell_count()},
            {"levels", std::move(tree)}}},
          {"runs", std::move(runs)}};
}

}  // namespace rowbloom::bench
