// SPDX-License-Identifier: Apache-2.0
//
// Compares with files that Guava wrote and with its answers for each key.
// guava/remake.sh makes these files, and has Guava read them. Filters that are
// built here have the same bytes, so both directions are tested.

#include "rowbloom/memfilter/guava.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "memfilter/murmur3.h"
#include "testing/fpr.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

constexpr int kKeys = 300;

struct Case {
  const char* name;
  double fpp;
  GuavaStrategy strategy;
  GuavaProbes probes;
};
constexpr auto k32 = GuavaStrategy::kMurmur128Mitz32;
constexpr auto k64 = GuavaStrategy::kMurmur128Mitz64;
constexpr Case kCases[] = {
    {"utf8_mitz32", 0.03, k32, GuavaProbes::kByBits},
    {"utf8_mitz64", 0.03, k64, GuavaProbes::kByRate},
    {"chars_mitz32", 0.03, k32, GuavaProbes::kByRate},
    {"chars_mitz64", 0.03, k64, GuavaProbes::kByBits},
    {"long_mitz32", 0.03, k32, GuavaProbes::kByBits},
    {"long_mitz64", 0.03, k64, GuavaProbes::kByBits},
    {"int_mitz32", 0.03, k32, GuavaProbes::kByBits},
    {"int_mitz64", 0.03, k64, GuavaProbes::kByBits},
    {"utf8_mitz64_low_rate", 1e-6, k64, GuavaProbes::kByBits},
    {"utf8_mitz64_border_5", 0.02208, k64, GuavaProbes::kByBits},
    {"utf8_mitz64_border_6", 0.02208, k64, GuavaProbes::kByRate},
};

std::string ReadGolden(const std::string& name) {
  std::ifstream file(ROWBLOOM_SOURCE_DIR "/tests/golden/guava/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file.is_open()) << name;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Returns key i as the funnel at the start of the name encodes it.
GuavaDigest Key(const std::string& name, int i) {
  const std::string digits = std::to_string(i);
  if (name.rfind("utf8", 0) == 0) {
    return GuavaDigest::Bytes(
        (i % 3 == 0 ? "key-" : "Schl\u00fcssel-\u20ac-\U0001f600-") + digits);
  }
  if (name.rfind("chars", 0) == 0) {
    return GuavaDigest::UnencodedChars(
        (i % 3 == 0 ? u"key-" : u"Schl\u00fcssel-\u20ac-\U0001f600-") +
        std::u16string(digits.begin(), digits.end()));
  }
  if (name.rfind("long", 0) == 0) {
    return GuavaDigest::Long((i - 150) * int64_t{12345678901234});
  }
  return GuavaDigest::Integer((i - 150) * 7654321);
}

GuavaFilter Built(const Case& c) {
  auto filter = GuavaFilter::New(kKeys / 2, c.fpp, c.strategy, c.probes);
  EXPECT_TRUE(filter.ok()) << filter.status();
  for (int i = 0; i < kKeys; i += 2) filter->Add(Key(c.name, i));
  return *filter;
}

TEST(GuavaFilter, AnswersAsGuavaForFiltersThatItWrote) {
  for (const Case& c : kCases) {
    const auto filter =
        GuavaFilter::ReadFrom(ReadGolden(std::string(c.name) + ".bin"));
    ASSERT_TRUE(filter.ok()) << filter.status();
    const std::string answers = ReadGolden(std::string(c.name) + ".txt");
    ASSERT_EQ(answers.size(), kKeys + 1u);
    std::vector<GuavaDigest> keys;
    for (int i = 0; i < kKeys; ++i) {
      keys.push_back(Key(c.name, i));
      ASSERT_EQ(filter->MayContain(keys.back()), answers[i] == '1')
          << c.name << " " << i;
      if (i % 2 == 0) {
        ASSERT_EQ(answers[i], '1');
      }
    }
    bool batch[kKeys];
    filter->MayContain(keys, batch);
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(batch[i], answers[i] == '1');
  }
}

TEST(GuavaFilter, WritesTheBytesThatGuavaWrites) {
  for (const Case& c : kCases) {
    EXPECT_EQ(Built(c).WriteTo(), ReadGolden(std::string(c.name) + ".bin"))
        << c.name;
  }
}

TEST(GuavaFilter, HashesArePinned) {
  EXPECT_EQ(internal::memfilter::Murmur3X64_128("").low, 0u);
  EXPECT_EQ(internal::memfilter::Murmur3X64_128("").high, 0u);
  // The inputs have tails of each size, and whole blocks.
  std::string bytes;
  uint64_t sum = 0;
  for (int i = 0; i < 50; ++i) {
    const internal::memfilter::Hash128 hash =
        internal::memfilter::Murmur3X64_128(bytes);
    sum = sum * 31 + (hash.low ^ hash.high);
    bytes.push_back(static_cast<char>(i * 37));
  }
  EXPECT_EQ(sum, 12690999402000728869u);
}

TEST(GuavaFilter, TruncationsExtensionsAndLyingHeadersAreErrors) {
  const std::string stream = ReadGolden("utf8_mitz64.bin");
  for (size_t size = 0; size < stream.size(); ++size) {
    ASSERT_TRUE(absl::IsDataLoss(
        GuavaFilter::ReadFrom(stream.substr(0, size)).status()));
  }
  EXPECT_FALSE(GuavaFilter::ReadFrom(stream + '\0').ok());
  const auto with = [&](size_t at, char byte) {
    std::string changed = stream;
    changed[at] = byte;
    return GuavaFilter::ReadFrom(changed).status().code();
  };
  EXPECT_EQ(with(0, 2), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(with(1, 0), absl::StatusCode::kDataLoss);
  for (const size_t at : {2, 3, 4, 5}) {
    EXPECT_EQ(with(at, '\x91'), absl::StatusCode::kDataLoss);
  }
  EXPECT_FALSE(GuavaFilter::ReadFrom(std::string("\1\5\0\0\0\0", 6)).ok());
}

TEST(GuavaFilter, SizesAreGuavas) {
  EXPECT_EQ(GuavaFilter::New(0)->shape().bit_count, 64u);  // One key needs 64.
  EXPECT_EQ(GuavaFilter::New(1'000'000)->shape(),
            (BloomShape{7298496, 5}));  // 7,298,440 in whole words.
  // By default as Guava 33.8.0, by the rate: by the bits it would be 5.
  EXPECT_EQ(GuavaFilter::New(100, 0.02208)->shape(), (BloomShape{832, 6}));
  for (const double fpp : {0.0, 1.0, -1.0, 2.0}) {
    EXPECT_TRUE(absl::IsInvalidArgument(GuavaFilter::New(100, fpp).status()));
  }
  EXPECT_FALSE(GuavaFilter::New(uint64_t{1} << 40, 0.001).ok());
  EXPECT_FALSE(GuavaFilter::New(100, 1e-300).ok());
}

TEST(GuavaFilter, ObservedRateIsTheExpectedOne) {
  for (const GuavaStrategy strategy : {k32, k64}) {
    auto filter = GuavaFilter::New(20000, 0.03, strategy);
    for (int i = 0; i < 20000; ++i) filter->Add(GuavaDigest::Long(i));
    uint64_t positives = 0;
    for (int i = 0; i < 300000; ++i) {
      positives += filter->MayContain(GuavaDigest::Long(-1 - i));
    }
    EXPECT_TRUE(testing::WithinBinomialBound(
        positives, 300000, filter->expected_fpr(), 0, testing::k999));
    EXPECT_NEAR(filter->approximate_count(), 20000, 300);
    EXPECT_NEAR(filter->fill(), 0.5, 0.02);
    EXPECT_GT(filter->memory_usage_bytes(), 18000u);
  }
}

TEST(GuavaFilter, UnionHasTheKeysOfBoth) {
  auto a = GuavaFilter::New(100);
  auto b = GuavaFilter::New(100);
  std::vector<GuavaDigest> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(GuavaDigest::Integer(i));
  a->Add(absl::MakeConstSpan(keys).first(50));
  b->Add(absl::MakeConstSpan(keys).last(50));
  ASSERT_TRUE(a->Union(*b).ok());
  for (const GuavaDigest& key : keys) EXPECT_TRUE(a->MayContain(key));
  EXPECT_FALSE(a->Add(keys[0]));
  EXPECT_FALSE(a->Union(*GuavaFilter::New(200)).ok());
  EXPECT_FALSE(a->Union(*GuavaFilter::New(100, 0.03, k32)).ok());
}

}  // namespace
}  // namespace rowbloom
