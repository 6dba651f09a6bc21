// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/concurrent.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "hosts/memfilter/any_filter.h"
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

// Threads add, ask, save and unite at random. Each has an exact set: the number
// of its keys that have been added.
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
          if (random.Below(50) == 0) LookAtAllBits();
          [[fallthrough]];
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

  // Looks at all bits while they change.
  void LookAtAllBits() {
    const auto loaded = StandardFilter::Load(filter_.Save());
    lost_ += !loaded.ok() || filter_.fill() < loaded->fill();
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
  uint64_t seed = testing::TestSeed();
  for (uint64_t done = 0; done < operations;
       done += SharedFilter::kThreads * kOfOneThread) {
    const SharedFilter filter(++seed, kOfOneThread);
    ASSERT_EQ(filter.lost(), 0u) << "seed " << seed;
    ASSERT_TRUE(filter.IsExact()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rowbloom
