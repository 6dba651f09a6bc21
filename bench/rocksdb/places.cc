// SPDX-License-Identifier: Apache-2.0
//
// places: what gets read where filters and indexes live in table readers, in
// pinned partitions, or in partitions that compete for the block cache, at the
// same memory for data, filters and indexes; and which place the model of
// filter_place.h chooses. Reads are RocksDB's own counts and do not depend on
// the machine's speed.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "key_tree.h"
#include "operations.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rowbloom/filter_place.h"
#include "run.h"
#include "tree.h"

namespace rowbloom::bench {
namespace {

constexpr Workload kPlaceWorkloads[] = {
    {"absent", 1, Choice::kUniform},
    {"half_absent", 0.5, Choice::kUniform},
    {"present", 0, Choice::kUniform},
    {"zipf_half_absent", 0.5, Choice::kZipf},
    {"zipf_present", 0, Choice::kZipf},
};
constexpr FilterPlace kPlaces[] = {FilterPlace::kTableReaders,
                                   FilterPlace::kPinnedPartitions,
                                   FilterPlace::kCachedPartitions};
constexpr const char* kPlaceFilters[] = {"rocksdb_bloom:10", "compact:10"};
constexpr uint64_t kKeysOfPartition = 3000;

struct PlaceReads {
  double data = 0;
  double filter = 0;
  double index = 0;
  double filters_asked = 0;
  double data_blocks_asked = 0;

  double sum() const { return data + filter + index; }
};

// Has a name that callgrind finds: see bench/README.md.
__attribute__((noinline)) void CountedGets(
    const std::vector<Operation>& operations, rocksdb::DB* db,
    uint64_t* wrong) {
  for (const Operation& operation : operations) *wrong += !Do(operation, db);
}

class PlacedTree {
 public:
  PlacedTree(FilterPlace place, const std::string& filter,
             const TreeShape& shape, const std::vector<uint64_t>& sorted,
             Run* run)
      : place_(place),
        keys_(shape, run, place, kValueSize),
        sorted_(sorted),
        run_(*run) {
    const auto [name, bits] = ParseFilter(filter, kTime);
    tree_ = keys_.Build(name, bits);
  }

  const Tree& tree() const { return *tree_; }

  // Filters and indexes of table readers, with what else these hold.
  uint64_t ReaderBytes() const {
    uint64_t bytes = 0;
    if (!tree_->db()->GetIntProperty(
            rocksdb::DB::Properties::kEstimateTableReadersMem, &bytes)) {
      throw std::runtime_error("RocksDB does not know its table readers");
    }
    return bytes;
  }

  // The mean of `count` gets after as many that fill the cache.
  PlaceReads Count(const Workload& workload, uint64_t cache_bytes,
                   uint64_t count) {
    constexpr int kOneShard = 0;
    tree_->database.Reopen(rocksdb::NewLRUCache(cache_bytes, kOneShard,
                                                /*strict_capacity_limit=*/false,
                                                /*high_pri_pool_ratio=*/0.5));
    Operations operations(keys_, sorted_, /*seed=*/1);
    uint64_t wrong = 0;
    for (uint64_t done = 0; done < count; done += kBatch) {
      for (const Operation& operation : operations.Batch(workload)) {
        wrong += !Do(operation, tree_->db());
      }
    }
    std::vector<Operation> counted;
    while (counted.size() < count) {
      for (Operation& operation : operations.Batch(workload)) {
        counted.push_back(std::move(operation));
      }
    }
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
    perf.Reset();
    CountedGets(counted, tree_->db(), &wrong);
    const auto mean = [&](uint64_t reads) {
      return static_cast<double>(reads) / static_cast<double>(counted.size());
    };
    const PlaceReads reads = {
        mean(DataReads()), mean(perf.filter_block_read_count),
        mean(perf.index_block_read_count),
        mean(perf.bloom_sst_hit_count + perf.bloom_sst_miss_count),
        mean(DataReads() + perf.block_cache_hit_count -
             perf.block_cache_index_hit_count -
             perf.block_cache_filter_hit_count)};
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    run_.answers.AddMany(2 * counted.size(), wrong, workload.name);
    return reads;
  }

  FilterPlace place() const { return place_; }

 private:
  const FilterPlace place_;
  KeyTree keys_;
  const std::vector<uint64_t>& sorted_;
  Run& run_;
  std::unique_ptr<Tree> tree_;
};

std::vector<FilterPlaceCost> ExpectedByPlace(const std::string& filter,
                                             const TreeShape& shape,
                                             const Tree& tree,
                                             const Workload& workload,
                                             uint64_t memory_bytes) {
  const auto [name, bits] = ParseFilter(filter, kTime);
  FilterSetting setting =
      (name == kBloom ? FilterCost::OfRocksDbBloom()
                      : OrThrow(FilterCost::OfFamily(name, kKeysOfPartition)))
          .ForBits(bits);
  setting.bits_per_key = tree.all.BitsPerKey();
  GetCostOptions options;
  options.cache_bytes = memory_bytes;
  options.key_bytes = sizeof(uint64_t);
  // RocksDB stores 3 lengths and 8 bytes of sequence number and type.
  options.entry_bytes = sizeof(uint64_t) + kValueSize + 11;
  options.missing_share = workload.missing_share;
  options.zipf_exponent = workload.choice == Choice::kZipf ? kZipfExponent : 0;
  const auto runs = OrThrow(RunsOf(shape));
  return OrThrow(CompareFilterPlaces(
      runs, std::vector<FilterSetting>(runs.size(), setting), options));
}

}  // namespace

std::vector<std::string> PlaceNames() {
  std::vector<std::string> names;
  for (const FilterPlace place : kPlaces) {
    names.emplace_back(FilterPlaceName(place));
  }
  return names;
}

std::vector<std::string> PlaceWorkloadNames() {
  return NamesOf(kPlaceWorkloads);
}

Json MeasurePlaces(Run* run) {
  const Options& options = run->options;
  TreeShape shape;
  shape.key_count = options.Or(options.keys, 40000, 400000);
  shape.level_count = options.levels;
  const std::vector<uint64_t> sorted;  // Only ranges of keys need them.
  const uint64_t gets = options.Or(options.gets, 2048, 200000);
  const auto is_chosen = [](const std::vector<std::string>& only,
                            std::string_view name) {
    return only.empty() || std::count(only.begin(), only.end(), name) != 0;
  };
  std::vector<std::string> filters = options.policies;
  if (filters.empty()) {
    filters.assign(std::begin(kPlaceFilters), std::end(kPlaceFilters));
  }
  Json rows = Json::array();
  for (const std::string& filter : filters) {
    std::vector<std::unique_ptr<PlacedTree>> trees;
    for (const FilterPlace place : kPlaces) {
      if (!is_chosen(options.places, FilterPlaceName(place))) continue;
      trees.push_back(
          std::make_unique<PlacedTree>(place, filter, shape, sorted, run));
    }
    for (const Workload& workload : kPlaceWorkloads) {
      if (!is_chosen(options.workloads, workload.name)) continue;
      for (const double share : options.cache_shares) {
        run->progress.Begin("places " + filter + ", " + workload.name,
                            trees.size());
        const auto memory_bytes = static_cast<uint64_t>(
            share * static_cast<double>(trees.front()->tree().all.data_bytes));
        const auto expected = ExpectedByPlace(
            filter, shape, trees.back()->tree(), workload, memory_bytes);
        const FilterPlaceCost& chosen = CheapestPlace(expected);
        for (const auto& tree : trees) {
          const FilterPlaceCost& model =
              expected[static_cast<size_t>(tree->place())];
          uint64_t resident_bytes = 0;
          uint64_t cache_bytes = memory_bytes;
          if (tree->place() == FilterPlace::kTableReaders) {
            resident_bytes = tree->ReaderBytes();
            cache_bytes -= std::min(memory_bytes, resident_bytes);
          }
          const PlaceReads reads = tree->Count(workload, cache_bytes, gets);
          run->progress.Add(1);
          rows.push_back({{"filter", filter},
                          {"workload", workload.name},
                          {"cache_share", share},
                          {"place", FilterPlaceName(tree->place())},
                          {"bits_per_key", tree->tree().all.BitsPerKey()},
                          {"memory_bytes", memory_bytes},
                          {"reader_bytes", resident_bytes},
                          {"filters_asked", reads.filters_asked},
                          {"data_blocks_asked", reads.data_blocks_asked},
                          {"data_reads", reads.data},
                          {"filter_reads", reads.filter},
                          {"index_reads", reads.index},
                          {"reads", reads.sum()},
                          {"expected_reads", model.cost.reads()},
                          {"expected_us", model.cost.total_us},
                          {"resident_bytes", model.cost.resident_bytes},
                          {"instructions", model.instructions},
                          {"fits", model.fits},
                          {"is_chosen", model.place == chosen.place}});
        }
        run->progress.End();
      }
    }
  }
  return {{"places", std::move(rows)}};
}

}  // namespace rowbloom::bench
