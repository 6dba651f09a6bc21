// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/concurrent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "memfilter/any_filter.h"
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

TEST(ConcurrentFilter, OneThatWasMovedFromCanBeAssignedTo) {
  const KeyDigest key = DigestBytes("key");
  auto first = ConcurrentFilter::New({1000, 3});
  ConcurrentFilter second = *std::move(first);
  *first = *ConcurrentFilter::New({500, 3});
  EXPECT_TRUE(first->Add(key));
  EXPECT_FALSE(second.MayContain(key));
  EXPECT_TRUE(second.Add(key));
  *first = std::move(second);
  EXPECT_EQ(first->shape(), (BloomShape{1000, 3}));
  EXPECT_TRUE(first->MayContain(key));
}

TEST(ConcurrentFilterThreads, NoKeyIsLostWhoseAddHappenedBefore) {
  constexpr int kWriters = 3;
  constexpr size_t kKeys = 20000;
  auto filter = ConcurrentFilter::New({kWriters * kKeys * 8, 6});
  Random random(2);
  const std::vector<KeyDigest> keys = RandomDigests(&random, kWriters * kKeys);
  // The number of each writer's keys that have been added.
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

// Threads add, ask and unite at random. Each has an exact set: the number of
// its keys that have been added.
class SharedFilter {
 public:
  static constexpr size_t kThreads = 3;

  // Each thread performs this many operations.
  SharedFilter(uint64_t seed, size_t operations)
      : operations_(operations), filter_(*ConcurrentFilter::New(kShape)) {
    Random random(seed);
    for (std::vector<KeyDigest>& keys : keys_) {
      keys = RandomDigests(&random, kKeys);
    }
    std::vector<std::thread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, seed] { Operate(t, seed * 100 + t); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  uint64_t lost() const { return lost_; }
  // Returns true if exactly the bits of the keys are set.
  bool IsExact() const {
    auto exact = StandardFilter::New(kShape);
    for (size_t t = 0; t < kThreads; ++t) {
      exact->Add(absl::MakeConstSpan(keys_[t]).first(added_[t]));
    }
    return exact->Save() == filter_.Save();
  }

 private:
  static constexpr BloomShape kShape = {50000, 4};
  static constexpr size_t kKeys = 4000;

  void Operate(size_t t, uint64_t seed) {
    Random random(seed);
    const absl::Span<const KeyDigest> keys = keys_[t];
    size_t added = 0;
    for (size_t done = 0; done < operations_ && added + 40 <= kKeys;) {
      const size_t count = 1 + random.Below(40);
      const auto next = keys.subspan(added, count);
      switch (random.Below(8)) {
        case 0:
          filter_.Add(next);
          added += count;
          done += count;
          break;
        case 1: {
          if (random.Below(50) != 0) break;  // It goes over all bits.
          auto other = ConcurrentFilter::New(kShape);
          other->Add(next);
          lost_ += !filter_.Union(*other).ok();
          added += count;
          ++done;
          break;
        }
        case 2:
        case 3:
          Ask(count, &random);
          done += count;
          break;
        case 4:
          // Adding a present key changes nothing.
          if (added > 0) lost_ += filter_.Add(keys[random.Below(added)]);
          ++done;
          break;
        default:
          filter_.Add(keys[added++]);
          ++done;
          break;
      }
      added_[t].store(added, std::memory_order_release);
    }
  }

  // Asks for some keys that one thread has added.
  void Ask(size_t count, Random* random) {
    const size_t t = random->Below(kThreads);
    const size_t added = added_[t].load(std::memory_order_acquire);
    if (added == 0) return;
    bool answers[40];
    const auto asked = absl::MakeConstSpan(keys_[t]).first(added).subspan(
        random->Below(added), count);
    filter_.MayContain(asked, answers);
    for (size_t i = 0; i < asked.size(); ++i) {
      lost_ += !answers[i] || !filter_.MayContain(asked[i]);
    }
  }

  const size_t operations_;
  ConcurrentFilter filter_;
  std::vector<KeyDigest> keys_[kThreads];
  std::atomic<size_t> added_[kThreads] = {};
  std::atomic<uint64_t> lost_{0};
};

TEST(ConcurrentFilterThreads, NoKeyIsLostOverRandomOperations) {
  constexpr size_t kOfOneThread = 5000;
  const uint64_t operations = testing::MemFilterOperations();
  uint64_t seed = 0;
  for (uint64_t done = 0; done < operations;
       done += SharedFilter::kThreads * kOfOneThread) {
    const SharedFilter filter(++seed, kOfOneThread);
    ASSERT_EQ(filter.lost(), 0u) << "seed " << seed;
    ASSERT_TRUE(filter.IsExact()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rowbloom
