// SPDX-License-Identifier: Apache-2.0

#include "util/coding.h"

#include <gtest/gtest.h>

#include <limits>

namespace rowbloom::util {
namespace {

using namespace std::string_literals;

TEST(Coding, FixedIsLittleEndian) {
  std::string out;
  AppendFixed<uint8_t>(0x01, &out);
  AppendFixed<uint16_t>(0x0203, &out);
  AppendFixed<uint32_t>(0x04050607, &out);
  AppendFixed<uint64_t>(0x08090a0b0c0d0e0f, &out);
  EXPECT_EQ(out,
            "\x01\x03\x02\x07\x06\x05\x04\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08"s);
  std::string_view in = out;
  uint8_t a = 0;
  uint16_t b = 0;
  uint32_t c = 0;
  uint64_t d = 0;
  ASSERT_TRUE(ReadFixed(&in, &a) && ReadFixed(&in, &b) && ReadFixed(&in, &c) &&
              ReadFixed(&in, &d));
  EXPECT_EQ(a, 0x01);
  EXPECT_EQ(b, 0x0203);
  EXPECT_EQ(c, 0x04050607u);
  EXPECT_EQ(d, 0x08090a0b0c0d0e0fu);
  EXPECT_FALSE(ReadFixed(&in, &a));
}

TEST(Coding, VarintsHaveTheirKnownBytes) {
  const std::pair<uint64_t, std::string> cases[] = {
      {0, "\0"s},
      {127, "\x7f"s},
      {128, "\x80\x01"s},
      {300, "\xac\x02"s},
      {std::numeric_limits<uint64_t>::max(),
       "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s}};
  for (const auto& [value, bytes] : cases) {
    std::string out;
    AppendVarint(value, &out);
    EXPECT_EQ(out, bytes);
    std::string_view in = bytes;
    uint64_t read = 1;
    ASSERT_TRUE(ReadVarint(&in, &read));
    EXPECT_EQ(read, value);
    EXPECT_TRUE(in.empty());
    for (size_t size = 0; size < bytes.size(); ++size) {
      in = std::string_view(bytes).substr(0, size);
      EXPECT_FALSE(ReadVarint(&in, &read)) << value << " cut to " << size;
    }
  }
}

TEST(Coding, VarintsThatAreLongerThanNeededOrTooLargeAreRefused) {
  for (const std::string& bytes :
       {"\x80\0"s, "\xff\x80\0"s, std::string(10, '\xff'),
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s, std::string(11, '\x80')}) {
    std::string_view in = bytes;
    uint64_t value = 0;
    EXPECT_FALSE(ReadVarint(&in, &value));
  }
}

TEST(Coding, SizedBytesMayNotRunPastTheEnd) {
  std::string out;
  AppendSized("abc", &out);
  EXPECT_EQ(out,
            "\x03"
            "abc");
  std::string_view in = out;
  std::string_view bytes;
  ASSERT_TRUE(ReadSized(&in, &bytes));
  EXPECT_EQ(bytes, "abc");
  in = std::string_view(out).substr(0, 3);
  EXPECT_FALSE(ReadSized(&in, &bytes));
}

}  // namespace
}  // namespace rowbloom::util
