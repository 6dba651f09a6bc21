// SPDX-License-Identifier: Apache-2.0
//
// The texts of tests/stability/options.golden parse, and no name that a parser
// knows is missing there.

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "key/segment_kinds.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb_plugin/policy_text.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_codec.h"
#include "testing/option_texts.h"

namespace rowbloom {
namespace {

using testing::ExpectListed;
using testing::NamesIn;
using testing::OptionTexts;

TEST(ReleasedOptions, TextsOfTheCoreParse) {
  for (const std::string& text : OptionTexts("filter_spec")) {
    EXPECT_TRUE(FilterSpec::Parse(text).ok()) << text;
  }
  for (const std::string& text : OptionTexts("bloom_type")) {
    EXPECT_TRUE(ParseBloomType(text).ok()) << text;
  }
  for (const std::string& text : OptionTexts("key_codec")) {
    EXPECT_TRUE(KeyCodec::Parse(text).ok()) << text;
  }
}

TEST(ReleasedOptions, TextsOfRocksDbParse) {
  for (const std::string& text : OptionTexts("filter_policy")) {
    std::shared_ptr<const rdb::FilterPolicy> policy;
    const rdb::Status status = ParseRocksDbFilterPolicy(text, &policy);
    EXPECT_TRUE(status.ok()) << text << ": " << status.ToString();
  }
  for (const std::string& text : OptionTexts("listeners")) {
    std::shared_ptr<rdb::EventListener> listener;
    EXPECT_TRUE(
        rdb::EventListener::CreateFromString(testing::Strict(), text, &listener)
            .ok())
        << text;
    EXPECT_NE(listener, nullptr) << text;
  }
  for (const std::string& text : OptionTexts("prefix_extractor")) {
    std::shared_ptr<const rdb::SliceTransform> extractor;
    EXPECT_TRUE(rdb::SliceTransform::CreateFromString(testing::Strict(), text,
                                                      &extractor)
                    .ok())
        << text;
    EXPECT_NE(extractor, nullptr) << text;
  }
}

TEST(ReleasedOptions, NamesOfTheCoreAreListed) {
  for (const std::string_view family : FilterFamilyNames()) {
    ExpectListed("filter_spec", {std::string(family)});
  }
  ExpectListed(
      "bloom_type",
      NamesIn(std::string(ParseBloomType("no such").status().message())));
  key::AnyKind([](auto kind) {
    const std::string usage(kind.kUsage);
    ExpectListed("key_codec", {usage.substr(0, usage.find(':'))});
    return false;
  });
}

// The error of a policy with this option.
std::string ErrorOfOption(const std::string& policy,
                          const std::string& option) {
  std::shared_ptr<const rdb::FilterPolicy> made;
  const rdb::Status status =
      ParseRocksDbFilterPolicy("{id=" + policy + ";" + option + "}", &made);
  EXPECT_TRUE(status.IsInvalidArgument()) << option;
  return status.getState() == nullptr ? "" : status.getState();
}

TEST(ReleasedOptions, NamesOfRocksDbAreListed) {
  for (const std::string policy : {"rowbloom", "rowbloom.Composed"}) {
    for (const std::string& name :
         NamesIn(ErrorOfOption(policy, "no_such=1"))) {
      ExpectListed("filter_policy", {";" + name + "="});
      const std::string error = ErrorOfOption(policy, name + "=no_such");
      if (error.find("allowed: ") == std::string::npos) continue;
      for (const std::string& value : NamesIn(error)) {
        ExpectListed("filter_policy",
                     {"{id=" + policy + ";" + name + "=" + value + "}"});
      }
    }
  }
}

}  // namespace
}  // namespace rowbloom
