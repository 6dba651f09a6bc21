// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/io.h"

namespace rowbloom {
namespace {

TEST(MemorySource, ReadsInPlace) {
  const std::string bytes = "0123456789";
  const auto source = NewMemorySource(bytes);
  EXPECT_EQ(source->size_bytes(), 10);
  std::string_view result;
  ASSERT_TRUE(source->Read(3, 4, nullptr, &result).ok());
  EXPECT_EQ(result, "3456");
  EXPECT_EQ(result.data(), bytes.data() + 3);
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
