// SPDX-License-Identifier: Apache-2.0
//
// Two counters that any number of threads raise at the cost of a plain add:
// each thread has its own place for them, written by nobody else.
//
//   ThreadCounters counters;
//   counters.Add(ThisThread(), 0);
//   counters.Sum()[0];   // Exact once the threads are quiet.

#ifndef ROWBLOOM_UTIL_THREAD_COUNTERS_H_
#define ROWBLOOM_UTIL_THREAD_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "util/thread_record.h"

namespace rowbloom::util {

class ThreadCounters {
 public:
  static constexpr size_t kCounters = CounterPage::kCounters;

  ThreadCounters();
  // No thread may be within Add().
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  // `thread` is the calling one. Returns the thread's count so far.
  uint64_t Add(ThreadRecord& thread, size_t counter, uint64_t delta = 1) {
    std::atomic<uint64_t>* own = OwnOf(thread);
    return own != nullptr ? Raise(&own[counter], delta)
                          : AddSlowly(thread, counter, delta);
  }
  // The thread's counters, which it alone may Raise(); null if only Add() can.
  std::atomic<uint64_t>* OwnOf(ThreadRecord& thread) {
    CounterPage* page = PageOf(thread);
    return page == nullptr ? nullptr : page->values[place_ % kPageSize];
  }
  static uint64_t Raise(std::atomic<uint64_t>* counter, uint64_t delta = 1) {
    const uint64_t count = counter->load(std::memory_order_relaxed) + delta;
    counter->store(count, std::memory_order_release);
    return count;
  }
  std::array<uint64_t, kCounters> Sum() const;

 private:
  static constexpr size_t kPageSize = CounterPage::kSize;

  // Null if the thread has no such page. Pages of another thread are loaded
  // with acquire order.
  CounterPage* PageOf(
      const ThreadRecord& thread,
      std::memory_order order = std::memory_order_relaxed) const {
    return thread.counter_pages[page_].load(order);
  }
  uint64_t AddSlowly(ThreadRecord& thread, size_t counter, uint64_t delta);

  const size_t place_;  // Unique among live objects, as small as possible.
  const size_t page_;   // In counter_pages; that of kCounterPages is null.
  // Counts of all threads if place_ is beyond the pages.
  std::array<std::atomic<uint64_t>, kCounters> shared_{};
};

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_THREAD_COUNTERS_H_
