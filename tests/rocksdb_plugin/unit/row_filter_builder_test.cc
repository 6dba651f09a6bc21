// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_builder.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "policy/row_filter_reader.h"
#include "testing/soak.h"

namespace rowbloom::plugin {
namespace {

using rdb::Slice;
using std::string_view_literals::operator""sv;

Slice ToSlice(std::string_view bytes) {
  return Slice(bytes.data(), bytes.size());
}

struct Finished {
  std::unique_ptr<const char[]> bytes;
  Slice filter;

  bool MayMatch(std::string_view entry) const {
    return RowFilterReader(filter).MayMatch(ToSlice(entry));
  }
  RocksDbFilterInfo Info() const {
    return *ParseRocksDbFilter({filter.data(), filter.size()});
  }
};

Finished Finish(RowFilterBuilder* builder) {
  Finished finished;
  finished.filter = builder->Finish(&finished.bytes);
  return finished;
}

RocksDbOptions OptionsFor(BloomType type,
                          KeyCodec codec = KeyCodec::Ordered()) {
  RocksDbOptions options;
  options.bloom_type = type;
  options.key_codec = codec;
  return options;
}

// All families but the one without bytes, with few and with many units.
std::vector<RocksDbOptions> OptionsOfEachFamily() {
  std::vector<RocksDbOptions> all;
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    for (const double bits_per_key : {10.0, FilterSpec::kMaxBitsPerKey}) {
      all.push_back(OptionsFor(BloomType::kRow));
      all.back().filter_spec = FilterSpec::BitsPerKey(family, bits_per_key);
    }
  }
  return all;
}

std::string Key(const KeyCodec& codec, std::string_view row,
                std::string_view qualifier, std::string_view suffix = "") {
  std::string key;
  EXPECT_TRUE(codec.Encode(row, qualifier, &key).ok());
  return key.append(suffix);
}

TEST(RowFilterBuilder, FilterOfNothingIsNotAnEmptySliceAndAnswersMaybe) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol), true);
  const Finished finished = Finish(&builder);
  EXPECT_FALSE(finished.filter.empty());
  EXPECT_TRUE(builder.MaybePostVerify(finished.filter).ok());
  EXPECT_TRUE(finished.MayMatch("anything"));
}

TEST(RowFilterBuilder, CountIsZeroUntilSomethingIsAddedAndAfterFinish) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol), false);
  EXPECT_EQ(builder.EstimateEntriesAdded(), 0);
  builder.AddKey(ToSlice("r\0\1q\0\1"sv));
  EXPECT_EQ(builder.EstimateEntriesAdded(), 2);
  Finish(&builder);
  EXPECT_EQ(builder.EstimateEntriesAdded(), 0);
  builder.AddKey("");
  EXPECT_GT(builder.EstimateEntriesAdded(), 0);
}

// With three key levels, the builder keeps the last entry.
TEST(RowFilterBuilder, AnEmptyKeyIsAddedThoughItIsTheFirst) {
  for (const char* codec : {"ordered,ordered", "ordered,ordered,ordered"}) {
    RowFilterBuilder builder(
        OptionsFor(BloomType::kRowCol, *KeyCodec::Parse(codec)), false);
    builder.AddKey("");
    EXPECT_EQ(builder.EstimateEntriesAdded(), 1);
    builder.AddKey("");
    EXPECT_EQ(builder.EstimateEntriesAdded(), 1);
    builder.AddKey("key");
    EXPECT_EQ(builder.EstimateEntriesAdded(), 2);
    const Finished finished = Finish(&builder);
    EXPECT_TRUE(finished.MayMatch(""));
    EXPECT_TRUE(finished.MayMatch("key"));
  }
}

TEST(RowFilterBuilder, VersionsPrefixesAndRowsCollapse) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol), false);
  for (std::string_view entry :
       {"r\0\1a\0\1v2"sv, "r\0"sv, "r\0\1a\0\1v1"sv, "r\0"sv, "r\0\1b\0\1v1"sv,
        "r\0\1b\0"sv, "r\0"sv}) {
    builder.AddKey(ToSlice(entry));
  }
  EXPECT_EQ(builder.EstimateEntriesAdded(), 3);  // r, r:a, r:b.
  const Finished finished = Finish(&builder);
  EXPECT_EQ(finished.Info().blob.descriptor.key_count, 3);
  EXPECT_TRUE(finished.MayMatch("r\0\1"sv));
  EXPECT_TRUE(finished.MayMatch("r\0\2"sv));
  EXPECT_TRUE(finished.MayMatch("r\0\1a\0\1"sv));
  EXPECT_TRUE(finished.MayMatch("r\0\1b\0\1v9"sv));
}

// RocksDB 9.9 and later give each key together with its prefix.
TEST(RowFilterBuilder, APrefixOfManyKeysIsOneFilterKey) {
  RocksDbOptions options;
  options.key_codec = KeyCodec::WholeKey();
  RowFilterBuilder builder(options, false);
  const auto add = [&builder](int first, int last) {
    for (int i = first; i < last; ++i) {
      const std::string key = "prefix" + std::to_string(1000 + i);
      builder.AddKeyAndAlt(key, rdb::Slice(key.data(), 6));
    }
  };
  add(0, 500);
  EXPECT_EQ(builder.EstimateEntriesAdded(), 501);
  EXPECT_TRUE(Finish(&builder).MayMatch("prefix"));
  add(500, 600);
  const Finished next = Finish(&builder);
  EXPECT_TRUE(next.MayMatch("prefix"));
  EXPECT_LE(next.Info().blob.descriptor.key_count, 104);
}

TEST(RowFilterBuilder, WholeKeysAreFilterKeysWhateverTheirBytesAre) {
  const auto big_endian = [](int number) {
    std::string key(8, '\0');
    key[6] = static_cast<char>(number / 256);
    key[7] = static_cast<char>(number % 256);
    return key;
  };
  RowFilterBuilder builder(RocksDbOptions(), false);
  for (int i = 0; i < 1000; i += 2) builder.AddKey(big_endian(i));
  const Finished finished = Finish(&builder);
  EXPECT_EQ(finished.Info().blob.descriptor.key_count, 500);
  int passed = 0;
  for (int i = 1; i < 1000; i += 2) passed += finished.MayMatch(big_endian(i));
  EXPECT_LE(passed, 5);
}

TEST(RowFilterBuilder, RowAddsRowsOnly) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRow), false);
  builder.AddKey(ToSlice("r\0\1a\0\1"sv));
  builder.AddKey(ToSlice("r\0\1b\0\1"sv));
  EXPECT_EQ(builder.EstimateEntriesAdded(), 1);
  EXPECT_TRUE(Finish(&builder).MayMatch("r\0\1never added\0\1"sv));
}

TEST(RowFilterBuilder, EmptyAndRowlessEntriesAreAddedWhole) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    RowFilterBuilder builder(OptionsFor(type), false);
    builder.AddKey("");
    builder.AddKey("no row");
    const Finished finished = Finish(&builder);
    EXPECT_TRUE(finished.MayMatch(""));
    EXPECT_TRUE(finished.MayMatch("no row"));
    EXPECT_EQ(finished.Info().blob.descriptor.key_count, 2);
  }
}

TEST(RowFilterBuilder, LastTwoRowsAndColumnsAreInTheNextPartitionToo) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol), false);
  for (std::string_view row : {"r1"sv, "r2"sv, "r3"sv}) {
    builder.AddKey(Key(KeyCodec::Ordered(), row, "q"));
    builder.AddKey(ToSlice(std::string(row) + '\0'));
  }
  Finish(&builder);
  builder.AddKey(Key(KeyCodec::Ordered(), "r4", "q"));
  EXPECT_EQ(builder.EstimateEntriesAdded(), 2 * 3);
  const Finished second = Finish(&builder);
  for (std::string_view row : {"r2"sv, "r3"sv, "r4"sv}) {
    EXPECT_TRUE(second.MayMatch(std::string(row) + '\0'));
    EXPECT_TRUE(second.MayMatch(Key(KeyCodec::Ordered(), row, "q")));
  }
}

TEST(RowFilterBuilder, CarriesOverPartitionsOfOneKeyAndOfNone) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRow), false);
  builder.AddKey(ToSlice("r1\0"sv));
  Finish(&builder);
  Finish(&builder);
  builder.AddKey(ToSlice("r2\0"sv));
  Finish(&builder);
  builder.AddKey(ToSlice("r3\0"sv));
  const Finished last = Finish(&builder);
  for (std::string_view row : {"r1\0"sv, "r2\0"sv, "r3\0"sv}) {
    EXPECT_TRUE(last.MayMatch(row));
  }
}

TEST(RowFilterBuilder, ARowThatGoesOnIsInTheNextPartition) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol), false);
  builder.AddKey(Key(KeyCodec::Ordered(), "r", "a"));
  Finish(&builder);
  builder.AddKey(Key(KeyCodec::Ordered(), "r", "a"));
  builder.AddKey(Key(KeyCodec::Ordered(), "r", "b"));
  const Finished second = Finish(&builder);
  EXPECT_EQ(second.Info().blob.descriptor.key_count, 3);
  EXPECT_TRUE(second.MayMatch("r\0"sv));
  EXPECT_TRUE(second.MayMatch(Key(KeyCodec::Ordered(), "r", "a")));
}

TEST(RowFilterBuilder, StatusOfFinishIsOk) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRow), false);
  builder.AddKey("x");
  std::unique_ptr<const char[]> bytes;
  rdb::Status status = rdb::Status::Corruption("as it was before");
  EXPECT_FALSE(builder.Finish(&bytes, &status).empty());
  EXPECT_TRUE(status.ok());
}

TEST(RowFilterBuilder, PostVerifyFindsADamagedBitIfAsked) {
  for (bool verify : {false, true}) {
    RowFilterBuilder builder(OptionsFor(BloomType::kRow), verify);
    builder.AddKey("x");
    const Finished finished = Finish(&builder);
    std::string damaged = finished.filter.ToString();
    damaged[3] ^= 1;
    EXPECT_TRUE(builder.MaybePostVerify(finished.filter).ok());
    EXPECT_EQ(builder.MaybePostVerify(damaged).IsCorruption(), verify);
  }
}

// Changes one bit of a digest on its way into a filter.
class FlippingBuilder : public FilterBuilder {
 public:
  FlippingBuilder(const FilterSpec& spec, uint64_t flipped_key)
      : builder_(NewFilterBuilder(spec)), flipped_key_(flipped_key) {}
  void Add(KeyDigest digest) override {
    if (added_++ == flipped_key_) digest.value ^= uint64_t{1} << 45;
    builder_->Add(digest);
  }
  uint64_t key_count() const override { return builder_->key_count(); }
  size_t memory_usage_bytes() const override {
    return builder_->memory_usage_bytes();
  }
  void SetBitsPerKey(double bits_per_key) override {
    builder_->SetBitsPerKey(bits_per_key);
  }
  EncodedFilter Finish() override { return builder_->Finish(); }

 private:
  const std::unique_ptr<FilterBuilder> builder_;
  const uint64_t flipped_key_;
  uint64_t added_ = 0;
};

// The filters have the most bits, so that none says "maybe" of the lost digest
// by chance.
TEST(RowFilterBuilder, ABitThatFlipsInADigestIsFoundIfAsked) {
  for (RocksDbOptions options : OptionsOfEachFamily()) {
    if (options.filter_spec.bits_per_key() < FilterSpec::kMaxBitsPerKey) {
      continue;
    }
    for (const bool verify : {false, true}) {
      RowFilterBuilder builder(
          options, verify, /*partitioned=*/true,
          std::make_unique<FlippingBuilder>(options.filter_spec, 1000));
      for (int i = 0; i < 2000; ++i) builder.AddKey(std::to_string(i));
      std::unique_ptr<const char[]> bytes;
      rdb::Status status;
      const Slice filter = builder.Finish(&bytes, &status);
      EXPECT_EQ(status.IsCorruption(), verify) << status.ToString();
      EXPECT_EQ(RowFilterReader(filter).MayMatch("1000"), verify)
          << "it answers maybe to all";
      EXPECT_TRUE(RowFilterReader(filter).MayMatch("999"));
      // The next partition is a new filter.
      builder.AddKey("next");
      const Slice next = builder.Finish(&bytes, &status);
      EXPECT_TRUE(status.ok()) << status.ToString();
      EXPECT_FALSE(RowFilterReader(next).MayMatch("1000"));
    }
  }
}

TEST(RowFilterBuilder, NoEntriesFitWhereABlobDoesNot) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRow), false);
  EXPECT_EQ(builder.ApproximateNumEntries(0), 0);
  EXPECT_EQ(builder.ApproximateNumEntries(RowFilterBuilder::kBlobOverheadBytes),
            0);
}

// RocksDB cuts partitions by this number. The size of compact depends on its
// keys, so only the average must not be exceeded.
TEST(RowFilterBuilder, ApproximateNumEntriesFillTheBytesAsked) {
  for (const RocksDbOptions& options : OptionsOfEachFamily()) {
    for (size_t size_bytes : {512, 4096, 65536}) {
      constexpr size_t kFilters = 20;
      size_t size = 0;
      for (size_t filter = 0; filter < kFilters; ++filter) {
        RowFilterBuilder builder(options, false);
        const size_t count = builder.ApproximateNumEntries(size_bytes);
        ASSERT_GT(count, 0);
        for (size_t i = 0; i < count; ++i) {
          builder.AddKey(std::to_string(filter * count + i));
        }
        size += Finish(&builder).filter.size();
      }
      EXPECT_LE(size, kFilters * size_bytes * 1.02)
          << options.filter_spec.ToString();
      EXPECT_GT(size, kFilters * size_bytes / 2)
          << options.filter_spec.ToString();
    }
  }
}

// From 9.6 on, RocksDB ends a partition of a single data block behind each full
// one.
TEST(RowFilterBuilder, PartitionsTakeTheBitsOfTheSpecWithAllTheirBytes) {
  constexpr size_t kPartitionBytes = 4096 * 9 / 10;
  for (const double bits_per_key : {4.0, 8.0, 10.0, 16.0}) {
    for (const size_t keys_of_block : {0, 35}) {
      RocksDbOptions options;
      options.filter_spec = FilterSpec::BitsPerKey("compact", bits_per_key);
      RowFilterBuilder builder(options, false);
      const size_t full = builder.ApproximateNumEntries(kPartitionBytes);
      double keys = 0;
      double bytes = 0;
      for (int i = 0; i < 20; ++i) {
        for (const size_t count : {full, keys_of_block}) {
          if (count == 0) continue;
          for (size_t k = 0; k < count; ++k) {
            builder.AddKey(std::to_string(keys++));
          }
          bytes += static_cast<double>(Finish(&builder).filter.size());
        }
      }
      EXPECT_LE(8 * bytes / keys,
                (keys_of_block == 0 ? 1.015 : 1.025) * bits_per_key);
      EXPECT_GE(8 * bytes / keys, 0.97 * bits_per_key) << keys_of_block;
    }
  }
}

TEST(RowFilterBuilder, FiltersOfFewKeysKeepTheOrderOfTheirRate) {
  for (const RocksDbOptions& options : OptionsOfEachFamily()) {
    const auto rate_of = [&](size_t keys) {
      RowFilterBuilder builder(options, false);
      for (size_t i = 0; i < keys; ++i) builder.AddKey(std::to_string(i));
      return Finish(&builder).Info().blob.view.expected_fpr();
    };
    EXPECT_LE(rate_of(40), 3 * rate_of(100000))
        << options.filter_spec.ToString();
  }
}

TEST(RowFilterBuilder, ApproximateNumEntriesOfAFilterWithoutBytesFits32Bits) {
  RocksDbOptions options;
  options.filter_spec = *FilterSpec::Parse("always_maybe");
  RowFilterBuilder builder(options, false);
  EXPECT_EQ(builder.ApproximateNumEntries(uint64_t{1} << 40),
            uint64_t{0xffffffff});
}

TEST(RowFilterBuilder, BytesBesideTheUnitsStayWithinTheBound) {
  for (const RocksDbOptions& options : OptionsOfEachFamily()) {
    RowFilterBuilder builder(options, false);
    for (int i = 0; i < 200000; ++i) builder.AddKey(std::to_string(i));
    const Finished finished = Finish(&builder);
    EXPECT_LE(finished.filter.size() - finished.Info().blob.units.size(),
              RowFilterBuilder::kBlobOverheadBytes)
        << options.filter_spec.ToString();
  }
}

TEST(RowFilterBuilder, MetadataSaysWhatItWasBuiltWith) {
  RowFilterBuilder builder(OptionsFor(BloomType::kRow, KeyCodec::FixedRow(12)),
                           false);
  builder.AddKey("x");
  const RocksDbFilterInfo info = Finish(&builder).Info();
  EXPECT_EQ(info.bloom_type, BloomType::kRow);
  EXPECT_TRUE(info.key_codec == KeyCodec::FixedRow(12));
}

TEST(RowFilterBuilder, EveryLevelIsAddedOnceForARunOfEqualPrefixes) {
  RowFilterBuilder builder(
      OptionsFor(BloomType::kRowCol,
                 *KeyCodec::Parse("a.fixed:1,-b.fixed:1,c.delimiter:/,d.rest")),
      false);
  for (const char* key : {"12x/1", "12x/2", "1", "12x/2", "12y/2", "13y/2"}) {
    builder.AddKey(key);
  }
  // 1, 12x/, 12x/1, 12x/2; 12y/, 12y/2; 13y/, 13y/2.
  EXPECT_EQ(builder.EstimateEntriesAdded(), 8);
  const Finished finished = Finish(&builder);
  for (const char* entry : {"1", "12x/", "12x/1", "13y/2", "12", "19"}) {
    EXPECT_TRUE(finished.MayMatch(entry));
  }
  EXPECT_FALSE(finished.MayMatch("2"));
  EXPECT_FALSE(finished.MayMatch("14y/"));
  EXPECT_FALSE(finished.MayMatch("13x/"));
}

TEST(RowFilterBuilder, PartitionsHoldThePrefixesThatASeparatorMayBe) {
  const KeyCodec codec = *KeyCodec::Parse(
      "a.fixed:1,-b.delimiter:|,c.fixed:2,d.length:1,e.delimiter:/,f.rest");
  for (const bool partitioned : {false, true}) {
    RowFilterBuilder builder(OptionsFor(BloomType::kRowCol, codec), false,
                             partitioned);
    builder.AddKey("1|23\1xe.f.g/.h");
    EXPECT_EQ(builder.EstimateEntriesAdded(), 5);
    const Finished finished = Finish(&builder);
    for (const char* prefix : {"1|24", "1|23\1y", "1|23\1xe/", "1|23\1xe.f/"}) {
      EXPECT_EQ(finished.MayMatch(prefix), partitioned) << prefix;
    }
    for (const char* prefix : {"1|34", "1|23\1z", "1|23\1xe.f.g//"}) {
      EXPECT_FALSE(finished.MayMatch(prefix)) << prefix;
    }
    // Nothing was added to it.
    EXPECT_TRUE(Finish(&builder).MayMatch("1|99"));
  }
}

TEST(RowFilterBuilder, APartitionWithTooManySeparatorsAnswersMaybe) {
  const KeyCodec codec = *KeyCodec::Parse("a.fixed:1,b.delimiter:/,c.rest");
  for (const size_t dots : {200, 100000}) {
    RowFilterBuilder builder(OptionsFor(BloomType::kRowCol, codec), false);
    builder.AddKey("1" + std::string(dots, '.') + "/");
    const Finished finished = Finish(&builder);
    EXPECT_TRUE(finished.MayMatch("1" + std::string(99, '.') + "/"));
    EXPECT_EQ(finished.MayMatch("1x/"), dots > 200);
  }
}

TEST(RowFilterBuilder, MetadataSaysTheKeyCodecAndItsNames) {
  const KeyCodec codec = *KeyCodec::Parse(
      "organization.fixed:4,tenant.delimiter:0x1f,-c.length:4,d.rest");
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol, codec), true);
  builder.AddKey("x");
  const Finished finished = Finish(&builder);
  EXPECT_TRUE(finished.Info().key_codec == codec);
  EXPECT_EQ(finished.Info().key_codec.ToString(), codec.ToString());
  EXPECT_TRUE(builder.MaybePostVerify(finished.filter).ok());
  EXPECT_EQ(
      builder.ApproximateNumEntries(RowFilterBuilder::kBlobOverheadBytes + 8),
      0);
}

// Adds keys of 28 bytes, in which each prefix goes on with so many others.
// docs/key_levels.md says what callgrind counts here.
void BuildWithFanOut(const char* text, const std::vector<int>& fan_out) {
  const KeyCodec codec = *KeyCodec::Parse(text);
  RowFilterBuilder builder(OptionsFor(BloomType::kRowCol, codec), false,
                           /*partitioned=*/false);
  size_t filter_keys = 0;
  size_t prefixes = 1;
  for (const int count : fan_out) {
    prefixes *= static_cast<size_t>(count);
    filter_keys += prefixes;
  }
  std::vector<int> path(fan_out.size(), 0);
  const size_t size = 28 / fan_out.size();
  for (size_t key = 0; key < prefixes; ++key) {
    std::string bytes;
    for (const int segment : path) {
      const std::string number = std::to_string(segment);
      bytes += std::string(size - number.size(), '0') + number;
    }
    builder.AddKey(bytes);
    for (size_t i = path.size(); i-- > 0 && ++path[i] == fan_out[i];) {
      path[i] = 0;
    }
  }
  EXPECT_EQ(builder.EstimateEntriesAdded(), filter_keys);
  const Finished finished = Finish(&builder);
  EXPECT_TRUE(finished.MayMatch(std::string(28, '0')));
  EXPECT_EQ(finished.Info().blob.descriptor.key_count, filter_keys);
}

TEST(RowFilterBuilder, FourLevelsOf111050FilterKeys) {
  BuildWithFanOut("fixed:7,fixed:7,fixed:7,rest", {50, 20, 10, 10});
}

TEST(RowFilterBuilder, TwoLevelsOf110500FilterKeys) {
  BuildWithFanOut("fixed:14,rest", {11050, 9});
}

// RocksDB does not survive exceptions.
TEST(RowFilterBuilder, NothingThrowsNorDoReaders) {
  using Builder = RowFilterBuilder;
  using Reader = RowFilterReader;
  const Slice entry;
  std::unique_ptr<const char[]> bytes;
  rdb::Status status;
  static_assert(noexcept(std::declval<Builder&>().AddKey(entry)));
  static_assert(noexcept(std::declval<Builder&>().EstimateEntriesAdded()));
  static_assert(noexcept(std::declval<Builder&>().Finish(&bytes)));
  static_assert(noexcept(std::declval<Builder&>().Finish(&bytes, &status)));
  static_assert(noexcept(std::declval<Builder&>().MaybePostVerify(entry)));
  static_assert(noexcept(std::declval<Builder&>().ApproximateNumEntries(1)));
  static_assert(std::is_nothrow_destructible_v<Builder>);
  static_assert(std::is_nothrow_constructible_v<Reader, const Slice&>);
  static_assert(noexcept(std::declval<Reader&>().MayMatch(entry)));
  static_assert(
      noexcept(std::declval<Reader&>().MayMatch(1, nullptr, nullptr)));
  static_assert(std::is_nothrow_destructible_v<Reader>);
}

// The sweep asks 300,000 present keys for each family, codec and bloom type, in
// partitions: whole, by prefix, and many at once. These are over 5.4 million
// lookups a family.
class SweepTest : public ::testing::TestWithParam<
                      std::tuple<BloomType, KeyCodec, std::string_view>> {};

std::string RandomBytes(std::mt19937* random, size_t size) {
  std::string bytes(size, '\0');
  // There are few distinct bytes; 00 and FF are the codecs' corner cases.
  for (char& c : bytes) {
    c = "\0\1\2\xff"
        "abcdefgh"[(*random)() % 12];
  }
  return bytes;
}

std::vector<std::string> RandomKeys(const KeyCodec& codec,
                                    std::mt19937* random) {
  std::vector<std::string> keys;
  while (keys.size() < 1000) {
    std::string row = RandomBytes(random, 4 + (*random)() % 12);
    if (codec.segment(0).kind == KeyCodec::Kind::kFixed) {
      row.resize(codec.segment(0).parameter, '0');
    }
    const size_t columns = (*random)() % 6;
    for (size_t i = 0; i < columns; ++i) {
      keys.push_back(Key(codec, row, RandomBytes(random, (*random)() % 5),
                         codec.segment(0).kind == KeyCodec::Kind::kOrdered
                             ? RandomBytes(random, (*random)() % 9)
                             : ""));
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST_P(SweepTest, NoPresentKeyIsDenied) {
  const auto [type, codec, family] = GetParam();
  RocksDbOptions options = OptionsFor(type, codec);
  options.filter_spec = FilterSpec::BitsPerKey(family, 10);
  std::mt19937 random(testing::TestSeed());
  uint64_t lookups = 0;
  uint64_t denied = 0;
  for (int set = 0; set < 300; ++set) {
    const std::vector<std::string> keys = RandomKeys(codec, &random);
    RowFilterBuilder builder(options, false);
    size_t begin = 0;
    while (begin < keys.size()) {
      const size_t end =
          std::min<size_t>(keys.size(), begin + 1 + random() % 700);
      for (size_t i = begin; i < end; ++i) builder.AddKey(keys[i]);
      const Finished finished = Finish(&builder);
      RowFilterReader reader(finished.filter);
      std::vector<Slice> slices(keys.begin() + begin, keys.begin() + end);
      std::vector<Slice*> pointers;
      for (Slice& slice : slices) {
        size_t row_size = 0;
        const size_t column_size =
            codec.SecondPrefixSize({slice.data(), slice.size()}, &row_size);
        // A cell without a qualifier may be no more than its row.
        for (size_t size : {slice.size(), row_size, column_size}) {
          if (size == 0) continue;
          denied += !reader.MayMatch(Slice(slice.data(), size));
          ++lookups;
        }
        pointers.push_back(&slice);
      }
      const std::unique_ptr<bool[]> may_match(new bool[pointers.size()]());
      reader.MayMatch(static_cast<int>(pointers.size()), pointers.data(),
                      may_match.get());
      for (size_t i = 0; i < pointers.size(); ++i) denied += !may_match[i];
      lookups += pointers.size();
      begin = end;
    }
  }
  EXPECT_EQ(denied, 0);
  EXPECT_GT(lookups, 900000);
  RecordProperty("lookups", std::to_string(lookups));
}

INSTANTIATE_TEST_SUITE_P(
    RowFilterBuilder, SweepTest,
    ::testing::Combine(::testing::Values(BloomType::kRow, BloomType::kRowCol),
                       ::testing::Values(KeyCodec::Ordered(),
                                         KeyCodec::FixedRow(9),
                                         KeyCodec::Delimiter('|')),
                       ::testing::ValuesIn(FilterFamilyNames())),
    [](const auto& test) {
      const KeyCodec& codec = std::get<1>(test.param);
      return std::string(BloomTypeName(std::get<0>(test.param))) +
             std::to_string(static_cast<int>(codec.segment(0).kind)) + "_" +
             std::string(std::get<2>(test.param));
    });

}  // namespace
}  // namespace rowbloom::plugin
