// SPDX-License-Identifier: Apache-2.0
//
// A cache value that reports its own death and can be made to shrink, for the
// cache's tests.

#ifndef ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_
#define ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cache/cached_chunks.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {

// Counts how often each value, by number, was destroyed.
class Deaths {
 public:
  explicit Deaths(size_t value_count) : counts_(value_count) {}

  void Count(size_t number) {
    ++counts_.at(number);
    ++total_;
  }
  int Of(size_t number) const { return counts_.at(number); }
  size_t Total() const { return total_; }

 private:
  std::vector<std::atomic<int>> counts_;
  std::atomic<size_t> total_{0};
};

// A part that a value may give up. The value with it then gets this number, and
// the one without it keeps the number.
struct TrackedPart {
  size_t number;
  size_t charge_bytes;
  double worth;
};

class TrackedValue : public CachedFilter {
 public:
  // The last part goes first; `worth` is the worth of the value without parts.
  TrackedValue(size_t number, Deaths* deaths, double worth = kUnknownWorth,
               std::vector<TrackedPart> parts = {})
      : number_(number),
        deaths_(deaths),
        worth_(worth),
        parts_(std::move(parts)) {}
  ~TrackedValue() override { deaths_->Count(number_); }

  size_t number() const { return number_; }

  double Worth() const override {
    return parts_.empty() ? worth_ : parts_.back().worth;
  }
  std::unique_ptr<CachedFilter> Shrunk(size_t* freed_bytes) const override {
    if (parts_.empty()) return nullptr;
    const TrackedPart& part = parts_.back();
    *freed_bytes = part.charge_bytes;
    return std::make_unique<TrackedValue>(
        std::exchange(number_, part.number), deaths_, worth_,
        std::vector<TrackedPart>(parts_.begin(), parts_.end() - 1));
  }

 private:
  mutable size_t number_;
  Deaths* const deaths_;
  const double worth_;
  const std::vector<TrackedPart> parts_;
};

inline size_t NumberOf(const FilterCache::Value* value) {
  return static_cast<const TrackedValue*>(value)->number();
}

inline size_t NumberOf(const FilterCache& cache, FilterCache::Handle* handle) {
  return NumberOf(cache.ValueOf(handle));
}

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_
