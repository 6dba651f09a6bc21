// SPDX-License-Identifier: Apache-2.0

#include "util/epoch.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "testing/threads.h"

namespace rowbloom::util {
namespace {

bool EpochPassed(uint64_t epoch) { return epoch < FirstGuardedEpoch(); }

TEST(Epoch, IsNotHeldUpByAGuardThatBeganAfterwards) {
  const uint64_t epoch = RetireEpoch();
  EpochGuard guard;
  EXPECT_TRUE(EpochPassed(epoch));
  EXPECT_FALSE(EpochPassed(RetireEpoch()));
}

TEST(Epoch, EndsWithTheOutermostGuard) {
  auto outer = std::make_unique<EpochGuard>();
  const uint64_t before = RetireEpoch();
  auto inner = std::make_unique<EpochGuard>();
  const uint64_t within = RetireEpoch();
  inner.reset();
  EXPECT_FALSE(EpochPassed(before));
  EXPECT_FALSE(EpochPassed(within));
  outer.reset();
  EXPECT_TRUE(EpochPassed(before));
  EXPECT_TRUE(EpochPassed(within));
}

TEST(Epoch, IsHeldUpByAnotherThreadsGuard) {
  std::promise<void> guarded;
  std::promise<void> retired;
  std::thread reader([&] {
    EpochGuard guard;
    guarded.set_value();
    retired.get_future().wait();
  });
  guarded.get_future().wait();
  const uint64_t epoch = RetireEpoch();
  EXPECT_FALSE(EpochPassed(epoch));
  retired.set_value();
  reader.join();
  EXPECT_TRUE(EpochPassed(epoch));
}

// Returns the records of `count` threads that live at the same time.
std::multiset<ThreadRecord*> RecordsOfThreads(int count) {
  std::vector<ThreadRecord*> records(static_cast<size_t>(count));
  std::atomic<int> begun{0};
  testing::RunThreads(count, [&](int t) {
    records[static_cast<size_t>(t)] = &ThisThread();
    ++begun;
    while (begun < count) std::this_thread::yield();
  });
  return {records.begin(), records.end()};
}

TEST(ThreadRecord, HasOneOwnerAndThoseOfEndedThreadsAreUsedAgain) {
  ThreadRecord* const own = &ThisThread();
  const std::multiset<ThreadRecord*> first = RecordsOfThreads(16);
  EXPECT_EQ(std::set<ThreadRecord*>(first.begin(), first.end()).size(), 16);
  EXPECT_EQ(first.count(own), 0);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(RecordsOfThreads(16), first);
  }
  // One new thread after another gets the same record.
  std::set<ThreadRecord*> records;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] { records.insert(&ThisThread()); }).join();
  }
  EXPECT_EQ(records.size(), 1);
  EXPECT_EQ(first.count(*records.begin()), 1);
}

// Destructors of thread-local objects may run after the destructor that returns
// the thread's record.
TEST(ThreadRecord, IsThereUntilTheLastDestructorOfTheThread) {
  static std::atomic<int> guarded;
  guarded = 0;
  struct AsksLate {
    ~AsksLate() {
      EpochGuard guard;
      if (!EpochPassed(RetireEpoch())) ++guarded;
    }
    bool is_there = true;
  };
  std::thread([] {
    thread_local AsksLate late;  // Before the record: destroyed after it.
    ASSERT_TRUE(late.is_there);
    EpochGuard guard;
  }).join();
  EXPECT_EQ(guarded, 1);
  EXPECT_TRUE(EpochPassed(RetireEpoch()));
}

// A retired value is overwritten only after its epoch; otherwise the readers
// and ThreadSanitizer would see it.
TEST(EpochThreads, ReadersSeeNoFreedValue) {
  struct Shared {
    uint64_t twice[2];
  };
  constexpr int kReaders = 3;
  constexpr int kRounds = 20000;
  std::atomic<Shared*> shared{new Shared{{0, 0}}};
  struct Retired {
    uint64_t epoch;
    Shared* value;
  };
  std::deque<Retired> retired;
  const auto free_oldest = [&] {
    Shared* value = retired.front().value;
    value->twice[0] = ~value->twice[1];  // A reader of it would fail.
    delete value;
    retired.pop_front();
  };
  std::atomic<bool> done{false};
  uint64_t round = 0;
  testing::RunThreads(
      kReaders,
      [&](int) {
        uint64_t last = 0;
        while (!done) {
          EpochGuard guard;
          const Shared* value = shared.load();
          if (value == nullptr) continue;
          ASSERT_EQ(value->twice[0], value->twice[1]);
          ASSERT_GE(value->twice[0], last);
          last = value->twice[0];
        }
      },
      [&] {
        if (++round >= kRounds) done = true;
        Shared* next = round % 7 == 0 ? nullptr : new Shared{{round, round}};
        Shared* old = shared.exchange(next);
        if (old != nullptr) retired.push_back({RetireEpoch(), old});
        while (!retired.empty() && EpochPassed(retired.front().epoch)) {
          free_oldest();
        }
      });
  while (!retired.empty()) {
    EXPECT_TRUE(EpochPassed(retired.front().epoch));
    free_oldest();
  }
  delete shared.load();
}

}  // namespace
}  // namespace rowbloom::util
