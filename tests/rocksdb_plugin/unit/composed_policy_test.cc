// SPDX-License-Identifier: Apache-2.0

#include "policy/composed_policy.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb_plugin/building_context.h"
#include "rocksdb_plugin/policy_text.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::testing {
namespace {

using plugin::ComposedPolicy;
using plugin::ComposedSetting;
using ::testing::HasSubstr;
using Context = BuildingContext;

double BitsOf(const ComposedPolicy& policy, const Context& context) {
  return policy.SettingFor(context.get()).setting.bits_per_key;
}

double BitsOf(const RocksDbComposedOptions& options, const Context& context) {
  return BitsOf(ComposedPolicy(options), context);
}

constexpr int kKeys = 100000;

// The marker in RocksDB's trailer of five bytes: -1 for Bloom, -2 for Ribbon.
int MarkerOf(const Built& built) {
  return static_cast<signed char>(built.filter[built.filter.size() - 5]);
}

TEST(ComposedPolicy, FiltersAreUnderTheNameOfRocksDbsOwn) {
  const auto policy = NewRocksDbComposedPolicy({});
  ASSERT_NE(policy, nullptr);
  EXPECT_STREQ(policy->Name(), "rowbloom.Composed");
  EXPECT_STREQ(policy->CompatibilityName(), StockBloom()->CompatibilityName());
}

TEST(ComposedPolicy, NewerRunsGetMoreBits) {
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    RocksDbComposedOptions options;
    options.filter = filter;
    const ComposedPolicy policy(options);
    const double bottom = BitsOf(policy, Context::Bottommost(6));
    const double above = BitsOf(policy, Context::Compaction(5));
    EXPECT_LT(bottom, options.bits_per_key);
    EXPECT_GT(bottom, options.bits_per_key - 2);
    EXPECT_GT(above, options.bits_per_key);
    EXPECT_GE(BitsOf(policy, Context::Compaction(4)), above);
    EXPECT_NEAR(BitsOf(policy, Context::Compaction(1)),
                options.bits_per_key + FileBudgetOptions().max_extra_bits, 0.1);
  }
}

// The possible number of levels says nothing: most are empty.
TEST(ComposedPolicy, LevelsCountFromTheDeepestThatIsKnown) {
  const ComposedPolicy policy({});
  // Level 2 must exist, but may be smaller, so level 1 is like the last.
  const double of_level_1 = BitsOf(policy, Context::Compaction(1));
  EXPECT_NEAR(of_level_1,
              BitsOf(RocksDbComposedOptions(), Context::Bottommost(6)), 0.1);
  BitsOf(policy, Context::Bottommost(3));
  EXPECT_GT(BitsOf(policy, Context::Compaction(1)), of_level_1 + 1);
  EXPECT_EQ(BitsOf(policy, Context::Compaction(2)), of_level_1);
  // Another column family is another tree.
  EXPECT_EQ(BitsOf(policy, Context::Compaction(1).In("other")), of_level_1);
}

// Another database's logger may get the address of one that was closed.
TEST(ComposedPolicy, LevelsOfLongAgoAreForgotten) {
  const double of_level_1 =
      BitsOf(RocksDbComposedOptions(), Context::Compaction(1));
  const ComposedPolicy policy({});
  BitsOf(policy, Context::Bottommost(6));
  for (int i = 0; i < 900; ++i) BitsOf(policy, Context::Compaction(1));
  EXPECT_GT(BitsOf(policy, Context::Compaction(1)), of_level_1 + 1);
  for (int i = 0; i < 1200; ++i) BitsOf(policy, Context::Compaction(1));
  EXPECT_EQ(BitsOf(policy, Context::Compaction(1)), of_level_1);
}

TEST(ComposedPolicy, TreesOfLongAgoAreForgotten) {
  const ComposedPolicy policy({});
  const double of_level_1 = BitsOf(policy, Context::Compaction(1));
  BitsOf(policy, Context::Bottommost(6));
  for (int i = 0; i < 2100; ++i) {
    BitsOf(policy, Context::Flush().In(std::to_string(i)));
  }
  EXPECT_EQ(BitsOf(policy, Context::Compaction(1)), of_level_1);
}

// A move to another level leaves the filter as it is.
TEST(ComposedPolicy, BottommostComesBeforeTheLevel) {
  for (const int level : {1, 3, 6}) {
    EXPECT_EQ(BitsOf({}, Context::Bottommost(level)),
              BitsOf({}, Context::Bottommost(6)));
  }
}

TEST(ComposedPolicy, WhatIsUnknownCountsAsOldest) {
  const double oldest = BitsOf({}, Context::Bottommost(6));
  EXPECT_EQ(BitsOf({}, Context::Unknown()), oldest);
  EXPECT_EQ(BitsOf({}, Context::SstFileWriter()), oldest);
}

TEST(ComposedPolicy, UnderFifoCompactionAllHaveTheSame) {
  const Context flush = Context::Flush().Of(rdb::kCompactionStyleFIFO);
  EXPECT_EQ(BitsOf({}, flush), 10);
  // This includes budgets whose oldest run would have no filter.
  RocksDbComposedOptions hits_only;
  hits_only.budget = BudgetMode::kHitsOnly;
  hits_only.bits_per_key = 3;
  EXPECT_GT(BitsOf(hits_only, flush), 2);
}

TEST(ComposedPolicy, FlushesAreCapped) {
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon,
        RocksDbFilter::kHybrid}) {
    for (const double bits : {4.0, 10.0, 16.0}) {
      RocksDbComposedOptions options;
      options.bits_per_key = bits;
      options.filter = filter;
      const double of_flush = BitsOf(options, Context::Flush());
      EXPECT_GT(of_flush, bits);
      EXPECT_LE(of_flush, 1.001 * FileBudgetOptions().flush_ratio * bits);
    }
  }
}

TEST(ComposedPolicy, HybridIsBloomInFlushesAndRibbonElsewhere) {
  RocksDbComposedOptions options;
  options.filter = RocksDbFilter::kHybrid;
  const ComposedPolicy policy(options);
  EXPECT_EQ(policy.SettingFor(Context::Flush().get()).filter,
            RocksDbFilter::kBloom);
  EXPECT_EQ(policy.SettingFor(Context::Compaction(5).get()).filter,
            RocksDbFilter::kRibbon);
}

TEST(ComposedPolicy, FiltersTakeWhatTheBudgetGivesThem) {
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon,
        RocksDbFilter::kHybrid}) {
    RocksDbComposedOptions options;
    options.filter = filter;
    const ComposedPolicy policy(options);
    // One built-in policy serves each setting, again and again.
    for (const Context& context :
         {Context::Flush(), Context::Compaction(5), Context::Bottommost(6),
          Context::Flush(), Context::Bottommost(6)}) {
      const ComposedSetting expected = policy.SettingFor(context.get());
      const Built built = Build(policy, context, kKeys);
      EXPECT_NEAR(built.bits_per_key, expected.setting.bits_per_key,
                  0.02 * expected.setting.bits_per_key);
      EXPECT_EQ(MarkerOf(built),
                expected.filter == RocksDbFilter::kBloom ? -1 : -2);
      // Twice the expected rate is some 15 standard deviations away at 1%.
      EXPECT_GT(built.denied, kKeys * (1 - 2 * expected.setting.fpr) - 20);
    }
  }
}

TEST(ComposedPolicy, HitsOnlyWritesNoFilterAtTheBottom) {
  RocksDbComposedOptions options;
  options.bits_per_key = 0.6;
  options.budget = BudgetMode::kHitsOnly;
  const ComposedPolicy policy(options);
  EXPECT_EQ(policy.GetBuilderWithContext(Context::Bottommost(6).get()),
            nullptr);
  EXPECT_GT(Build(policy, Context::Compaction(5)).bits_per_key, 2);
}

TEST(ComposedPolicy, FixedIsTheSameEverywhere) {
  RocksDbComposedOptions options;
  options.budget = BudgetMode::kFixed;
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon,
        RocksDbFilter::kHybrid}) {
    options.filter = filter;
    for (const Context& context :
         {Context::Flush(), Context::Compaction(2), Context::Bottommost(6)}) {
      EXPECT_NEAR(BitsOf(options, context), 10, 0.01);
    }
  }
}

TEST(ComposedPolicy, TextSetsEachOption) {
  EXPECT_EQ(OptionsOf<ComposedPolicy>("rowbloom.Composed").bits_per_key, 10);
  EXPECT_EQ(OptionsOf<ComposedPolicy>("rowbloom.Composed:6.5").bits_per_key,
            6.5);
  EXPECT_EQ(
      OptionsOf<ComposedPolicy>("{id=rowbloom.Composed:6;filter=bloom}").filter,
      RocksDbFilter::kBloom);
  const RocksDbComposedOptions options = OptionsOf<ComposedPolicy>(
      "{id=rowbloom.Composed;bits_per_key=0.6;filter=bloom;budget=hits_only;"
      "size_ratio=6;missing_share=0.9;budget_bytes=5000000000}");
  EXPECT_EQ(options.bits_per_key, 0.6);
  EXPECT_EQ(options.filter, RocksDbFilter::kBloom);
  EXPECT_EQ(options.budget, BudgetMode::kHitsOnly);
  EXPECT_EQ(options.size_ratio, 6);
  EXPECT_EQ(options.missing_share, 0.9);
  EXPECT_EQ(options.budget_bytes, 5000000000);
}

TEST(ComposedPolicy, OptionsOfTextDecideTheBits) {
  const auto policy =
      Create("{id=rowbloom.Composed;bits_per_key=5;budget=fixed}");
  EXPECT_NEAR(Build(*policy, Context::Bottommost(6)).bits_per_key, 5, 0.1);
}

TEST(ComposedPolicy, TextOfAPolicyMakesAnEqualPolicy) {
  for (const char* text :
       {"rowbloom.Composed", "rowbloom.Composed:6.5",
        "{id=rowbloom.Composed;filter=bloom;budget=hits_only;size_ratio=6}",
        "{id=rowbloom.Composed;missing_share=1;budget_bytes=123456789}"}) {
    ExpectTextRoundTrips(text);
    EXPECT_NE(Difference(Create(text), Create("rowbloom.Composed:7")), "");
  }
}

TEST(ComposedPolicy, WrongTextSaysWhatIsAllowed) {
  const std::string name = "rowbloom.Composed:";
  const std::string id = "{id=rowbloom.Composed;";
  ExpectErrors({
      {name, "rowbloom.Composed:BITS_PER_KEY"},
      {name + "many", "rowbloom.Composed:BITS_PER_KEY"},
      {name + "0", "above 0 and at most 24"},
      {name + "-1", "above 0 and at most 24"},
      {name + "25", "above 0 and at most 24"},
      {name + "nan", "above 0 and at most 24"},
      {id + "bits_per_key=x}", "not a number"},
      {id + "bits_per_key=25}", "at most 24"},
      {id + "size_ratio=1}", "not above 1"},
      {id + "size_ratio=inf}", "not above 1"},
      {id + "missing_share=0}", "hits_only"},
      {id + "budget_bytes=-1}", "not a number of bytes"},
      {id + "filter=xor}", "allowed: bloom, ribbon, hybrid"},
      {id + "budget=best}", "allowed: balanced, hits_only, fixed"},
  });
}

TEST(ComposedPolicy, InvalidOptionsMakeNoPolicyAndSayWhy) {
  RocksDbComposedOptions options;
  options.bits_per_key = 0;
  rdb::Status error;
  EXPECT_EQ(NewRocksDbComposedPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("bits_per_key 0"));
  options = {};
  options.size_ratio = 1;
  EXPECT_EQ(NewRocksDbComposedPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("size_ratio 1"));
  EXPECT_NE(NewRocksDbComposedPolicy({}, &error), nullptr);
  EXPECT_TRUE(error.ok());
}

}  // namespace
}  // namespace rowbloom::testing
