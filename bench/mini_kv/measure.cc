// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_stats.h"

namespace rowbloom::mini_kv_bench {
namespace {

using ::mini_kv::MiniKv;
using point_get::Scramble;

// Seeds: each choice that is made by a hash has its own.
constexpr uint64_t kPutOrderSeed = 300;
constexpr uint64_t kColumnSeed = 301;
constexpr uint64_t kRowSeed = 310;  // Plus the query.
constexpr uint64_t kCellsPerReport = 1000;

template <typename T>
T Value(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

void Check(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string CellValue(const Options& options, std::string_view row,
                      std::string_view qualifier) {
  std::string value;
  point_get::MakeValue(point_get::EncodeKey(std::string(row), qualifier),
                       options.value_size_bytes, &value);
  return value;
}

::mini_kv::Options StoreOptions(const Options& options, FilterCache* cache) {
  ::mini_kv::Options store;
  store.filter_cache = cache;
  store.memtable_size_bytes = options.memtable_size_bytes;
  store.file_size_bytes = options.file_size_bytes;
  store.block_size_bytes = options.block_size_bytes;
  store.level1_size_bytes = options.level1_size_bytes;
  store.level_ratio = options.level_ratio;
  return store;
}

// Returns true if the answer to get number `i` is right.
bool AskOne(const Options& options, const Dataset& data, Query query,
            uint64_t i, MiniKv* store) {
  const uint64_t seed = kRowSeed + static_cast<uint64_t>(query);
  const size_t row = Scramble(i, seed) % data.row_count();
  switch (query) {
    case Query::kAbsentRow:
      return !Value(store->RowExists(data.AbsentRow(row)));
    case Query::kPresentRow:
      return Value(store->RowExists(data.row(row)));
    case Query::kAbsentColumn:
      return !Value(store->Get(data.row(row), data.AbsentQualifier(row)));
    case Query::kPresentCell: {
      const auto columns = data.columns(row);
      const std::string& qualifier =
          data.qualifier(columns[Scramble(i, kColumnSeed) % columns.size()]);
      return Value(store->Get(data.row(row), qualifier)) ==
             CellValue(options, data.row(row), qualifier);
    }
  }
  return false;
}

}  // namespace

std::vector<LevelStats> Load(const Options& options, const Dataset& data,
                             const Filters& filters, const std::string& path,
                             Progress* progress) {
  if (std::filesystem::exists(path)) {
    throw std::runtime_error(path + ": exists");
  }
  struct CellId {
    uint64_t order;
    size_t row;
    uint32_t qualifier;
  };
  std::vector<CellId> cells;
  for (size_t row = 0; row < data.row_count(); ++row) {
    for (const uint32_t q : data.columns(row)) {
      cells.push_back({Scramble(data.row(row), kPutOrderSeed + q), row, q});
    }
  }
  std::sort(cells.begin(), cells.end(), [](const CellId& a, const CellId& b) {
    return std::tie(a.order, a.row, a.qualifier) <
           std::tie(b.order, b.row, b.qualifier);
  });

  ::mini_kv::Options store_options = StoreOptions(options, nullptr);
  store_options.filter = filters.filter;
  store_options.filter_budget = filters.budget;
  const auto store = Value(MiniKv::Open(store_options, path));
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string& row = data.row(cells[i].row);
    const std::string& qualifier = data.qualifier(cells[i].qualifier);
    Check(store->Put(row, qualifier, CellValue(options, row, qualifier)));
    if (i % kCellsPerReport == 0) progress->Add(kCellsPerReport);
  }
  Check(store->Flush());
  return store->levels();
}

Measurement Ask(const Options& options, const Dataset& data, Query query,
                const std::string& path, Progress* progress) {
  const auto cache = NewShardedLruCache({options.filter_cache_bytes});
  const auto store =
      Value(MiniKv::Open(StoreOptions(options, cache.get()), path));
  Measurement m;
  m.query = query;
  m.gets = options.get_count;
  for (uint64_t i = 0; i < m.gets; ++i) {
    if (!AskOne(options, data, query, i, store.get())) ++m.wrong_answers;
    if (i % kCellsPerReport == 0) progress->Add(kCellsPerReport);
  }
  const ::mini_kv::Stats stats = store->stats();
  m.data_reads = stats.reads.data_blocks;
  m.data_bytes = stats.reads.data_bytes;
  m.filter_reads = stats.filters[FilterCounter::kChunkLoads];
  m.filter_bytes = stats.filters[FilterCounter::kChunkLoadBytes];
  m.negatives = stats.filters[FilterCounter::kNegatives];
  m.false_positives = stats.filters[FilterCounter::kFalsePositives];
  return m;
}

}  // namespace rowbloom::mini_kv_bench
