// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "rowbloom/filter.h"
#include "util/digest.h"

namespace rowbloom {
namespace {

using namespace std::string_literals;

const FilterDescriptor kExample = {2, 1, 7, 300, {384}, {0x01020304}};

std::string BytesOf(const FilterDescriptor& descriptor) {
  std::string bytes;
  descriptor.AppendTo(&bytes);
  return bytes;
}

absl::StatusCode CodeOfParsing(std::string_view bytes) {
  return FilterDescriptor::Parse(&bytes).status().code();
}

TEST(FilterDescriptor, BytesArePinned) {
  EXPECT_EQ(BytesOf(kExample),
            "\x01\x02\x01\x07\xac\x02\x80\x03\x04\x03\x02\x01"s);
}

TEST(FilterDescriptor, ParseUndoesAppendAndAdvances) {
  const std::string bytes = BytesOf(kExample) + "rest";
  std::string_view in = bytes;
  const auto parsed = FilterDescriptor::Parse(&in);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(in, "rest");
  EXPECT_EQ(*parsed, kExample);
  EXPECT_EQ(parsed->family_name(), "blocked_bloom");
  EXPECT_EQ(parsed->total_size_bytes(), 384u);
}

TEST(FilterDescriptor, EveryTruncationIsDataLoss) {
  const std::string bytes = BytesOf(kExample);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(CodeOfParsing(bytes.substr(0, size)),
              absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, OtherVersionsAndFamiliesAreNewerAndZeroIsNone) {
  for (const size_t offset : {0, 1}) {  // Version, family.
    std::string bytes = BytesOf(kExample);
    bytes[offset] = '\x7f';
    EXPECT_EQ(CodeOfParsing(bytes), absl::StatusCode::kUnimplemented);
    bytes[offset] = '\0';
    EXPECT_EQ(CodeOfParsing(bytes), absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, UnitSizesThatOverflowAreDataLoss) {
  FilterDescriptor descriptor = kExample;
  descriptor.unit_count = 2;
  descriptor.unit_size_bytes[1] = ~uint64_t{0};
  EXPECT_EQ(CodeOfParsing(BytesOf(descriptor)), absl::StatusCode::kDataLoss);
}

TEST(FilterDescriptor, MoreUnitsThanThereCanBeAreNotParsed) {
  for (size_t units = 0; units <= 255; ++units) {
    std::string bytes = "\x01\x04\x00\x07\x01"s;
    bytes[2] = static_cast<char>(units);
    for (size_t i = 0; i < units; ++i) bytes += "\x00\x00\x00\x00\x00"s;
    EXPECT_EQ(CodeOfParsing(bytes), units <= FilterDescriptor::kMaxUnits
                                        ? absl::StatusCode::kOk
                                        : absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, AUnitOfAnotherSizeIsRefused) {
  const std::string bytes(384 + 64, 'x');
  FilterDescriptor descriptor = kExample;
  descriptor.parameters = 256 + 7;
  for (const size_t size : {0, 320, 383, 384, 385, 448}) {
    const std::string_view units[] = {std::string_view(bytes).substr(0, size)};
    const auto view = FilterView::Parse(descriptor, units);
    EXPECT_EQ(view.status().code(), size == 384 ? absl::StatusCode::kOk
                                                : absl::StatusCode::kDataLoss);
  }
}

TEST(FilterDescriptor, MoreUnitsThanThereCanBeAreRefusedNotRead) {
  FilterDescriptor descriptor;
  descriptor.family_code = 4;  // compact
  descriptor.unit_count = 200;
  const std::vector<std::string_view> units(200);
  EXPECT_TRUE(absl::IsDataLoss(FilterView::Parse(descriptor, units).status()));
  descriptor.unit_checksum.fill(util::Checksum32(""));
  EXPECT_EQ(VerifyUnits(descriptor, units).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace rowbloom
