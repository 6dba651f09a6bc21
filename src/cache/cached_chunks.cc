// SPDX-License-Identifier: Apache-2.0

#include "cache/cached_chunks.h"

#include <algorithm>
#include <utility>

#include "cache/load_ledger.h"
#include "util/check.h"

namespace rowbloom::cache {

ChunkCache::ChunkCache(const LoadRules& rules)
    : ledger_(std::make_shared<LoadLedger>(rules)) {}

ChunkCache::~ChunkCache() {
  RB_CHECK_MSG(file_count_.load() == 0,
               "a FilterCache is destroyed before a FilterReader or an "
               "HFileReader that uses it; declare the cache first");
}

CachedChunks::CachedChunks(const CachedChunksOptions& options,
                           size_t chunk_count)
    : chunks_(chunk_count),
      options_(options),
      cache_(ChunkCache::Of(*options.cache)) {
  cache_.AddFile(1);
}

CachedChunks::~CachedChunks() {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (options_.owns_file_id) {
      cache_.Erase(KeyOf(i));
    } else {
      cache_.DropShortcut(KeyOf(i), &chunks_[i].shortcut);
    }
  }
  cache_.AddFile(-1);
}

FilterCache::Handle* CachedChunks::Lookup(size_t chunk) const {
  return cache_.LookupFilter(KeyOf(chunk));
}

const CachedFilter& CachedChunks::FilterOf(FilterCache::Handle* handle) const {
  return static_cast<const CachedFilter&>(*cache_.ValueOf(handle));
}

void CachedChunks::Release(FilterCache::Handle* handle) const {
  cache_.Release(handle);
}

void CachedChunks::Adopt(size_t chunk, FilterCache::Handle* handle,
                         const std::function<void(CachedFilter*)>& take) {
  cache_.AdoptFilter(handle, take, &chunks_[chunk].shortcut);
}

void CachedChunks::Put(size_t chunk, std::unique_ptr<CachedFilter> filter,
                       size_t charge_bytes) {
  FilterCache::EntryOptions entry;
  entry.charge_bytes = charge_bytes;
  entry.priority = options_.priority;
  entry.role = FilterCacheRole::kChunk;
  FilterCache::Handle* handle = cache_.InsertFilter(
      KeyOf(chunk), &filter, entry, &chunks_[chunk].shortcut);
  if (handle != nullptr) cache_.Release(handle);
}

Room CachedChunks::RoomFor(size_t chunk) const {
  return cache_.RoomFor(KeyOf(chunk));
}

void CachedChunks::PauseAfterFailure(size_t chunk) {
  std::atomic<uint32_t>& failures = chunks_[chunk].failures;
  const uint32_t count = std::min(failures.load(std::memory_order_relaxed) + 1,
                                  LoadRules::kMaxFailures);
  failures.store(count, std::memory_order_relaxed);
  Pause(chunk, (1u << count) - 2);
}

}  // namespace rowbloom::cache
