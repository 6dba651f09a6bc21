// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_sizing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "hfile/test_data.h"

namespace rowbloom::hfile {
namespace {

TEST(BloomSizing, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::ParseTsv(
      testing::ReadFile(testing::HFileData("sizing_vectors.tsv")));
  ASSERT_EQ(rows.size(), 1700);
  int refused = 0;
  for (const auto& row : rows) {
    const std::string what =
        row[0] + " " + row[1] + " " + row[2] + " " + row[3];
    const double rate = EffectiveErrorRate(std::stof(row[1]), row[2] == "1");
    uint64_t bits;
    std::memcpy(&bits, &rate, sizeof(bits));
    EXPECT_EQ(bits, std::stoull(row[4], nullptr, 16)) << what;
    const auto geometry =
        SizeChunk(std::stoll(row[0]), rate, std::stoi(row[3]));
    if (row[5] == "EXC") {
      ++refused;
      EXPECT_EQ(geometry.status().code(), absl::StatusCode::kInvalidArgument)
          << what;
      continue;
    }
    ASSERT_TRUE(geometry.ok()) << what << geometry.status();
    EXPECT_EQ(geometry->size_bytes, std::stoll(row[5])) << what;
    EXPECT_EQ(geometry->hash_count, std::stoi(row[6])) << what;
    EXPECT_EQ(geometry->max_keys, std::stoll(row[7])) << what;
  }
  EXPECT_EQ(refused, 24);
}

TEST(BloomSizing, RefusesWhatNoChunkCanBe) {
  for (const int64_t size :
       {int64_t{0}, int64_t{-1}, kMaxChunkSizeBytes + 1, int64_t{1} << 62}) {
    EXPECT_FALSE(SizeChunk(size, 0.01, 0).ok()) << size;
  }
  // Folding would round this size up beyond the largest one.
  EXPECT_TRUE(SizeChunk(kMaxChunkSizeBytes, 0.01, 0).ok());
  EXPECT_FALSE(SizeChunk(kMaxChunkSizeBytes, 0.01, 7).ok());
  for (const double rate : {0.0, 1.0, -1.0, 2.0, 0.9}) {
    EXPECT_FALSE(SizeChunk(1024, rate, 0).ok()) << rate;
  }
  EXPECT_FALSE(SizeChunk(1024, 0.01, -1).ok());
  EXPECT_FALSE(SizeChunk(1024, 0.01, 29).ok());
}

}  // namespace
}  // namespace rowbloom::hfile
