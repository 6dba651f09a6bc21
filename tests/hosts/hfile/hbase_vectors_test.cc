// SPDX-License-Identifier: Apache-2.0
//
// Tests hashes, sizes and chunks of Bloom filters against tables that HBase
// computed.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "hfile/bloom_chunk.h"
#include "hfile/hbase_hash.h"
#include "hosts/hfile/test_data.h"

namespace rowbloom::hfile {
namespace {

TEST(HBaseHash, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::VectorsOf("hash_vectors.tsv");
  ASSERT_EQ(rows.size(), 369);
  for (const auto& row : rows) {
    const auto type = static_cast<HFileHash>(std::stoi(row[0]));
    const std::string key = testing::FromHex(row[1]);
    const int32_t hash = HBaseHash(type, key, std::stoi(row[2]));
    EXPECT_EQ(hash, std::stoi(row[3])) << row[0] << " " << row[1];
    EXPECT_EQ(HBaseHash(type, key, hash), std::stoi(row[4]))
        << row[0] << " " << row[1];
  }
}

TEST(BloomSizing, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::VectorsOf("sizing_vectors.tsv");
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

TEST(BloomChunk, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::VectorsOf("chunk_vectors.tsv");
  ASSERT_EQ(rows.size(), 12);
  for (const auto& row : rows) {
    const auto geometry = SizeChunk(
        std::stoll(row[0]), EffectiveErrorRate(std::stof(row[1]), false),
        std::stoi(row[2]));
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
