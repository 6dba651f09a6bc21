// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_spec.h"

#include <gtest/gtest.h>

#include <cmath>

#include "testing/filters.h"

namespace rowbloom {
namespace {

TEST(FilterSpec, TextFormsRoundTrip) {
  for (const std::string text :
       {"blocked_bloom:bits_per_key=12.5", "blocked_bloom:target_fpr=0.01",
        "always_maybe:bits_per_key=10",
        "blocked_bloom:bits_per_key=10.0000001"}) {
    const auto spec = FilterSpec::Parse(text);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->ToString(), text);
  }
  EXPECT_EQ(FilterSpec::Parse("blocked_bloom")->bits_per_key(), 10);
}

TEST(FilterSpec, BadTextIsRefusedWithWhatIsAllowed) {
  const std::pair<std::string, std::string> cases[] = {
      {"bloom", "known: blocked_bloom, "},
      {"", "known: blocked_bloom, "},
      {"blocked_bloom:", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:12", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits=12", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=x", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key= 10", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=10 ", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=\v10", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=+10", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=0x10", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=nan", "FAMILY:bits_per_key=B"},
      {"blocked_bloom:bits_per_key=0.5", "not within 1 to 24"},
      {"blocked_bloom:bits_per_key=25", "not within 1 to 24"},
      {"blocked_bloom:target_fpr=0.99", "not within"},
      {"blocked_bloom:target_fpr=1e-9", "not within"},
      {"blocked_bloom:target_fpr=0", "target_fpr 0 is not within"},
      {"blocked_bloom:target_fpr=-1", "not within"}};
  for (const auto& [text, expected] : cases) {
    const auto spec = FilterSpec::Parse(text);
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_NE(spec.status().ToString().find(expected), std::string::npos)
        << spec.status();
  }
}

TEST(FilterSpec, APolicyThatCannotBeMetBuildsAFilterThatLosesNothing) {
  for (const FilterSpec& spec :
       {FilterSpec::BitsPerKey("no_such_family", 10),
        FilterSpec::BitsPerKey("blocked_bloom", 1e9),
        FilterSpec::BitsPerKey("blocked_bloom", std::nan("")),
        FilterSpec::TargetFpr("blocked_bloom", 2)}) {
    EXPECT_FALSE(spec.Validate().ok());
    EXPECT_EQ(testing::BuildFilter(spec, {{1}}).descriptor.family_name(),
              "always_maybe");
  }
}

}  // namespace
}  // namespace rowbloom
