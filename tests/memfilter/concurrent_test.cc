// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/concurrent.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::Random;
using testing::RandomDigests;

TEST(ConcurrentFilter, HasTheBitsOfTheStandardFilter) {
  Random random(1);
  const BloomShape shape = {12345, 7};
  auto concurrent = ConcurrentFilter::New(shape);
  auto standard = StandardFilter::New(shape);
  for (const KeyDigest key : RandomDigests(&random, 1000)) {
    ASSERT_EQ(concurrent->Add(key), standard->Add(key));
  }
  EXPECT_EQ(concurrent->Save(), standard->Save());
  EXPECT_EQ(concurrent->expected_fpr(), standard->expected_fpr());
  const auto loaded = ConcurrentFilter::Load(standard->Save());
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->Save(), standard->Save());
  EXPECT_FALSE(ConcurrentFilter::New({0, 1}).ok());
  EXPECT_FALSE(ConcurrentFilter::Load("").ok());
}

TEST(ConcurrentFilterThreads, NoKeyIsLostWhoseAddHappenedBefore) {
  constexpr int kWriters = 3;
  constexpr size_t kKeys = 20000;
  auto filter = ConcurrentFilter::New({kWriters * kKeys * 8, 6});
  Random random(2);
  const std::vector<KeyDigest> keys = RandomDigests(&random, kWriters * kKeys);
  // How many of each writer's keys have been added.
  std::atomic<size_t> added[kWriters] = {};
  std::atomic<uint64_t> lost{0};
  std::atomic<int> writing{kWriters};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      for (size_t i = 0; i < kKeys; i += 8) {
        const auto group = absl::MakeConstSpan(keys).subspan(w * kKeys + i, 8);
        if (i % 16 == 0) {
          filter->Add(group);
        } else {
          for (const KeyDigest key : group) filter->Add(key);
        }
        added[w].store(i + 8, std::memory_order_release);
      }
      --writing;
    });
  }
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      Random choice(static_cast<uint64_t>(100 + r));
      bool answers[64];
      while (writing > 0) {
        const size_t w = choice.Below(kWriters);
        const size_t count = added[w].load(std::memory_order_acquire);
        if (count == 0) continue;
        const size_t i = w * kKeys + choice.Below(count);
        lost += !filter->MayContain(keys[i]);
        const size_t many = std::min<size_t>(64, w * kKeys + count - i);
        filter->MayContain(absl::MakeConstSpan(keys).subspan(i, many), answers);
        for (size_t j = 0; j < many; ++j) lost += !answers[j];
      }
    });
  }
  threads.emplace_back([&] {  // Looks at all bits while they change.
    while (writing > 0) {
      const auto loaded = StandardFilter::Load(filter->Save());
      if (!loaded.ok() || filter->fill() < loaded->fill()) ++lost;
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0u);
  auto standard = StandardFilter::New(filter->shape());
  standard->Add(keys);
  EXPECT_EQ(filter->Save(), standard->Save());
}

TEST(ConcurrentFilterThreads, UnionsRunBesideAdds) {
  Random random(3);
  const BloomShape shape = {200000, 5};
  auto filter = ConcurrentFilter::New(shape);
  auto other = ConcurrentFilter::New(shape);
  const std::vector<KeyDigest> first = RandomDigests(&random, 5000);
  const std::vector<KeyDigest> second = RandomDigests(&random, 5000);
  other->Add(second);
  std::thread adder([&] {
    for (const KeyDigest key : first) filter->Add(key);
  });
  ASSERT_TRUE(filter->Union(*other).ok());
  adder.join();
  for (const KeyDigest key : first) ASSERT_TRUE(filter->MayContain(key));
  for (const KeyDigest key : second) ASSERT_TRUE(filter->MayContain(key));
  EXPECT_FALSE(filter->Union(*ConcurrentFilter::New({100, 5})).ok());
}

}  // namespace
}  // namespace rowbloom
