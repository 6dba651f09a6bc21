// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <memory>
#include <utility>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "rowbloom/host_cache.h"

namespace rowbloom {
namespace {

using cache::CachedFilter;
using cache::Shortcut;

// The host knows no shortcuts, and does not say what memory is worth: chunks
// are found in its table alone, and stay whole.
class HostedCache final : public cache::ChunkCache {
 public:
  HostedCache(std::unique_ptr<HostCache> host, const LoadRules& rules)
      : ChunkCache(rules), host_(std::move(host)) {}

  Handle* Lookup(const FilterCacheKey& key) override {
    return host_->Lookup(key);
  }
  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    return host_->Insert(key, value, options);
  }
  Value* ValueOf(Handle* handle) const override {
    return host_->ValueOf(handle);
  }
  void Release(Handle* handle) override { host_->Release(handle); }
  void Erase(const FilterCacheKey& key) override { host_->Erase(key); }
  void EraseFile(uint64_t file_id) override { host_->EraseFile(file_id); }
  void SetCapacity(size_t /*capacity_bytes*/) override {}
  Usage GetUsage() const override {
    Usage usage = host_->GetUsage();
    usage.index_bytes_outside = index_bytes_outside();
    return usage;
  }

  Handle* InsertFilter(const FilterCacheKey& key,
                       std::unique_ptr<CachedFilter>* filter,
                       const EntryOptions& options,
                       Shortcut* /*shortcut*/) override {
    std::unique_ptr<Value> value = std::move(*filter);
    Handle* handle = host_->Insert(key, &value, options);
    filter->reset(static_cast<CachedFilter*>(value.release()));
    return handle;
  }
  Handle* LookupFilter(const FilterCacheKey& key) override {
    return host_->Lookup(key);
  }
  void AdoptFilter(Handle* /*handle*/,
                   const std::function<void(CachedFilter*)>& /*take*/,
                   Shortcut* /*shortcut*/) override {}
  void DropShortcut(const FilterCacheKey& /*key*/,
                    Shortcut* /*shortcut*/) override {}
  cache::Room RoomFor(const FilterCacheKey& /*key*/) const override {
    constexpr size_t kAll = std::numeric_limits<size_t>::max();
    return {kAll, kAll, 0};
  }
  void AddFile(int delta) override {
    ChunkCache::AddFile(delta);
    if (delta > 0) ledger().GrantUpTo(host_->GetUsage().capacity_bytes);
  }

 private:
  const std::unique_ptr<HostCache> host_;
};

}  // namespace

std::unique_ptr<FilterCache> NewHostedCache(std::unique_ptr<HostCache> host,
                                            const LoadRules& rules) {
  return std::make_unique<HostedCache>(std::move(host), rules);
}

}  // namespace rowbloom
