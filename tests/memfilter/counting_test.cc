// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/counting.h"

#include <gtest/gtest.h>

#include <map>

#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::Random;
using testing::RandomDigests;

CountingFilter Filter(uint64_t counters, uint32_t probes, uint32_t bits = 4) {
  CountingOptions options;
  options.shape = {counters, probes};
  options.counter_bits = bits;
  return *CountingFilter::New(options);
}

TEST(CountingFilter, OptionsOutOfRangeAreInvalid) {
  for (const uint32_t bits : {0, 1, 3, 5, 32}) {
    CountingOptions options;
    options.shape = {100, 3};
    options.counter_bits = bits;
    EXPECT_EQ(CountingFilter::New(options).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(CountingFilter::New({}).ok());
}

TEST(CountingFilter, AKeyIsThereAsOftenAsItWasAdded) {
  CountingFilter filter = Filter(1000, 4);
  const KeyDigest key = DigestBytes("key");
  EXPECT_TRUE(filter.Add(key));
  EXPECT_FALSE(filter.Add(key));
  EXPECT_TRUE(filter.Remove(key));
  EXPECT_TRUE(filter.MayContain(key));
  EXPECT_TRUE(filter.Remove(key));
  EXPECT_FALSE(filter.MayContain(key));
  EXPECT_EQ(filter.fill(), 0);
}

TEST(CountingFilter, RemovingEverythingLeavesItEmpty) {
  Random random(1);
  CountingFilter filter = Filter(100000, 7);
  const std::vector<KeyDigest> keys = RandomDigests(&random, 10000);
  filter.Add(keys);
  for (const KeyDigest key : keys) ASSERT_TRUE(filter.Remove(key));
  EXPECT_EQ(filter.stuck_counters(), 0u);
  EXPECT_EQ(filter.fill(), 0);
  EXPECT_EQ(filter.approximate_count(), 0u);
}

TEST(CountingFilter, ARefusedRemovalChangesNothingAndIsCounted) {
  Random random(2);
  // Positions of one key coincide often here.
  CountingFilter filter = Filter(40, 6);
  filter.Add(RandomDigests(&random, 4));
  uint64_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    CountingFilter copy = filter;
    const std::string before = filter.Save();
    const KeyDigest absent{random()};
    const bool was_there = copy.MayContain(absent);
    if (copy.Remove(absent)) {
      ASSERT_TRUE(was_there);
      continue;
    }
    ++refused;
    ASSERT_EQ(copy.refused_removals(), 1u);
    // The counters are the 3 words after header and parameters.
    ASSERT_EQ(copy.Save().substr(before.size() - 24),
              before.substr(before.size() - 24));
    ASSERT_EQ(copy.fill(), filter.fill());
    ASSERT_EQ(copy.stuck_counters(), filter.stuck_counters());
  }
  EXPECT_GT(refused, 1000u);
}

TEST(CountingFilter, StuckCountersNeverComeDownAndLoseNoKey) {
  for (const uint32_t bits : {2, 4, 8}) {
    CountingFilter filter = Filter(1000, 4, bits);
    const uint64_t most = (uint64_t{1} << bits) - 1;
    const KeyDigest key = DigestBytes("popular");
    for (uint64_t i = 0; i < most - 1; ++i) filter.Add(key);
    EXPECT_EQ(filter.stuck_counters(), 0u);
    EXPECT_EQ(filter.overflows(), 0u);
    filter.Add(key);
    EXPECT_EQ(filter.stuck_counters(), 4u);
    for (int i = 0; i < 100; ++i) filter.Add(key);
    EXPECT_EQ(filter.overflows(), 400u);
    for (uint64_t i = 0; i < most + 100; ++i) ASSERT_TRUE(filter.Remove(key));
    EXPECT_TRUE(filter.MayContain(key));
    EXPECT_EQ(filter.stuck_counters(), 4u);
  }
}

TEST(CountingFilter, LookupsAskThatAllCountersAreAboveZero) {
  CountingFilter filter = Filter(1 << 20, 8);
  Random random(3);
  filter.Add(RandomDigests(&random, 90000));  // About half are above zero.
  uint64_t positives = 0;
  for (int i = 0; i < 100000; ++i) {
    positives += filter.MayContain(KeyDigest{random()});
  }
  EXPECT_LT(positives, 1000u);
}

TEST(CountingFilter, UnionAddsTheCounts) {
  CountingFilter a = Filter(1000, 3);
  CountingFilter b = Filter(1000, 3);
  const KeyDigest key = DigestBytes("key");
  for (int i = 0; i < 3; ++i) a.Add(key);
  for (int i = 0; i < 4; ++i) b.Add(key);
  ASSERT_TRUE(a.Union(b).ok());
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(a.Remove(key));
  EXPECT_FALSE(a.MayContain(key));
  EXPECT_FALSE(a.Union(Filter(1000, 3, 8)).ok());
  for (int i = 0; i < 9; ++i) a.Add(key);
  for (int i = 0; i < 5; ++i) b.Add(key);
  ASSERT_TRUE(a.Union(b).ok());  // 18 do not fit in 4 bits.
  EXPECT_EQ(a.stuck_counters(), 3u);
  EXPECT_EQ(a.overflows(), 3u * 3);
}

TEST(CountingFilter, WhatItCountedIsSavedToo) {
  CountingFilter filter = Filter(100, 3, 2);
  for (int i = 0; i < 9; ++i) filter.Add(DigestBytes("key"));
  EXPECT_FALSE(filter.Remove(DigestBytes("absent")));
  const auto loaded = CountingFilter::Load(filter.Save());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->overflows(), filter.overflows());
  EXPECT_EQ(loaded->stuck_counters(), filter.stuck_counters());
  EXPECT_EQ(loaded->refused_removals(), 1u);
  EXPECT_EQ(loaded->options().counter_bits, 2u);
}

}  // namespace
}  // namespace rowbloom
