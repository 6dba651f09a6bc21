// SPDX-License-Identifier: Apache-2.0

#include "policy/native_policy.h"

#include <memory>
#include <string>

#include "filter_bits_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/building_context.h"
#include "rocksdb/convenience.h"
#include "rocksdb/table.h"
#include "rocksdb/test_db.h"

namespace rowbloom {
namespace {

using rdb::ConfigOptions;
using rdb::Status;
using ::testing::HasSubstr;
using Context = testing::BuildingContext;

ConfigOptions Strict() {
  RegisterRocksDb();
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

Status Create(const std::string& text,
              std::shared_ptr<const rdb::FilterPolicy>* policy) {
  return rdb::FilterPolicy::CreateFromString(Strict(), text, policy);
}

RocksDbOptions OptionsOf(const std::string& text) {
  std::shared_ptr<const rdb::FilterPolicy> policy;
  const Status status = Create(text, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  const NativePolicy* native =
      policy == nullptr ? nullptr : policy->CheckedCast<NativePolicy>();
  EXPECT_NE(native, nullptr);
  return native == nullptr ? RocksDbOptions() : native->options();
}

std::string ErrorOf(const std::string& text) {
  std::shared_ptr<const rdb::FilterPolicy> policy;
  const Status status = Create(text, &policy);
  EXPECT_FALSE(status.ok()) << text;
  return status.ToString();
}

TEST(NativePolicy, NamesAreFrozen) {
  const auto policy = NewRocksDbFilterPolicy(RocksDbOptions());
  EXPECT_STREQ(policy->Name(), "rowbloom");
  EXPECT_STREQ(policy->CompatibilityName(), "rowbloom.Filter");
}

TEST(NativePolicy, InvalidOptionsMakeNoPolicyAndSayWhy) {
  RocksDbOptions options;
  Status error;
  EXPECT_NE(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_TRUE(error.ok());
  options.bloom_type = BloomType::kNone;
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("allowed: ROW, ROWCOL"));
  options = RocksDbOptions();
  options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 1000);
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("bits_per_key"));
}

TEST(NativePolicy, ShortTextIsTheDefaults) {
  const RocksDbOptions options = OptionsOf("rowbloom");
  EXPECT_EQ(options.bloom_type, BloomType::kRowCol);
  EXPECT_TRUE(options.key_codec == KeyCodec::Ordered());
  EXPECT_EQ(options.filter_spec.ToString(), FilterSpec().ToString());
}

TEST(NativePolicy, ShortTextMayEndInBitsPerKey) {
  EXPECT_EQ(OptionsOf("rowbloom:12.5").filter_spec.bits_per_key(), 12.5);
  EXPECT_EQ(OptionsOf("rowbloom:8").filter_spec.bits_per_key(), 8);
  EXPECT_EQ(OptionsOf("{id=rowbloom:8;bloom_type=ROW}").bloom_type,
            BloomType::kRow);
  EXPECT_EQ(
      OptionsOf("{id=rowbloom:8;filter_spec=compact}").filter_spec.ToString(),
      FilterSpec::BitsPerKey("compact", 8).ToString());
  EXPECT_EQ(OptionsOf("{id=rowbloom:8;filter_spec=compact:bits_per_key=9}")
                .filter_spec.bits_per_key(),
            9);
}

TEST(NativePolicy, LongTextSetsEachOption) {
  RocksDbOptions options = OptionsOf(
      "{id=rowbloom;bloom_type=ROW;key_codec=fixed:8;"
      "filter_spec=blocked_bloom:bits_per_key=12.5}");
  EXPECT_EQ(options.bloom_type, BloomType::kRow);
  EXPECT_TRUE(options.key_codec == KeyCodec::FixedRow(8));
  EXPECT_EQ(options.filter_spec.bits_per_key(), 12.5);

  options =
      OptionsOf("{id=rowbloom;key_codec=ordered;filter_spec=blocked_bloom}");
  EXPECT_TRUE(options.key_codec == KeyCodec::Ordered());
  options = OptionsOf("{id=rowbloom;key_codec=delimiter:|}");
  EXPECT_TRUE(options.key_codec == KeyCodec::Delimiter('|'));
  options =
      OptionsOf("{id=rowbloom;filter_spec=blocked_bloom:target_fpr=0.02}");
  EXPECT_NEAR(options.filter_spec.expected_fpr(), 0.02, 0.001);
  options = OptionsOf("{id=rowbloom;filter_spec=fast:bits_per_key=12}");
  EXPECT_EQ(options.filter_spec.family(), "fast");
  EXPECT_EQ(options.filter_spec.bits_per_key(), 12);
  options = OptionsOf("{id=rowbloom;filter_spec=compact:target_fpr=0.0001}");
  EXPECT_EQ(options.filter_spec.family(), "compact");
  EXPECT_NEAR(options.filter_spec.expected_fpr(), 0.0001, 0.000001);
}

TEST(NativePolicy, TextSetsTheBudget) {
  EXPECT_FALSE(OptionsOf("rowbloom").budget.has_value());
  EXPECT_FALSE(OptionsOf("{id=rowbloom;budget=none}").budget.has_value());
  EXPECT_EQ(OptionsOf("{id=rowbloom:8;budget=fixed}").budget,
            BudgetMode::kFixed);
  const RocksDbOptions options = OptionsOf(
      "{id=rowbloom;filter_spec=compact;budget=hits_only;budget_bits_per_key=0."
      "6;"
      "budget_bytes=5000000000;size_ratio=6;missing_share=0.9}");
  EXPECT_EQ(options.budget, BudgetMode::kHitsOnly);
  EXPECT_EQ(options.budget_bits_per_key, 0.6);
  EXPECT_EQ(options.budget_bytes, 5000000000);
  EXPECT_EQ(options.size_ratio, 6);
  EXPECT_EQ(options.missing_share, 0.9);
}

TEST(NativePolicy, TextOfAPolicyMakesAnEqualPolicy) {
  for (const char* text :
       {"rowbloom", "rowbloom:12.5", "{id=rowbloom;bloom_type=ROW}",
        "{id=rowbloom;key_codec=delimiter:0x3b}",
        "{id=rowbloom;filter_spec=compact:target_fpr=1.52587890625e-05}",
        "{id=rowbloom;filter_spec=fast:bits_per_key=9.5}",
        "{id=rowbloom;filter_spec=compact;budget=balanced;size_ratio=4}",
        "{id=rowbloom;filter_spec=compact;budget=balanced;size_ratio=1."
        "0000001}",
        "{id=rowbloom;budget=hits_only;budget_bits_per_key=0.45;"
        "budget_bytes=123456789;missing_share=0.25}",
        "{id=rowbloom;key_codec=fixed:20;filter_spec=blocked_bloom:target_fpr="
        "0.02}"}) {
    std::shared_ptr<const rdb::FilterPolicy> first, second;
    ASSERT_TRUE(Create(text, &first).ok()) << text;
    const std::string printed = first->ToString(Strict());
    ASSERT_TRUE(Create(printed, &second).ok()) << printed;
    std::string mismatch;
    ConfigOptions exact = Strict();
    exact.sanity_level = ConfigOptions::kSanityLevelExactMatch;
    EXPECT_TRUE(first->AreEquivalent(exact, second.get(), &mismatch))
        << mismatch;
  }
}

TEST(NativePolicy, PoliciesOfDifferentOptionsAreNotEquivalent) {
  std::shared_ptr<const rdb::FilterPolicy> a, b;
  ASSERT_TRUE(Create("{id=rowbloom;key_codec=fixed:8}", &a).ok());
  ASSERT_TRUE(Create("{id=rowbloom;key_codec=fixed:9}", &b).ok());
  ConfigOptions exact = Strict();
  exact.sanity_level = ConfigOptions::kSanityLevelExactMatch;
  std::string mismatch;
  EXPECT_FALSE(a->AreEquivalent(exact, b.get(), &mismatch));
  EXPECT_THAT(mismatch, HasSubstr("key_codec"));
}

TEST(NativePolicy, WrongTextSaysWhatIsAllowed) {
  EXPECT_THAT(ErrorOf("rowbloom:"), HasSubstr("rowbloom:BITS_PER_KEY"));
  EXPECT_THAT(ErrorOf("rowbloom:many"), HasSubstr("rowbloom:BITS_PER_KEY"));
  EXPECT_THAT(ErrorOf("rowbloom:1000"), HasSubstr("is not within"));
  EXPECT_THAT(ErrorOf("rowbloom:nan"), HasSubstr("is not within"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;bloom_type=COLUMN}"), HasSubstr("ROWCOL"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;bloom_type=NONE}"),
              HasSubstr("allowed: ROW, ROWCOL"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;bloom_type=ROWPREFIX_FIXED_LENGTH}"),
              HasSubstr("allowed: ROW, ROWCOL"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;key_codec=sorted}"),
              HasSubstr("ordered, fixed:N"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;key_codec=fixed:0}"),
              HasSubstr("ordered, fixed:N"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;filter_spec=bloom}"),
              HasSubstr("blocked_bloom"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;filter_spec=blocked_bloom:bits=3}"),
              HasSubstr("FAMILY:bits_per_key=B"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;bits=10}"), HasSubstr("bits"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;budget=best}"),
              HasSubstr("allowed: none, balanced, hits_only, fixed"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;budget_bits_per_key=25}"),
              HasSubstr("above 0 and at most 24"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;budget_bytes=some}"),
              HasSubstr("not a number of bytes"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;filter_spec=always_maybe;budget=balanced}"),
              HasSubstr("set no filter_policy"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;size_ratio=1}"), HasSubstr("not above 1"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;size_ratio=1e300}"),
              HasSubstr("at most 1e+06"));
  EXPECT_THAT(ErrorOf("{id=rowbloom;missing_share=nan}"),
              HasSubstr("0.01 to 1"));
}

// By default, ConfigOptions expects escaped strings, and RocksDB then drops the
// errors of options that it compares by name, such as filter_policy.
TEST(NativePolicy, ErrorsReachTheCallerIfStringsAreNotEscaped) {
  for (bool escaped : {false, true}) {
    ConfigOptions config = Strict();
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
  rdb::BlockBasedTableOptions table;
  const auto policy = NewRocksDbFilterPolicy(RocksDbOptions());
  for (bool whole : {false, true}) {
    table.whole_key_filtering = whole;
    const std::unique_ptr<rdb::FilterBitsBuilder> builder(
        policy->GetBuilderWithContext(rdb::FilterBuildingContext(table)));
    builder->AddKey("x");
    std::unique_ptr<const char[]> bytes;
    const rdb::Slice filter = builder->Finish(&bytes);
    const auto info = ParseRocksDbFilter({filter.data(), filter.size()});
    ASSERT_TRUE(info.ok());
    EXPECT_EQ(info->bloom_type, whole ? BloomType::kRowCol : BloomType::kRow);
  }
}

// Returns the bits per key of a filter that the policy builds; 0 if it builds
// none.
double BuiltBits(const rdb::FilterPolicy& policy, const Context& context) {
  constexpr int kKeys = 20000;
  const auto key = [](int i) { return std::to_string(100000 + i); };
  const std::unique_ptr<rdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(context.get()));
  if (builder == nullptr) return 0;
  for (int i = 0; i < kKeys; ++i) builder->AddKey(key(i));
  std::unique_ptr<const char[]> bytes;
  const rdb::Slice filter = builder->Finish(&bytes);
  const std::unique_ptr<rdb::FilterBitsReader> reader(
      policy.GetFilterBitsReader(filter));
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_TRUE(reader->MayMatch(key(i)));
  }
  return 8.0 * static_cast<double>(filter.size()) / kKeys;
}

RocksDbOptions WithBudget(const std::string& family, BudgetMode mode) {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRow;
  options.key_codec = KeyCodec::FixedRow(6);
  options.filter_spec = FilterSpec::BitsPerKey(family, 10);
  options.budget = mode;
  return options;
}

TEST(NativePolicy, ABudgetGivesNewerRunsMoreBits) {
  for (const FilterSpec& family : testing::SpecsOfEachFamily()) {
    const NativePolicy policy(
        WithBudget(family.family(), BudgetMode::kBalanced));
    const double bottom = BuiltBits(policy, Context::Bottommost(6));
    EXPECT_LT(bottom, 10) << family.family();
    EXPECT_GT(bottom, 7) << family.family();
    EXPECT_GT(BuiltBits(policy, Context::Compaction(5)), 10);
    EXPECT_GT(BuiltBits(policy, Context::Compaction(1)), 14);
    EXPECT_EQ(BuiltBits(policy, Context::Unknown()), bottom);
    EXPECT_LE(BuiltBits(policy, Context::Flush()), 13.2);
  }
}

TEST(NativePolicy, WithoutABudgetBitsAreTheSameEverywhere) {
  RocksDbOptions options = WithBudget("compact", BudgetMode::kBalanced);
  options.budget.reset();
  const NativePolicy policy(options);
  for (const Context& context :
       {Context::Flush(), Context::Compaction(1), Context::Bottommost(6)}) {
    EXPECT_NEAR(BuiltBits(policy, context), 10, 0.2);
  }
}

TEST(NativePolicy, AFixedBudgetIsTheSameEverywhere) {
  const NativePolicy policy(WithBudget("compact", BudgetMode::kFixed));
  for (const Context& context :
       {Context::Flush(), Context::Compaction(1), Context::Bottommost(6)}) {
    EXPECT_NEAR(BuiltBits(policy, context), 10, 0.2);
  }
}

TEST(NativePolicy, HitsOnlyWritesNoFilterAtTheBottom) {
  RocksDbOptions options = WithBudget("compact", BudgetMode::kHitsOnly);
  options.budget_bits_per_key = 0.6;
  const NativePolicy policy(options);
  EXPECT_EQ(BuiltBits(policy, Context::Bottommost(6)), 0);
  EXPECT_GT(BuiltBits(policy, Context::Compaction(5)), 2);
}

// A partition of few keys counts its overhead within the budget.
TEST(NativePolicy, PartitionsAreCountedWithTheirSize) {
  rdb::BlockBasedTableOptions table;
  table.partition_filters = true;
  table.metadata_block_size = 128;
  rdb::FilterBuildingContext context(table);
  context.is_bottommost = true;
  const NativePolicy policy(WithBudget("compact", BudgetMode::kBalanced));
  const FilterSetting small = policy.SettingFor(context);
  const FilterSetting large = policy.SettingFor(Context::Bottommost(6).get());
  EXPECT_LT(small.policy_bits, large.policy_bits - 0.5);
  EXPECT_NEAR(small.bits_per_key, large.bits_per_key, 1);
}

TEST(NativePolicy, WrongBudgetsMakeNoPolicyAndSayWhy) {
  Status error;
  RocksDbOptions options;
  options.size_ratio = 1;
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("size_ratio 1"));
  options = RocksDbOptions();
  options.filter_spec = options.filter_spec.WithFamily("always_maybe");
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("always_maybe"));
  options = RocksDbOptions();
  options.missing_share = 0;
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("missing_share 0"));
  options = RocksDbOptions();
  options.budget_bits_per_key = -1;
  EXPECT_EQ(NewRocksDbFilterPolicy(options, &error), nullptr);
  EXPECT_THAT(error.ToString(), HasSubstr("budget_bits_per_key -1"));
}

}  // namespace
}  // namespace rowbloom
