// SPDX-License-Identifier: Apache-2.0

#include "cost.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "rowbloom/filter_cache.h"
#include "src/base/epoch.h"

namespace rowbloom::cache_bench {
namespace {

// Few, so that the values themselves are in the processor's cache.
constexpr uint64_t kChunks = 1024;

struct Number final : FilterCache::Value {
  explicit Number(uint64_t n) : number(n) {}
  uint64_t number;
};

struct Setting {
  std::vector<FilterCache::Hint> hints{kChunks};  // Outlive the cache.
  std::unique_ptr<FilterCache> cache;
};

uint64_t NumberOf(const FilterCache::Value* value) {
  if (value == nullptr) throw std::runtime_error("a cached value is gone");
  return static_cast<const Number*>(value)->number;
}

// Reads a value; their sum is used, so that no read is left out.
uint64_t Read(Access access, Setting* setting, uint64_t chunk) {
  FilterCache::Hint& hint = setting->hints[chunk];
  switch (access) {
    case Access::kPointer:
      return NumberOf(hint.value.load(std::memory_order_relaxed));
    case Access::kHint: {
      base::EpochGuard guard;
      const uint64_t number = NumberOf(hint.value.load());
      if (!hint.used.load(std::memory_order_relaxed)) {
        hint.used.store(true, std::memory_order_relaxed);
      }
      return number;
    }
    case Access::kLookupAndRelease: {
      FilterCache::Handle* handle = setting->cache->Lookup({1, chunk});
      if (handle == nullptr) throw std::runtime_error("a value is gone");
      const uint64_t number = NumberOf(setting->cache->ValueOf(handle));
      setting->cache->Release(handle);
      return number;
    }
  }
  return 0;
}

}  // namespace

const char* AccessName(Access access) {
  switch (access) {
    case Access::kPointer:
      return "pointer";
    case Access::kHint:
      return "hint";
    case Access::kLookupAndRelease:
      break;
  }
  return "lookup_and_release";
}

double NsPerAccess(Access access, int thread_count, uint64_t accesses,
                   int rounds) {
  Setting setting;
  setting.cache = NewShardedLruCache({size_t{1} << 30});
  for (uint64_t chunk = 0; chunk < kChunks; ++chunk) {
    std::unique_ptr<FilterCache::Value> value = std::make_unique<Number>(chunk);
    FilterCache::EntryOptions options;
    options.charge_bytes = 1;
    options.hint = &setting.hints[chunk];
    setting.cache->Release(setting.cache->Insert({1, chunk}, &value, options));
  }

  using Clock = std::chrono::steady_clock;
  double best = HUGE_VAL;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready{0};
    std::atomic<uint64_t> sum{0};
    std::vector<Clock::time_point> begins(thread_count);
    std::vector<Clock::time_point> ends(thread_count);
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        std::minstd_rand random(static_cast<uint32_t>(round * 64 + t + 1));
        std::vector<uint16_t> chunks(1 << 16);
        for (uint16_t& chunk : chunks) {
          chunk = static_cast<uint16_t>(random() % kChunks);
        }
        ++ready;
        while (ready < thread_count) {
        }
        begins[t] = Clock::now();
        uint64_t own_sum = 0;
        for (uint64_t i = 0; i < accesses; ++i) {
          own_sum += Read(access, &setting, chunks[i % chunks.size()]);
        }
        ends[t] = Clock::now();
        sum += own_sum;
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (sum == 0) throw std::runtime_error("no value was read");
    const std::chrono::duration<double, std::nano> time =
        *std::max_element(ends.begin(), ends.end()) -
        *std::min_element(begins.begin(), begins.end());
    best = std::min(best, time.count() / static_cast<double>(accesses));
  }
  return best;
}

}  // namespace rowbloom::cache_bench
