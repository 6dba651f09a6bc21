// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/io.h"

namespace rowbloom {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(MemorySource, ReadsInPlace) {
  const std::string bytes = "0123456789";
  const auto source = NewMemorySource(bytes);
  EXPECT_EQ(source->size_bytes(), 10);
  std::string_view result;
  ASSERT_TRUE(source->Read(3, 4, nullptr, &result).ok());
  EXPECT_EQ(result, "3456");
  EXPECT_EQ(result.data(), bytes.data() + 3);
}

TEST(MemorySource, ReadsUpToTheEndAndNothingAtTheEnd) {
  const auto source = NewMemorySource("0123456789");
  std::string_view result = "other";
  ASSERT_TRUE(source->Read(0, 10, nullptr, &result).ok());
  EXPECT_EQ(result, "0123456789");
  ASSERT_TRUE(source->Read(10, 0, nullptr, &result).ok());
  EXPECT_EQ(result, "");
}

TEST(MemorySource, ReadPastTheEndSaysWhereAndHowMuch) {
  const auto source = NewMemorySource("0123456789", "block");
  std::string_view result;
  const absl::Status status = source->Read(8, 3, nullptr, &result);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(status.message(),
            "block: read of 3 bytes at offset 8 passes the end at 10");
  EXPECT_FALSE(source->Read(11, 0, nullptr, &result).ok());
}

TEST(MemorySource, HugeOffsetAndSizeDoNotWrapAround) {
  const auto source = NewMemorySource("0123456789");
  std::string_view result;
  EXPECT_TRUE(absl::IsOutOfRange(source->Read(kMax - 1, 4, nullptr, &result)));
  EXPECT_TRUE(absl::IsOutOfRange(source->Read(4, kMax - 1, nullptr, &result)));
}

TEST(MemorySource, KeepsItsOwnName) {
  auto name = std::make_unique<std::string>("000012.filter, a long name");
  const auto source = NewMemorySource("", *name);
  name.reset();
  EXPECT_EQ(source->name(), "000012.filter, a long name");
  EXPECT_EQ(NewMemorySource("")->name(), "memory");
}

TEST(StringSink, AppendsBehindWhatIsThere) {
  std::string out = "a";
  const auto sink = NewStringSink(&out);
  ASSERT_TRUE(sink->Append(std::string_view("\0b", 2)).ok());
  ASSERT_TRUE(sink->Append("").ok());
  ASSERT_TRUE(sink->Append("c").ok());
  EXPECT_EQ(out, std::string("a\0bc", 4));
}

}  // namespace
}  // namespace rowbloom
