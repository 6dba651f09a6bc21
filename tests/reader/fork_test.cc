// SPDX-License-Identifier: Apache-2.0
//
// Tests caches and readers in a process that is a child of fork(), or that
// denies itself system calls.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>

#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/keys.h"
#include "util/epoch.h"

#if defined(__linux__) && __has_include(<linux/seccomp.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr uint64_t kForkedRows = 40000;
constexpr int kCannotRun = 77;

// Returns what run() returns in a child of fork(); -1 if it hangs or dies.
template <typename Run>
int ResultInChild(const Run& run) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(run());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The cache holds some of the chunks.
class ForkTest : public ::testing::Test {
 protected:
  ForkTest() {
    reader_ = testing::OpenOrDie(
        &source_, testing::CachedIn(cache_, FilterLoading::kAlways));
  }

  bool LosesNoRow() const {
    for (uint64_t i = 0; i < kForkedRows; i += 7) {
      if (!reader_->MayContain(NumberedRow(2 * i))) return false;
    }
    return true;
  }

  const testing::TestFile file_{
      testing::BlockOptions("blocked_bloom", 10, 1024),
      testing::EvenRows(kForkedRows)};
  std::atomic<bool> reads_wait_{false};
  std::atomic<bool> is_reading_{false};
  const testing::HookedSource source_{file_.memory.get(), [this] {
                                        while (reads_wait_) {
                                          is_reading_ = true;
                                          std::this_thread::yield();
                                        }
                                      }};
  const std::unique_ptr<FilterCache> cache_ =
      NewShardedLruCache({file_.bytes.size(), 0});
  std::unique_ptr<FilterReader> reader_;
};

TEST_F(ForkTest, ChildFreesWhatItEvictsThoughAThreadOfItsParentWasInALookup) {
  std::promise<void> guarded;
  std::promise<void> forked;
  std::thread other([&] {
    const util::EpochGuard guard;  // Every lookup has one.
    guarded.set_value();
    forked.get_future().wait();
  });
  guarded.get_future().wait();
  EXPECT_EQ(ResultInChild([&] {
              if (!LosesNoRow() || !LosesNoRow()) return 1;
              const FilterCache::Usage usage = cache_->GetUsage();
              return usage.evictions > 0 && usage.rejections == 0 ? 0 : 2;
            }),
            0);
  forked.set_value();
  other.join();
}

TEST_F(ForkTest, ChildLoadsTheChunkThatAThreadOfItsParentWasLoading) {
  reads_wait_ = true;
  std::thread loader([&] { EXPECT_TRUE(reader_->MayContain(NumberedRow(0))); });
  while (!is_reading_) std::this_thread::yield();
  EXPECT_EQ(ResultInChild([&] {
              reads_wait_ = false;
              if (!reader_->MayContain(NumberedRow(0))) return 1;
              if (reader_->stats()[FilterCounter::kChunkLoads] != 1) return 2;
              reader_.reset();
              return 0;
            }),
            0);
  reads_wait_ = false;
  loader.join();
}

#if defined(SECCOMP_MODE_FILTER)
bool DenyMembarrier() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {4, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(ForkTest, DeniedMembarrierShowsInRetiredBytesAndLosesNoRow) {
  if (!util::internal::guards_are_light) {
    GTEST_SKIP() << "membarrier(2) is not used here";
  }
  const int result = ResultInChild([&] {
    if (!DenyMembarrier()) return kCannotRun;
    if (!LosesNoRow() || !LosesNoRow()) return 1;
    const FilterCache::Usage usage = cache_->GetUsage();
    return usage.rejections > 0 && usage.retired_bytes > 0 ? 0 : 2;
  });
  if (result == kCannotRun) GTEST_SKIP() << "seccomp is not available here";
  EXPECT_EQ(result, 0);
}
#endif

}  // namespace
}  // namespace rowbloom
