// SPDX-License-Identifier: Apache-2.0
//
// The counters of one file. The two that every lookup raises are kept per
// thread. The others are shared, because they come with a read of data or
// filters, which is expensive already.

#ifndef ROWBLOOM_READER_FILE_COUNTERS_H_
#define ROWBLOOM_READER_FILE_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/load_rules.h"
#include "rowbloom/filter_stats.h"
#include "util/check.h"
#include "util/epoch.h"

namespace rowbloom::internal::reader {

// Two counters that any number of threads raise at the cost of a plain add:
// each thread has its own pair, written by nobody else.
//
//   ThreadCounters counters;
//   counters.Add(util::ThisThread(), 0);
//   counters.Sum()[0];   // Exact once the threads are quiet.
class ThreadCounters {
 public:
  static constexpr size_t kCounters = util::CounterPage::kCounters;

  ThreadCounters();
  // No thread may be within Add().
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  // `thread` is the calling one. Returns the thread's count so far.
  uint64_t Add(util::ThreadRecord& thread, size_t counter, uint64_t delta = 1) {
    std::atomic<uint64_t>* own = OwnOf(thread);
    return own != nullptr ? Raise(&own[counter], delta)
                          : AddSlowly(thread, counter, delta);
  }
  // The thread's counters, which it alone may Raise(); null if only Add() can.
  std::atomic<uint64_t>* OwnOf(const util::ThreadRecord& thread) {
    util::CounterPage* page = PageOf(thread);
    return page == nullptr ? nullptr : page->values[number_ % kPageSize];
  }
  static uint64_t Raise(std::atomic<uint64_t>* counter, uint64_t delta = 1) {
    const uint64_t count = counter->load(std::memory_order_relaxed) + delta;
    counter->store(count, std::memory_order_release);
    return count;
  }
  std::array<uint64_t, kCounters> Sum() const;

 private:
  static constexpr size_t kPageSize = util::CounterPage::kSize;

  // Null if the thread has no such page. Pages of another thread are loaded
  // with acquire order.
  util::CounterPage* PageOf(
      const util::ThreadRecord& thread,
      std::memory_order order = std::memory_order_relaxed) const {
    return thread.counter_pages[page_].load(order);
  }
  uint64_t AddSlowly(util::ThreadRecord& thread, size_t counter,
                     uint64_t delta);

  // Unique among live objects, as small as possible.
  const uint32_t number_;
  const uint32_t page_;  // In counter_pages; that of kCounterPages is null.
  // Counts of all threads if number_ is beyond the pages.
  std::array<std::atomic<uint64_t>, kCounters> shared_{};
};

class FileCounters {
 public:
  // `answers_prefixes`: key levels may answer prefixes of the file's keys.
  explicit FileCounters(bool answers_prefixes)
      : prefixes_(answers_prefixes
                      ? reinterpret_cast<uintptr_t>(new PrefixAnswers)
                      : 1) {}
  ~FileCounters() { delete prefix_answers(); }
  FileCounters(const FileCounters&) = delete;
  FileCounters& operator=(const FileCounters&) = delete;

  // The bytes of the heap that it takes.
  size_t memory_bytes() const {
    return prefix_answers() == nullptr ? 0 : sizeof(PrefixAnswers);
  }

  // These count a lookup, and then its answer. One lookup in
  // LoadRules::kSampleInterval on average is a sample, for estimates that are
  // too expensive to update each time. Samples are spread so that no pattern of
  // lookups hides from them. `thread` is the calling one.
  bool CountLookup(util::ThreadRecord& thread) {
    return IsSample(by_thread_.Add(thread, kLookups));
  }
  void CountAnswer(util::ThreadRecord& thread, bool is_negative) {
    by_thread_.Add(thread, kNegatives, is_negative ? 1 : 0);
  }
  // OwnOf() returns the thread's counters of this file, nullptr if it has none
  // yet. The next three functions count in these; CountUnlessSample() does not
  // count a sample, and returns false.
  std::atomic<uint64_t>* OwnOf(const util::ThreadRecord& thread) {
    return by_thread_.OwnOf(thread);
  }
  static bool CountUnlessSample(std::atomic<uint64_t>* own) {
    const uint64_t count = own[kLookups].load(std::memory_order_relaxed) + 1;
    if (IsSample(count)) return false;
    own[kLookups].store(count, std::memory_order_release);
    return true;
  }
  // Counts a lookup that the index alone answers with "no".
  static void CountNo(std::atomic<uint64_t>* own) {
    ThreadCounters::Raise(own + kLookups);
    ThreadCounters::Raise(own + kNegatives);
  }
  // Adds 0 or 1: a store whose address depends on the answer would delay the
  // loads of the next lookup.
  static void CountAnswer(std::atomic<uint64_t>* own, bool is_negative) {
    ThreadCounters::Raise(own + kNegatives, is_negative ? 1 : 0);
  }
  // Counts a prefix lookup beside the two above, by the key level that answered
  // it; 0 if no key level did.
  void CountPrefix(size_t level, bool is_negative) {
    PrefixAnswers* const answers = prefix_answers();
    if (answers == nullptr) {
      prefixes_.fetch_add(2, std::memory_order_relaxed);
      return;
    }
    std::atomic<uint64_t>& count =
        level == 0 ? answers->unanswered
                   : answers->levels[level - 1][is_negative ? 1 : 0];
    count.fetch_add(1, std::memory_order_relaxed);
  }
  // The counter is one of those from kTruePositives to kLoadErrors.
  void Add(FilterCounter counter, uint64_t delta = 1) {
    const size_t number = static_cast<size_t>(counter) - kFirstShared;
    RB_DCHECK(number < kSharedCount);
    shared_[number].fetch_add(delta, std::memory_order_relaxed);
  }
  FilterStatsSnapshot Snapshot() const;

 private:
  // Sums load the negatives first, so that these never exceed the lookups.
  static constexpr size_t kNegatives = 0;
  static constexpr size_t kLookups = 1;

  static constexpr size_t kFirstShared =
      static_cast<size_t>(FilterCounter::kTruePositives);
  static constexpr size_t kSharedCount =
      static_cast<size_t>(FilterCounter::kLoadErrors) + 1 - kFirstShared;

  struct PrefixAnswers {
    std::atomic<uint64_t> unanswered{0};
    // Indexed by level, from 1, and answer.
    std::array<std::array<std::atomic<uint64_t>, 2>,
               FilterStatsSnapshot::kPrefixLevels>
        levels{};
  };
  // nullptr if no key level may answer.
  PrefixAnswers* prefix_answers() const {
    const auto word =
        static_cast<uintptr_t>(prefixes_.load(std::memory_order_relaxed));
    if (word % 2 == 1) return nullptr;
    PrefixAnswers* answers = nullptr;
    std::memcpy(&answers, &word, sizeof(word));
    return answers;
  }

  static bool IsSample(uint64_t count) {
    // Multiples of the golden ratio are spread evenly, without a period.
    return count * 0x9e3779b97f4a7c15 /
               (~uint64_t{0} / cache::LoadRules::kSampleInterval + 1) ==
           0;
  }

  ThreadCounters by_thread_;
  std::array<std::atomic<uint64_t>, kSharedCount> shared_{};
  // A PrefixAnswers; or, odd, twice the number of prefixes without an answer,
  // plus 1. One word, because each open file has it.
  std::atomic<uint64_t> prefixes_;
};

}  // namespace rowbloom::internal::reader

#endif  // ROWBLOOM_READER_FILE_COUNTERS_H_
