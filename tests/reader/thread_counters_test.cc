// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "reader/file_counters.h"
#include "testing/threads.h"

namespace rowbloom::internal::reader {
namespace {

using Values = std::array<uint64_t, ThreadCounters::kCounters>;

constexpr size_t kNumbers =
    util::CounterPage::kSize * util::ThreadRecord::kCounterPages;

TEST(ThreadCounters, WithTheNumberOfDestroyedOnesStartAtZero) {
  for (int round = 0; round < 10; ++round) {
    std::vector<std::unique_ptr<ThreadCounters>> all;
    for (size_t i = 0; i < 2 * util::CounterPage::kSize; ++i) {
      all.push_back(std::make_unique<ThreadCounters>());
      ASSERT_EQ(all.back()->Sum(), Values{});
    }
    const auto add = [&] {
      for (size_t i = 0; i < all.size(); ++i) {
        all[i]->Add(util::ThisThread(), i % 2, i + 1);
      }
    };
    add();
    std::thread(add).join();
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_EQ(all[i]->Sum()[i % 2], 2 * (i + 1));
      ASSERT_EQ(all[i]->Sum()[1 - i % 2], 0);
    }
  }
}

TEST(ThreadCounters, BeyondThePlacesOfAThreadAreShared) {
  std::vector<std::unique_ptr<ThreadCounters>> all;
  for (size_t i = 0; i < kNumbers + 10; ++i) {
    all.push_back(std::make_unique<ThreadCounters>());
  }
  const auto add = [&] {
    for (size_t i = kNumbers - 10; i < all.size(); ++i) {
      all[i]->Add(util::ThisThread(), 0, i);
      all[i]->Add(util::ThisThread(), 1);
    }
  };
  add();
  std::thread(add).join();
  for (size_t i = kNumbers - 10; i < all.size(); ++i) {
    ASSERT_EQ(all[i]->Sum(), (Values{2 * i, 2})) << i;
  }
  // Counters that have no place of their own give none back.
  all.clear();
  ThreadCounters again;
  EXPECT_EQ(again.Sum(), Values{});
}

TEST(ThreadCountersThreads, SumsAreExactAndNeverGoBack) {
  constexpr int kThreads = 8;
  constexpr uint64_t kRounds = 20000;
  ThreadCounters first, second;
  Values last{};
  testing::RunThreads(
      kThreads,
      [&](int) {
        for (uint64_t i = 0; i < kRounds; ++i) {
          first.Add(util::ThisThread(), 0);
          first.Add(util::ThisThread(), 1, i);
          second.Add(util::ThisThread(), 0, 2);
        }
      },
      [&] {
        const Values now = first.Sum();
        for (size_t i = 0; i < now.size(); ++i) ASSERT_GE(now[i], last[i]);
        last = now;
      });
  EXPECT_EQ(first.Sum(), (Values{kThreads * kRounds,
                                 kThreads * (kRounds * (kRounds - 1) / 2)}));
  EXPECT_EQ(second.Sum(), (Values{2 * kThreads * kRounds, 0}));
}

// Counters come and go while other threads use others of the same page, for
// the first time too.
TEST(ThreadCountersThreads, ComeAndGoBesideOthers) {
  ThreadCounters stays;
  for (int round = 0; round < 50; ++round) {
    testing::RunThreads(
        4, [&](int) { stays.Add(util::ThisThread(), 1); },
        [] {
          ThreadCounters counters;
          counters.Add(util::ThisThread(), 0, 3);
          ASSERT_EQ(counters.Sum(), (Values{3, 0}));
        });
  }
  EXPECT_EQ(stays.Sum(), (Values{0, 200}));
}

}  // namespace
}  // namespace rowbloom::internal::reader
