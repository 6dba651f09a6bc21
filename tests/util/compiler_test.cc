// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/compiler.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>

namespace rowbloom {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(Compiler, ProductsHave128Bits) {
  const struct {
    uint64_t a, b, high, low;
  } cases[] = {
      {0, kMax, 0, 0},
      {1, kMax, 0, kMax},
      {kMax, kMax, kMax - 1, 1},
      {uint64_t{1} << 32, uint64_t{1} << 32, 1, 0},
      {0x00000001ffffffff, 0xffffffff00000003, 0x1fffffffd, 0x6fffffffd},
      {0x9e3779b97f4a7c15, 0xbb67ae8584caa73b, 0x73d29a18b33dcb63,
       0x5eada573a9ae4bd7}};
  for (const auto& c : cases) {
    for (const bool swap : {false, true}) {
      const internal::Product product =
          swap ? internal::Multiply(c.b, c.a) : internal::Multiply(c.a, c.b);
      EXPECT_EQ(product.high, c.high) << c.a << " * " << c.b;
      EXPECT_EQ(product.low, c.low) << c.a << " * " << c.b;
    }
  }
}

TEST(Compiler, AddendsCarry) {
  internal::Product sum = internal::Multiply(kMax, kMax, kMax);
  EXPECT_EQ(sum.high, kMax);
  EXPECT_EQ(sum.low, 0u);
  sum = internal::Multiply(3, 5, kMax - 15);
  EXPECT_EQ(sum.high, 0u);
  EXPECT_EQ(sum.low, kMax);
}

TEST(Compiler, OverflowsAreFound) {
  uint64_t result = 0;
  EXPECT_FALSE(internal::AddOverflows(kMax - 1, 1, &result));
  EXPECT_EQ(result, kMax);
  EXPECT_TRUE(internal::AddOverflows(kMax, 1, &result));
  EXPECT_TRUE(internal::AddOverflows(kMax, kMax, &result));
  EXPECT_FALSE(internal::MultiplyOverflows(kMax / 3, 3, &result));
  EXPECT_EQ(result, kMax);
  EXPECT_TRUE(internal::MultiplyOverflows(kMax / 3 + 1, 3, &result));
}

TEST(Compiler, BitsAreCounted) {
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const uint64_t from_bit = kMax << i;
    EXPECT_EQ(internal::LowestOne(bit), i);
    EXPECT_EQ(internal::LowestOne(from_bit), i);
    EXPECT_EQ(internal::CountOnes(from_bit), 64 - i);
    EXPECT_EQ(internal::Parity(from_bit), i % 2);
  }
  EXPECT_EQ(internal::CountOnes(0), 0u);
  EXPECT_EQ(internal::CountOnes(kMax), 64u);
}

TEST(Compiler, BytesAreInTheOrderThatItSays) {
  const char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  const uint64_t big_endian = 0x0102030405060708;
  EXPECT_EQ(internal::kIsLittleEndian ? internal::SwapBytes64(word) : word,
            big_endian);
}

TEST(Compiler, WordsThatThreadsShareKeepTheirBits) {
  uint64_t word = 5;
  internal::OrRelaxed(&word, uint64_t{1} << 63);
  EXPECT_EQ(internal::LoadRelaxed(&word), (uint64_t{1} << 63) + 5);
}

}  // namespace
}  // namespace rowbloom
