// SPDX-License-Identifier: Apache-2.0
//
// Tests which layer a key goes to: dynamic, split, balanced and matrix filters.

#include "rowbloom/memfilter/layers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <new>

#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/reseal.h"

// Sanitizers define this operator themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ROWBLOOM_MEMORY_NEVER_ENDS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ROWBLOOM_MEMORY_NEVER_ENDS
#endif
#endif
#if !defined(ROWBLOOM_MEMORY_NEVER_ENDS)
static bool memory_is_used_up = false;
void* operator new[](size_t size, const std::nothrow_t& nothrow) noexcept {
  return memory_is_used_up ? nullptr : operator new(size, nothrow);
}
#endif

namespace rowbloom {
namespace {

using testing::Random;
using testing::RandomDigests;

constexpr BloomShape kLayer = {4096, 8};

DynamicFilter Dynamic(uint64_t keys_per_layer) {
  return *DynamicFilter::New({kLayer, keys_per_layer});
}

TEST(DynamicFilter, ALayerHasItsNumberOfKeys) {
  Random random(1);
  DynamicFilter filter = Dynamic(100);
  uint64_t changed = 0;
  for (const KeyDigest key : RandomDigests(&random, 1000)) {
    changed += *filter.Add(key);
    ASSERT_EQ(filter.layer_count(), (changed + 99) / 100);
  }
}

TEST(DynamicFilter, RepeatedKeysMakeNoLayers) {
  Random random(2);
  DynamicFilter filter = Dynamic(100);
  const std::vector<KeyDigest> keys = RandomDigests(&random, 100);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(filter.Add(keys).ok());
  EXPECT_EQ(filter.layer_count(), 1u);
}

TEST(FilterLayers, OptionsOutOfRangeAreInvalid) {
  const auto refused = [](const auto& filter) {
    return absl::IsInvalidArgument(filter.status());
  };
  constexpr BloomShape kNoProbes = {4096, 0};
  EXPECT_TRUE(refused(DynamicFilter::New({kLayer, 0})));
  EXPECT_TRUE(refused(DynamicFilter::New({kNoProbes, 1})));
  EXPECT_TRUE(SplitFilter::New({kLayer, 10, 2}).ok());
  EXPECT_TRUE(refused(SplitFilter::New({kLayer, 0, 2})));
  EXPECT_TRUE(refused(SplitFilter::New({kLayer, 10, 0})));
  EXPECT_TRUE(refused(SplitFilter::New({kLayer, 10, kMaxLayerCount + 1})));
  EXPECT_TRUE(refused(BalancedFilter::New({})));
  EXPECT_TRUE(refused(BalancedFilter::New({kLayer, 0})));
  EXPECT_TRUE(refused(BalancedFilter::New({kLayer, 65})));
  const std::pair<uint32_t, uint32_t> layers_and_groups[] = {
      {0, 1}, {8, 0}, {8, 3}, {8, 16}, {128, 128}, {kMaxLayerCount + 1, 1}};
  for (const auto& [layers, groups] : layers_and_groups) {
    EXPECT_TRUE(refused(MatrixFilter::New({kLayer, layers, groups})))
        << layers << " " << groups;
  }
  EXPECT_TRUE(refused(MatrixFilter::New({kLayer, 8, 2, MatrixTie{2}})));
}

// No filter has more keys than set bits: each key that counts has set one.
TEST(FilterLayers, MoreKeysThanBitsAreDamage) {
  DynamicFilter filter = Dynamic(100);
  ASSERT_TRUE(filter.Add({1}).ok());
  std::string saved = filter.Save();
  // keys_per_layer, bits (2 bytes), probes, layers, then the keys of the first.
  ASSERT_EQ(saved[32 + 5], 1);
  saved[32 + 5] = 8;
  testing::ResealMemFilter(&saved);
  EXPECT_TRUE(DynamicFilter::Load(saved).ok());
  saved[32 + 5] = 9;
  testing::ResealMemFilter(&saved);
  EXPECT_TRUE(absl::IsDataLoss(DynamicFilter::Load(saved).status()));
}

SplitFilter Split(uint64_t keys_per_layer, uint32_t layers) {
  return *SplitFilter::New({kLayer, keys_per_layer, layers});
}

TEST(FilterLayers, UnionsOfTheSameKeysCanBeLoaded) {
  Random random(13);
  SplitFilter filter = Split(50, 1);
  ASSERT_TRUE(filter.Add(RandomDigests(&random, 40)).ok());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(filter.Union(SplitFilter(filter)).ok());
  }
  EXPECT_TRUE(SplitFilter::Load(filter.Save()).ok());
}

TEST(SplitFilter, IsFullWhenAllLayersHaveTheirKeysAndThenChangesNoMore) {
  Random random(3);
  SplitFilter filter = Split(50, 8);
  uint64_t changed = 0;
  while (changed < 400) changed += *filter.Add({random()});
  const std::string full = filter.Save();
  EXPECT_TRUE(absl::IsResourceExhausted(filter.Add({random()}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(filter.Add(RandomDigests(&random, 3))));
  EXPECT_EQ(filter.Save(), full);
  EXPECT_EQ(filter.approximate_count(), 400u);
  const auto loaded = SplitFilter::Load(full);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(SplitFilter(*loaded).Add({1}).status()));
}

TEST(SplitFilter, LayersAreChosenEvenly) {
  Random random(4);
  SplitFilter filter = Split(100000, 8);
  ASSERT_TRUE(filter.Add(RandomDigests(&random, 1600)).ok());
  // Each of 8 layers gets 200 keys; if one layer got all, the fill would show
  // it.
  const double even = 1 - std::exp(-8.0 * 200 / 4096);
  EXPECT_NEAR(filter.fill(), even, 0.01);
}

TEST(BalancedFilter, AGroupEndsWhenHalfOfItsBitsAreSet) {
  Random random(5);
  auto filter = BalancedFilter::New({kLayer});
  EXPECT_EQ(filter->layer_count(), 2u);
  for (size_t layers = 2; layers <= 8; layers += 2) {
    double fill = 0;
    while (filter->layer_count() == layers) {
      fill = filter->fill();
      ASSERT_TRUE(filter->Add({random()}).ok());
    }
    // The fill exceeds one half by one key at most.
    EXPECT_GE(fill, 0.5);
    EXPECT_LT(fill, 0.5 + 8.0 / 4096);
    ASSERT_EQ(filter->layer_count(), layers + 2);
  }
}

#if !defined(ROWBLOOM_MEMORY_NEVER_ENDS)
template <typename Filter>
void ExpectToSurviveTheEndOfMemory(Filter filter) {
  Random random(15);
  // Adds keys until one needs a new layer.
  std::string saved;
  do {
    saved = filter.Save();
    memory_is_used_up = true;
    const auto added = filter.Add({random()});
    memory_is_used_up = false;
    if (added.ok()) continue;
    EXPECT_EQ(added.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(filter.Save(), saved);
    memory_is_used_up = true;
    EXPECT_TRUE(
        absl::IsResourceExhausted(filter.Add(RandomDigests(&random, 10))));
    memory_is_used_up = false;
    EXPECT_TRUE(filter.Add(RandomDigests(&random, 10)).ok());
    return;
  } while (filter.approximate_count() < 1000);
  FAIL() << "no key needed memory";
}

TEST(FilterLayers, WithoutMemoryForALayerAKeyIsRefused) {
  ExpectToSurviveTheEndOfMemory(Dynamic(100));
  ExpectToSurviveTheEndOfMemory(*BalancedFilter::New({kLayer}));
}
#endif

// Returns the least memory of the layers, without the allocator's overhead.
uint64_t BytesOfLayers(uint64_t layers, uint64_t bits) {
  return layers * (sizeof(BitArray) + 2 * sizeof(uint64_t) +
                   BitArray::WordCount(bits) * sizeof(uint64_t));
}

TEST(SplitFilter, MemoryIsThatOfItsLayersAndOfTheirList) {
  EXPECT_GE(Split(10, 1000).memory_usage_bytes(),
            BytesOfLayers(1000, kLayer.bit_count) + 1000 * sizeof(uint32_t));
}

TEST(FilterLayers, UnionsWithEmptyFiltersAddNoLayers) {
  Random random(14);
  auto balanced = BalancedFilter::New({kLayer});
  DynamicFilter dynamic = Dynamic(100);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(balanced->Union(*BalancedFilter::New({kLayer})).ok());
    ASSERT_TRUE(dynamic.Union(Dynamic(100)).ok());
  }
  EXPECT_EQ(balanced->layer_count(), 2u);
  EXPECT_EQ(dynamic.layer_count(), 1u);
  // A group stays together if one of its layers has a key.
  auto other = BalancedFilter::New({kLayer});
  ASSERT_TRUE(other->Add({1}).ok());
  ASSERT_TRUE(balanced->Union(*other).ok());
  EXPECT_EQ(balanced->layer_count(), 4u);
  EXPECT_TRUE(balanced->MayContain({1}));
  EXPECT_TRUE(BalancedFilter::Load(balanced->Save()).ok());
  EXPECT_EQ(balanced->approximate_count(), 1u);
}

MatrixFilter Matrix(uint32_t layers, uint32_t groups) {
  return *MatrixFilter::New({kLayer, layers, groups});
}

TEST(MatrixFilter, AKeyWithoutRoomIsRefusedAndOthersMayFindSome) {
  Random random(7);
  MatrixFilter filter = Matrix(8, 2);
  uint64_t refused = 0;
  uint64_t added_after = 0;
  for (int i = 0; i < 6000; ++i) {
    const KeyDigest key{random()};
    const std::string before = refused == 0 ? filter.Save() : "";
    const auto added = filter.Add(key);
    if (added.ok()) {
      added_after += refused > 0 && *added;
      ASSERT_TRUE(filter.MayContain(key));
      continue;
    }
    ASSERT_EQ(added.status().code(), absl::StatusCode::kResourceExhausted);
    if (refused++ == 0) {
      EXPECT_EQ(filter.Save(), before);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(added_after, 0u);
  // Each layer stops at half, or up to one key over it.
  EXPECT_GE(filter.fill(), 0.5);
  EXPECT_LT(filter.fill(), 0.5 + 8.0 / 4096);
}

TEST(MatrixFilter, LongestMatchSetsFewerBitsThanAnyLayerWould) {
  Random random(8);
  const std::vector<KeyDigest> keys = RandomDigests(&random, 1000);
  MatrixFilter plain = Matrix(8, 1);
  MatrixFilter balanced = Matrix(8, 2);
  ASSERT_TRUE(plain.Add(keys).ok());
  ASSERT_TRUE(balanced.Add(keys).ok());
  EXPECT_LT(balanced.fill(), plain.fill());
}

TEST(MatrixFilter, MoreGroupsHoldMoreKeys) {
  Random random(9);
  uint64_t fewer = 0;
  for (const uint32_t groups : {1u, 2u, 4u, 8u}) {
    MatrixFilter filter = Matrix(8, groups);
    // Adds keys until one is refused; if layers were left out, that would come
    // early.
    uint64_t added = 0;
    for (auto result = filter.Add({random()}); result.ok();
         result = filter.Add({random()})) {
      added += *result;
    }
    // One layer holds 355. A choice between even layers saves some bits of
    // each.
    EXPECT_GT(added, 8 * 300u) << groups;
    EXPECT_GT(added, fewer + fewer / 20) << groups;
    fewer = added;
  }
}

TEST(MatrixFilter, CandidatesInDifferentGroupsAreIndependent) {
  constexpr uint32_t kGroups = 4;
  constexpr size_t kLayers = 4;  // In each group.
  constexpr uint64_t kKeys = 160000;
  const MatrixFilter filter = Matrix(kGroups * kLayers, kGroups);
  Random random(10);
  // Stride 0 gives hashes; the others give digests that are not hashes.
  for (const uint64_t stride : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    uint64_t pairs[kGroups][kGroups][kLayers][kLayers] = {};
    for (uint64_t i = 0; i < kKeys; ++i) {
      const KeyDigest key{stride == 0 ? random() : i * stride};
      size_t layer[kGroups];
      for (uint32_t group = 0; group < kGroups; ++group) {
        layer[group] = filter.options().Candidate(key, group) - group * kLayers;
        ASSERT_LT(layer[group], kLayers);
      }
      for (uint32_t a = 0; a < kGroups; ++a) {
        for (uint32_t b = 0; b < a; ++b) ++pairs[a][b][layer[a]][layer[b]];
      }
    }
    for (uint32_t a = 0; a < kGroups; ++a) {
      for (uint32_t b = 0; b < a; ++b) {
        const double expected = 1.0 * kKeys / (kLayers * kLayers);
        double chi_square = 0;
        for (const auto& counts : pairs[a][b]) {
          for (const uint64_t count : counts) {
            const double off = static_cast<double>(count) - expected;
            chi_square += off * off / expected;
          }
        }
        // With 15 degrees of freedom, 99.99% of the values are below.
        EXPECT_LT(chi_square, 44.27) << a << " " << b << " " << stride;
      }
    }
  }
}

TEST(MatrixFilter, RateOfUnevenLayersIsTheExpectedOne) {
  constexpr uint64_t kLookups = 100000;
  // A full layer has a rate of a quarter.
  const MatrixOptions options = {{512, 2}, 8};
  Random random(11);
  for (size_t first = 0; first < 4; ++first) {
    for (size_t second = 4; second < 8; ++second) {
      auto filter = MatrixFilter::New(options);
      // One layer of each group gets most of the keys.
      for (int i = 0; i < 1000; ++i) {
        const KeyDigest key{random()};
        if (filter->options().Candidate(key, 0) != first &&
            filter->options().Candidate(key, 1) != second) {
          continue;
        }
        const auto added = filter->Add(key);
        ASSERT_TRUE(added.ok() || absl::IsResourceExhausted(added.status()));
      }
      EXPECT_TRUE(testing::WithinBinomialBound(
          testing::CountPositives(*filter, kLookups, &random), kLookups,
          filter->expected_fpr(), 0, testing::k9999));
    }
  }
}

TEST(MatrixFilter, ThePapersTieFillsLayersInTurnAndHoldsNoMoreKeys) {
  Random random(12);
  const std::vector<KeyDigest> keys = RandomDigests(&random, 20000);
  uint64_t held[2] = {};
  for (const MatrixTie tie : {MatrixTie::kFirst, MatrixTie::kLessFilled}) {
    auto filter = MatrixFilter::New({kLayer, 8, 2, tie});
    for (const KeyDigest key : keys) {
      const auto added = filter->Add(key);
      held[static_cast<int>(tie)] += added.ok() && *added;
    }
    const auto loaded = MatrixFilter::Load(filter->Save());
    ASSERT_TRUE(loaded.ok());
    EXPECT_EQ(loaded->options().tie, tie);
  }
  EXPECT_LT(held[0], 8 * 355 * 1.04);  // One layer holds 355.
  EXPECT_GT(held[1], 8 * 355 * 1.08);
  auto less_filled = MatrixFilter::New({kLayer, 8, 2, MatrixTie::kLessFilled});
  EXPECT_FALSE(
      less_filled->Union(*MatrixFilter::New({kLayer, 8, 2, MatrixTie::kFirst}))
          .ok());
}

}  // namespace
}  // namespace rowbloom
