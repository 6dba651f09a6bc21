// SPDX-License-Identifier: Apache-2.0
//
// Tests the most important rule, byte by byte: for any damage to a filter
// block, Open or Verify reports it, and no lookup of a present key answers
// "no".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "block/filter_block_parser.h"
#include "block/format.h"
#include "filter/family.h"
#include "reader/test_block.h"
#include "rowbloom/filter_loads.h"
#include "testing/reseal.h"
#include "util/coding.h"
#include "util/digest.h"

namespace rowbloom {
namespace {

using testing::Cell;
using testing::Random;

struct Subject {
  std::vector<Cell> cells;
  std::string block;
};

Subject SmallBlock(BloomType type) {
  Random random(61);
  Subject subject;
  subject.cells = testing::SortedCells(&random, 150);
  subject.block = testing::WriteBlock(
      testing::BlockOptions("blocked_bloom", 10, 256, type), subject.cells);
  return subject;
}

// Strict calls return DataLoss with file and offset; lookups answer maybe.
void ExpectDamageIsFoundAndHarmless(const std::string& bytes,
                                    const std::vector<Cell>& cells,
                                    const std::string& what) {
  const auto source = NewMemorySource(bytes, "damaged.sst");
  const auto reader = FilterReader::Open(source.get(), {}, {});
  const absl::Status status =
      reader.ok() ? (*reader)->Verify() : reader.status();
  ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << what << status;
  ASSERT_NE(status.ToString().find("damaged.sst: offset "), std::string::npos)
      << status;
  if (!reader.ok()) return;  // The SST is read without a filter.
  for (const Cell& cell : cells) {
    ASSERT_TRUE((*reader)->MayContain(cell.row)) << what;
    ASSERT_TRUE((*reader)->MayContain(cell.row, cell.qualifier)) << what;
  }
}

class DamageTest : public ::testing::TestWithParam<BloomType> {};

INSTANTIATE_TEST_SUITE_P(All, DamageTest,
                         ::testing::Values(BloomType::kRow, BloomType::kRowCol,
                                           BloomType::kRowPrefixFixedLength),
                         [](const auto& param) {
                           return std::string(BloomTypeName(param.param));
                         });

TEST_P(DamageTest, EveryByteFlippedIsFoundAndLosesNothing) {
  const Subject subject = SmallBlock(GetParam());
  for (size_t i = 0; i < subject.block.size(); ++i) {
    std::string damaged = subject.block;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    ExpectDamageIsFoundAndHarmless(damaged, subject.cells,
                                   "byte " + std::to_string(i) + ": ");
  }
}

TEST_P(DamageTest, EveryTruncationIsFound) {
  const Subject subject = SmallBlock(GetParam());
  for (size_t size = 0; size < subject.block.size(); ++size) {
    ExpectDamageIsFoundAndHarmless(subject.block.substr(0, size), {},
                                   "cut to " + std::to_string(size) + ": ");
    ExpectDamageIsFoundAndHarmless(
        subject.block.substr(subject.block.size() - size), {},
        "last " + std::to_string(size) + ": ");
  }
}

TEST_P(DamageTest, SeveralBytesOverwrittenAreFoundAndLoseNothing) {
  const Subject subject = SmallBlock(GetParam());
  Random random(62);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = subject.block;
    const uint64_t count = 1 + random.Below(20);
    for (uint64_t i = 0; i < count; ++i) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random());
    }
    if (damaged == subject.block) continue;
    ExpectDamageIsFoundAndHarmless(damaged, subject.cells, "overwritten: ");
  }
}

TEST(Damage, RandomGarbageIsRefused) {
  Random random(63);
  for (int round = 0; round < 20000; ++round) {
    std::string garbage(random.Below(300), '\0');
    for (char& c : garbage) c = static_cast<char>(random());
    if (random.Below(2) == 0 && garbage.size() >= 8) {
      garbage.replace(garbage.size() - 8, 8, "rowbloom");
    }
    ExpectDamageIsFoundAndHarmless(garbage, {}, "garbage: ");
  }
}

// The footer's checksum is right again: only the parser's own checks stand
// between a hostile length and memory.
TEST(Damage, LengthsThatLieUnderRightChecksumsDoNoHarm) {
  const Subject subject = SmallBlock(BloomType::kRowCol);
  Random random(64);
  for (int round = 0; round < 50000; ++round) {
    std::string damaged = subject.block;
    testing::DamageAndReseal(&random, &damaged);
    const auto source = NewMemorySource(damaged, "hostile.sst");
    const auto reader = FilterReader::Open(source.get(), {}, {});
    if (!reader.ok()) continue;
    (void)(*reader)->Verify();
    for (size_t i = 0; i < 10; ++i) {
      (*reader)->MayContain(subject.cells[i].row, subject.cells[i].qualifier);
    }
  }
}

// Lookups answer "no" beyond the last key, so it must not be before a chunk.
TEST(Damage, ALastKeyBeforeTheLastChunkIsDamage) {
  const std::string last = "\xff\xff\xff\xff the last row";
  Subject subject = SmallBlock(BloomType::kRow);
  subject.cells.push_back({last, ""});
  std::string block = testing::WriteBlock(
      testing::BlockOptions("blocked_bloom", 24, 256), subject.cells);
  const size_t at = block.rfind(last);  // In the properties.
  ASSERT_NE(at, std::string::npos);
  for (size_t i = 0; i < 4; ++i) block[at + i] = '\0';
  testing::Reseal(&block);
  const auto source = NewMemorySource(block, "resealed.sst");
  const absl::Status status = FilterReader::Open(source.get(), {}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.ToString().find("the last key is before the last chunk"),
            std::string::npos)
      << status;
}

absl::Status StatusOfOpen(const std::string& block) {
  const auto source = NewMemorySource(block, "resealed.sst");
  return FilterReader::Open(source.get(), {}, {}).status();
}

// docs/filter_block_format.md, "Properties": the first is the bloom type, of
// three bytes; the second's number is at offset 3.
TEST(Damage, APropertyOutOfOrderIsNamedWithItsOffset) {
  std::string block = SmallBlock(BloomType::kRow).block;
  const auto footer = block.size() - block::Footer::kSize;
  const auto properties =
      footer - util::LoadFixed<uint64_t>(block.data() + footer +
                                         block::Footer::kPropertiesSize);
  const auto error = [&](std::string_view what) {
    return absl::DataLossError(absl::StrCat("resealed.sst: offset ",
                                            properties + 3, ": property ",
                                            std::string(what)));
  };
  ASSERT_EQ(block[properties + 3], 2);
  block[properties + 3] = 1;
  testing::Reseal(&block);
  EXPECT_EQ(StatusOfOpen(block), error("1 follows 1"));
  block[properties] = 100;  // A number that is not known.
  block[properties + 3] = 2;
  testing::Reseal(&block);
  EXPECT_EQ(StatusOfOpen(block), error("2 follows 100"));
}

// A block of one row whose property last_key has `last_key` as its bytes.
absl::Status StatusOfLastKey(std::string_view last_key) {
  std::string block = testing::WriteBlock(
      testing::BlockOptions("blocked_bloom", 10, 256), {{"bbbb", ""}});
  const std::string key(
      "\x01\x04"
      "bbbb");
  EXPECT_EQ(last_key.size(), key.size());
  block.replace(block.rfind(key), key.size(), last_key);
  testing::Reseal(&block);
  return StatusOfOpen(block);
}

TEST(Damage, ALastKeyFitsTheBloomTypeAndIsNotBeforeTheFirst) {
  const auto before = ::testing::HasSubstr("last key is before the last chunk");
  const auto unfit = ::testing::HasSubstr("last key does not fit");
  const auto message = [](std::string_view last_key) {
    return std::string(StatusOfLastKey(last_key).message());
  };
  EXPECT_EQ(StatusOfLastKey("\x01\x04"
                            "bbbb"),
            absl::OkStatus());
  EXPECT_EQ(StatusOfLastKey("\x01\x04"
                            "bbbc"),
            absl::OkStatus());
  EXPECT_THAT(message("\x01\x04"
                      "bbba"),
              before);
  EXPECT_THAT(message("\x01\x04"
                      "abbb"),
              before);
  EXPECT_THAT(message("\x02\x02"
                      "cc\x01q"),
              unfit);
}

// Lookups answer "no" beyond the last key, and that of no property is empty.
TEST(Damage, ChunksWithoutALastKeyAreDamage) {
  std::string block = testing::WriteBlock(
      testing::BlockOptions("blocked_bloom", 10, 256), {{"", ""}});
  // Field 9, of a key of kind 1 and no bytes, becomes one that readers skip.
  const size_t at = block.rfind(std::string("\x09\x02\x01\x00", 4));
  ASSERT_NE(at, std::string::npos);
  block[at] = 0x7f;
  testing::Reseal(&block);
  const auto source = NewMemorySource(block, "resealed.sst");
  const absl::Status status = FilterReader::Open(source.get(), {}, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.ToString().find("contradict each other"), std::string::npos)
      << status;
}

TEST(Damage, AnErrorInTheChunkIndexNamesTheOffsetOfItsEntry) {
  std::string block = SmallBlock(BloomType::kRow).block;
  const size_t footer = block.size() - block::Footer::kSize;
  const auto u64 = [&](size_t field) {
    return util::LoadFixed<uint64_t>(block.data() + footer + field);
  };
  const uint64_t index = u64(block::Footer::kIndexOffset);
  const uint64_t end = index + u64(block::Footer::kIndexSize);
  // The first entry with a kind that does not exist.
  std::string unknown_kind = block;
  unknown_kind[index] = 9;
  testing::Reseal(&unknown_kind);
  // One more than all keys of the chunks.
  std::string more_keys = block;
  const size_t key_count = block.find(std::string("\x05\x02", 2), end);
  ASSERT_NE(key_count, std::string::npos);
  more_keys[key_count + 2] ^= 1;
  testing::Reseal(&more_keys);
  const auto message = [](const std::string& bytes) {
    const auto source = NewMemorySource(bytes, "resealed.sst");
    return FilterReader::Open(source.get(), {}, {}).status().ToString();
  };
  EXPECT_EQ(message(unknown_kind),
            absl::StrCat("DATA_LOSS: resealed.sst: offset ", index,
                         ": malformed key in the chunk index"));
  EXPECT_EQ(message(more_keys).find(absl::StrCat(
                "DATA_LOSS: resealed.sst: offset ", end, ": the index has ")),
            0u)
      << message(more_keys);
}

// The index holds the filter of a tiny block.
TEST(Damage, AFilterThatItsFamilyRefusesIsCounted) {
  for (const uint64_t rows : {20, 2000}) {
    std::string block =
        testing::WriteBlock(testing::BlockOptions("blocked_bloom", 10, 4096),
                            testing::EvenRows(rows));
    FilterDescriptor descriptor =
        testing::OpenOrDie(NewMemorySource(block).get(), {})
            ->Chunks()[0]
            .descriptor;
    std::string before, after;
    descriptor.AppendTo(&before);
    descriptor.parameters |= 1 << 13;  // A bit that has no meaning.
    descriptor.AppendTo(&after);
    ASSERT_EQ(before.size(), after.size());
    const size_t at = block.rfind(before);
    ASSERT_NE(at, std::string::npos);
    block.replace(at, after.size(), after);
    testing::Reseal(&block);
    const auto source = NewMemorySource(block, "resealed.sst");
    const auto reader = testing::OpenOrDie(source.get(), {});
    EXPECT_FALSE(reader->Verify().ok());
    for (uint64_t i = 0; i < 1000; ++i) {
      EXPECT_TRUE(reader->MayContain(testing::NumberedRow(2 * (i % 19) + 1)));
    }
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 1000u) << rows;
    EXPECT_GT(reader->stats()[FilterCounter::kLoadErrors], 0u) << rows;
  }
}

// A block of two chunks, of which the first has this descriptor and no bytes.
std::string WithEmptyFirstChunk(const FilterDescriptor& empty) {
  std::string block =
      testing::WriteBlock(testing::BlockOptions("blocked_bloom", 10, 4096),
                          testing::EvenRows(6000));
  const FilterDescriptor descriptor =
      testing::OpenOrDie(NewMemorySource(block).get(), {})
          ->Chunks()[0]
          .descriptor;
  FilterDescriptor replaced = empty;
  replaced.key_count = descriptor.key_count;
  std::string before, after;
  descriptor.AppendTo(&before);
  replaced.AppendTo(&after);
  const auto field = [&](size_t at) {
    return block.data() + block.size() - block::Footer::kSize + at;
  };
  const auto add_to = [&](size_t at, uint64_t change) {
    util::StoreFixed<uint64_t>(util::LoadFixed<uint64_t>(field(at)) + change,
                               field(at));
  };
  const size_t at = block.find(
      before, util::LoadFixed<uint64_t>(field(block::Footer::kIndexOffset)));
  EXPECT_NE(at, std::string::npos);
  const uint64_t cut = descriptor.total_size_bytes();
  const uint64_t longer = after.size() - before.size();
  add_to(block::Footer::kBlockSize, longer - cut);
  add_to(block::Footer::kIndexOffset, -cut);
  add_to(block::Footer::kIndexSize, longer);
  block.replace(at, before.size(), after);
  block.erase(0, cut);
  testing::Reseal(&block);
  return block;
}

// There are no bytes to load: such a load would have the place of the next
// chunk's.
TEST(Damage, AFilterWithoutBytesThatItsFamilyRefusesIsNotLoaded) {
  FilterDescriptor refused;
  refused.family_code =
      filter::FindFamily(std::string_view("always_maybe"))->code;
  refused.parameters = 1;
  const std::string block = WithEmptyFirstChunk(refused);
  const auto source = NewMemorySource(block, "resealed.sst");
  for (const FilterLoading loading :
       {FilterLoading::kAlways, FilterLoading::kWhenItPays}) {
    FilterReaderOptions options;
    options.loading = loading;
    const auto reader = testing::OpenOrDie(source.get(), options);
    EXPECT_FALSE(reader->Verify().ok());
    const std::string row = testing::NumberedRow(0);
    const FilterKey key = FilterKey::Row(row);
    for (int i = 0; i < 200; ++i) {
      FilterLoad load;
      EXPECT_EQ(reader->Ask(key, &load), FilterAnswer::kMaybe);
      EXPECT_TRUE(reader->MayContain(key));
    }
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 400u);
    EXPECT_GT(reader->stats()[FilterCounter::kLoadErrors], 0u);
    // Two lookups whose reads would begin at one place.
    const auto fresh = testing::OpenOrDie(source.get(), options);
    const std::string next_row(fresh->Chunks()[1].first_row);
    const FilterKey next = FilterKey::Row(next_row);
    FilterLoads loads;
    bool may_contain[2] = {};
    std::vector<FilterRead> reads;
    for (const auto& [asked, answer] : {std::pair(&key, &may_contain[0]),
                                        std::pair(&next, &may_contain[1])}) {
      const FilterQuestion question = {fresh.get(), asked};
      loads.Ask(
          {&question, 1}, answer, [] {}, &reads);
    }
    for (const FilterRead& read : reads) {
      loads.Offer(read, std::string_view(block).substr(
                            static_cast<size_t>(read.offset),
                            static_cast<size_t>(read.size_bytes)));
    }
    EXPECT_TRUE(may_contain[0]);
    EXPECT_TRUE(may_contain[1]);
  }
}

TEST(Damage, AChunkOfUnitsWithoutBytesIsDamage) {
  FilterDescriptor empty;
  empty.family_code =
      filter::FindFamily(std::string_view("blocked_bloom"))->code;
  empty.unit_count = 1;
  empty.unit_checksum[0] = util::Checksum32("");
  const std::string block = WithEmptyFirstChunk(empty);
  const auto source = NewMemorySource(block, "resealed.sst");
  const absl::Status status = FilterReader::Open(source.get(), {}, {}).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("a chunk of units without bytes"),
            absl::string_view::npos)
      << status;
}

TEST(Damage, FooterBytesOfALaterVersionAreUnimplementedOrDamage) {
  const std::string block = SmallBlock(BloomType::kRow).block;
  const struct {
    size_t offset;
    uint8_t value;
    absl::StatusCode code;
  } cases[] = {
      {block::Footer::kFormatVersion, 2, absl::StatusCode::kUnimplemented},
      {block::Footer::kIncompatibleFlags, 4, absl::StatusCode::kUnimplemented},
      // Prefixes without rows, in a block without a key codec.
      {block::Footer::kIncompatibleFlags, 2, absl::StatusCode::kDataLoss},
      {block::Footer::kReserved, 1, absl::StatusCode::kDataLoss}};
  for (const auto& c : cases) {
    std::string newer = block;
    testing::SetFooterByteAndReseal(c.offset, c.value, &newer);
    const auto source = NewMemorySource(newer);
    EXPECT_EQ(FilterReader::Open(source.get(), {}, {}).status().code(), c.code);
  }
}

// The footer of a block without chunks, right but for the sizes that it names.
std::string FooterOf(uint64_t index_size, uint64_t properties_size) {
  using block::Footer;
  std::string footer(Footer::kSize, '\0');
  const auto set = [&footer](size_t at, uint64_t value) {
    util::StoreFixed<uint64_t>(value, &footer[at]);
  };
  set(Footer::kBlockSize, index_size + properties_size + Footer::kSize);
  set(Footer::kIndexSize, index_size);
  set(Footer::kPropertiesSize, properties_size);
  footer[Footer::kFormatVersion] = 1;
  set(Footer::kMagic, block::kFooterMagic);
  testing::Reseal(&footer);
  return footer;
}

// Index and properties are refused before memory for them is taken.
TEST(Damage, TheFooterAloneTellsAnIndexOrPropertiesBeyondTheLimit) {
  constexpr uint64_t kLimit = uint64_t{1} << 30;
  const auto parse = [](uint64_t index_size, uint64_t properties_size) {
    const std::string footer = FooterOf(index_size, properties_size);
    const block::BlockPlace place = {
        "large.sst", 0, index_size + properties_size + footer.size()};
    return block::ParseFooter(place, footer).status();
  };
  EXPECT_TRUE(parse(kLimit, kLimit).ok());
  EXPECT_EQ(parse(kLimit + 1, 100).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(parse(100, kLimit + 1).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(
      parse(kLimit + 1, 100).ToString(),
      ::testing::HasSubstr("large.sst: offset 1073741941: a chunk index of "
                           "1073741825 bytes and properties of 100: this "
                           "library reads up to 1073741824 of each"));
}

}  // namespace
}  // namespace rowbloom
