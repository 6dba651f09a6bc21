// SPDX-License-Identifier: Apache-2.0
//
// Compares ChunkIndex with a plain search over whole keys.

#include "block/chunk_index.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "block/test_key.h"
#include "gtest/gtest.h"
#include "testing/keys.h"

namespace rowbloom::block {
namespace {

using testing::Random;

// The chunk's number, or -1 if the key is nowhere.
int64_t NumberOf(const Location& location) {
  EXPECT_NE(location.is_nowhere(), location.is_in_chunk());
  EXPECT_FALSE(location.is_anywhere());
  return location.is_in_chunk() ? static_cast<int64_t>(location.chunk()) : -1;
}

// An index over keys, each of which but the last is the first key of a chunk.
class Index {
 public:
  // `keys` is not empty; the last chunk holds one key if `last_is_first`.
  Index(const std::set<TestKey>& keys, bool last_is_first)
      : keys_(keys.begin(), keys.end()) {
    chunk_count_ = keys_.size();
    if (!last_is_first && chunk_count_ > 1) --chunk_count_;
    std::string index;
    for (size_t i = 0; i < chunk_count_; ++i) {
      AppendKey(keys_[i].stored(), &index);
      DescriptorOf(i).AppendTo(&index);
    }
    std::string last_key;
    AppendKey(keys_.back().stored(), &last_key);
    // Something is before the last key.
    const std::string properties = "properties" + last_key;
    index_ = ChunkIndex(chunk_count_, index, properties,
                        std::string_view(properties).substr(10));
  }
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  int64_t Find(const TestKey& key) const {
    return NumberOf(index_.Find(key.stored()));
  }
  int64_t FindPlainly(const TestKey& key) const {
    if (keys_.back() < key) return -1;
    int64_t found = -1;
    for (size_t i = 0; i < chunk_count_ && !(key < keys_[i]); ++i) {
      found = static_cast<int64_t>(i);
    }
    return found;
  }
  const std::vector<TestKey>& keys() const { return keys_; }
  const ChunkIndex& index() const { return index_; }
  size_t chunk_count() const { return chunk_count_; }
  // Chunks of different sizes, some of them empty.
  static FilterDescriptor DescriptorOf(size_t chunk) {
    FilterDescriptor descriptor;
    descriptor.family_code = 1;
    descriptor.unit_count = chunk % 3;
    descriptor.key_count = chunk;
    for (size_t u = 0; u < descriptor.unit_count; ++u) {
      descriptor.unit_size_bytes[u] = 100 * chunk + u;
      descriptor.unit_checksum[u] = static_cast<uint32_t>(chunk);
    }
    return descriptor;
  }

 private:
  const std::vector<TestKey> keys_;
  size_t chunk_count_ = 0;
  ChunkIndex index_;
};

void ExpectSame(const Index& index, const TestKey& key) {
  ASSERT_EQ(index.Find(key), index.FindPlainly(key))
      << ::testing::PrintToString(key.row) << " "
      << ::testing::PrintToString(key.qualifier);
}

// Compares the answers for the key and for keys next to it.
void ExpectSameAround(const Index& index, const TestKey& key) {
  ExpectSame(index, key);
  std::vector<std::string> rows = {key.row + '\0', key.row + '\xff',
                                   key.row + std::string(9, '\0')};
  for (size_t size = 0; size < key.row.size(); ++size) {
    rows.push_back(key.row.substr(0, size));
    for (const int delta : {-1, 1}) {
      std::string row = key.row;
      row[size] = static_cast<char>(row[size] + delta);
      rows.push_back(row);
    }
  }
  for (const std::string& row : rows) {
    ExpectSame(index, {row, false, ""});
    ExpectSame(index, {row, true, key.qualifier});
  }
  ExpectSame(index, {key.row, !key.has_qualifier, ""});
  for (const std::string& more :
       {std::string(), std::string("\0", 1), std::string("q")}) {
    ExpectSame(index, {key.row, true, key.qualifier + more});
  }
}

void ExpectSameEverywhere(const Index& index) {
  ExpectSame(index, {"", false, ""});
  ExpectSame(index, {"", true, ""});
  ExpectSame(index, {std::string(20, '\xff'), true, "\xff"});
  for (const TestKey& key : index.keys()) ExpectSameAround(index, key);
}

TEST(ChunkIndex, OfNoChunksFindsNothing) {
  const ChunkIndex none(0, "", "properties", "");
  EXPECT_EQ(none.properties(), "properties");
  EXPECT_EQ(none.OffsetOf(0), 0u);
  const ChunkIndex made;
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    const std::string row = random.Bytes(12);
    for (const ChunkIndex* index : {&none, &made}) {
      EXPECT_EQ(NumberOf(index->Find({row, "", false})), -1);
    }
  }
}

TEST(ChunkIndex, FindsInOneChunkWhatIsBetweenFirstAndLastKey) {
  const Index index({{"abc", false, ""}, {"abf", true, "q"}}, false);
  EXPECT_EQ(index.Find({"abb", true, "z"}), -1);
  EXPECT_EQ(index.Find({"abc", false, ""}), 0);
  EXPECT_EQ(index.Find({"abd", false, ""}), 0);
  EXPECT_EQ(index.Find({"abf", true, "q"}), 0);
  EXPECT_EQ(index.Find({"abf", true, "r"}), -1);
  EXPECT_EQ(index.Find({"ab", false, ""}), -1);
  EXPECT_EQ(index.Find({"b", false, ""}), -1);
  ExpectSameEverywhere(index);
  ExpectSameEverywhere(Index({{"", false, ""}}, true));
  ExpectSameEverywhere(Index({{"one", true, ""}}, true));
}

TEST(ChunkIndex, TellsRowsApartThatOnlyZerosTellApart) {
  std::set<TestKey> keys;
  for (size_t zeros = 0; zeros < 20; ++zeros) {
    keys.insert({std::string(zeros, '\0'), false, ""});
    const bool has_qualifier = zeros % 2 == 0;
    keys.insert({"a" + std::string(zeros, '\0'), has_qualifier,
                 has_qualifier ? "q" : ""});
  }
  ExpectSameEverywhere(Index(keys, false));
  ExpectSameEverywhere(Index(keys, true));
}

TEST(ChunkIndex, TellsChunksOfOneRowApart) {
  std::set<TestKey> keys = {{"row of one", false, ""}};
  for (int i = 0; i < 100; ++i) {
    keys.insert({"row of many", true, std::to_string(i)});
  }
  const Index index(keys, false);
  ExpectSameEverywhere(index);
  // The row's own key sorts before its columns.
  EXPECT_EQ(index.Find({"row of many", false, ""}), -1);
}

TEST(ChunkIndex, DescribesEachChunkAsItWasEncoded) {
  for (size_t count = 1; count < 40; ++count) {
    std::set<TestKey> keys;
    for (size_t i = 0; i < count; ++i) {
      const bool has_qualifier = i % 2 == 0;
      keys.insert({"row " + std::to_string(100 + i), has_qualifier,
                   has_qualifier ? "q" : ""});
    }
    const Index index(keys, true);
    ASSERT_EQ(index.index().size(), count);
    EXPECT_EQ(Compare(index.index().LastKey(), index.keys().back().stored()),
              0);
    uint64_t offset = 0;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(Compare(index.index().FirstKeyOf(i), index.keys()[i].stored()),
                0);
      EXPECT_EQ(index.index().DescriptorOf(i), Index::DescriptorOf(i));
      EXPECT_EQ(index.index().OffsetOf(i), offset);
      offset += Index::DescriptorOf(i).total_size_bytes();
    }
    EXPECT_EQ(index.index().OffsetOf(count), offset);
  }
}

TEST(ChunkIndex, TakesFourteenBytesAChunkBesideItsEntry) {
  std::set<TestKey> keys;
  for (int i = 1000; i < 1800; ++i) keys.insert({std::to_string(i), false, ""});
  const Index index(keys, true);
  const size_t copied =
      index.index().index().size() + index.index().properties().size();
  EXPECT_LE(index.index().memory_bytes() - copied, 14 * 800 + 16);
}

TEST(ChunkIndex, IsWithinTheSizesThatReadersTake) {
  constexpr uint64_t kMost = 1 << 30;
  EXPECT_TRUE(ChunkIndex::CheckSizes(kMost, kMost).ok());
  for (const auto& [index, properties] :
       {std::pair(kMost + 1, uint64_t{0}), std::pair(uint64_t{0}, kMost + 1)}) {
    EXPECT_EQ(ChunkIndex::CheckSizes(index, properties).code(),
              absl::StatusCode::kResourceExhausted);
  }
}

TEST(ChunkIndex, FindsWhatAPlainSearchFinds) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const std::string prefix = random.Bytes(12);
    const bool columns = random.Below(2) == 0;
    // Keys of few distinct bytes make rows prefixes of each other.
    const auto random_key = [&] {
      TestKey key;
      if (random.Below(16) != 0) key.row = prefix;
      const uint64_t size = random.Below(12);
      for (uint64_t i = 0; i < size; ++i) {
        key.row += "\0\1ab\xff"[random.Below(5)];
      }
      if (columns && random.Below(3) != 0) {
        key.has_qualifier = true;
        key.qualifier = random.Bytes(3);
      }
      return key;
    };
    std::set<TestKey> keys;
    const uint64_t count = 1 + random.Below(60);
    for (uint64_t i = 0; i < count; ++i) keys.insert(random_key());
    const Index index(keys, round % 2 == 0);
    ExpectSameEverywhere(index);
    for (int i = 0; i < 200; ++i) ExpectSame(index, random_key());
  }
}

}  // namespace
}  // namespace rowbloom::block
