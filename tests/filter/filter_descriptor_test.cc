// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "hash/digest.h"
#include "rowbloom/filter.h"

namespace rowbloom {
namespace {

using namespace std::string_literals;

FilterDescriptor Example() {
  FilterDescriptor descriptor;
  descriptor.family_code = 2;
  descriptor.unit_count = 1;
  descriptor.parameters = 7;
  descriptor.key_count = 300;
  descriptor.unit_size_bytes[0] = 384;
  descriptor.unit_checksum[0] = 0x01020304;
  return descriptor;
}

TEST(FilterDescriptor, BytesArePinned) {
  std::string bytes;
  Example().AppendTo(&bytes);
  EXPECT_EQ(bytes, "\x01\x02\x01\x07\xac\x02\x80\x03\x04\x03\x02\x01"s);
}

TEST(FilterDescriptor, ParseUndoesAppendAndAdvances) {
  std::string bytes;
  Example().AppendTo(&bytes);
  bytes += "rest";
  std::string_view in = bytes;
  const auto parsed = FilterDescriptor::Parse(&in);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(in, "rest");
  EXPECT_EQ(parsed->family_name(), "blocked_bloom");
  EXPECT_EQ(parsed->parameters, 7u);
  EXPECT_EQ(parsed->key_count, 300u);
  EXPECT_EQ(parsed->total_size_bytes(), 384u);
  EXPECT_EQ(parsed->unit_checksum[0], 0x01020304u);
}

TEST(FilterDescriptor, EveryTruncationIsDataLoss) {
  std::string bytes;
  Example().AppendTo(&bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::string_view in = std::string_view(bytes).substr(0, size);
    EXPECT_EQ(FilterDescriptor::Parse(&in).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, WhatIsNewerIsUnimplemented) {
  for (const size_t offset : {0, 1}) {  // Version, family.
    std::string bytes;
    Example().AppendTo(&bytes);
    bytes[offset] = '\x7f';
    std::string_view in = bytes;
    EXPECT_EQ(FilterDescriptor::Parse(&in).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST(FilterDescriptor, ZeroIsNoVersionAndNoFamily) {
  for (const size_t offset : {0, 1}) {
    std::string bytes;
    Example().AppendTo(&bytes);
    bytes[offset] = '\0';
    std::string_view in = bytes;
    EXPECT_EQ(FilterDescriptor::Parse(&in).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, UnitSizesThatOverflowAreDataLoss) {
  FilterDescriptor descriptor = Example();
  descriptor.unit_count = 2;
  descriptor.unit_size_bytes[1] = ~uint64_t{0};
  std::string bytes;
  descriptor.AppendTo(&bytes);
  std::string_view in = bytes;
  EXPECT_EQ(FilterDescriptor::Parse(&in).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(FilterDescriptor, MoreUnitsThanThereCanBeAreRefusedNotRead) {
  FilterDescriptor descriptor;
  descriptor.family_code = 4;  // compact
  descriptor.unit_count = 200;
  const std::vector<std::string_view> units(200);
  EXPECT_EQ(FilterView::Parse(descriptor, units).status().code(),
            absl::StatusCode::kDataLoss);
  descriptor.unit_checksum.fill(hash::Checksum32(""));
  EXPECT_EQ(VerifyUnits(descriptor, units).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace rowbloom
