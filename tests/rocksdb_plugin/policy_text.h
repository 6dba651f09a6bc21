// SPDX-License-Identifier: Apache-2.0
//
// Policies from options strings, and the filters that policies build.
//
//   EXPECT_EQ(OptionsOf<NativePolicy>("rowbloom:8").filter_spec, ...);
//   EXPECT_THAT(ErrorOf("rowbloom:many"), HasSubstr("BITS_PER_KEY"));
//   EXPECT_NEAR(Build(policy, BuildingContext::Flush()).bits_per_key, 10, 1);

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_POLICY_TEXT_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_POLICY_TEXT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "filter_bits_abi.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rdb.h"
#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb_plugin/building_context.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::testing {

using SharedPolicy = std::shared_ptr<const rdb::FilterPolicy>;

inline rdb::ConfigOptions Strict() {
  RegisterRocksDb();
  rdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  return config;
}

inline SharedPolicy Create(const std::string& text) {
  SharedPolicy policy;
  const rdb::Status status =
      rdb::FilterPolicy::CreateFromString(Strict(), text, &policy);
  EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
  return policy;
}

template <typename Policy>
auto OptionsOf(const std::string& text) {
  const SharedPolicy policy = Create(text);
  const Policy* ours =
      policy == nullptr ? nullptr : policy->CheckedCast<Policy>();
  EXPECT_NE(ours, nullptr) << text;
  return ours == nullptr ? Policy({}).options() : ours->options();
}

inline std::string ErrorOf(const std::string& text) {
  SharedPolicy policy;
  const rdb::Status status =
      rdb::FilterPolicy::CreateFromString(Strict(), text, &policy);
  // RocksDB itself does not find unknown options.
  EXPECT_TRUE(status.IsInvalidArgument() || status.IsNotFound()) << text;
  return status.ToString();
}

// Pairs of an options string and a part of its error.
inline void ExpectErrors(
    const std::vector<std::pair<std::string, std::string>>& errors) {
  for (const auto& [text, error] : errors) {
    EXPECT_THAT(ErrorOf(text), ::testing::HasSubstr(error)) << text;
  }
}

// Returns the names of the options that differ; empty if the policies are
// equivalent.
inline std::string Difference(const SharedPolicy& a, const SharedPolicy& b) {
  rdb::ConfigOptions exact = Strict();
  exact.sanity_level = rdb::ConfigOptions::kSanityLevelExactMatch;
  std::string mismatch;
  const bool is_equal = a->AreEquivalent(exact, b.get(), &mismatch);
  EXPECT_EQ(is_equal, mismatch.empty());
  return mismatch;
}

// Expects that the text of a policy makes an equal policy.
inline void ExpectTextRoundTrips(const std::string& text) {
  const SharedPolicy policy = Create(text);
  EXPECT_EQ(Difference(policy, Create(policy->ToString(Strict()))), "");
}

struct Built {
  std::string filter;
  double bits_per_key = 0;  // 0 if the policy builds no filter.
  size_t denied = 0;        // Denied keys of as many absent ones.
};

// Builds a filter of `key_count` keys and expects that it denies none of them.
inline Built Build(const rdb::FilterPolicy& policy,
                   const BuildingContext& context, int key_count = 20000) {
  const auto key = [](int number) { return std::to_string(1000000 + number); };
  const std::unique_ptr<rdb::FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(context.get()));
  Built built;
  if (builder == nullptr) return built;
  for (int i = 0; i < key_count; ++i) builder->AddKey(key(i));
  std::unique_ptr<const char[]> bytes;
  built.filter = builder->Finish(&bytes).ToString();
  built.bits_per_key = 8.0 * static_cast<double>(built.filter.size()) /
                       static_cast<double>(key_count);
  const std::unique_ptr<rdb::FilterBitsReader> reader(
      policy.GetFilterBitsReader(built.filter));
  for (int i = 0; i < key_count; ++i) {
    EXPECT_TRUE(reader->MayMatch(key(i)));
    built.denied += reader->MayMatch(key(key_count + i)) ? 0 : 1;
  }
  return built;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_POLICY_TEXT_H_
