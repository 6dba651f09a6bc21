// SPDX-License-Identifier: Apache-2.0
//
// Tests stackful coroutines whose reads suspend them: no lookup waits for a
// read that another one has begun.

#include <gtest/gtest.h>
#include <ucontext.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "reader/test_block.h"

// The sanitizers do not follow swapcontext().
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ROWBLOOM_NO_FIBERS
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define ROWBLOOM_NO_FIBERS
#endif
#endif

#if !defined(ROWBLOOM_NO_FIBERS)

namespace rowbloom {
namespace {

using testing::NumberedRow;

class Fiber {
 public:
  explicit Fiber(std::function<void()> run)
      : run_(std::move(run)), stack_(256 << 10) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.data();
    context_.uc_stack.ss_size = stack_.size();
    context_.uc_link = nullptr;
    makecontext(&context_, &Fiber::Enter, 0);
  }

  // Runs the fiber until it suspends or ends. Any thread may call it.
  void Resume() {
    current = this;
    swapcontext(&resumer_, &context_);
  }
  // Only the running fiber may call it.
  void Suspend() { swapcontext(&context_, &resumer_); }
  bool done() const { return done_; }

  static thread_local Fiber* current;

 private:
  static void Enter() {
    Fiber* const self = current;
    self->run_();
    self->done_ = true;
    self->Suspend();
  }

  const std::function<void()> run_;
  std::vector<char> stack_;
  ucontext_t context_;
  ucontext_t resumer_;
  bool done_ = false;
};

thread_local Fiber* Fiber::current = nullptr;

class FibersTest : public ::testing::TestWithParam<FilterLoading> {
 protected:
  FibersTest() {
    FilterReaderOptions options;
    options.loading = GetParam();
    reader_ = testing::OpenOrDie(&source_, options);
    reads_ = 0;
  }

  const testing::TestFile file_{FilterOptions(), testing::EvenRows(5000)};
  int reads_ = 0;
  // Suspends the fiber that reads.
  const testing::HookedSource source_{file_.memory.get(), [this] {
                                        ++reads_;
                                        Fiber* const fiber = Fiber::current;
                                        if (fiber != nullptr) fiber->Suspend();
                                      }};
  std::unique_ptr<FilterReader> reader_;
};

INSTANTIATE_TEST_SUITE_P(Loading, FibersTest,
                         ::testing::Values(FilterLoading::kWhenItPays,
                                           FilterLoading::kAlways));

TEST_P(FibersTest, FibersOfOneThreadThatAskAColdChunkDoNotHang) {
  constexpr int kFibers = 10;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<int> answers(kFibers, -1);
  for (int i = 0; i < kFibers; ++i) {
    fibers.push_back(std::make_unique<Fiber>(
        [&, i] { answers[i] = reader_->MayContain(NumberedRow(i)); }));
  }
  for (int left = kFibers; left > 0;) {
    left = 0;
    for (const auto& fiber : fibers) {
      if (!fiber->done()) fiber->Resume();
      left += !fiber->done();
    }
  }
  Fiber::current = nullptr;
  for (int i = 0; i < kFibers; i += 2) EXPECT_EQ(answers[i], 1) << i;
  EXPECT_EQ(reads_, GetParam() == FilterLoading::kWhenItPays ? 1 : kFibers);
  EXPECT_EQ(reader_->stats()[FilterCounter::kLookups], 10u);
}

TEST_P(FibersTest, AFiberThatMovesToAnotherThreadCountsInIts) {
  bool answer = false;
  Fiber fiber([&] { answer = reader_->MayContain(NumberedRow(2)); });
  fiber.Resume();
  EXPECT_FALSE(fiber.done());
  std::thread([&] {
    fiber.Resume();
    Fiber::current = nullptr;
  }).join();
  Fiber::current = nullptr;
  EXPECT_TRUE(fiber.done());
  EXPECT_TRUE(answer);
  EXPECT_EQ(reader_->stats()[FilterCounter::kLookups], 1u);
  uint64_t positives = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    positives += reader_->MayContain(NumberedRow(2 * i + 1));
  }
  EXPECT_LT(positives, 100u);
}

TEST_P(FibersTest, ABatchSuspendsWithoutHoldingUpOthers) {
  const std::vector<std::string> rows = {NumberedRow(2), NumberedRow(8000)};
  const std::vector<FilterKey> keys = {FilterKey::Row(rows[0]),
                                       FilterKey::Row(rows[1])};
  bool answers[2] = {};
  Fiber batch([&] { reader_->MayContain(keys, answers); });
  batch.Resume();
  EXPECT_FALSE(batch.done());
  bool single = false;
  Fiber other([&] { single = reader_->MayContain(rows[0]); });
  while (!other.done()) other.Resume();
  EXPECT_TRUE(single);
  while (!batch.done()) batch.Resume();
  Fiber::current = nullptr;
  EXPECT_TRUE(answers[0] && answers[1]);
}

}  // namespace
}  // namespace rowbloom

#endif
