// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/get_fit.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "rowbloom/get_cost.h"

namespace rowbloom {
namespace {

const std::vector<TreeRun> kRuns = {{10000}, {100000}, {1000000}};
const FilterSetting kFilter = {10, 10, 0.01};
const std::vector<FilterSetting> kFilters(kRuns.size(), kFilter);

GetCostOptions SomeGets() {
  GetCostOptions options;
  options.cache_bytes = 10'000'000;
  options.missing_share = 0.3;
  return options;
}

// The counts that the model expects of gets.
GetRates RatesOf(const GetCostOptions& gets) {
  const auto cost = ExpectedGetCost(kRuns, kFilters, gets);
  EXPECT_TRUE(cost.ok()) << cost.status();
  GetRates rates;
  rates.missing_share = gets.missing_share;
  rates.filter_asks = cost->filter.asks;
  rates.filter_reads = cost->filter.reads;
  rates.data_asks = cost->data.asks;
  rates.data_reads = cost->data.reads;
  return rates;
}

GetCostOptions Fitted(const GetRates& rates, const GetPopularity& known,
                      GetCostOptions options) {
  const absl::Status status = FitGets(kRuns, kFilters, rates, known, &options);
  EXPECT_TRUE(status.ok()) << status;
  return options;
}

TEST(GetFit, FindsTheSkewOfKeysAndOfRanges) {
  for (const GetPopularity& popularity :
       {GetPopularity{1, 0.8}, GetPopularity{1, 1.1},
        GetPopularity{256, 1.5}}) {
    GetCostOptions gets = SomeGets();
    gets.range_keys = popularity.range_keys;
    gets.zipf_exponent = popularity.zipf_exponent;
    const GetCostOptions found = Fitted(RatesOf(gets), {}, SomeGets());
    EXPECT_EQ(found.range_keys, gets.range_keys);
    EXPECT_NEAR(found.zipf_exponent, gets.zipf_exponent, 0.05);
    EXPECT_EQ(found.cache_bytes, gets.cache_bytes);
  }
}

TEST(GetFit, FindsTheSkewByDataAloneIfNoFilterIsInTheCache) {
  GetCostOptions gets = SomeGets();
  gets.place = FilterPlace::kTableReaders;
  GetCostOptions skewed = gets;
  skewed.zipf_exponent = 0.9;
  GetRates rates = RatesOf(skewed);
  rates.filter_asks = 0;
  EXPECT_NEAR(Fitted(rates, {}, gets).zipf_exponent, 0.9, 0.05);
}

TEST(GetFit, FindsThePartOfTheCache) {
  GetCostOptions gets = SomeGets();
  gets.cache_bytes /= 5;
  const GetCostOptions found = Fitted(RatesOf(gets), {}, SomeGets());
  EXPECT_EQ(found.zipf_exponent, 0);
  EXPECT_NEAR(static_cast<double>(found.cache_bytes),
              static_cast<double>(gets.cache_bytes), 0.05 * 10e6);
}

TEST(GetFit, KeepsWhatIsKnownIfThatExplainsTheReads) {
  GetCostOptions gets = SomeGets();
  gets.zipf_exponent = 0.9;
  GetPopularity known;
  known.zipf_exponent = 0.92;
  const GetRates rates = RatesOf(gets);
  EXPECT_EQ(Fitted(rates, known, SomeGets()).zipf_exponent, 0.92);
  known.zipf_exponent = 1.3;
  EXPECT_NEAR(Fitted(rates, known, SomeGets()).zipf_exponent, 0.9, 0.05);
}

// With few filter reads no size of ranges stands out.
TEST(GetFit, KeepsTheSizeOfRangesThatExplainsTheReads) {
  GetCostOptions gets = SomeGets();
  gets.range_keys = 256;
  gets.zipf_exponent = 1.5;
  gets.cache_bytes *= 5;
  const GetRates rates = RatesOf(gets);
  for (const double range_keys : {1.0, 256.0, 16384.0}) {
    const GetPopularity known = {range_keys, 0.2};
    GetCostOptions options = SomeGets();
    options.cache_bytes = gets.cache_bytes;
    EXPECT_EQ(Fitted(rates, known, options).range_keys, range_keys);
  }
}

TEST(GetFit, RefusesWhatIsNoCount) {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    GetRates rates = RatesOf(SomeGets());
    rates.data_reads = bad;
    GetCostOptions options = SomeGets();
    EXPECT_TRUE(
        absl::IsInvalidArgument(FitGets(kRuns, kFilters, rates, {}, &options)));
  }
  GetCostOptions options = SomeGets();
  EXPECT_TRUE(absl::IsInvalidArgument(
      FitGets(kRuns, {}, RatesOf(options), {}, &options)));
  GetPopularity known;
  known.zipf_exponent = -1;
  EXPECT_TRUE(absl::IsInvalidArgument(
      FitGets(kRuns, kFilters, RatesOf(options), known, &options)));
}

}  // namespace
}  // namespace rowbloom
