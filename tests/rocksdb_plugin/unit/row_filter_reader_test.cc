// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_reader.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "policy/filter_info.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {
namespace {

using rdb::Slice;
using ::testing::ElementsAre;
using std::string_view_literals::operator""sv;

// Returns a filter over the keys "0".."99".
std::string Blob(std::string_view metadata) {
  const std::unique_ptr<FilterBuilder> builder =
      NewFilterBuilder(FilterSpec::BitsPerKey("blocked_bloom", 16));
  for (int i = 0; i < 100; ++i) builder->Add(DigestBytes(std::to_string(i)));
  return EncodeFilterBlob(builder->Finish(), metadata);
}

std::string GoodBlob() {
  return Blob(EncodeMetadata(BloomType::kRow, KeyCodec::Ordered()));
}

int MaybeCount(RowFilterReader* reader, int begin, int end) {
  int count = 0;
  for (int i = begin; i < end; ++i) {
    count += reader->MayMatch(std::to_string(i));
  }
  return count;
}

void ExpectMaybeToAll(const std::string& bytes) {
  RowFilterReader reader(bytes);
  EXPECT_EQ(MaybeCount(&reader, 0, 1000), 1000);
  Slice entry("absent");
  Slice* entries[] = {&entry};
  bool may_match = false;
  reader.MayMatch(1, entries, &may_match);
  EXPECT_TRUE(may_match);
}

TEST(RowFilterReader, KnowsPresentKeysAndDeniesMostOthers) {
  const std::string blob = GoodBlob();
  RowFilterReader reader(blob);
  EXPECT_EQ(MaybeCount(&reader, 0, 100), 100);
  EXPECT_LT(MaybeCount(&reader, 100, 1100), 100);
}

TEST(RowFilterReader, EachShorterBlobAnswersMaybe) {
  const std::string blob = GoodBlob();
  for (size_t size = 0; size < blob.size(); ++size) {
    // The blob has its own memory, so that a sanitizer sees a read behind the
    // end.
    ExpectMaybeToAll(std::string(blob.data(), size));
  }
}

// RocksDB 8 and newer do not compare a block's checksum if
// ReadOptions::verify_checksums is false.
TEST(RowFilterReader, EachDamagedByteAnswersMaybe) {
  const std::string blob = GoodBlob();
  for (size_t i = 0; i < blob.size(); ++i) {
    for (int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = blob;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      ExpectMaybeToAll(damaged);
    }
  }
}

TEST(RowFilterReader, NewerOrMissingMetadataAnswersMaybe) {
  ExpectMaybeToAll(Blob(""));
  ExpectMaybeToAll(Blob("\2\2\1\0\0\0\0\0"sv));
  ExpectMaybeToAll(Blob("\1\4\1\0\0\0\0\0"sv));
  ExpectMaybeToAll(Blob("\1\2\4\0\0\0\0\0"sv));
}

TEST(RowFilterReader, ForeignBytesAnswerMaybe) {
  ExpectMaybeToAll("");
  ExpectMaybeToAll(std::string(5, '\0'));
  ExpectMaybeToAll(std::string(64, '\xff'));
}

TEST(RowFilterReader, AsksByItsOwnMetadata) {
  const auto maybe = [](std::string_view metadata, std::string_view entry) {
    const std::string blob = Blob(metadata);
    return RowFilterReader(blob).MayMatch(Slice(entry.data(), entry.size()));
  };
  const std::string fixed =
      EncodeMetadata(BloomType::kRow, KeyCodec::FixedRow(2));
  const std::string delimited =
      EncodeMetadata(BloomType::kRow, KeyCodec::Delimiter('7'));
  EXPECT_TRUE(maybe(fixed, "42|column"));
  EXPECT_FALSE(maybe(delimited, "42|column"));
  EXPECT_TRUE(maybe(delimited, "47|column"));
}

// A filter whose codec has no columns cannot deny what such an extractor makes
// of the bound of a scan; without one, these bytes are a key like others.
TEST(RowFilterReader, BoundsOfColumnsAreMaybeWhereAnExtractorMapsThem) {
  const std::string metadata =
      EncodeMetadata(BloomType::kRow, KeyCodec::WholeKey());
  const std::string blob = Blob(metadata);
  RowFilterReader reader(blob);
  const std::string bound("row\0\1qualifier\0"sv);
  EXPECT_FALSE(reader.MayMatch(bound));
  {
    RocksDbOptions rows;
    rows.key_codec = KeyCodec::Ordered();
    const auto extractor = NewRowPrefixExtractor(rows);
    EXPECT_TRUE(reader.MayMatch(bound));
    Slice entries[] = {"absent", bound, "7", "absent", bound};
    Slice* asked[] = {&entries[0], &entries[1], &entries[2], &entries[3],
                      &entries[4]};
    bool may_match[5] = {};
    reader.MayMatch(5, asked, may_match);
    EXPECT_THAT(may_match, ElementsAre(false, true, true, false, true));
  }
  EXPECT_FALSE(reader.MayMatch(bound));
}

TEST(RowFilterReader, ManyAtOnceEqualOneByOne) {
  const std::string blob = GoodBlob();
  RowFilterReader reader(blob);
  for (int count : {0, 1, 31, 32, 33, 64, 100, 1000}) {
    std::vector<std::string> keys;
    for (int i = 0; i < count; ++i) keys.push_back(std::to_string(i * 7 % 200));
    std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<Slice*> pointers;
    for (Slice& slice : slices) pointers.push_back(&slice);
    const std::unique_ptr<bool[]> may_match(new bool[count + 1]());
    reader.MayMatch(count, pointers.data(), may_match.get());
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(may_match[i], reader.MayMatch(slices[i])) << keys[i];
    }
    EXPECT_FALSE(may_match[count]);  // Nothing was written behind the end.
  }
}

// RocksDB promises an alignment of 16 bytes at most, and none with mmap.
TEST(RowFilterReader, AnswersTheSameAtAnyAlignment) {
  const std::string blob = GoodBlob();
  for (size_t shift = 0; shift < 64; ++shift) {
    const std::unique_ptr<char[]> memory(new char[blob.size() + shift]);
    std::memcpy(memory.get() + shift, blob.data(), blob.size());
    RowFilterReader reader(Slice(memory.get() + shift, blob.size()));
    EXPECT_EQ(MaybeCount(&reader, 0, 100), 100);
    EXPECT_LT(MaybeCount(&reader, 100, 1100), 100);
  }
}

}  // namespace
}  // namespace rowbloom::plugin
