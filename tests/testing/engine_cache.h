// SPDX-License-Identifier: Apache-2.0
//
// A cache as an engine would write it: it knows
// nothing that only the library's own cache can do.

#ifndef ROWBLOOM_TESTS_TESTING_ENGINE_CACHE_H_
#define ROWBLOOM_TESTS_TESTING_ENGINE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rowbloom/filter_cache.h"
#include "rowbloom/host_cache.h"

namespace rowbloom::testing {

class EngineCache final : public HostCache {
 public:
  explicit EngineCache(size_t capacity_bytes)
      : cache_(NewShardedLruCache({capacity_bytes, 0})) {}

  Handle* Lookup(const FilterCacheKey& key) override {
    return cache_->Lookup(key);
  }
  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    return cache_->Insert(key, value, options);
  }
  Value* ValueOf(Handle* handle) const override {
    return cache_->ValueOf(handle);
  }
  void Release(Handle* handle) override { cache_->Release(handle); }
  void Erase(const FilterCacheKey& key) override { cache_->Erase(key); }
  void EraseFile(uint64_t file_id) override { cache_->EraseFile(file_id); }
  FilterCache::Usage GetUsage() const override { return cache_->GetUsage(); }

 private:
  const std::unique_ptr<FilterCache> cache_;
};

inline std::unique_ptr<FilterCache> NewEngineCache(size_t capacity_bytes) {
  return NewHostedCache(std::make_unique<EngineCache>(capacity_bytes));
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_ENGINE_CACHE_H_
