// SPDX-License-Identifier: Apache-2.0

#include "leveldb/filter_policy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "leveldb/slice.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/leveldb.h"
#include "testing/allocation_counter.h"

namespace rowbloom {
namespace {

using testing::AllocationCount;
using LevelDbPolicy = std::unique_ptr<const leveldb::FilterPolicy>;

LevelDbPolicy Policy(std::string_view family, FilterStats* stats = nullptr) {
  return *NewLevelDbFilterPolicy(FilterSpec::BitsPerKey(family, 10), stats);
}

std::vector<std::string> Keys(size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

std::string Filter(const leveldb::FilterPolicy& policy,
                   const std::vector<std::string>& keys) {
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy.CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

size_t Positives(const leveldb::FilterPolicy& policy, const std::string& filter,
                 const std::vector<std::string>& keys) {
  return static_cast<size_t>(std::count_if(
      keys.begin(), keys.end(),
      [&](const std::string& key) { return policy.KeyMayMatch(key, filter); }));
}

std::vector<std::string> AbsentKeys(size_t count) {
  std::vector<std::string> keys = Keys(count);
  for (std::string& key : keys) key += "x";
  return keys;
}

class LevelDbFilter : public ::testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Families, LevelDbFilter,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         [](const auto& test) {
                           return std::string(test.param);
                         });

TEST_P(LevelDbFilter, OfAnyFewKeysHasThemAll) {
  const LevelDbPolicy policy = Policy(GetParam());
  for (size_t count = 0; count <= 200; ++count) {
    const std::vector<std::string> keys = Keys(count);
    ASSERT_EQ(Positives(*policy, Filter(*policy, keys), keys), count);
  }
}

TEST_P(LevelDbFilter, DeniesMostAbsentKeys) {
  const LevelDbPolicy policy = Policy(GetParam());
  const size_t positives =
      Positives(*policy, Filter(*policy, Keys(40)), AbsentKeys(10000));
  if (GetParam() == "always_maybe") {
    EXPECT_EQ(positives, 10000);
  } else {
    EXPECT_LT(positives, 200);  // The worst family expects one in a hundred.
  }
}

TEST_P(LevelDbFilter, TakesAtMost36BytesBesideItsUnits) {
  const LevelDbPolicy policy = Policy(GetParam());
  for (const size_t count : {1, 40, 160, 640, 2560}) {
    const std::string filter = Filter(*policy, Keys(count));
    const auto blob = ParseFilterBlob(filter);
    EXPECT_LE(filter.size() - blob->units.size(), 36) << count;
  }
}

TEST_P(LevelDbFilter, IsReadByThePolicyOfEachOtherFamily) {
  const std::string filter = Filter(*Policy(GetParam()), Keys(40));
  const std::vector<std::string> absent = AbsentKeys(1000);
  for (const std::string_view family : FilterFamilyNames()) {
    const LevelDbPolicy reader = Policy(family);
    EXPECT_EQ(Positives(*reader, filter, Keys(40)), 40);
    EXPECT_EQ(Positives(*reader, filter, absent),
              Positives(*Policy(GetParam()), filter, absent));
  }
}

TEST_P(LevelDbFilter, WithAnyBitFlippedAnswersMaybeAndIsCounted) {
  FilterStats stats;
  const LevelDbPolicy policy = Policy(GetParam(), &stats);
  const std::string good = Filter(*policy, Keys(40));
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    ASSERT_TRUE(policy->KeyMayMatch("absent", bad)) << "bit " << bit;
    ASSERT_EQ(stats.Snapshot()[FilterCounter::kLoadErrors], bit + 1);
  }
}

TEST_P(LevelDbFilter, CutAnywhereAnswersMaybe) {
  const LevelDbPolicy policy = Policy(GetParam());
  const std::string good = Filter(*policy, Keys(40));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(policy->KeyMayMatch("absent", good.substr(0, size)));
    EXPECT_TRUE(policy->KeyMayMatch("absent", good.substr(good.size() - size)));
  }
}

TEST_P(LevelDbFilter, IsAskedWithoutAllocating) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "cannot be counted here";
  FilterStats stats;
  const LevelDbPolicy policy = Policy(GetParam(), &stats);
  const std::string filter = Filter(*policy, Keys(40));
  const std::string absent = "an absent key that is longer than a short one";
  const size_t before = AllocationCount();
  (void)policy->KeyMayMatch("key17", filter);
  (void)policy->KeyMayMatch(absent, filter);
  EXPECT_EQ(AllocationCount(), before);
}

TEST(LevelDbFilterPolicy, NameIsFrozen) {
  EXPECT_STREQ(Policy("compact")->Name(), "rowbloom.LevelDbFilter");
}

TEST(LevelDbFilterPolicy, AppendsTheBlobOfTheKeysDigests) {
  const FilterSpec options = FilterSpec::BitsPerKey("fast", 10);
  const auto builder = NewFilterBuilder(options);
  const std::vector<std::string> keys = Keys(40);
  for (const std::string& key : keys) builder->Add(DigestBytes(key));
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string out = "what was there";
  Policy("fast")->CreateFilter(slices.data(), 40, &out);
  EXPECT_EQ(out, "what was there" + EncodeFilterBlob(builder->Finish(), ""));
}

TEST(LevelDbFilterPolicy, OtherPoliciesBytesAnswerMaybe) {
  const LevelDbPolicy other(leveldb::NewBloomFilterPolicy(10));
  const LevelDbPolicy policy = Policy("blocked_bloom");
  for (const size_t count : {0, 1, 40, 1000}) {
    EXPECT_TRUE(policy->KeyMayMatch("absent", Filter(*other, Keys(count))));
  }
}

TEST(LevelDbFilterPolicy, BlobWithMetadataIsNotItsOwn) {
  const auto builder = NewFilterBuilder(FilterSpec());
  builder->Add(DigestBytes("key"));
  const LevelDbPolicy policy = Policy("blocked_bloom");
  EncodedFilter filter = builder->Finish();
  EXPECT_FALSE(policy->KeyMayMatch("absent", EncodeFilterBlob(filter, "")));
  EXPECT_TRUE(policy->KeyMayMatch("absent", EncodeFilterBlob(filter, "m")));
}

TEST(LevelDbFilterPolicy, CountsLookupsAndNegatives) {
  FilterStats stats;
  const LevelDbPolicy policy = Policy("blocked_bloom", &stats);
  const std::string filter = Filter(*policy, Keys(40));
  const size_t positives = Positives(*policy, filter, AbsentKeys(1000));
  const FilterStatsSnapshot counted = stats.Snapshot();
  EXPECT_EQ(counted[FilterCounter::kLookups], 1000);
  EXPECT_EQ(counted[FilterCounter::kNegatives], 1000 - positives);
  EXPECT_EQ(counted[FilterCounter::kLoadErrors], 0);
}

TEST(LevelDbFilterPolicy, RefusesWhatIsNoPolicy) {
  const auto policy =
      NewLevelDbFilterPolicy(FilterSpec::BitsPerKey("no_such_family", 10));
  EXPECT_TRUE(absl::IsInvalidArgument(policy.status())) << policy.status();
}

TEST(LevelDbFilterPolicyThreads, BuildAndAskAtOnce) {
  const LevelDbPolicy policy = Policy("compact");
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&policy, t] {
      for (size_t i = 0; i < 200; ++i) {
        const std::vector<std::string> keys = Keys(20 + 10 * t);
        const std::string filter = Filter(*policy, keys);
        ASSERT_EQ(Positives(*policy, filter, keys), keys.size());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace rowbloom
