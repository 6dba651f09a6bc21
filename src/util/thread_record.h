// SPDX-License-Identifier: Apache-2.0
//
// A record for each thread: the epoch of its guard (epoch.h) and its pages of
// counters (thread_counters.h). A thread reads and raises its own counters
// without touching memory of other threads.

#ifndef ROWBLOOM_UTIL_THREAD_RECORD_H_
#define ROWBLOOM_UTIL_THREAD_RECORD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rowbloom/export.h"

namespace rowbloom::util {

// Counters of one thread, for many objects: see thread_counters.h.
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
// `__thread` says that it needs no initialization. An inline variable would be
// one for all copies of the library in a process (STB_GNU_UNIQUE), two plugins
// for example, each of which has its own list of records.
ROWBLOOM_EXPORT extern __thread ThreadRecord* thread_record;
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

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_THREAD_RECORD_H_
