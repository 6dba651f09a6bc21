// SPDX-License-Identifier: Apache-2.0

#include "reader/file_counters.h"

#include <mutex>
#include <set>

namespace rowbloom::internal::reader {

namespace {

// Hands out numbers, freed ones before new ones.
class Numbers {
 public:
  // All get this one once no other is left. No page has it.
  static constexpr uint32_t kNone =
      util::CounterPage::kSize * util::ThreadRecord::kCounterPages;

  uint32_t Take() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) return free_.extract(free_.begin()).value();
    return count_ < kNone ? count_++ : kNone;
  }
  void GiveBack(uint32_t number) {
    if (number == kNone) return;
    std::lock_guard<std::mutex> lock(mutex_);
    free_.insert(number);
  }

 private:
  std::mutex mutex_;
  std::set<uint32_t> free_;
  uint32_t count_ = 0;
};

Numbers& AllNumbers() {
  // Never destroyed: counters may outlive the statics of this file.
  static Numbers* const numbers = new Numbers;
  return *numbers;
}

}  // namespace

ThreadCounters::ThreadCounters()
    : number_(AllNumbers().Take()), page_(number_ / uint32_t{kPageSize}) {
  static_assert(Numbers::kNone / kPageSize ==
                util::ThreadRecord::kCounterPages);
}

ThreadCounters::~ThreadCounters() {
  util::ForEachThread([this](util::ThreadRecord& thread) {
    util::CounterPage* page = PageOf(thread, std::memory_order_acquire);
    if (page == nullptr) return;
    for (auto& c : page->values[number_ % kPageSize]) {
      c.store(0, std::memory_order_relaxed);
    }
  });
  AllNumbers().GiveBack(number_);
}

uint64_t ThreadCounters::AddSlowly(util::ThreadRecord& thread, size_t counter,
                                   uint64_t delta) {
  if (page_ == util::ThreadRecord::kCounterPages) {
    return shared_[counter].fetch_add(delta, std::memory_order_relaxed) + delta;
  }
  // The record, which is never freed, keeps the page for good.
  thread.counter_pages[page_].store(new util::CounterPage,
                                    std::memory_order_release);
  return Add(thread, counter, delta);
}

std::array<uint64_t, ThreadCounters::kCounters> ThreadCounters::Sum() const {
  std::array<uint64_t, kCounters> sum{};
  for (size_t i = 0; i < kCounters; ++i) {
    sum[i] = shared_[i].load(std::memory_order_relaxed);
  }
  util::ForEachThread([&](util::ThreadRecord& thread) {
    const util::CounterPage* page = PageOf(thread, std::memory_order_acquire);
    if (page == nullptr) return;
    for (size_t i = 0; i < kCounters; ++i) {
      sum[i] +=
          page->values[number_ % kPageSize][i].load(std::memory_order_acquire);
    }
  });
  return sum;
}

FilterStatsSnapshot FileCounters::Snapshot() const {
  FilterStatsSnapshot snapshot;
  for (size_t i = 0; i < shared_.size(); ++i) {
    snapshot.values[kFirstShared + i] =
        shared_[i].load(std::memory_order_relaxed);
  }
  const auto by_thread = by_thread_.Sum();
  snapshot.values[static_cast<size_t>(FilterCounter::kLookups)] +=
      by_thread[kLookups];
  snapshot.values[static_cast<size_t>(FilterCounter::kNegatives)] +=
      by_thread[kNegatives];
  uint64_t& prefix_lookups =
      snapshot.values[static_cast<size_t>(FilterCounter::kPrefixLookups)];
  uint64_t& prefix_negatives =
      snapshot.values[static_cast<size_t>(FilterCounter::kPrefixNegatives)];
  const PrefixAnswers* const prefixes = prefix_answers();
  if (prefixes == nullptr) {
    prefix_lookups = prefixes_.load(std::memory_order_relaxed) / 2;
    return snapshot;
  }
  prefix_lookups = prefixes->unanswered.load(std::memory_order_relaxed);
  for (size_t i = 0; i < prefixes->levels.size(); ++i) {
    const auto& answers = prefixes->levels[i];
    const uint64_t negatives = answers[1].load(std::memory_order_relaxed);
    const uint64_t lookups =
        negatives + answers[0].load(std::memory_order_relaxed);
    snapshot.prefix_levels[i] = {lookups, negatives};
    prefix_lookups += lookups;
    prefix_negatives += negatives;
  }
  return snapshot;
}

}  // namespace rowbloom::internal::reader
