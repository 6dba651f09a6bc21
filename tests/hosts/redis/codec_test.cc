// SPDX-License-Identifier: Apache-2.0
//
// Bytes and hashes that Redisson 3.15.1 and 4.7.0 gave for these elements, and
// HighwayHash-128 for inputs of each kind of length. redisson/compare.sh
// compares with Redisson itself.

#include "rowbloom/redis/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"

namespace rowbloom {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::string Hex(const absl::StatusOr<std::string>& bytes) {
  return bytes.ok() ? absl::BytesToHexString(*bytes)
                    : bytes.status().ToString();
}

TEST(RedissonDigest, IsHighwayHashOfAnyLength) {
  const struct {
    size_t size;
    uint64_t h1, h2;
  } kCases[] = {{0, 0xb7aad9c226c6a36b, 0xb2d4e4a63557bca6},
                {1, 0x9ed9a456d136d003, 0x58ac9f49faa4cb70},
                {3, 0xa283993a06b92719, 0x971bb104219129b9},
                {4, 0x48e88abb2b29b1d3, 0xd8b587be6e0e9970},
                {15, 0xe3afd0524dbf8b42, 0x9580102de78e6948},
                {16, 0x0a77902e253c74e8, 0x83ebcd2532667188},
                {17, 0xb0e3facff5fbdedc, 0xe13757b47a9f7086},
                {31, 0xc5703f35c679d59c, 0x8e47db5eece2e3c3},
                {32, 0x523e720710ab7664, 0xb450e60a8c480d0e},
                {33, 0x24e1c4736e1c9c1c, 0x297a0b17d873d74f},
                {63, 0x28e00c65299f4091, 0xe91d004fefb9447f},
                {64, 0xbd1093a13004c0c1, 0x4f6f6508dbfaff0a},
                {65, 0x4ed62d86be05505c, 0xce5342594982a255}};
  for (const auto& c : kCases) {
    std::string bytes;
    for (size_t i = 0; i < c.size; ++i) bytes.push_back(static_cast<char>(i));
    const RedissonDigest digest = RedissonDigestOf(bytes);
    EXPECT_EQ(digest.h1, c.h1) << c.size;
    EXPECT_EQ(digest.h2, c.h2) << c.size;
  }
}

TEST(RedissonDigest, GivesRedissonsPositions) {
  const struct {
    absl::StatusOr<std::string> encoded;
    uint64_t h1, h2;
    std::vector<uint64_t> positions;
  } kCases[] = {
      {"",
       0xb7aad9c226c6a36b,
       0xb2d4e4a63557bca6,
       {260103, 436489, 76304, 252690, 622349}},
      {"x",
       0x06dfc3e30ca52980,
       0xa0cd7d235708e8c2,
       {719128, 270974, 260258, 541948, 531232}},
      {"user17",
       0x53ae12a14731a621,
       0x2fd484cf59bc458d,
       {15205, 194526, 209731, 389052, 404257}},
      {"127.0.0.1",
       0xb04c751565e76203,
       0xf22ecbe0d4bbd178,
       {242707, 386575, 629282, 43306, 286013}},
      {"192.168.1.1",
       0x3aa651b0012d3758,
       0xdb7336ff5eb12cc5,
       {160164, 73241, 233405, 146482, 306646}},
      {"h\u00e9llo",
       0x0b6d6c77394d03be,
       0xbfa94ddd1f82f7d1,
       {444714, 103719, 548433, 316994, 31864}},
      {"a-string-that-is-longer-than-thirty-two-bytes-0123456789",
       0xe032ec04cf106dbf,
       0x2dee447d7c66dae6,
       {685907, 139053, 95116, 278106, 234169}},
      {RedissonCodec("Kryo5Codec").Text("user17"),
       0xca41581810ca857c,
       0x94e2acf7540119f1,
       {373536, 225241, 708333, 560038, 313286}},
      {RedissonCodec("MarshallingCodec").Text("user17"),
       0x57b6aa25ed3bc5d9,
       0xd6a6991cdb4c0b55,
       {520689, 467478, 367879, 205112, 105513}},
      {RedissonCodec("Kryo5Codec").Int(17),
       0xae982aee41d1e114,
       0x0eb45444605b695f,
       {171048, 286871, 457919, 573742, 124502}},
      {RedissonCodec("Kryo5Codec").Long(17),
       0xaea5d736124dc339,
       0x068fe9dc08519154,
       {680317, 721017, 671490, 712190, 42375}},
  };
  const BloomShape shape = *RedissonShape(100'000, 0.03);
  EXPECT_EQ(shape, (BloomShape{729844, 5}));
  for (const auto& c : kCases) {
    const RedissonDigest digest = RedissonDigestOf(*c.encoded);
    EXPECT_EQ(digest.h1, c.h1) << Hex(c.encoded);
    EXPECT_EQ(digest.h2, c.h2) << Hex(c.encoded);
    RedissonProbes probes(digest, shape.bit_count);
    std::vector<uint64_t> positions;
    for (int i = 0; i < 5; ++i) positions.push_back(probes.Next());
    EXPECT_THAT(positions, ElementsAreArray(c.positions)) << Hex(c.encoded);
  }
}

TEST(RedissonCodec, TextCodecsTakeCharactersAndDigits) {
  for (const char* name : {"StringCodec", "LongCodec"}) {
    const RedissonCodec codec(name);
    EXPECT_EQ(Hex(codec.Text("h\u00e9")), "68c3a9");
    EXPECT_EQ(Hex(codec.Int(17)), "3137");
    EXPECT_EQ(Hex(codec.Long(-1)), "2d31");
  }
}

TEST(RedissonCodec, Kryo5HasThreeFormsOfText) {
  const RedissonCodec codec("Kryo5Codec");
  EXPECT_EQ(Hex(codec.Text("")), "0381");
  EXPECT_EQ(Hex(codec.Text("user17")), "037573657231b7");
  EXPECT_EQ(Hex(codec.Text("a")), "038261");
  EXPECT_EQ(Hex(codec.Text(std::string("a\0b", 3))), "036100e2");
  EXPECT_EQ(Hex(codec.Text("h\u00e9llo")), "038668c3a96c6c6f");
  EXPECT_EQ(Hex(codec.Text(std::string(32, 'x'))).substr(0, 6), "037878");
  EXPECT_EQ(Hex(codec.Text(std::string(33, 'x'))).substr(0, 6), "03a278");
  EXPECT_EQ(Hex(codec.Text(std::string(56, 'x'))).substr(0, 6), "03b978");
  EXPECT_EQ(Hex(codec.Text(std::string(63, 'x'))).substr(0, 8), "03c00178");
  // Surrogates are encoded one by one.
  EXPECT_EQ(Hex(codec.Text("\U0001f600")), "0383eda0bdedb880");
}

TEST(RedissonCodec, Kryo5NumbersAreZigZagVarints) {
  const RedissonCodec codec("Kryo5Codec");
  EXPECT_EQ(Hex(codec.Int(0)), "0200");
  EXPECT_EQ(Hex(codec.Int(1)), "0202");
  EXPECT_EQ(Hex(codec.Int(-1)), "0201");
  EXPECT_EQ(Hex(codec.Int(17)), "0222");
  EXPECT_EQ(Hex(codec.Int(64)), "028001");
  EXPECT_EQ(Hex(codec.Int(std::numeric_limits<int32_t>::max())),
            "02feffffff0f");
  EXPECT_EQ(Hex(codec.Int(std::numeric_limits<int32_t>::min())),
            "02ffffffff0f");
  EXPECT_EQ(Hex(codec.Long(17)), "0922");
  EXPECT_EQ(Hex(codec.Long(std::numeric_limits<int64_t>::max())),
            "09feffffffffffffffff");
}

TEST(RedissonCodec, MarshallingHasLengthsInUnitsAndModifiedUtf8) {
  const RedissonCodec codec("MarshallingCodec");
  EXPECT_EQ(Hex(codec.Text("")), "043d");
  EXPECT_EQ(Hex(codec.Text("user17")), "043e06757365723137");
  EXPECT_EQ(Hex(codec.Text(std::string("a\0", 2))), "043e0261c080");
  EXPECT_EQ(Hex(codec.Text("a\u00e9\u20ac\U0001f600")),
            "043e0561c3a9e282aceda0bdedb880");
  EXPECT_EQ(Hex(codec.Text(std::string(256, 'x'))).substr(0, 8), "043e0078");
  EXPECT_EQ(Hex(codec.Text(std::string(300, 'x'))).substr(0, 10), "043f012c78");
  EXPECT_EQ(Hex(codec.Int(-2)), "044bfffffffe");
  EXPECT_EQ(Hex(codec.Long(17)), "044c0000000000000011");
}

TEST(RedissonCodec, RefusesElementsThatItCannotEncode) {
  for (const char* text : {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80",
                           "\xf5\x80\x80\x80", "\xe0\x80\x80", "\x80"}) {
    EXPECT_THAT(Hex(RedissonCodec("Kryo5Codec").Text(text)),
                HasSubstr("is not UTF-8 at"));
  }
  EXPECT_THAT(Hex(RedissonCodec("MarshallingCodec").Text("\xff")),
              HasSubstr("is not UTF-8 at 0"));
  EXPECT_THAT(Hex(RedissonCodec("ByteArrayCodec").Int(1)),
              HasSubstr("encodes a byte[] only"));
  EXPECT_THAT(Hex(RedissonCodec("FstCodec").Text("a")),
              HasSubstr("codec \"FstCodec\" is not known"));
  EXPECT_THAT(Hex(RedissonCodec("FstCodec").Long(1)),
              HasSubstr("codec \"FstCodec\" is not known"));
}

}  // namespace
}  // namespace rowbloom
