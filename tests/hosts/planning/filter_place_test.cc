// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_place.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rowbloom/get_cost.h"

namespace rowbloom {
namespace {

// 1,000,000 keys in blocks of 32 keys: of 8 bits each, and 32 bytes of index
// for each block.
const std::vector<TreeRun> kPlacedRun = {{1000000}};
const std::vector<FilterSetting> kPlacedFilter = {{8, 8, 0.02}};
constexpr uint64_t kFilterAndIndexBytes = 2000000;

GetCostOptions PlacedGets(uint64_t memory_bytes) {
  GetCostOptions options;
  options.cache_bytes = memory_bytes;
  options.entry_bytes = 128;
  options.key_bytes = 20;
  options.zipf_exponent = 0.9;
  options.partition_cuts = PartitionCuts::kDecoupled;
  return options;
}

std::vector<FilterPlaceCost> PlacesIn(uint64_t memory_bytes) {
  const auto places =
      CompareFilterPlaces(kPlacedRun, kPlacedFilter, PlacedGets(memory_bytes));
  EXPECT_TRUE(places.ok()) << places.status();
  return *places;
}

TEST(FilterPlace, TableReadersTakeTheBytesOfFiltersAndIndexesFromTheCache) {
  const FilterPlaceCost readers = PlacesIn(5000000).front();
  EXPECT_EQ(readers.place, FilterPlace::kTableReaders);
  EXPECT_NEAR(readers.cost.resident_bytes, kFilterAndIndexBytes, 1);
  EXPECT_NEAR(static_cast<double>(readers.block_cache_bytes), 3000000, 1);
  EXPECT_EQ(readers.cost.filter.reads + readers.cost.index.reads, 0);
  EXPECT_NEAR(readers.cost.filter.asks, 1, 1e-6);
  EXPECT_GT(readers.cost.data.reads, 0);
}

TEST(FilterPlace, PinnedPartitionsTakeTheirEntriesOfTheCacheToo) {
  const FilterPlaceCost pinned = PlacesIn(5000000)[1];
  EXPECT_EQ(pinned.place, FilterPlace::kPinnedPartitions);
  const double partitions = 1e6 / (0.9 * 4096) + 1e6 / 4096;
  EXPECT_NEAR(
      pinned.cost.resident_bytes,
      kFilterAndIndexBytes + partitions * GetCostOptions().block_overhead_bytes,
      1);
  EXPECT_EQ(pinned.block_cache_bytes, 5000000);
  EXPECT_EQ(pinned.cost.filter.reads + pinned.cost.index.reads, 0);
}

TEST(FilterPlace, NoDataIsCachedWhereFiltersAndIndexesFillTheMemory) {
  const FilterPlaceCost readers = PlacesIn(kFilterAndIndexBytes).front();
  EXPECT_TRUE(readers.fits);
  EXPECT_EQ(readers.cost.data.hit_rate(), 0);
}

TEST(FilterPlace, FiltersThatDoNotFitAreNotRecommended) {
  const auto places = PlacesIn(kFilterAndIndexBytes - 1);
  EXPECT_FALSE(places[0].fits);
  EXPECT_FALSE(places[1].fits);
  EXPECT_TRUE(places[2].fits);
  EXPECT_EQ(CheapestPlace(places).place, FilterPlace::kCachedPartitions);
  // They would read less than partitions that compete.
  EXPECT_LT(places[0].cost.total_us, places[2].cost.total_us);
}

TEST(FilterPlace, TheCheapestThatFitsIsRecommended) {
  for (const uint64_t memory : {2200000, 4000000, 20000000, 1000000000}) {
    const auto places = PlacesIn(memory);
    const FilterPlaceCost& best = CheapestPlace(places);
    EXPECT_TRUE(best.fits);
    for (const FilterPlaceCost& place : places) {
      if (!place.fits) continue;
      EXPECT_LE(best.cost.total_us, place.cost.total_us) << memory;
    }
  }
}

TEST(FilterPlace, TableReadersTakeTheFewestInstructionsWhereAllBlocksFit) {
  const auto places = PlacesIn(1000000000);
  for (const FilterPlaceCost& place : places) {
    EXPECT_EQ(place.cost.reads(), 0);
  }
  EXPECT_LT(places[0].instructions, places[1].instructions);
  EXPECT_LT(places[1].instructions, places[2].instructions);
}

TEST(FilterPlace, ErrorsAreThoseOfTheGetCost) {
  GetCostOptions options = PlacedGets(1000);
  options.missing_share = 2;
  const auto places = CompareFilterPlaces(kPlacedRun, kPlacedFilter, options);
  ASSERT_FALSE(places.ok());
  EXPECT_NE(places.status().message().find("missing_share 2"),
            std::string::npos);
}

}  // namespace
}  // namespace rowbloom
