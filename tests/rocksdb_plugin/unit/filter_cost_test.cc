// SPDX-License-Identifier: Apache-2.0
//
// Compares the cost models of RocksDB's filters with the filters that the
// library builds.

#include "rowbloom/filter_cost.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "filter_bits_abi.h"
#include "gtest/gtest.h"
#include "rdb.h"
#include "rocksdb/table.h"

namespace rowbloom {
namespace {

struct Measured {
  double bits_per_key = 0;
  double fpr = 0;
};

rdb::Slice KeyOf(const uint64_t* number) {
  return rdb::Slice(reinterpret_cast<const char*>(number), sizeof(*number));
}

Measured Measure(const rdb::FilterPolicy& policy, uint64_t key_count,
                 uint64_t lookup_count) {
  rdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;
  const rdb::FilterBuildingContext context(table_options);
  const std::unique_ptr<rdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(context));
  for (uint64_t key = 0; key < key_count; ++key) builder->AddKey(KeyOf(&key));
  std::unique_ptr<const char[]> bytes;
  const rdb::Slice filter = builder->Finish(&bytes);
  const std::unique_ptr<rdb::FilterBitsReader> reader(
      policy.GetFilterBitsReader(filter));
  uint64_t positives = 0;
  for (uint64_t key = key_count; key < key_count + lookup_count; ++key) {
    positives += reader->MayMatch(KeyOf(&key)) ? 1 : 0;
  }
  return {
      8 * static_cast<double>(filter.size()) / static_cast<double>(key_count),
      static_cast<double>(positives) / static_cast<double>(lookup_count)};
}

constexpr uint64_t kKeys = 200000;
constexpr uint64_t kLookups = 500000;

// The bound is five standard deviations of the number of positives, exceeded
// less than once in a million, plus the error of the model itself.
void ExpectNearRate(double measured, double modelled, double model_error) {
  const double deviation = std::sqrt(modelled / static_cast<double>(kLookups));
  EXPECT_NEAR(measured, modelled, modelled * model_error + 5 * deviation);
}

TEST(FilterCost, OfRocksDbsBloomIsThatOfItsFilters) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  for (const double bits : {2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0}) {
    const FilterSetting setting = cost.ForBits(bits);
    const std::unique_ptr<const rdb::FilterPolicy> policy(
        rdb::NewBloomFilterPolicy(setting.builder_bits));
    const Measured measured = Measure(*policy, kKeys, kLookups);
    SCOPED_TRACE(bits);
    EXPECT_NEAR(measured.bits_per_key, setting.bits_per_key, 0.01);
    ExpectNearRate(measured.fpr, setting.fpr, 0.05);
  }
}

TEST(FilterCost, OfRocksDbsRibbonIsThatOfItsFilters) {
  for (const uint64_t keys : {uint64_t{5000}, kKeys}) {
    const FilterCost cost = FilterCost::OfRocksDbRibbon(keys);
    for (const double bits : {2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0}) {
      const FilterSetting setting = cost.ForBits(bits);
      const std::unique_ptr<const rdb::FilterPolicy> policy(
          rdb::NewRibbonFilterPolicy(setting.builder_bits));
      const Measured measured = Measure(*policy, keys, kLookups);
      SCOPED_TRACE(bits);
      EXPECT_NEAR(measured.bits_per_key / setting.bits_per_key, 1, 0.02);
      ExpectNearRate(measured.fpr, setting.fpr, 0.05);
    }
  }
}

}  // namespace
}  // namespace rowbloom
