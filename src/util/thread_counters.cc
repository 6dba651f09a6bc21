// SPDX-License-Identifier: Apache-2.0

#include "util/thread_counters.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace rowbloom::util {

namespace {

// Hands out places, freed ones before new ones.
class Places {
 public:
  size_t Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return count_++;
    return free_.extract(free_.begin()).value();
  }
  void GiveBack(size_t place) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.insert(place);
  }

 private:
  std::mutex mutex_;
  std::set<size_t> free_;
  size_t count_ = 0;
};

Places& AllPlaces() {
  // Never destroyed: counters may outlive the statics of this file.
  static Places* const places = new Places;
  return *places;
}

}  // namespace

ThreadCounters::ThreadCounters()
    : place_(AllPlaces().Take()),
      page_(std::min(place_ / kPageSize, ThreadRecord::kCounterPages)) {}

ThreadCounters::~ThreadCounters() {
  ForEachThread([this](ThreadRecord& thread) {
    CounterPage* page = PageOf(thread, std::memory_order_acquire);
    if (page == nullptr) return;
    for (auto& c : page->values[place_ % kPageSize]) {
      c.store(0, std::memory_order_relaxed);
    }
  });
  AllPlaces().GiveBack(place_);
}

uint64_t ThreadCounters::AddSlowly(ThreadRecord& thread, size_t counter,
                                   uint64_t delta) {
  if (page_ == ThreadRecord::kCounterPages) {
    return shared_[counter].fetch_add(delta, std::memory_order_relaxed) + delta;
  }
  // The record, which is never freed, keeps the page for good.
  thread.counter_pages[page_].store(new CounterPage, std::memory_order_release);
  return Add(thread, counter, delta);
}

std::array<uint64_t, ThreadCounters::kCounters> ThreadCounters::Sum() const {
  std::array<uint64_t, kCounters> sum{};
  for (size_t i = 0; i < kCounters; ++i) {
    sum[i] = shared_[i].load(std::memory_order_relaxed);
  }
  ForEachThread([&](ThreadRecord& thread) {
    const CounterPage* page = PageOf(thread, std::memory_order_acquire);
    if (page == nullptr) return;
    for (size_t i = 0; i < kCounters; ++i) {
      sum[i] +=
          page->values[place_ % kPageSize][i].load(std::memory_order_acquire);
    }
  });
  return sum;
}

}  // namespace rowbloom::util
