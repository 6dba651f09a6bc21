// SPDX-License-Identifier: Apache-2.0

#include "hfile/hbase_hash.h"

#include <gtest/gtest.h>

#include <string>

#include "hfile/test_data.h"

namespace rowbloom::hfile {
namespace {

TEST(HBaseHash, AgreesWithEveryVectorOfHBase) {
  const auto rows = testing::ParseTsv(
      testing::ReadFile(testing::HFileData("hash_vectors.tsv")));
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

}  // namespace
}  // namespace rowbloom::hfile
