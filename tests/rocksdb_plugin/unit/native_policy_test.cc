// SPDX-License-Identifier: Apache-2.0

#include "policy/native_policy.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/building_context.h"
#include "rocksdb_plugin/policy_text.h"
#include "rocksdb_plugin/reported_tree.h"
#include "rocksdb_plugin/test_db.h"

namespace rowbloom::testing {
namespace {

using plugin::NativePolicy;
using rdb::Status;
using ::testing::HasSubstr;
using Context = BuildingContext;

TEST(NativePolicy, NamesAreFrozen) {
  const auto policy = NewRocksDbFilterPolicy(RocksDbOptions());
  EXPECT_STREQ(policy->Name(), "rowbloom");
  EXPECT_STREQ(policy->CompatibilityName(), "rowbloom.Filter");
}

TEST(NativePolicy, InvalidOptionsMakeNoPolicyAndSayWhy) {
  struct Case {
    const char* error;
    void (*change)(RocksDbOptions* options);
  };
  const Case cases[] = {
      {"allowed: ROW, ROWCOL",
       [](RocksDbOptions* o) { o->bloom_type = BloomType::kNone; }},
      {"bits_per_key",
       [](RocksDbOptions* o) {
         o->filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 1000);
       }},
      {"always_maybe",
       [](RocksDbOptions* o) {
         o->filter_spec = o->filter_spec.WithFamily("always_maybe");
       }},
      {"missing_share 0", [](RocksDbOptions* o) { o->missing_share = 0; }},
      {"budget_bits_per_key -1",
       [](RocksDbOptions* o) { o->budget_bits_per_key = -1; }},
      {"max_bits_per_key 25 is not within 0 to 24",
       [](RocksDbOptions* o) { o->max_bits_per_key = 25; }},
      {"min_bits_per_key 8 is above max_bits_per_key 7",
       [](RocksDbOptions* o) {
         o->auto_bits = true;
         o->min_bits_per_key = 8;
         o->max_bits_per_key = 7;
       }},
      {"limits of auto_bits, which is false",
       [](RocksDbOptions* o) { o->min_bits_per_key = 8; }},
  };
  Status error;
  for (const Case& c : cases) {
    RocksDbOptions options;
    EXPECT_NE(NewRocksDbFilterPolicy(options, &error), nullptr);
    EXPECT_TRUE(error.ok());
    c.change(&options);
    EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr) << c.error;
    EXPECT_THAT(error.ToString(), HasSubstr(c.error));
  }
}

TEST(NativePolicy, ShortTextIsTheDefaultsWhichFitAnyKeys) {
  const RocksDbOptions options = OptionsOf<NativePolicy>("rowbloom");
  EXPECT_EQ(options.effective_bloom_type(), BloomType::kRow);
  EXPECT_TRUE(options.key_codec == KeyCodec::WholeKey());
  EXPECT_EQ(options.filter_spec.ToString(), "compact:bits_per_key=10");
}

TEST(NativePolicy, ACodecThatSaysWhereARowEndsBringsColumns) {
  for (const char* codec :
       {"ordered", "fixed:8", "delimiter:|", "a.fixed:4,b.ordered,c.rest"}) {
    const std::string text = std::string("{id=rowbloom;key_codec=") + codec;
    EXPECT_EQ(OptionsOf<NativePolicy>(text + "}").effective_bloom_type(),
              BloomType::kRowCol);
    EXPECT_EQ(OptionsOf<NativePolicy>(text + ";bloom_type=ROW}")
                  .effective_bloom_type(),
              BloomType::kRow);
  }
}

TEST(NativePolicy, ShortTextMayEndInBitsPerKey) {
  EXPECT_EQ(OptionsOf<NativePolicy>("rowbloom:12.5").filter_spec.bits_per_key(),
            12.5);
  EXPECT_EQ(OptionsOf<NativePolicy>("rowbloom:8").filter_spec.bits_per_key(),
            8);
  EXPECT_EQ(
      OptionsOf<NativePolicy>("{id=rowbloom:8;bloom_type=ROW}").bloom_type,
      BloomType::kRow);
  EXPECT_EQ(OptionsOf<NativePolicy>("{id=rowbloom:8;filter_spec=compact}")
                .filter_spec.ToString(),
            FilterSpec::BitsPerKey("compact", 8).ToString());
  EXPECT_EQ(OptionsOf<NativePolicy>(
                "{id=rowbloom:8;filter_spec=compact:bits_per_key=9}")
                .filter_spec.bits_per_key(),
            9);
}

TEST(NativePolicy, AnOptionOfABudgetMeansABalancedOne) {
  const auto budget = [](const std::string& options) {
    return OptionsOf<NativePolicy>("{id=rowbloom" + options + "}")
        .effective_budget();
  };
  EXPECT_FALSE(budget(";bloom_type=ROW").has_value());
  EXPECT_EQ(budget(";missing_share=0.9"), BudgetMode::kBalanced);
  for (const char* option : {"budget_bytes", "budget_bits_per_key"}) {
    const std::string set = std::string(";") + option + "=4";
    EXPECT_EQ(budget(set), BudgetMode::kBalanced) << option;
    EXPECT_EQ(budget(set + ";budget=fixed"), BudgetMode::kFixed) << option;
  }
}

TEST(NativePolicy, LongTextSetsEachOption) {
  RocksDbOptions options = OptionsOf<NativePolicy>(
      "{id=rowbloom;bloom_type=ROW;key_codec=fixed:8;"
      "filter_spec=blocked_bloom:bits_per_key=12.5}");
  EXPECT_EQ(options.bloom_type, BloomType::kRow);
  EXPECT_TRUE(options.key_codec == KeyCodec::FixedRow(8));
  EXPECT_EQ(options.filter_spec.bits_per_key(), 12.5);

  options = OptionsOf<NativePolicy>(
      "{id=rowbloom;key_codec=ordered;filter_spec=blocked_bloom}");
  EXPECT_TRUE(options.key_codec == KeyCodec::Ordered());
  options = OptionsOf<NativePolicy>("{id=rowbloom;key_codec=delimiter:|}");
  EXPECT_TRUE(options.key_codec == KeyCodec::Delimiter('|'));
  options = OptionsOf<NativePolicy>(
      "{id=rowbloom;filter_spec=blocked_bloom:target_fpr=0.02}");
  EXPECT_NEAR(options.filter_spec.expected_fpr(), 0.02, 0.001);
  options =
      OptionsOf<NativePolicy>("{id=rowbloom;filter_spec=fast:bits_per_key=12}");
  EXPECT_EQ(options.filter_spec.family(), "fast");
  EXPECT_EQ(options.filter_spec.bits_per_key(), 12);
  options = OptionsOf<NativePolicy>(
      "{id=rowbloom;filter_spec=compact:target_fpr=0.0001}");
  EXPECT_EQ(options.filter_spec.family(), "compact");
  EXPECT_NEAR(options.filter_spec.expected_fpr(), 0.0001, 0.000001);
}

TEST(NativePolicy, TextSetsTheBudget) {
  EXPECT_FALSE(OptionsOf<NativePolicy>("rowbloom").budget.has_value());
  EXPECT_FALSE(
      OptionsOf<NativePolicy>("{id=rowbloom;budget=none}").budget.has_value());
  EXPECT_EQ(OptionsOf<NativePolicy>("{id=rowbloom:8;budget=fixed}").budget,
            BudgetMode::kFixed);
  const RocksDbOptions options = OptionsOf<NativePolicy>(
      "{id=rowbloom;filter_spec=compact;budget=hits_only;budget_bits_per_key=0."
      "6;"
      "budget_bytes=5000000000;missing_share=0.9}");
  EXPECT_EQ(options.budget, BudgetMode::kHitsOnly);
  EXPECT_EQ(options.budget_bits_per_key, 0.6);
  EXPECT_EQ(options.budget_bytes, 5000000000);
  EXPECT_EQ(options.missing_share, 0.9);
}

TEST(NativePolicy, TextOfAPolicyMakesAnEqualPolicy) {
  for (const char* text :
       {"rowbloom", "rowbloom:12.5", "{id=rowbloom;bloom_type=ROW}",
        "{id=rowbloom;key_codec=delimiter:0x3b}",
        "{id=rowbloom;filter_spec=compact:target_fpr=1.52587890625e-05}",
        "{id=rowbloom;filter_spec=fast:bits_per_key=9.5}",
        "{id=rowbloom;filter_spec=compact;budget=balanced;missing_share=0."
        "1000000001}",
        "{id=rowbloom;budget=hits_only;budget_bits_per_key=0.45;"
        "budget_bytes=123456789;missing_share=0.25}",
        "{id=rowbloom;key_codec=fixed:20;filter_spec=blocked_bloom:target_fpr="
        "0.02}"}) {
    ExpectTextRoundTrips(text);
  }
}

TEST(NativePolicy, PoliciesOfDifferentOptionsAreNotEquivalent) {
  EXPECT_THAT(Difference(Create("{id=rowbloom;key_codec=fixed:8}"),
                         Create("{id=rowbloom;key_codec=fixed:9}")),
              HasSubstr("key_codec"));
}

TEST(NativePolicy, WrongTextSaysWhatIsAllowed) {
  const std::string id = "{id=rowbloom;";
  ExpectErrors({
      {"rowbloom:", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:many", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:0x10", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:+10", "rowbloom:BITS_PER_KEY"},
      {"rowbloom:1000", "is not within"},
      {"rowbloom:0", "is not within"},
      {"rowbloom:-0", "is not within"},
      {"rowbloom:nan", "is not within"},
      {id + "bloom_type=COLUMN}", "ROWCOL"},
      {id + "bloom_type=NONE}", "allowed: ROW, ROWCOL"},
      {id + "bloom_type=ROWCOL}", "needs columns, and key_codec whole_key"},
      {id + "bloom_type=ROWCOL;key_codec=a.fixed:4}", "a.fixed:4 has none"},
      {id + "bloom_type=ROWPREFIX_FIXED_LENGTH}", "allowed: ROW, ROWCOL"},
      {id + "key_codec=sorted}", "ordered, fixed:N"},
      {id + "key_codec=fixed:0}", "ordered, fixed:N"},
      {id + "filter_spec=bloom}", "blocked_bloom"},
      {id + "filter_spec=blocked_bloom:bits=3}", "FAMILY:bits_per_key=B"},
      {id + "bits=10}", "bits"},
      {id + "budget=best}", "allowed: none, balanced, hits_only, fixed"},
      {id + "budget_bits_per_key=25}", "above 0 and at most 24"},
      {id + "budget_bits_per_key=0x10}", "is not a number"},
      {id + "budget_bytes=some}", "not a number of bytes"},
      {id + "filter_spec=always_maybe;budget=balanced}",
       "set no filter_policy"},
      {id + "size_ratio=10}", "size_ratio"},
      {id + "missing_share=nan}", "0.01 to 1"},
  });
}

// By default, ConfigOptions expects escaped strings, and RocksDB then drops the
// errors of options that it compares by name, such as filter_policy.
TEST(NativePolicy, ErrorsReachTheCallerIfStringsAreNotEscaped) {
  for (bool escaped : {false, true}) {
    rdb::ConfigOptions config = Strict();
    config.input_strings_escaped = escaped;
    rdb::BlockBasedTableOptions table;
    const Status status = rdb::GetBlockBasedTableOptionsFromString(
        config, rdb::BlockBasedTableOptions(),
        "filter_policy={id=rowbloom;bloom_type=COLUMN}", &table);
    if (escaped) {
      EXPECT_TRUE(status.ok());  // RocksDB drops the error.
    } else {
      EXPECT_TRUE(status.IsInvalidArgument());
      EXPECT_THAT(status.ToString(), HasSubstr("ROWCOL"));
    }
  }
}

TEST(NativePolicy, WithoutWholeKeysTheFilterSaysThatItHoldsRowsOnly) {
  const auto policy = NewRocksDbFilterPolicy(RowsAndColumns());
  for (bool whole : {false, true}) {
    rdb::BlockBasedTableOptions table;
    table.whole_key_filtering = whole;
    const Built built = Build(*policy, Context::Flush().With(&table));
    const auto info = ParseRocksDbFilter(built.filter);
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->bloom_type, whole ? BloomType::kRowCol : BloomType::kRow);
  }
}

RocksDbOptions WithBudget(const std::string& family, BudgetMode mode) {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRow;
  options.key_codec = KeyCodec::FixedRow(7);
  options.filter_spec = FilterSpec::BitsPerKey(family, 10);
  options.budget = mode;
  return options;
}

TEST(NativePolicy, ABudgetGivesNewerRunsMoreBits) {
  const ReportedTree tree({{1000000}, {10000000}, {100000000}});
  for (const FilterSpec& family : SpecsOfEachFamily()) {
    const NativePolicy policy(
        WithBudget(family.family(), BudgetMode::kBalanced));
    const auto bits = [&](const Context& context) {
      return Build(policy, tree.In(context)).bits_per_key;
    };
    EXPECT_LT(bits(Context::Bottommost(3)), 10) << family.family();
    EXPECT_GT(bits(Context::Bottommost(3)), 7) << family.family();
    EXPECT_GT(bits(Context::Compaction(2)), 10);
    EXPECT_GT(bits(Context::Compaction(1)), 13);
    EXPECT_NEAR(bits(Context::SstFileWriter()), 10, 0.8);
  }
}

TEST(NativePolicy, WithoutABudgetOrWithAFixedOneBitsAreTheSameEverywhere) {
  RocksDbOptions none = WithBudget("compact", BudgetMode::kBalanced);
  none.budget.reset();
  for (const RocksDbOptions& options :
       {none, WithBudget("compact", BudgetMode::kFixed)}) {
    const NativePolicy policy(options);
    for (const Context& context :
         {Context::Flush(), Context::Compaction(1), Context::Bottommost(6)}) {
      EXPECT_NEAR(Build(policy, context).bits_per_key, 10, 0.2);
    }
  }
}

TEST(NativePolicy, HitsOnlyWritesNoFilterAtTheBottom) {
  const ReportedTree tree({{1000000}, {10000000}, {100000000}}, 1);
  RocksDbOptions options = WithBudget("compact", BudgetMode::kHitsOnly);
  options.budget_bits_per_key = 0.6;
  const NativePolicy policy(options);
  EXPECT_EQ(Build(policy, tree.In(Context::Bottommost(3))).bits_per_key, 0);
  EXPECT_GT(Build(policy, tree.In(Context::Compaction(2))).bits_per_key, 2);
}

}  // namespace
}  // namespace rowbloom::testing
