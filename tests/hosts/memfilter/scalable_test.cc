// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/scalable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "memfilter/saved_form.h"
#include "testing/fpr.h"
#include "testing/keys.h"
#include "testing/reseal.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using ::testing::ElementsAre;
using testing::Random;
using testing::RandomDigests;

TEST(ScalableFilter, RateStaysBelowTheTargetHoweverManyKeysCome) {
  Random random(1);
  for (const uint32_t expansion : {1u, 2u, 4u}) {
    const ScalableOptions options = {0.01, expansion == 1 ? 20000u : 100u,
                                     expansion};
    auto filter = ScalableFilter::New(options);
    for (int step = 0; step < 20; ++step) {
      ASSERT_TRUE(filter->Add(RandomDigests(&random, 10000)).ok());
      ASSERT_LE(filter->expected_fpr(), options.target_fpr);
    }
    EXPECT_GT(filter->layer_count(), 5u);
    EXPECT_TRUE(testing::WithinBinomialBound(
        testing::CountPositives(*filter, 200000, &random), 200000,
        filter->expected_fpr(), 0, testing::k999));
  }
}

TEST(ScalableFilter, RateStaysBelowTheTargetHoweverSmallTheFirstLayer) {
  Random random(4);
  for (const double tightening : {0.25, 0.5, 0.9}) {
    for (const double target_fpr : {0.1, 0.01, 0.001}) {
      for (const uint64_t capacity : {1, 2, 3, 5, 10, 100}) {
        for (const uint32_t expansion : {1u, 2u, 4u}) {
          const ScalableOptions options = {target_fpr, capacity, expansion,
                                           tightening};
          for (int round = 0; round < 10; ++round) {
            auto filter = ScalableFilter::New(options);
            while (filter->layer_count() < 6) {
              ASSERT_TRUE(filter->Add({random()}).ok());
            }
            ASSERT_LE(filter->expected_fpr(), target_fpr)
                << tightening << " " << capacity << " " << expansion;
          }
        }
      }
    }
  }
}

TEST(ScalableFilter, OptionsOutOfRangeAreInvalid) {
  const auto refused = [](const ScalableOptions& options) {
    return absl::IsInvalidArgument(ScalableFilter::New(options).status());
  };
  EXPECT_FALSE(refused({}));
  for (const double share :
       {0.0, 1.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_TRUE(refused({share}));
    EXPECT_TRUE(refused({0.01, 100, 2, share}));
  }
  EXPECT_TRUE(refused({0.01, 0}));
  EXPECT_TRUE(refused({0.01, std::numeric_limits<uint64_t>::max()}));
  // The message names only this option.
  EXPECT_EQ(ScalableFilter::New({0.01, 100, 0}).status().message(),
            "expansion 0: must be 1 to 2^15");
}

TEST(ScalableFilter, TheLowestRateThereIsCanBeAskedFor) {
  ScalableOptions options;
  options.target_fpr = std::numeric_limits<double>::denorm_min();
  auto filter = ScalableFilter::New(options);
  ASSERT_TRUE(filter.ok()) << filter.status();
  for (uint64_t i = 0; i < 5 * options.capacity; ++i) {
    ASSERT_TRUE(*filter->Add(DigestBytes(std::to_string(i))));
  }
  EXPECT_EQ(filter->layer_count(), 3u);
}

TEST(ScalableFilter, OneThatCannotGrowSaysSo) {
  Random random(2);
  // Each key needs a layer.
  auto filter = ScalableFilter::New({0.01, /*capacity=*/1, /*expansion=*/1});
  absl::Status status;
  uint64_t added = 0;
  while (status.ok() && added < 2000) {
    const auto result = filter->Add({random()});
    status = result.status();
    added += result.ok() && *result;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_EQ(added, 1024u);
}

TEST(ScalableFilter, MoreMemoryThanItMayHaveIsRefusedAndNothingChanges) {
  Random random(3);
  const auto too_large = ScalableFilter::New({0.001, 1'000'000'000'000});
  EXPECT_TRUE(absl::IsResourceExhausted(too_large.status()));
  auto filter = ScalableFilter::New({0.001, 100'000, 32768});
  ASSERT_TRUE(filter.ok());
  const auto grow = [&random](ScalableFilter* grown) {
    absl::StatusOr<bool> added = true;
    while (added.ok()) {
      if (grown->approximate_count() > 1'000'000) return absl::OkStatus();
      added = grown->Add({random()});
    }
    return added.status();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*filter)));
  EXPECT_EQ(filter->approximate_count(), 100'000u);
  EXPECT_EQ(filter->layer_count(), 1u);
  const std::string full = filter->Save();
  KeyDigest absent{random()};
  while (filter->MayContain(absent)) absent.value = random();
  EXPECT_FALSE(filter->Add(absent).ok());
  EXPECT_FALSE(filter->MayContain(absent));
  EXPECT_EQ(filter->Save(), full);
  // A loaded filter has the same limit, unless Load() is given another.
  auto loaded = ScalableFilter::Load(full);
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(absl::IsResourceExhausted(loaded->Add(absent).status()));
  ScalableOptions options = {0.001, 10};
  auto small = ScalableFilter::New(options);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(small->Add({random()}).ok());
  auto limited = ScalableFilter::Load(small->Save(), 1);
  ASSERT_TRUE(limited.ok());  // It exceeds its limit and cannot grow.
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*limited)));
  EXPECT_EQ(limited->layer_count(), small->layer_count());
  options.max_memory_bytes = 20000;
  auto bounded = ScalableFilter::New(options);
  EXPECT_TRUE(absl::IsResourceExhausted(grow(&*bounded)));
  EXPECT_GT(bounded->memory_usage_bytes(), 5000u);
  EXPECT_LE(bounded->memory_usage_bytes(), 20500u);
}

TEST(ScalableFilter, MemoryIsThatOfItsLayers) {
  Random random(5);
  auto filter = ScalableFilter::New({0.01, 100, /*expansion=*/1});
  while (filter->layer_count() < 64) {
    ASSERT_TRUE(filter->Add({random()}).ok());
  }
  const std::string saved = filter->Save();
  EXPECT_GE(filter->memory_usage_bytes(),
            8 * util::LoadFixed<uint64_t>(&saved[16]) +
                64 * (sizeof(StandardFilter) + 2 * sizeof(uint64_t)));
}

// docs/memfilters.md, "Which filter for what".
TEST(ScalableFilter, TheDefaultsTakeSixTimesAStandardFiltersMemory) {
  Random random(9);
  ScalableOptions options;
  auto filter = ScalableFilter::New(options);
  double least = std::numeric_limits<double>::max();
  double most = 0;
  size_t layers = 1;
  for (uint64_t keys = 1; keys <= 1'000'000; ++keys) {
    ASSERT_TRUE(filter->Add(KeyDigest{random()}).ok());
    // It takes most when it has just grown, and least before.
    if (keys < 1000 || (filter->layer_count() == layers && keys % 1000 != 0)) {
      continue;
    }
    layers = filter->layer_count();
    const double times =
        8 * static_cast<double>(filter->memory_usage_bytes()) /
        static_cast<double>(ShapeFor(keys, options.target_fpr)->bit_count);
    least = std::min(least, times);
    most = std::max(most, times);
  }
  EXPECT_GT(least, 1.8);
  EXPECT_LT(most, 6);
}

// A layer with room for 2^60 keys precedes a layer whose room fits no integer.
TEST(ScalableFilter, ASavedLayerHasRoomForKeys) {
  constexpr uint64_t kCapacity = uint64_t{1} << 60;
  internal::memfilter::SavedFormWriter writer(MemFilterKind::kScalable);
  writer.AddDouble(0.01);
  writer.AddDouble(0.5);
  writer.AddVarint(kCapacity);
  writer.AddVarint(1 << 15);
  writer.AddVarint(0);  // Scaling.
  writer.AddVarint(2);  // Layers.
  const std::vector<uint64_t> words = {0};
  for (const uint64_t capacity : {kCapacity, uint64_t{0}}) {
    writer.AddVarint(64);  // Bits.
    writer.AddVarint(3);   // Probes.
    writer.AddVarint(capacity);
    writer.AddVarint(0);  // Keys.
    writer.AddWords(words);
  }
  const absl::Status status = ScalableFilter::Load(writer.Finish()).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(status.message().find("room for 0"), std::string::npos) << status;
}

}  // namespace
}  // namespace rowbloom
