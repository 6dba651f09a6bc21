// SPDX-License-Identifier: Apache-2.0

#include "hfile/cell_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/coding.h"
#include "hfile/block.h"
#include "hfile/encoders.h"
#include "testing/keys.h"

namespace rowbloom::hfile {
namespace {

// Cells that own their bytes, in order.
struct Owned {
  std::string row, qualifier, value, tags;
  int64_t timestamp;
  uint8_t type;
  int64_t mvcc;

  HFileCell View() const {
    return {row, "cf", qualifier, timestamp, type, value, tags, mvcc};
  }
};

std::string Tag(const std::string& bytes) {
  std::string tag;
  base::AppendBigEndian(static_cast<uint16_t>(bytes.size()), &tag);
  return tag + bytes;
}

std::vector<Owned> RandomCells() {
  testing::Random random(5);
  std::vector<Owned> cells;
  for (int row = 100; row < 200; ++row) {
    const std::string name =
        (row % 3 == 0 ? "a row " : "row") + std::to_string(row);
    for (uint64_t column = 0; column < 1 + random.Below(4); ++column) {
      for (uint64_t version = 0; version < 1 + random.Below(3); ++version) {
        Owned cell;
        cell.row = name;
        cell.qualifier = column == 0 ? "" : "q" + std::string(column, 'x');
        cell.value = random.Below(2) == 0 ? "same" : random.Bytes(300);
        cell.timestamp = random.Below(8) == 0
                             ? -static_cast<int64_t>(random.Below(1000))
                             : static_cast<int64_t>(1'700'000'000'000 +
                                                    random.Below(1 << 20));
        cell.type = random.Below(4) == 0 ? HFileCell::kDelete : HFileCell::kPut;
        cell.mvcc = static_cast<int64_t>(random.Below(1 << 20));
        for (uint64_t i = random.Below(3); i > 0; --i) {
          cell.tags += Tag("tag" + std::to_string(random.Below(20)));
        }
        cells.push_back(std::move(cell));
      }
    }
  }
  std::sort(cells.begin(), cells.end(), [](const Owned& a, const Owned& b) {
    return std::tie(a.row, a.qualifier, b.timestamp) <
           std::tie(b.row, b.qualifier, a.timestamp);
  });
  return cells;
}

class CellDecoderTest
    : public ::testing::TestWithParam<std::tuple<HFileEncoding, int>> {
 protected:
  DataLayout Layout() const {
    const int flags = std::get<1>(GetParam());
    return {(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
  }
  HFileEncoding Encoding() const { return std::get<0>(GetParam()); }
  std::string_view Magic() const {
    return Encoding() == HFileEncoding::kNone ? kDataMagic : kEncodedDataMagic;
  }
  std::string Encode(const std::vector<Owned>& cells) const {
    testing::BlockEncoder encoder(Encoding(), Layout());
    for (const Owned& cell : cells) encoder.Add(cell.View());
    return encoder.Finish();
  }
};

INSTANTIATE_TEST_SUITE_P(
    All, CellDecoderTest,
    ::testing::Combine(::testing::Values(HFileEncoding::kNone,
                                         HFileEncoding::kPrefix,
                                         HFileEncoding::kDiff,
                                         HFileEncoding::kFastDiff,
                                         HFileEncoding::kRowIndexV1),
                       ::testing::Values(0, 1, 2, 3, 7)),
    [](const auto& param) {
      return std::string(HFileEncodingName(std::get<0>(param.param))) + "_" +
             std::to_string(std::get<1>(param.param));
    });

TEST_P(CellDecoderTest, GivesBackTheCells) {
  const std::vector<Owned> cells = RandomCells();
  const std::string payload = Encode(cells);
  CellDecoder decoder(Layout());
  ASSERT_EQ(decoder.Start(Magic(), payload), absl::OkStatus());
  for (const Owned& expected : cells) {
    ASSERT_FALSE(decoder.AtEnd());
    HFileCell cell;
    ASSERT_EQ(decoder.Next(&cell), absl::OkStatus());
    ASSERT_EQ(cell.row, expected.row);
    ASSERT_EQ(cell.family, "cf");
    ASSERT_EQ(cell.qualifier, expected.qualifier);
    ASSERT_EQ(cell.timestamp, expected.timestamp);
    ASSERT_EQ(cell.type, expected.type);
    ASSERT_EQ(cell.value, expected.value);
    ASSERT_EQ(cell.tags, Layout().has_tags ? expected.tags : "");
    ASSERT_EQ(cell.mvcc, Layout().has_mvcc ? expected.mvcc : 0);
  }
  EXPECT_TRUE(decoder.AtEnd());
}

TEST_P(CellDecoderTest, DamageIsAnErrorOrOtherCells) {
  std::vector<Owned> cells = RandomCells();
  cells.resize(30);
  const std::string payload = Encode(cells);
  testing::Random random(6);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = payload.substr(0, random.Below(payload.size() + 1));
    if (round % 2 == 0) {
      damaged = payload;
      damaged[random.Below(damaged.size())] = static_cast<char>(random());
    }
    // The memory has exactly this size, so that a sanitizer sees reads beyond
    // it.
    const std::vector<char> exact(damaged.begin(), damaged.end());
    CellDecoder decoder(Layout());
    absl::Status status =
        decoder.Start(Magic(), std::string_view(exact.data(), exact.size()));
    HFileCell cell;
    while (status.ok() && !decoder.AtEnd()) status = decoder.Next(&cell);
  }
}

TEST(CellDecoder, NamesAnEncodingThatItDoesNotKnow) {
  CellDecoder decoder(DataLayout{});
  const absl::Status status =
      decoder.Start(kEncodedDataMagic, std::string_view("\0\6", 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("encoding 6"), absl::string_view::npos);
}

TEST(TagDictionary, TheTagUsedLongestAgoMakesRoom) {
  TagDictionary dictionary;
  const auto tag = [](size_t i) { return "tag" + std::to_string(i); };
  for (size_t i = 0; i < TagDictionary::kCapacity; ++i) dictionary.Add(tag(i));
  EXPECT_EQ(*dictionary.Find(0), tag(0));
  dictionary.Add("new");
  EXPECT_EQ(*dictionary.Find(0), tag(0));
  EXPECT_EQ(*dictionary.Find(1), "new");
  EXPECT_EQ(dictionary.Find(TagDictionary::kCapacity), nullptr);
}

}  // namespace
}  // namespace rowbloom::hfile
