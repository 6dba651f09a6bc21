// SPDX-License-Identifier: Apache-2.0
//
// A cache value that reports its own death, for the cache's tests.

#ifndef ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_
#define ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {

// How often each value, by number, was destroyed.
class Deaths {
 public:
  explicit Deaths(size_t value_count) : counts_(value_count) {}

  void Count(size_t number) { ++counts_.at(number); }
  int Of(size_t number) const { return counts_.at(number); }

 private:
  std::vector<std::atomic<int>> counts_;
};

class TrackedValue : public FilterCache::Value {
 public:
  TrackedValue(size_t number, Deaths* deaths)
      : number_(number), deaths_(deaths) {}
  ~TrackedValue() override { deaths_->Count(number_); }

  size_t number() const { return number_; }

 private:
  const size_t number_;
  Deaths* const deaths_;
};

inline size_t NumberOf(const FilterCache& cache, FilterCache::Handle* handle) {
  return static_cast<TrackedValue*>(cache.ValueOf(handle))->number();
}

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_TESTS_CACHE_TRACKED_VALUE_H_
