// SPDX-License-Identifier: Apache-2.0

#include "policy/composed_policy.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb_plugin/building_context.h"
#include "rocksdb_plugin/policy_text.h"
#include "rocksdb_plugin/reported_tree.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::testing {
namespace {

using plugin::ComposedPolicy;
using ::testing::HasSubstr;
using Context = BuildingContext;

double BitsOf(const ComposedPolicy& policy, const Context& context) {
  return policy.SettingFor(context.get()).bits_per_key;
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

// Levels 1 to 3, with filters of these bits.
ReportedTree TreeWith(uint64_t bits) {
  return ReportedTree({{1000000}, {10000000}, {100000000}}, bits);
}

TEST(ComposedPolicy, NewerRunsGetMoreBits) {
  const ReportedTree tree = TreeWith(10);
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    RocksDbComposedOptions options;
    options.filter = filter;
    const ComposedPolicy policy(options);
    const double bottom = BitsOf(policy, tree.In(Context::Bottommost(3)));
    EXPECT_LT(bottom, options.bits_per_key);
    EXPECT_GT(bottom, options.bits_per_key - 2);
    EXPECT_GT(BitsOf(policy, tree.In(Context::Compaction(2))),
              options.bits_per_key);
    EXPECT_GT(BitsOf(policy, tree.In(Context::Compaction(1))),
              options.bits_per_key + 4);
  }
}

TEST(ComposedPolicy, FiltersTakeWhatTheBudgetGivesThem) {
  const ReportedTree tree = TreeWith(10);
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    RocksDbComposedOptions options;
    options.filter = filter;
    const ComposedPolicy policy(options);
    // One built-in policy serves each setting, again and again.
    for (const Context& context :
         {tree.In(Context::Flush()), tree.In(Context::Compaction(2)),
          tree.In(Context::Bottommost(3)), Context::Flush(),
          tree.In(Context::Bottommost(3))}) {
      const FilterSetting expected = policy.SettingFor(context.get());
      const Built built = Build(policy, context, kKeys);
      EXPECT_NEAR(built.bits_per_key, expected.bits_per_key,
                  0.02 * expected.bits_per_key);
      EXPECT_EQ(MarkerOf(built), filter == RocksDbFilter::kBloom ? -1 : -2);
      // Twice the expected rate is some 15 standard deviations away at 1%.
      EXPECT_GT(built.denied, kKeys * (1 - 2 * expected.fpr) - 20);
    }
  }
}

TEST(ComposedPolicy, HitsOnlyWritesNoFilterAtTheBottom) {
  RocksDbComposedOptions options;
  options.bits_per_key = 0.6;
  options.budget = BudgetMode::kHitsOnly;
  const ReportedTree tree = TreeWith(1);
  const ComposedPolicy policy(options);
  EXPECT_EQ(policy.GetBuilderWithContext(tree.In(Context::Bottommost(3)).get()),
            nullptr);
  EXPECT_GT(Build(policy, tree.In(Context::Compaction(2))).bits_per_key, 2);
}

// A budget without a listener, too.
TEST(ComposedPolicy, FixedIsTheSameEverywhere) {
  RocksDbComposedOptions options;
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    options.filter = filter;
    for (const BudgetMode mode : {BudgetMode::kFixed, BudgetMode::kBalanced}) {
      options.budget = mode;
      for (const Context& context :
           {Context::Flush(), Context::Compaction(2), Context::Bottommost(6)}) {
        EXPECT_NEAR(BitsOf(options, context), 10, 0.01);
      }
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
      "missing_share=0.9;budget_bytes=5000000000}");
  EXPECT_EQ(options.bits_per_key, 0.6);
  EXPECT_EQ(options.filter, RocksDbFilter::kBloom);
  EXPECT_EQ(options.budget, BudgetMode::kHitsOnly);
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
        "{id=rowbloom.Composed;filter=bloom;budget=hits_only}",
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
      {id + "missing_share=0}", "hits_only"},
      {id + "budget_bytes=-1}", "not a number of bytes"},
      {id + "auto_bits=true;min_bits_per_key=-1}", "not within 0 to 24"},
      {id + "auto_bits=true;max_bits_per_key=nan}", "not within 0 to 24"},
      {id + "filter=xor}", "allowed: bloom, ribbon"},
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
  options.missing_share = 2;
  EXPECT_EQ(NewRocksDbComposedPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("missing_share 2"));
  options = {};
  options.max_bits_per_key = 5;
  EXPECT_EQ(NewRocksDbComposedPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("which is false"));
  EXPECT_NE(NewRocksDbComposedPolicy({}, &error), nullptr);
  EXPECT_TRUE(error.ok());
}

}  // namespace
}  // namespace rowbloom::testing
