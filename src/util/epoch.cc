// SPDX-License-Identifier: Apache-2.0

#include "util/epoch.h"

#include <algorithm>

#include "platform/platform.h"

namespace rowbloom::util {

namespace internal {

GlobalEpoch global_epoch;
std::atomic<bool> guards_are_light{platform::RegisterBarrier()};
ROWBLOOM_THREAD_LOCAL ThreadRecord* thread_record = nullptr;
std::atomic<ThreadRecord*> all_records{nullptr};

namespace {

// The child has the thread that called fork() and no other.
void ForgetOtherThreads() {
  ForEachThread([](ThreadRecord& thread) {
    if (&thread == thread_record) return;
    thread.epoch.store(0);
    thread.owned.store(false);
  });
}

[[maybe_unused]] const bool fork_is_watched =
    (platform::CallInChildren(ForgetOtherThreads), true);

thread_local bool thread_ends = false;

// Gives the record back when its thread ends.
struct Owner {
  ThreadRecord* record = nullptr;
  ~Owner() {
    thread_ends = true;
    thread_record = nullptr;
    if (record != nullptr) record->owned.store(false);
  }
};

}  // namespace

ThreadRecord* AcquireThreadRecord() {
  // Takes the first record that no thread owns.
  ThreadRecord* record = all_records.load();
  while (record != nullptr && record->owned.exchange(true)) {
    record = record->next;
  }
  if (record == nullptr) {
    record = new ThreadRecord;
    record->next = all_records.load();
    while (!all_records.compare_exchange_weak(record->next, record)) {
    }
  }
  thread_record = record;
  // A lookup from a destructor that runs after Owner's keeps its record for
  // good: such records are few and small.
  if (!thread_ends) {
    thread_local Owner owner;
    owner.record = record;
  }
  return record;
}

}  // namespace internal

uint64_t RetireEpoch() { return internal::global_epoch.value.fetch_add(1); }

uint64_t FirstGuardedEpoch() {
  if (internal::guards_are_light.load() && !platform::BarrierOnAllThreads()) {
    return 0;
  }
  uint64_t first = ~uint64_t{0};
  ForEachThread([&](const ThreadRecord& thread) {
    const uint64_t began = thread.epoch.load(std::memory_order_seq_cst);
    if (began != 0) first = std::min(first, began);
  });
  return first;
}

}  // namespace rowbloom::util
