// SPDX-License-Identifier: Apache-2.0
//
// The chunks of one file in a cache: a slot for each, through which lookups
// find it without the cache's lock, and a pause before its next load.
//
//   {
//     const util::EpochGuard guard;   // Call no cache under it.
//     if (const cache::Visible* visible = slots.Find(chunk)) ...
//   }
//   if (FilterCache::Handle* handle = slots.Lookup(chunk)) ...
//
// Any number of threads may call it. The cache must outlive it; the library's
// own cache checks this.

#ifndef ROWBLOOM_CACHE_CHUNK_SLOTS_H_
#define ROWBLOOM_CACHE_CHUNK_SLOTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cache/chunk_cache.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {

struct ChunkPlace {
  FilterCache* cache = nullptr;
  uint64_t file_id = 0;
  // No other reader uses the id: the chunks leave the cache with the slots.
  bool owns_file_id = false;
  uint64_t first_chunk = 0;  // Its number in the cache.
  FilterCachePriority priority = FilterCachePriority::kNormal;
};

class ChunkSlots {
 public:
  // Exported, as Put() is, for rowbloom::hfile.
  ROWBLOOM_EXPORT ChunkSlots(const ChunkPlace& place, size_t chunk_count);
  ROWBLOOM_EXPORT ~ChunkSlots();
  ChunkSlots(const ChunkSlots&) = delete;
  ChunkSlots& operator=(const ChunkSlots&) = delete;

  size_t size() const { return slots_.size(); }
  FilterCacheKey KeyOf(size_t chunk) const {
    return {place_.file_id, place_.first_chunk + chunk};
  }
  // nullptr for an engine's own cache, which does not know slots.
  cache::ChunkCache* chunk_cache() const { return chunk_cache_; }
  static size_t BytesPerChunk() { return sizeof(Slot); }

  // nullptr unless the cache holds a value that this file has put there. The
  // caller is under an EpochGuard.
  const cache::Visible* Find(size_t chunk) {
    cache::Slot& slot = slots_[chunk].slot;
    const cache::Visible* visible =
        slot.visible.load(std::memory_order_seq_cst);
    // A load first: the cache line then stays shared among cores.
    if (visible != nullptr && !slot.used.load(std::memory_order_relaxed)) {
      slot.used.store(true, std::memory_order_relaxed);
    }
    return visible;
  }
  // True if Find() would find a value.
  bool Has(size_t chunk) const {
    return slots_[chunk].slot.visible.load() != nullptr;
  }
  // The value under the chunk's key, no matter who put it there; nullptr if
  // there is none. Release() the handle.
  FilterCache::Handle* Lookup(size_t chunk) const {
    return chunk_cache_ != nullptr ? chunk_cache_->LookupChunk(KeyOf(chunk))
                                   : place_.cache->Lookup(KeyOf(chunk));
  }
  const cache::ChunkValue& ValueOf(FilterCache::Handle* handle) const {
    return static_cast<const cache::ChunkValue&>(
        *place_.cache->ValueOf(handle));
  }
  void Release(FilterCache::Handle* handle) const {
    place_.cache->Release(handle);
  }
  // Takes over a chunk that the caller holds, unless a slot has it already:
  // calls take(ChunkValue*) under the cache's lock and points the slot at it.
  template <typename Take>
  void Adopt(size_t chunk, FilterCache::Handle* handle, const Take& take) {
    if (chunk_cache_ == nullptr) return;
    chunk_cache_->AdoptChunk(handle, take, &slots_[chunk].slot);
  }
  // The value is destroyed if the cache has no room.
  ROWBLOOM_EXPORT void Put(size_t chunk,
                           std::unique_ptr<cache::ChunkValue> value,
                           size_t charge_bytes);

  // Pauses keep lookups from trying a load that failed or did not pay a moment
  // ago. A pause lasts for a number of lookups of the chunk.
  static constexpr uint32_t kForever = ~uint32_t{0};
  // The most lookups of a chunk that answer "maybe" while another thread loads
  // it. It is finite, because a thread that was lost in fork() never ends its
  // load.
  static constexpr uint32_t kLoadingPause = 1 << 16;
  void Pause(size_t chunk, uint32_t lookups) {
    slots_[chunk].pause.store(lookups, std::memory_order_relaxed);
  }
  // Counts one lookup; true if there is no pause.
  bool PauseEnds(size_t chunk) {
    std::atomic<uint32_t>& pause = slots_[chunk].pause;
    uint32_t left = pause.load(std::memory_order_relaxed);
    if (left == 0) return true;
    // A failure means that another lookup counted, or that the pause changed.
    if (left != kForever) {
      pause.compare_exchange_weak(left, left - 1, std::memory_order_relaxed);
    }
    return false;
  }
  bool IsPaused(size_t chunk) const {
    return slots_[chunk].pause.load(std::memory_order_relaxed) > 0;
  }
  // False if there is a pause already.
  bool PauseUnlessPaused(size_t chunk, uint32_t lookups) {
    uint32_t none = 0;
    return slots_[chunk].pause.compare_exchange_strong(none, lookups);
  }
  // Makes the calling thread the one that loads the chunk: others find a pause
  // until it calls Pause() again. False if there is a pause already.
  bool Claim(size_t chunk) { return PauseUnlessPaused(chunk, kLoadingPause); }
  // The number of failures in a row.
  std::atomic<uint32_t>& failures(size_t chunk) {
    return slots_[chunk].failures;
  }

 private:
  // Aligned so that lookups of one chunk do not disturb those of another.
  struct alignas(64) Slot {
    cache::Slot slot;
    std::atomic<uint32_t> pause{0};
    std::atomic<uint32_t> failures{0};
  };

  std::vector<Slot> slots_;
  const ChunkPlace place_;
  cache::ChunkCache* const chunk_cache_;
};

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_CHUNK_SLOTS_H_
