// SPDX-License-Identifier: Apache-2.0
//
// rebuild_test.cc compares encoded blocks with those that HBase wrote. Here are
// cells that its files lack.

#include "hfile/cell_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "hfile/cell_key.h"
#include "hosts/hfile/test_hfile.h"
#include "testing/keys.h"

namespace rowbloom::hfile {
namespace {

using testing::Put;

class CellEncoderTest : public ::testing::TestWithParam<HFileEncoding> {};

INSTANTIATE_TEST_SUITE_P(All, CellEncoderTest,
                         ::testing::Values(HFileEncoding::kNone,
                                           HFileEncoding::kPrefix,
                                           HFileEncoding::kDiff,
                                           HFileEncoding::kFastDiff,
                                           HFileEncoding::kRowIndexV1),
                         [](const auto& param) {
                           return std::string(HFileEncodingName(param.param));
                         });

std::string KeyOf(const HFileCell& cell) {
  std::string key;
  AppendCellKey(
      {cell.row, cell.family, cell.qualifier, cell.timestamp, cell.type}, &key);
  return key;
}

// Bytes of few values, so that neighbours share much.
std::string FewBytes(testing::Random* random, size_t max_size) {
  std::string bytes(random->Below(max_size + 1), '\0');
  for (char& byte : bytes) byte = "\0a\xff"[random->Below(3)];
  return bytes;
}

struct OwnedCell {
  std::string row, qualifier, value, tags;
  int64_t timestamp;
  uint8_t type;
  int64_t mvcc;

  HFileCell view() const {
    return {row, "cf", qualifier, timestamp, type, value, tags, mvcc};
  }
};

OwnedCell RandomCell(testing::Random* random) {
  const int64_t times[] = {
      0, 1, 255, 256, 1'700'000'000'000, 1'700'000'000'255, kLatestTimestamp};
  const uint8_t types[] = {HFileCell::kPut, HFileCell::kDelete};
  OwnedCell cell;
  cell.row = "r" + FewBytes(random, random->Below(8) == 0 ? 300 : 3);
  cell.qualifier = FewBytes(random, 12);
  cell.value = FewBytes(random, 3);
  // More kinds of tags than a dictionary has room for.
  for (uint64_t tags = random->Below(3); tags > 0; --tags) {
    cell.tags += std::string("\0\2t", 3);
    cell.tags += static_cast<char>(random->Below(200));
  }
  cell.timestamp = times[random->Below(std::size(times))];
  cell.type = types[random->Below(2)];
  cell.mvcc = static_cast<int64_t>(random->Below(1000));
  return cell;
}

TEST_P(CellEncoderTest, CellsAreReadAsTheyWereAdded) {
  testing::Random random(28);
  for (int layout_bits = 0; layout_bits < 8; ++layout_bits) {
    const DataLayout layout = {(layout_bits & 1) != 0, (layout_bits & 2) != 0,
                               (layout_bits & 4) != 0};
    CellEncoder encoder(GetParam(), layout);
    CellDecoder decoder(layout);
    for (const int count : {1, 2, 30, 1000}) {
      std::vector<OwnedCell> cells(static_cast<size_t>(count));
      for (OwnedCell& cell : cells) cell = RandomCell(&random);
      cells.push_back(cells.back());  // A key may repeat.
      std::sort(cells.begin(), cells.end(), [](const auto& a, const auto& b) {
        return std::tie(a.row, a.qualifier, b.timestamp, b.type) <
               std::tie(b.row, b.qualifier, a.timestamp, a.type);
      });
      size_t unencoded_size = 0;
      for (const OwnedCell& cell : cells) {
        ASSERT_EQ(encoder.Add(cell.view(), KeyOf(cell.view())),
                  absl::OkStatus());
        unencoded_size += UnencodedSize(layout, cell.view());
      }
      EXPECT_GE(encoder.size(), unencoded_size);
      const std::string payload = encoder.Finish();
      EXPECT_TRUE(encoder.is_empty());
      ASSERT_EQ(decoder.Start(encoder.magic(), payload), absl::OkStatus());
      for (const OwnedCell& cell : cells) {
        HFileCell read;
        ASSERT_EQ(decoder.Next(&read), absl::OkStatus());
        EXPECT_EQ(KeyOf(read), KeyOf(cell.view()));
        EXPECT_EQ(read.value, cell.value);
        EXPECT_EQ(read.tags, layout.has_tags ? cell.tags : "");
        EXPECT_EQ(read.mvcc, layout.has_mvcc ? cell.mvcc : 0);
      }
      EXPECT_TRUE(decoder.AtEnd());
    }
  }
}

TEST_P(CellEncoderTest, DeltasRefuseASecondFamily) {
  CellEncoder encoder(GetParam(), {});
  const HFileCell cell = Put("r", "q");
  HFileCell other = cell;
  other.family = "dg";
  EXPECT_EQ(encoder.Add(cell, KeyOf(cell)), absl::OkStatus());
  const bool is_delta = GetParam() != HFileEncoding::kNone &&
                        GetParam() != HFileEncoding::kRowIndexV1;
  EXPECT_EQ(absl::IsInvalidArgument(encoder.Add(other, KeyOf(other))),
            is_delta);
}

TEST(CellEncoder, RefusesTagsThatAreCutOff) {
  DataLayout layout;
  layout.has_tags = true;
  layout.has_compressed_tags = true;
  for (const auto& tags : {std::string("\0", 1), std::string("\0\2t", 3)}) {
    HFileCell cell = Put("r", "q");
    cell.tags = tags;
    CellEncoder encoder(HFileEncoding::kFastDiff, layout);
    EXPECT_TRUE(absl::IsInvalidArgument(encoder.Add(cell, KeyOf(cell))));
  }
}

}  // namespace
}  // namespace rowbloom::hfile
