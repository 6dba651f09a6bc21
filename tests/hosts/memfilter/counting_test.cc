// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/counting.h"

#include <gtest/gtest.h>

#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::Random;
using testing::RandomDigests;

CountingFilter Filter(uint64_t counters, uint32_t probes, uint32_t bits = 4) {
  return *CountingFilter::New({{counters, probes}, bits});
}

TEST(CountingFilter, OptionsOutOfRangeAreInvalid) {
  for (const uint32_t bits : {0, 1, 3, 5, 32}) {
    const auto filter = CountingFilter::New({{100, 3}, bits});
    EXPECT_TRUE(absl::IsInvalidArgument(filter.status()));
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
  for (const uint32_t bits : {2, 4, 8, 16}) {
    // Positions of one key coincide often here.
    CountingFilter filter = Filter(40, 6, bits);
    filter.Add(RandomDigests(&random, 4));
    // The counters are the last words.
    const size_t size = 8 * BitArray::WordCount(40 * bits);
    const std::string saved = filter.Save();
    const std::string counters = saved.substr(saved.size() - size);
    uint64_t refused = 0;
    for (int i = 0; i < 20000; ++i) {
      CountingFilter copy = filter;
      const KeyDigest absent{random()};
      const bool was_there = copy.MayContain(absent);
      if (copy.Remove(absent)) {
        ASSERT_TRUE(was_there);
        continue;
      }
      ++refused;
      ASSERT_EQ(copy.refused_removals(), 1u);
      const std::string after = copy.Save();
      ASSERT_EQ(after.substr(after.size() - size), counters);
      ASSERT_EQ(copy.fill(), filter.fill());
      ASSERT_EQ(copy.stuck_counters(), filter.stuck_counters());
    }
    EXPECT_GT(refused, 1000u);
  }
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
