// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_place.h"

#include <algorithm>
#include <utility>

#include "util/check.h"

namespace rowbloom {

namespace {

// Instructions in rocksdb::DBImpl::GetImpl of RocksDB 7.8.3, of keys of 8 bytes
// and entries of 119, with all blocks in memory unless they are read. `filter`
// finds and asks the filter of one SST; `search` is that of an index or a data
// block; `read` reads a block of 4 KiB and adds it to the cache. For their
// command, see "reads_bench places" in bench/README.md.
struct PlaceInstructions {
  double get;
  double filter;
  double search;
  double read;
};
// Where all of a small tree is in the processor's caches, 9,500 took a
// microsecond on an EPYC of 2023; a large tree waits for memory.
constexpr double kInstructionsPerUs = 5000;

PlaceInstructions InstructionsOf(FilterPlace place) {
  switch (place) {
    case FilterPlace::kTableReaders:
      return {1830, 1420, 4310, 7620};
    case FilterPlace::kPinnedPartitions:
      return {2480, 2920, 5680, 8900};
    case FilterPlace::kCachedPartitions:
      break;
  }
  return {2510, 4470, 6340, 8840};
}

}  // namespace

std::string_view FilterPlaceName(FilterPlace place) {
  switch (place) {
    case FilterPlace::kTableReaders:
      return "table readers";
    case FilterPlace::kPinnedPartitions:
      return "pinned partitions";
    case FilterPlace::kCachedPartitions:
      break;
  }
  return "cached partitions";
}

absl::StatusOr<std::vector<FilterPlaceCost>> CompareFilterPlaces(
    absl::Span<const TreeRun> runs, absl::Span<const FilterSetting> filters,
    const GetCostOptions& options) {
  std::vector<FilterPlaceCost> places;
  for (const FilterPlace place :
       {FilterPlace::kTableReaders, FilterPlace::kPinnedPartitions,
        FilterPlace::kCachedPartitions}) {
    const PlaceInstructions instructions = InstructionsOf(place);
    GetCostOptions placed = options;
    placed.place = place;
    placed.get_cpu_us = instructions.get / kInstructionsPerUs;
    placed.filter_cpu_us = instructions.filter / kInstructionsPerUs;
    placed.search_cpu_us = instructions.search / kInstructionsPerUs;
    placed.read_cpu_us = instructions.read / kInstructionsPerUs;
    absl::StatusOr<GetCost> cost = ExpectedGetCost(runs, filters, placed);
    if (!cost.ok()) return cost.status();
    FilterPlaceCost& result = places.emplace_back();
    result.place = place;
    result.cost = *std::move(cost);
    result.instructions = kInstructionsPerUs * result.cost.cpu_us;
    const auto memory = static_cast<double>(options.cache_bytes);
    result.fits = result.cost.resident_bytes <= memory;
    result.block_cache_bytes = options.cache_bytes;
    if (place == FilterPlace::kTableReaders) {
      result.block_cache_bytes -=
          static_cast<uint64_t>(std::min(memory, result.cost.resident_bytes));
    }
  }
  return places;
}

const FilterPlaceCost& CheapestPlace(absl::Span<const FilterPlaceCost> places) {
  RB_CHECK(!places.empty(), "CheapestPlace() of no places");
  // Cached partitions are the last, and always fit.
  const FilterPlaceCost* cheapest = &places.back();
  for (const FilterPlaceCost& place : places) {
    if (place.fits && place.cost.total_us < cheapest->cost.total_us) {
      cheapest = &place;
    }
  }
  return *cheapest;
}

std::string FilterPlaceOptions(FilterPlace place) {
  if (place == FilterPlace::kTableReaders) {
    return "partition_filters=false;index_type=kBinarySearch;"
           "cache_index_and_filter_blocks=false";
  }
  const std::string pinning =
      place == FilterPlace::kPinnedPartitions ? "kAll" : "kNone";
  return "partition_filters=true;index_type=kTwoLevelIndexSearch;"
         "cache_index_and_filter_blocks=true;"
         "metadata_cache_options={top_level_index_pinning=kAll;"
         "partition_pinning=" +
         pinning + "}";
}

}  // namespace rowbloom
