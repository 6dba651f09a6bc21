// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "cache/cached_chunks.h"
#include "cache/chunk_memory.h"
#include "cache/load_ledger.h"
#include "rowbloom/host_cache.h"
#include "util/check.h"

namespace rowbloom {
namespace {

using internal::cache::CachedFilter;
using internal::cache::Shortcut;

// This file is compiled with exceptions, so that noexcept ends the process if
// the host throws one: the callers are compiled without.
//
// The host knows no shortcuts, and does not say what memory is worth: chunks
// are found in its table alone, and stay whole.
class HostedCache final : public internal::cache::ChunkCache {
 public:
  explicit HostedCache(std::unique_ptr<HostCache> host)
      : host_(std::move(host)) {}

  Value* ValueOf(Handle* handle) const noexcept override {
    return host_->ValueOf(handle);
  }
  void Release(Handle* handle) noexcept override { host_->Release(handle); }
  void Erase(const FilterCacheKey& key) noexcept override { host_->Erase(key); }
  void EraseFile(uint64_t file_id) noexcept override {
    host_->EraseFile(file_id);
  }
  void SetCapacity(size_t /*capacity_bytes*/) noexcept override {}
  Usage GetUsage() const noexcept override {
    Usage usage = host_->GetUsage();
    const std::lock_guard<std::mutex> lock(mutex_);
    usage.index_bytes_outside = bytes_outside_;
    return usage;
  }

  void AdoptFilter(Handle* /*handle*/,
                   const std::function<void(CachedFilter*)>& /*take*/,
                   Shortcut* /*shortcut*/) noexcept override {}
  void DropShortcut(const FilterCacheKey& /*key*/,
                    Shortcut* /*shortcut*/) noexcept override {}
  internal::cache::Room RoomFor(
      const FilterCacheKey& /*key*/) const noexcept override {
    constexpr size_t kAll = std::numeric_limits<size_t>::max();
    return {kAll, kAll, 0};
  }
  void ChargeReader(const void* reader, size_t bytes) noexcept override {
    auto nothing = std::make_unique<Value>();
    Handle* const handle = host_->Insert(
        KeyOf(reader), &nothing,
        {bytes, FilterCachePriority::kPinned, FilterCacheRole::kIndex});
    if (handle != nullptr) return host_->Release(handle);
    const std::lock_guard<std::mutex> lock(mutex_);
    outside_.insert(reader);
    bytes_outside_ += bytes;
  }
  void DropReader(const void* reader, size_t bytes) noexcept override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (outside_.erase(reader) > 0) {
        bytes_outside_ -= bytes;
        return;
      }
    }
    host_->Erase(KeyOf(reader));
  }
  void AddFile(int delta) noexcept override {
    ChunkCache::AddFile(delta);
    if (delta > 0) ledger().GrantUpTo(host_->GetUsage().capacity_bytes);
  }

 private:
  // The host keeps an entry without a value. The file id is nobody else's.
  static FilterCacheKey KeyOf(const void* reader) {
    static const uint64_t file_id = NewFileId();
    return {file_id, reinterpret_cast<uintptr_t>(reader)};
  }
  Handle* FindEntry(const FilterCacheKey& key,
                    bool /*counts*/) noexcept override {
    return host_->Lookup(key);
  }
  Handle* InsertEntry(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                      const EntryOptions& options,
                      const CachedFilter* /*filter*/,
                      Shortcut* /*shortcut*/) noexcept override {
    return host_->Insert(key, value, options);
  }

  const std::unique_ptr<HostCache> host_;
  mutable std::mutex mutex_;       // Guards both.
  std::set<const void*> outside_;  // Readers that the host has refused.
  size_t bytes_outside_ = 0;
};

}  // namespace

std::unique_ptr<FilterCache> NewHostedCache(std::unique_ptr<HostCache> host) {
  RB_CHECK(host != nullptr, "NewHostedCache(): host is null");
  return std::make_unique<HostedCache>(std::move(host));
}

}  // namespace rowbloom
