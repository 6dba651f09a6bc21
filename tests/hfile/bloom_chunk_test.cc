// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_chunk.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "hfile/test_data.h"

namespace rowbloom::hfile {
namespace {

TEST(BloomChunk, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::ParseTsv(
      testing::ReadFile(testing::HFileData("chunk_vectors.tsv")));
  ASSERT_EQ(rows.size(), 12);
  for (const auto& row : rows) {
    const auto geometry = SizeChunk(
        std::stoll(row[0]), EffectiveErrorRate(std::stof(row[1]), false),
        std::stoi(row[2]));
    ASSERT_TRUE(geometry.ok()) << geometry.status();
    const auto type = static_cast<HFileHash>(std::stoi(row[3]));
    ChunkBuilder builder(*geometry, type);
    const int keys = std::stoi(row[4]);
    for (int i = 0; i < keys; ++i) builder.Add("k" + std::to_string(i));
    const std::string bits = builder.Finish();
    EXPECT_EQ(bits.size(), std::stoull(row[5]));
    EXPECT_EQ(builder.geometry().max_keys, std::stoll(row[6]));
    EXPECT_EQ(builder.geometry().hash_count, std::stoi(row[7]));
    EXPECT_EQ(absl::BytesToHexString(bits), row[8]);
    for (int i = 0; i < keys; ++i) {
      EXPECT_TRUE(ChunkMayContain(type, builder.geometry().hash_count, bits,
                                  "k" + std::to_string(i)));
    }
  }
}

TEST(BloomChunk, IsFullAtItsGeometrysMaximum) {
  const auto geometry = SizeChunk(64, 0.01, 0);
  ASSERT_TRUE(geometry.ok());
  ChunkBuilder builder(*geometry, HFileHash::kMurmur);
  for (int64_t i = 0; i < geometry->max_keys; ++i) {
    EXPECT_FALSE(builder.IsFull());
    builder.Add(std::to_string(i));
  }
  EXPECT_TRUE(builder.IsFull());
  EXPECT_EQ(builder.Finish().size(), 64);
}

}  // namespace
}  // namespace rowbloom::hfile
