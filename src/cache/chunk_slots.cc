// SPDX-License-Identifier: Apache-2.0

#include "cache/chunk_slots.h"

#include <utility>

namespace rowbloom::cache {

ChunkSlots::ChunkSlots(const ChunkPlace& place, size_t chunk_count)
    : slots_(chunk_count),
      place_(place),
      chunk_cache_(cache::Access::ChunkCacheOf(place.cache)) {
  if (chunk_cache_ != nullptr) chunk_cache_->AddFile(1);
}

ChunkSlots::~ChunkSlots() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (place_.owns_file_id) {
      place_.cache->Erase(KeyOf(i));
    } else if (chunk_cache_ != nullptr) {
      chunk_cache_->DropSlot(KeyOf(i), &slots_[i].slot);
    }
  }
  if (chunk_cache_ != nullptr) chunk_cache_->AddFile(-1);
}

void ChunkSlots::Put(size_t chunk, std::unique_ptr<cache::ChunkValue> value,
                     size_t charge_bytes) {
  FilterCache::EntryOptions entry;
  entry.charge_bytes = charge_bytes;
  entry.priority = place_.priority;
  entry.role = FilterCacheRole::kChunk;
  std::unique_ptr<FilterCache::Value> base = std::move(value);
  FilterCache::Handle* handle =
      chunk_cache_ != nullptr
          ? chunk_cache_->InsertChunk(KeyOf(chunk), &base, entry,
                                      &slots_[chunk].slot)
          : place_.cache->Insert(KeyOf(chunk), &base, entry);
  if (handle != nullptr) place_.cache->Release(handle);
}

}  // namespace rowbloom::cache
