// SPDX-License-Identifier: Apache-2.0
//
// Shapes, values and rates of Redisson's filter in memory. Its hash belongs to
// rowbloom::redis, whose tests compare with Redisson; here digests are numbers.

#include "rowbloom/memfilter/redisson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;
using testing::Random;
using testing::WithinBinomialBound;

TEST(RedissonShape, IsThatOfTryInit) {
  const struct {
    uint64_t keys;
    double rate;
    BloomShape shape;
  } kCases[] = {{1, 0.5, {1, 1}},
                {10, 0.01, {95, 7}},
                {10, 0.03, {72, 5}},
                {100, 0.6, {106, 1}},
                {1'000, 0.01, {9585, 7}},
                {1'000, 1e-4, {19170, 13}},
                {1'000, 1e-7, {33547, 23}},
                {1'000, 0, {1549454, 1074}},
                {100'000, 0.03, {729844, 5}},
                {1'000'000, 1e-4, {19170116, 13}},
                {10'000'000, 1e-8, {383402335, 27}},
                {55'000'000, 0.03, {401414246, 5}},
                {100'000'000, 1e-8, {3834023350, 27}}};
  for (const auto& c : kCases) {
    const auto shape = RedissonShape(c.keys, c.rate);
    ASSERT_TRUE(shape.ok()) << shape.status();
    EXPECT_EQ(*shape, c.shape) << c.keys << " " << c.rate;
  }
}

TEST(RedissonShape, RefusesAsRedisson) {
  EXPECT_THAT(RedissonShape(1'000'000'000, 1e-3).status().ToString(),
              HasSubstr("has 1 to 4294967294"));
  for (const double rate : {-0.1, 1.1, 1.0}) {
    EXPECT_FALSE(RedissonShape(10, rate).ok()) << rate;
  }
  EXPECT_FALSE(RedissonShape(0, 0.01).ok());
  EXPECT_FALSE(RedissonFilter::New(BloomShape{10, 1101}).ok());
  EXPECT_FALSE(RedissonFilter::New(BloomShape{0, 1}).ok());
  EXPECT_FALSE(RedissonFilter::New(BloomShape{uint64_t{1} << 33, 1}).ok());
}

// The positions of "x" in 95 bits, from Redisson.
constexpr RedissonDigest kX = {0x06dfc3e30ca52980, 0xa0cd7d235708e8c2};
constexpr char kValueOfX[] = "04210000000000021084";

TEST(RedissonFilter, ReadsAndWritesTheValueOfTheKey) {
  auto filter = RedissonFilter::New(10, 0.01);
  ASSERT_TRUE(filter.ok());
  EXPECT_TRUE(filter->Add(kX));
  EXPECT_FALSE(filter->Add(kX));
  std::string value = filter->ToRedis();
  EXPECT_EQ(value.size(), 12u);
  EXPECT_EQ(absl::BytesToHexString(value), std::string(kValueOfX) + "0000");

  const auto read = RedissonFilter::FromRedis(
      filter->shape(), absl::HexStringToBytes(kValueOfX));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(read->MayContain(kX));
  EXPECT_FALSE(read->MayContain({1, 2}));
  EXPECT_EQ(read->ToRedis(), value);
  EXPECT_EQ(read->approximate_count(), 1u);

  value.back() = 1;  // Bit 95 of 95.
  EXPECT_THAT(
      RedissonFilter::FromRedis(filter->shape(), value).status().ToString(),
      HasSubstr("bits set beyond them"));
  EXPECT_THAT(RedissonFilter::FromRedis(filter->shape(), std::string(13, 0))
                  .status()
                  .ToString(),
              HasSubstr("13 bytes, beyond 12"));
}

TEST(RedissonFilter, SavedFormIsItsOwnKind) {
  auto filter = RedissonFilter::New(10, 0.01);
  filter->Add(kX);
  const std::string saved = filter->Save();
  const auto loaded = RedissonFilter::Load(saved);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->ToRedis(), filter->ToRedis());
  EXPECT_THAT(LoadMemFilter(saved).status().ToString(),
              HasSubstr("use RedissonFilter::Load()"));
  for (size_t i = 0; i < saved.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = saved;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_FALSE(RedissonFilter::Load(damaged).ok()) << i;
    }
    EXPECT_FALSE(RedissonFilter::Load(saved.substr(0, i)).ok()) << i;
  }
}

TEST(RedissonFilter, UnionHasTheKeysOfBoth) {
  auto one = RedissonFilter::New(10, 0.01);
  auto other = RedissonFilter::New(10, 0.01);
  one->Add(kX);
  other->Add({1, 2});
  ASSERT_TRUE(one->Union(*other).ok());
  EXPECT_TRUE(one->MayContain(kX) && one->MayContain({1, 2}));
  EXPECT_FALSE(one->Union(*RedissonFilter::New(20, 0.01)).ok());
}

TEST(RedissonFilter, ObservedRateIsTheExpectedOneAndAboveTheFormula) {
  const struct {
    uint64_t keys;
    double rate;
    double least_factor;
  } kCases[] = {{1'000, 0.01, 1.05},  {1'000, 1e-4, 2.0},
                {100'000, 0.03, 1.1}, {100'000, 1e-3, 1.2},
                {100'000, 1e-4, 1.5}, {100'000, 1e-6, 2.0}};
  for (const auto& c : kCases) {
    auto filter = RedissonFilter::New(c.keys, c.rate);
    Random random(7);
    std::vector<RedissonDigest> added(c.keys);
    for (RedissonDigest& digest : added) {
      digest = {random(), random()};
      filter->Add(digest);
    }
    for (const RedissonDigest& digest : added) {
      ASSERT_TRUE(filter->MayContain(digest));
    }
    constexpr uint64_t kLookups = 2'000'000;
    uint64_t positives = 0;
    for (uint64_t i = 0; i < kLookups; ++i) {
      const uint64_t h1 = random();
      positives += filter->MayContain({h1, random()});
    }
    const double formula =
        std::pow(filter->fill(), filter->shape().probe_count);
    const double expected = filter->expected_fpr();
    // hosts/redis/README.md has these numbers.
    std::printf(
        "%7llu keys, rate %g: formula %.3g, expected %.3g, %.2f times\n",
        static_cast<unsigned long long>(c.keys), c.rate, formula, expected,
        expected / formula);
    EXPECT_TRUE(WithinBinomialBound(positives, kLookups, expected, 0.12))
        << c.keys << " " << c.rate;
    EXPECT_GT(expected, c.least_factor * formula) << c.keys << " " << c.rate;
  }
}

TEST(RedissonFilter, RatesOfEmptyAndFullFiltersAreZeroAndOne) {
  auto filter = RedissonFilter::New(BloomShape{8, 1});
  EXPECT_EQ(filter->expected_fpr(), 0);
  for (uint64_t i = 0; i < 8; ++i) filter->Add({i, 0});
  EXPECT_EQ(filter->expected_fpr(), 1);
}

}  // namespace
}  // namespace rowbloom
