// SPDX-License-Identifier: Apache-2.0
//
// Lets threads read a shared object without a lock while another thread
// unlinks and frees it: freeing waits until no reader can still see it.
//
//   Reader:  EpochGuard guard;
//            if (const T* t = shared.load()) Use(*t);   // Safe till the end.
//   Writer:  T* old = shared.exchange(next);
//            uint64_t epoch = RetireEpoch();            // After unlinking.
//            ... if (epoch < FirstGuardedEpoch()) delete old;
//
// Entering and leaving cost a few nanoseconds and touch memory of the calling
// thread only. Guards may nest. A guarded section should be short, because it
// delays the freeing of everything that is retired meanwhile. Loads and stores
// of `shared` are sequentially consistent, or at least the store that unlinks
// is an exchange.
//
// In a child of fork() the guards of the parent's other threads have ended.
//
// Where the system has a barrier for all threads (membarrier(2)), a guard does
// not order its own store before the loads that follow: that would stop the
// processor from overlapping the cache misses of one lookup with those of the
// next. Instead, a thread that asks whether an epoch has passed makes the
// processors of all threads do it at that time. If a seccomp filter that is set
// later denies membarrier(2), no epoch passes any more: guards that have begun
// could not be seen.

#ifndef ROWBLOOM_UTIL_EPOCH_H_
#define ROWBLOOM_UTIL_EPOCH_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rowbloom/compiler.h"
#include "rowbloom/export.h"
#include "util/check.h"

namespace rowbloom::util {

// Counters of one thread, for many objects: see ThreadCounters.
struct CounterPage {
  static constexpr size_t kSize = 256;
  static constexpr size_t kCounters = 2;

  std::atomic<uint64_t> values[kSize][kCounters] = {};
};

// The library's data for one thread. A record has one owner at a time; when its
// thread ends, it is kept for the next one and never freed.
struct alignas(64) ThreadRecord {
  // The epoch in which the outermost guard began; 0 outside of any.
  std::atomic<uint64_t> epoch{0};
  std::atomic<bool> owned{true};
  ThreadRecord* next = nullptr;
  static constexpr size_t kCounterPages = 256;
  std::atomic<CounterPage*> counter_pages[kCounterPages + 1] = {};
};

namespace internal {
// The shared library exports what the inline functions below use, since
// rowbloom::hfile uses them.
// An inline variable would be one for all copies of the library in a process
// (STB_GNU_UNIQUE), two plugins for example, each of which has its own list of
// records.
ROWBLOOM_EXPORT extern ROWBLOOM_THREAD_LOCAL ThreadRecord* thread_record;
extern std::atomic<ThreadRecord*> all_records;
ROWBLOOM_EXPORT ThreadRecord* AcquireThreadRecord();
}  // namespace internal

// The calling thread's record; null if it has none yet.
inline ThreadRecord* KnownThread() { return internal::thread_record; }

// The calling thread's record, which the first call makes.
inline ThreadRecord& ThisThread() {
  ThreadRecord* record = internal::thread_record;
  return record != nullptr ? *record : *internal::AcquireThreadRecord();
}

// Calls visit(ThreadRecord&) for every thread that exists or has existed.
template <typename Visit>
void ForEachThread(const Visit& visit) {
  for (ThreadRecord* r = internal::all_records.load(); r != nullptr;
       r = r->next) {
    visit(*r);
  }
}

namespace internal {
struct alignas(64) GlobalEpoch {  // Alone on its cache line.
  std::atomic<uint64_t> value{1};
};
ROWBLOOM_EXPORT extern GlobalEpoch global_epoch;
// If true, guards leave the ordering to FirstGuardedEpoch(). Set before main().
ROWBLOOM_EXPORT extern std::atomic<bool> guards_are_light;
}  // namespace internal

class EpochGuard {
 public:
  EpochGuard() : EpochGuard(ThisThread()) {}
  // `thread` is the calling one.
  explicit EpochGuard(ThreadRecord& thread)
      : EpochGuard(thread, !IsWithin(thread)) {}
  // For a caller that knows whether the thread is under a guard already.
  EpochGuard(ThreadRecord& thread, bool is_outermost)
      : record_(thread), is_outermost_(is_outermost) {
    RB_DCHECK(is_outermost_ == !IsWithin(thread));
    if (!is_outermost_) return;
    const uint64_t now =
        internal::global_epoch.value.load(std::memory_order_acquire);
    if (internal::guards_are_light.load(std::memory_order_relaxed)) {
      record_.epoch.store(now, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return;
    }
    // This store is before every load of a shared pointer in the one order that
    // all threads agree on: a thread that retires later sees this guard, and
    // one that retired earlier has unlinked the object.
    record_.epoch.store(now, std::memory_order_seq_cst);
  }
  ~EpochGuard() {
    if (is_outermost_) record_.epoch.store(0, std::memory_order_release);
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;

 private:
  static bool IsWithin(const ThreadRecord& thread) {
    return thread.epoch.load(std::memory_order_relaxed) != 0;
  }

  ThreadRecord& record_;
  const bool is_outermost_;
};

// Begins a new epoch and returns the one that ended.
uint64_t RetireEpoch();
// Objects retired in an epoch before this one can be freed: every guard that
// could see them has ended. Guards of the calling thread count, so waiting
// under one never ends. Takes microseconds: call it once for many objects.
uint64_t FirstGuardedEpoch();

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_EPOCH_H_
