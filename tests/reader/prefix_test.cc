// SPDX-License-Identifier: Apache-2.0
//
// Lookups of prefixes of rows, at the levels of a key codec.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "reader/test_block.h"
#include "rowbloom/false_positive_memo.h"
#include "rowbloom/key_codec.h"
#include "testing/fpr.h"
#include "testing/key_codecs.h"
#include "testing/reseal.h"

namespace rowbloom {
namespace {

using testing::BlockOptions;
using testing::Cell;
using ::testing::HasSubstr;
using testing::NumberedRow;
using testing::OpenOrDie;
using testing::Random;
using testing::TestFile;

KeyCodec Codec(std::string_view text) { return *KeyCodec::Parse(text); }

FilterOptions Options(BloomType type, std::string_view codec,
                      uint32_t chunk_size_bytes = 256) {
  FilterOptions options =
      BlockOptions("blocked_bloom", 10, chunk_size_bytes, type);
  options.key_codec = Codec(codec);
  return options;
}

bool HasPrefix(const FilterReader& reader, std::string_view prefix) {
  return reader.MayContain(FilterKey::Prefix(prefix));
}

// 20 tenants of 30 users of 5 rows: even numbers, so that odd ones are absent.
constexpr char kLog[] = "tenant.delimiter:/,user.delimiter:/,row.rest";
std::string Name(const char* kind, uint64_t i) {
  return kind + NumberedRow(i) + "/";
}
std::vector<Cell> Log() {
  std::vector<Cell> cells;
  for (uint64_t t = 0; t < 20; ++t) {
    for (uint64_t u = 0; u < 30; ++u) {
      for (uint64_t r = 0; r < 5; ++r) {
        const std::string row =
            Name("t", 2 * t) + Name("u", 2 * u) + NumberedRow(2 * r);
        cells.push_back({row, "a"});
        cells.push_back({row, "b"});
      }
    }
  }
  return cells;
}

// A filter key: a row or prefix, or a cell.
using Model = std::set<std::tuple<std::string, bool, std::string>>;

TEST(Prefix, NoPrefixOfAnyRowIsEverLost) {
  Random random(91);
  for (int round = 0; round < 200; ++round) {
    const KeyCodec codec = testing::AnyCodec(&random);
    FilterOptions options = BlockOptions("blocked_bloom", 10, 256);
    options.bloom_type =
        random.Below(2) == 0 ? BloomType::kRow : BloomType::kRowCol;
    options.rowcol_adds_rows = random.Below(2) == 0;
    options.key_codec = codec;
    std::vector<Cell> cells;
    for (int i = 0; i < 300; ++i) {
      std::string row = random.Bytes(12);  // Any bytes.
      if (random.Below(8) != 0) {
        row.clear();
        const auto segments = testing::AnySegments(codec, 3, &random);
        ASSERT_TRUE(
            codec
                .Encode(
                    testing::Views(segments, random.Below(segments.size() + 1)),
                    &row)
                .ok());
      }
      cells.push_back({row, random.Bytes(2)});
    }
    std::sort(cells.begin(), cells.end());
    const TestFile file(options, cells);
    FilterReaderOptions always;
    always.loading = FilterLoading::kAlways;
    const auto reader = OpenOrDie(file.memory.get(), always);
    ASSERT_NE(reader, nullptr);
    EXPECT_TRUE(reader->Verify().ok());
    std::vector<FilterKey> keys;
    for (const Cell& cell : cells) {
      ASSERT_TRUE(reader->MayContain(cell.row));
      ASSERT_TRUE(reader->MayContain(cell.row, cell.qualifier));
      // Any bytes may be asked, whether or not a segment ends with them.
      for (size_t size = 0; size <= cell.row.size(); ++size) {
        keys.push_back(
            FilterKey::Prefix(std::string_view(cell.row).substr(0, size)));
        ASSERT_TRUE(reader->MayContain(keys.back())) << codec.ToString();
      }
    }
    ASSERT_THAT(testing::Ask(*reader, keys), ::testing::Each(true));
  }
}

TEST(Prefix, EachLevelOfARunOfRowsIsOneKey) {
  Random random(92);
  for (int round = 0; round < 200; ++round) {
    const KeyCodec codec = testing::AnyCodec(&random);
    FilterOptions options = BlockOptions("always_maybe", 10, 256);
    options.bloom_type =
        random.Below(2) == 0 ? BloomType::kRow : BloomType::kRowCol;
    const bool has_columns = options.bloom_type == BloomType::kRowCol;
    options.rowcol_adds_rows = random.Below(2) == 0;
    options.key_codec = codec;
    std::vector<Cell> cells;
    Model model;
    for (int i = 0; i < 200; ++i) {
      const auto segments = testing::AnySegments(codec, 2, &random);
      Cell& cell = cells.emplace_back();
      ASSERT_TRUE(codec.Encode(testing::Views(segments), &cell.row).ok());
      cell.qualifier = random.Bytes(1);
      if (!has_columns || options.rowcol_adds_rows) {
        model.insert({cell.row, false, ""});
      }
      if (has_columns) model.insert({cell.row, true, cell.qualifier});
      for (size_t level = 1; level <= codec.key_level_count(); ++level) {
        const size_t count = codec.SegmentsOfKeyLevel(level);
        if (codec.segment(count - 1).kind == KeyCodec::Kind::kRest) continue;
        std::string prefix;
        ASSERT_TRUE(
            codec.Encode(testing::Views(segments, count), &prefix).ok());
        model.insert({prefix, false, ""});
      }
    }
    std::sort(cells.begin(), cells.end());
    std::string block;
    EXPECT_EQ(testing::AppendBlock(options, cells, &block).key_count,
              model.size())
        << codec.ToString();
  }
}

TEST(Prefix, AbsentOnesAreDeniedAtEachLevel) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const bool adds_rows : {true, false}) {
      FilterOptions options = Options(type, kLog);
      options.rowcol_adds_rows = adds_rows;
      TestFile file(options, Log());
      const auto reader = file.Open();
      EXPECT_EQ(reader->properties().key_codec,
                "tenant.delimiter:0x2f,user.delimiter:0x2f,row.rest");
      EXPECT_GT(reader->properties().chunk_count, 15u);
      // A tenant spans chunks; its one key is in the first of them.
      uint64_t asked = 0, tenants = 0, users = 0;
      for (uint64_t t = 0; t < 20; ++t) {
        EXPECT_TRUE(HasPrefix(*reader, Name("t", 2 * t)));
        tenants += HasPrefix(*reader, Name("t", 2 * t + 1));
        for (uint64_t u = 0; u < 30; ++u, ++asked) {
          const std::string user = Name("t", 2 * t) + Name("u", 2 * u + 1);
          users += HasPrefix(*reader, user);
          // Longer bytes get the answer for the user in them.
          EXPECT_EQ(HasPrefix(*reader, user + "r"), HasPrefix(*reader, user));
          EXPECT_TRUE(HasPrefix(*reader, Name("t", 2 * t) + "a"));
        }
      }
      EXPECT_LE(tenants, 3u);
      EXPECT_TRUE(testing::WithinBinomialBound(
          users, asked, options.filter_spec.expected_fpr(), 0.5));
      EXPECT_TRUE(HasPrefix(*reader, "t"));  // Holds no whole segment.
      EXPECT_TRUE(HasPrefix(*reader, ""));
      EXPECT_FALSE(HasPrefix(*reader, "a/"));  // Before the first key.
      EXPECT_FALSE(HasPrefix(*reader, "z/"));  // Behind the last one.
    }
  }
}

TEST(Prefix, LookupsOfRowsAndCellsFilterAsWithoutAKeyCodec) {
  TestFile file(Options(BloomType::kRowCol, kLog, 4096), Log());
  const auto reader = file.Open();
  uint64_t asked = 0, rows = 0, cells = 0;
  for (const Cell& cell : Log()) {
    ++asked;
    rows += reader->MayContain(cell.row + "x");
    cells += reader->MayContain(cell.row, cell.qualifier + "x");
  }
  const double fpr = FilterSpec::BitsPerKey("blocked_bloom", 10).expected_fpr();
  EXPECT_TRUE(testing::WithinBinomialBound(rows, asked, fpr, 0.5));
  EXPECT_TRUE(testing::WithinBinomialBound(cells, asked, fpr, 0.5));
}

TEST(Prefix, ALevelThatTheKeyCodecSkipsIsMaybe) {
  TestFile file(
      Options(BloomType::kRow, "-tenant.delimiter:/,user.delimiter:/,row.rest"),
      Log());
  const auto reader = file.Open();
  EXPECT_TRUE(HasPrefix(*reader, Name("t", 1)));
  uint64_t users = 0;
  for (uint64_t u = 0; u < 30; ++u) {
    users += HasPrefix(*reader, Name("t", 2) + Name("u", 2 * u + 1));
  }
  EXPECT_LT(users, 6u);
}

TEST(Prefix, ABlockWithoutAKeyCodecSaysMaybeAndCounts) {
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol}) {
    TestFile file(BlockOptions("blocked_bloom", 10, 256, type), Log());
    const auto reader = file.Open();
    EXPECT_EQ(reader->properties().key_codec, "");
    EXPECT_TRUE(HasPrefix(*reader, Name("t", 1)));
    EXPECT_TRUE(HasPrefix(*reader, Name("t", 1) + Name("u", 1)));
    EXPECT_EQ(reader->stats()[FilterCounter::kPrefixLookups], 2u);
    EXPECT_EQ(reader->stats()[FilterCounter::kPrefixNegatives], 0u);
  }
}

TEST(Prefix, ABlockOfRowPrefixesAnswersForThoseOfItsLengthOrMore) {
  FilterOptions options =
      BlockOptions("blocked_bloom", 10, 256, BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 10;  // A tenant without its '/'.
  TestFile file(options, Log());
  const auto reader = file.Open();
  uint64_t absent = 0;
  for (uint64_t t = 0; t < 20; ++t) {
    EXPECT_TRUE(HasPrefix(*reader, Name("t", 2 * t)));
    EXPECT_TRUE(HasPrefix(*reader, Name("t", 2 * t) + "u"));
    EXPECT_TRUE(HasPrefix(*reader, Name("t", 2 * t + 1).substr(0, 9)));
    absent += HasPrefix(*reader, Name("t", 2 * t + 1));
  }
  EXPECT_LE(absent, 3u);
  const FilterStatsSnapshot stats = reader->stats();
  EXPECT_EQ(stats[FilterCounter::kPrefixLookups], 80u);  // 20 are too short.
  EXPECT_EQ(stats.prefix_levels[0].lookups, 60u);
  EXPECT_EQ(stats.prefix_levels[0].negatives, 20u - absent);
}

TEST(Prefix, AskOffersTheChunkOfAPrefix) {
  TestFile file(Options(BloomType::kRow, kLog), Log());
  FilterReaderOptions options;
  options.loading = FilterLoading::kAlways;
  const auto reader = file.Open(options);
  const std::string user = Name("t", 4) + Name("u", 7);
  const FilterKey key = FilterKey::Prefix(user);
  FilterLoad load;
  ASSERT_EQ(reader->Ask(key, &load), FilterAnswer::kNotInMemory);
  EXPECT_EQ(static_cast<int64_t>(load.chunk), reader->ChunkOf(key));
  EXPECT_EQ(reader->Offer(load, file.BytesOf(load), key), FilterAnswer::kNo);
  EXPECT_EQ(reader->Ask(key, &load), FilterAnswer::kNo);
  // The index could say "no" to it as a row, but not as a prefix.
  EXPECT_EQ(reader->ChunkOf(FilterKey::Prefix("t")), -1);
  EXPECT_EQ(reader->Ask(FilterKey::Prefix("t"), &load), FilterAnswer::kMaybe);
}

// "negatives/lookups" of each level, up to the last one that was asked.
std::string PrefixLevels(const FilterStatsSnapshot& stats) {
  std::string text, skipped;
  for (const auto& level : stats.prefix_levels) {
    skipped += std::to_string(level.negatives) + "/" +
               std::to_string(level.lookups) + " ";
    if (level.lookups == 0) continue;
    text += skipped;
    skipped.clear();
  }
  return text;
}

TEST(Prefix, LookupsAreCountedOnceEach) {
  TestFile file(Options(BloomType::kRow, kLog), Log());
  FilterReaderOptions options;
  options.loading = FilterLoading::kAlways;
  const auto reader = file.Open(options);
  const std::string user = Name("t", 4) + Name("u", 7);
  const FilterKey absent = FilterKey::Prefix(user);
  const FilterKey before = FilterKey::Prefix("a/");
  const FilterKey none = FilterKey::Prefix("t");
  const FilterKey row = FilterKey::Row("a/");
  EXPECT_FALSE(reader->MayContain(absent));  // Loads the chunk.
  EXPECT_FALSE(reader->MayContain(absent));
  EXPECT_FALSE(reader->MayContain(before));
  EXPECT_TRUE(reader->MayContain(none));
  EXPECT_FALSE(reader->MayContain(row));
  FilterStatsSnapshot stats = reader->stats();
  EXPECT_EQ(stats[FilterCounter::kLookups], 5u);
  EXPECT_EQ(stats[FilterCounter::kNegatives], 4u);
  EXPECT_EQ(stats[FilterCounter::kPrefixLookups], 4u);
  EXPECT_EQ(stats[FilterCounter::kPrefixNegatives], 3u);
  // `none` holds no whole level.
  EXPECT_EQ(PrefixLevels(stats), "1/1 2/2 ");
  // A batch counts as its questions do alone.
  const auto other = file.Open(options);
  std::vector<FilterQuestion> questions;
  for (const FilterKey* key : {&absent, &absent, &before, &none, &row}) {
    questions.push_back({other.get(), key});
  }
  std::array<bool, 5> answers;
  FilterReader::MayContain(questions, answers.data());
  stats = other->stats();
  EXPECT_EQ(stats[FilterCounter::kLookups], 5u);
  EXPECT_EQ(stats[FilterCounter::kPrefixLookups], 4u);
  EXPECT_EQ(stats[FilterCounter::kPrefixNegatives], 3u);
  EXPECT_EQ(PrefixLevels(stats), "1/1 2/2 ");
}

// The tenant, then the user of number `i`; their names may have zero bytes.
std::vector<std::string> Owners(uint64_t i) {
  return {"t" + std::string(i % 7 % 3, '\0') + NumberedRow(i),
          NumberedRow(i) + std::string(i % 4 / 2, '\0')};
}

TEST(Prefix, EncodedPrefixesOfEveryKindOfSegmentAreDenied) {
  for (const char* text :
       {"tenant.ordered,user.ordered,row.rest",
        "tenant.ordered,user.length:1,row.rest",
        "tenant.length:4,user.ordered,row.ordered", "ordered"}) {
    SCOPED_TRACE(text);
    const KeyCodec codec = Codec(text);
    const auto prefix_of = [&](uint64_t i, size_t segment_count) {
      const std::vector<std::string> owners = Owners(i);
      std::string prefix;
      const std::vector<std::string_view> views(owners.begin(),
                                                owners.begin() + segment_count);
      EXPECT_TRUE(codec.EncodePrefix(views, &prefix).ok());
      return prefix;
    };
    constexpr uint64_t kTenants = 2000;
    std::set<std::string> rows;
    for (uint64_t i = 0; i < kTenants; ++i) {
      const std::vector<std::string> owners = Owners(2 * i);
      std::string row;
      std::vector<std::string_view> segments = {owners[0], owners[1]};
      if (codec.segment_count() == 3) segments.push_back("row");
      ASSERT_TRUE(codec.Encode(segments, &row).ok());
      rows.insert(row);
    }
    std::vector<Cell> cells;
    for (const std::string& row : rows) cells.push_back({row, "q"});
    TestFile file(Options(BloomType::kRow, text, 1 << 20), cells);
    FilterReaderOptions options;
    options.loading = FilterLoading::kAlways;
    const auto reader = file.Open(options);
    for (size_t count = 1; count <= 2; ++count) {
      uint64_t positives = 0;
      for (uint64_t i = 0; i < kTenants; ++i) {
        EXPECT_TRUE(HasPrefix(*reader, prefix_of(2 * i, count))) << i;
        positives += HasPrefix(*reader, prefix_of(2 * i + 1, count));
      }
      EXPECT_TRUE(testing::WithinBinomialBound(
          positives, kTenants,
          FilterSpec::BitsPerKey("blocked_bloom", 10).expected_fpr(), 0.5));
    }
  }
}

TEST(Prefix, DamagedChunksSayMaybe) {
  TestFile file(Options(BloomType::kRow, kLog, 1 << 20), Log());
  const auto reader = file.Open();
  file.source.FlipBit(100, 3);
  EXPECT_TRUE(HasPrefix(*reader, Name("t", 1)));
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], 1u);
}

absl::Status OpenChanged(std::string block, std::string_view from,
                         std::string_view to) {
  block.replace(block.find(from), from.size(), to);
  testing::Reseal(&block);
  const auto source = NewMemorySource(block, "f.sst");
  return FilterReader::Open(source.get(), {}, {}).status();
}

TEST(Prefix, ANewerKeyCodecIsUnimplementedAndAWrongOneDamage) {
  const std::string block =
      testing::WriteBlock(Options(BloomType::kRow, "fixed:2"), Log());
  EXPECT_TRUE(OpenChanged(block, "fixed:2", "fixed:3").ok());
  const absl::Status newer = OpenChanged(block, "fixed:2", "later:2");
  EXPECT_TRUE(absl::IsUnimplemented(newer)) << newer;
  EXPECT_THAT(newer.message(), HasSubstr("later:2"));
  // ROWPREFIX_FIXED_LENGTH of 5 bytes.
  const absl::Status wrong =
      OpenChanged(block, std::string("\1\1\2\2\1\0", 6), "\1\1\4\2\1\5");
  EXPECT_TRUE(absl::IsDataLoss(wrong)) << wrong;
  EXPECT_THAT(wrong.message(), HasSubstr("key codec"));
}

// Either all readers of a file accept the text, or none does.
TEST(Prefix, AKeyCodecHasOneTextInABlock) {
  const std::string block =
      testing::WriteBlock(Options(BloomType::kRow, "fixed:12,-rest"), Log());
  EXPECT_TRUE(OpenChanged(block, "fixed:12,-rest", "fixed:34,-rest").ok());
  for (const char* text : {"fixed:123,rest", "fixed:01,-rest", "fixed: 1,-rest",
                           "1.fixed:1,rest", "ordered,2.rest"}) {
    const absl::Status status = OpenChanged(block, "fixed:12,-rest", text);
    EXPECT_TRUE(absl::IsUnimplemented(status)) << text << status;
    EXPECT_THAT(status.ToString(),
                HasSubstr(KeyCodec::Parse(text).ok() ? "is written as" : text));
  }
}

TEST(Prefix, OlderReadersRefuseABlockWithPrefixesWithoutRows) {
  FilterOptions options = Options(BloomType::kRowCol, kLog);
  const auto flags = [&] {
    const std::string block = testing::WriteBlock(options, Log());
    return static_cast<int>(block[block.size() - 56 + 41]);
  };
  EXPECT_EQ(flags(), 0);
  options.rowcol_adds_rows = false;
  EXPECT_EQ(flags(), 2);
  std::string block = testing::WriteBlock(options, Log());
  block[block.size() - 56 + 41] = 0;
  testing::Reseal(&block);
  const auto source = NewMemorySource(block, "f.sst");
  EXPECT_TRUE(
      absl::IsDataLoss(FilterReader::Open(source.get(), {}, {}).status()));
}

TEST(Prefix, ARememberedRowDoesNotDenyThePrefix) {
  FalsePositiveMemo memo(1 << 20);
  memo.Remember(1, FilterKey::Row("acme/"));
  EXPECT_TRUE(memo.Denies(1, FilterKey::Row("acme/")));
  EXPECT_FALSE(memo.Denies(1, FilterKey::Prefix("acme/")));
}

TEST(Prefix, OptionsThatContradictEachOtherAreInvalid) {
  FilterOptions options =
      BlockOptions("blocked_bloom", 10, 4096, BloomType::kRowPrefixFixedLength);
  options.key_codec = Codec(kLog);
  EXPECT_TRUE(absl::IsInvalidArgument(ValidateFilterOptions(options)));
}

TEST(PrefixDeathTest, IsNoCell) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  FilterBlockWriter writer(Options(BloomType::kRow, kLog), sink.get());
  EXPECT_DEATH(writer.Add(FilterKey::Prefix("t")), "add whole rows");
}

}  // namespace
}  // namespace rowbloom
