// SPDX-License-Identifier: Apache-2.0
//
// Hashes, shapes and dumps of RedisBloom: the example of the documentation of
// BF.SCANDUMP, and dumps that RedisBloom's own code computes.

#include "rowbloom/memfilter/redis_bloom.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RedisBloomFilter Filled(const BfReserveOptions& options, int users) {
  auto filter = RedisBloomFilter::New(options);
  EXPECT_TRUE(filter.ok()) << filter.status();
  for (int i = 0; i < users; ++i) {
    EXPECT_TRUE(filter->Add(absl::StrCat("user", i)).ok());
  }
  return *std::move(filter);
}

BfReserveOptions NonScaling(double rate, uint64_t capacity) {
  BfReserveOptions options{rate, capacity};
  options.non_scaling = true;
  return options;
}

std::string Bytes(const std::string& hex) {
  return absl::HexStringToBytes(absl::StrReplaceAll(hex, {{" ", ""}}));
}

std::vector<std::string> HexOf(const RedisBloomFilter& filter) {
  std::vector<std::string> chunks;
  for (const BfChunk& chunk : filter.Dump()) {
    chunks.push_back(
        absl::StrCat(chunk.iterator, ": ", absl::BytesToHexString(chunk.data)));
  }
  return chunks;
}

uint64_t Fnv1a(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

TEST(RedisBloomDigest, IsMurmurHash64ATwice) {
  const std::tuple<const char*, uint64_t, uint64_t> kCases[] = {
      {"", 0x1ab11ea5a7b2c56e, 0xbbddcb5ab56dd547},
      {"a", 0x4292cee227b9150a, 0x7e9b527031f50c11},
      {"user17", 0xa431ab4e31d709b7, 0x497a53fb5099f318},
      {"127.0.0.1", 0x381ba5cc6d93a974, 0xc6380a566464e9de},
      {"12345678", 0x700bea34339441c4, 0x94ccce0994c5c064},
      {"a-string-that-is-longer-than-thirty-two-bytes-0123456789",
       0x8554a030e5b8f55a, 0xe168450e60a4b555}};
  for (const auto& [item, a, b] : kCases) {
    const RedisBloomDigest digest = RedisBloomDigest::Bytes(item);
    EXPECT_EQ(digest.a, a) << item;
    EXPECT_EQ(digest.b, b) << item;
  }
}

TEST(RedisBloomFilter, HasTheModulesShapes) {
  struct Shape {
    uint64_t bits;
    uint32_t probes;
  };
  const struct {
    double rate;
    uint64_t capacity;
    Shape scaling, non_scaling;
  } kCases[] = {{0.25, 100, {448, 4}, {320, 3}},
                {0.1, 1'000, {6272, 5}, {4800, 4}},
                {0.03, 100, {896, 7}, {768, 6}},
                {0.01, 1, {64, 8}, {64, 7}},
                {0.01, 100, {1152, 8}, {960, 7}},
                {0.01, 1'000'000, {11027776, 8}, {9585088, 7}},
                {0.001, 1'000, {15872, 11}, {14400, 10}},
                {1e-4, 1'000'000, {20612864, 15}, {19170176, 14}},
                {1e-7, 100, {3520, 25}, {3392, 24}}};
  for (const auto& c : kCases) {
    const auto scaling = RedisBloomFilter::New({c.rate, c.capacity});
    EXPECT_EQ(scaling->layers()[0].bits.bit_count(), c.scaling.bits) << c.rate;
    EXPECT_EQ(scaling->layers()[0].probe_count, c.scaling.probes) << c.rate;
    const auto other = RedisBloomFilter::New(NonScaling(c.rate, c.capacity));
    EXPECT_EQ(other->layers()[0].bits.bit_count(), c.non_scaling.bits);
    EXPECT_EQ(other->layers()[0].probe_count, c.non_scaling.probes) << c.rate;
  }
}

// RedisBloom 2.8 makes another filter of these rates than Redis 8.
TEST(RedisBloomFilter, RefusesRatesThatDependOnTheRelease) {
  for (const double rate : {0.2501, 0.5, 0.99}) {
    EXPECT_THAT(RedisBloomFilter::New({rate, 100}).status().ToString(),
                HasSubstr("at most 0.25"))
        << rate;
  }
}

TEST(RedisBloomFilter, DumpsTheDocumentedExampleByteForByte) {
  auto filter = RedisBloomFilter::New({0.1, 10});
  ASSERT_TRUE(*filter->Add("item1"));
  EXPECT_THAT(
      HexOf(*filter),
      ElementsAre("1: 0100000000000000010000000500000002000000"
                  "080000000000000040000000000000000100000000000000"
                  "9a9999999999a93f4af7d49edef01840050000000a00000000000000"
                  "00",
                  "9: 0108008000042000"));
}

TEST(RedisBloomFilter, DumpsLayersAsTheModule) {
  EXPECT_THAT(
      HexOf(Filled({0.01, 10}, 25)),
      ElementsAre(
          "1: 1900000000000000020000000500000002000000"
          "100000000000000080000000000000000a000000000000007b14ae47e17a743f"
          "e9862fb2350e2640080000000a0000000000000000"
          "200000000000000000010000000000000f000000000000007b14ae47e17a643f"
          "4af7d49edef02840090000001400000000000000"
          "00",
          "17: ca11f480e55ed075d923b11fe45e97ee",
          "49: 80b084a3dff7bd2083b8c297858281fd31c03190b3089600f2c91e42ba040d"
          "bb"));
  EXPECT_THAT(
      HexOf(Filled(NonScaling(0.01, 10), 3)),
      ElementsAre(
          "1: 0300000000000000010000000d00000002000000"
          "1000000000000000800000000000000003000000000000007b14ae47e17a843f"
          "88168ac58c2b2340070000000a0000000000000000",
          "17: 020044004008100081012112041c1160"));

  const RedisBloomFilter large = Filled({0.001, 100'000}, 100'000);
  EXPECT_EQ(large.key_count(), 99'993u);
  const std::vector<BfChunk> chunks = large.Dump();
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[1].iterator, 197'761u);
  EXPECT_EQ(Fnv1a(chunks[1].data), 0x4810ae11cae68b77u);

  const RedisBloomFilter grown = Filled({0.01, 100}, 1000);
  EXPECT_EQ(grown.key_count(), 994u);
  std::vector<uint64_t> iterators;
  for (const BfChunk& chunk : grown.Dump()) iterators.push_back(chunk.iterator);
  EXPECT_THAT(iterators, ElementsAre(1, 145, 457, 1153, 2689));
  // Their SHA-256, which the module's own code has given, is 821bd35306cfc376
  // 0891719ff72fd1995f15fb1e94ef36b5f9234208aedd8878.
  EXPECT_EQ(Fnv1a(grown.Save()), 0x3d40e7ed87dc164bu);
}

TEST(RedisBloomFilter, LoadsItsDumpsAndGoesOn) {
  for (const size_t chunk : {size_t{16} << 20, size_t{7}, size_t{1}}) {
    RedisBloomFilter filter = Filled({0.01, 10}, 25);
    auto loaded = RedisBloomFilter::Load(filter.Dump(chunk));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    for (int i = 0; i < 100; ++i) {
      const std::string item = absl::StrCat("user", i);
      EXPECT_EQ(loaded->MayContain(item), filter.MayContain(item));
      EXPECT_EQ(*loaded->Add(item), *filter.Add(item));
    }
    EXPECT_EQ(loaded->Save(), filter.Save());
    EXPECT_EQ(loaded->layers().size(), 4u);
  }
}

TEST(RedisBloomFilter, RefusesDumpsThatLackAChunk) {
  std::vector<BfChunk> chunks = Filled({0.01, 10}, 25).Dump();
  std::vector<BfChunk> torn(chunks.begin(), chunks.end() - 1);
  EXPECT_EQ(RedisBloomFilter::Load(torn).status().code(),
            absl::StatusCode::kDataLoss);
  std::swap(chunks[1], chunks[2]);
  EXPECT_EQ(RedisBloomFilter::Load(chunks).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(RedisBloomFilter::Load(absl::Span<const BfChunk>()).ok());
}

TEST(RedisBloomFilter, RefusesHeadersThatAServerRefuses) {
  const std::string saved = Filled({0.01, 10}, 25).Save();
  const auto changed = [&saved](size_t at, const std::string& hex) {
    std::string bytes = saved;
    const std::string value = Bytes(hex);
    bytes.replace(at, value.size(), value);
    return RedisBloomFilter::Load(bytes).status().code();
  };
  constexpr auto kDamage = absl::StatusCode::kDataLoss;
  constexpr auto kOld = absl::StatusCode::kUnimplemented;
  EXPECT_EQ(changed(0, "1a"), kDamage);        // Items.
  EXPECT_EQ(changed(8, "00000000"), kDamage);  // Layers.
  EXPECT_EQ(changed(8, "ffffffff"), kDamage);
  EXPECT_EQ(changed(12, "01"), kOld);  // Options.
  EXPECT_EQ(changed(12, "15"), kOld);
  EXPECT_EQ(changed(16, "ffffffff"), kDamage);          // Expansion.
  EXPECT_EQ(changed(20, "ffffffffffffffff"), kDamage);  // Bytes.
  EXPECT_EQ(changed(20, "0000000000000000"), kDamage);
  EXPECT_EQ(changed(28, "81"), kDamage);                // Bits.
  EXPECT_EQ(changed(36, "0b"), kDamage);                // Items of a layer.
  EXPECT_EQ(changed(44, "000000000000f03f"), kDamage);  // Rate 1.
  EXPECT_EQ(changed(44, "000000000000f07f"), kDamage);  // Infinite.
  EXPECT_EQ(changed(44, "000000000000f87f"), kDamage);  // Not a number.
  EXPECT_EQ(changed(60, "07"), kDamage);                // Probes.
  EXPECT_EQ(changed(64, "0000000000000000"), kDamage);  // Capacity.
  EXPECT_EQ(changed(72, "07"), kOld);                   // Power of two.
  for (size_t size = 0; size < saved.size(); ++size) {
    EXPECT_FALSE(RedisBloomFilter::Load(saved.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(RedisBloomFilter::Load(saved + "x").ok());
  EXPECT_EQ(RedisBloomFilter::Load(saved, 100).status().code(),
            absl::StatusCode::kResourceExhausted);
  // A capacity that cannot grow is told when the layer is full.
  std::string giant = Filled({0.01, 1}, 1).Save();
  giant[16] = '\0';  // An expansion of 2^15,
  giant[17] = '\x80';
  giant[20 + 44 + 6] = '\x1f';             // a capacity above 2^52,
  giant[20 + 16 + 6] = giant[6] = '\x20';  // and more items.
  auto full = RedisBloomFilter::Load(giant);
  ASSERT_TRUE(full.ok()) << full.status();
  EXPECT_EQ(full->Add("absent").status().code(),
            absl::StatusCode::kResourceExhausted);
  // An expansion that was lost is 2 again.
  std::string lost = saved;
  lost[16] = 0;
  EXPECT_EQ(RedisBloomFilter::Load(lost)->expansion(), 2u);
}

TEST(RedisBloomFilter, FullAndNonScalingRefusesItems) {
  auto filter = RedisBloomFilter::New(NonScaling(0.01, 2));
  EXPECT_TRUE(filter->Add("a").ok() && filter->Add("b").ok());
  EXPECT_EQ(filter->Add("c").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(*filter->Add("a"));
  EXPECT_FALSE(filter->MayContain("c"));

  auto bounded = RedisBloomFilter::New({0.01, 100}, 1000);
  absl::Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = bounded->Add(absl::StrCat("user", i)).status();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(RedisBloomFilter::New({0.01, 1 << 30}, 1000).ok());
}

TEST(RedisBloomFilter, RefusesOptionsThatTheModuleRefuses) {
  BfReserveOptions both = NonScaling(0.01, 10);
  both.expansion = 2;
  BfReserveOptions wide{0.01, 10};
  wide.expansion = 32769;
  for (const BfReserveOptions& options :
       {BfReserveOptions{0, 10}, BfReserveOptions{1, 10},
        BfReserveOptions{0.01, 0}, BfReserveOptions{0.01, (1u << 30) + 1}, both,
        wide}) {
    EXPECT_EQ(RedisBloomFilter::New(options).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(RedisBloomFilter, ObservedRateIsTheExpectedOne) {
  const RedisBloomFilter filter = Filled({0.01, 20'000}, 100'000);
  testing::Random random(3);
  uint64_t positives = 0;
  constexpr uint64_t kLookups = 500'000;
  for (uint64_t i = 0; i < kLookups; ++i) {
    positives += filter.MayContain(absl::StrCat("absent", random()));
  }
  EXPECT_TRUE(testing::WithinBinomialBound(positives, kLookups,
                                           filter.expected_fpr(), 0.05));
  EXPECT_LT(filter.expected_fpr(), 0.01);
}

// All positions of an element follow from two numbers.
TEST(RedisBloomFilter, SmallFiltersAreAboveTheExpectedRate) {
  const auto factor_of = [](double error_rate) {
    constexpr uint64_t kElements = 100;
    testing::Random random(3);
    double positives = 0;
    double expected = 0;
    for (int i = 0; i < 50; ++i) {
      auto filter = RedisBloomFilter::New(NonScaling(error_rate, kElements));
      for (uint64_t j = 0; j < kElements; ++j) {
        EXPECT_TRUE(filter->Add(absl::StrCat(random())).ok());
      }
      constexpr uint64_t kLookups = 100'000;
      for (uint64_t j = 0; j < kLookups; ++j) {
        positives += filter->MayContain(absl::StrCat("absent", random()));
      }
      expected += kLookups * filter->expected_fpr();
    }
    return positives / expected;
  };
  EXPECT_NEAR(factor_of(1e-3), 1.5, 0.3);
  EXPECT_NEAR(factor_of(1e-4), 3, 1);
}

}  // namespace
}  // namespace rowbloom
