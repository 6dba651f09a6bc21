// SPDX-License-Identifier: Apache-2.0
//
// The memory of a cache's chunks, apart from the heap: what the cache frees
// goes back to the system, and what it holds may lie in huge pages.
//
//   ChunkMemory memory(options);
//   memory.SetCapacity(64 << 20);
//   char* bytes = memory.Take(50000);  // On a cache-line boundary.
//   memory.Return(bytes, 50000);
//
// Chunks lie in slabs of 2 MiB, each in the smallest free run that holds it.
// Free bytes stay resident as long as all of them together are at most a
// sixteenth of the capacity, or a slab; beyond that the pages of free runs are
// given back, those of the largest run first. Pages that are partly taken
// stay. A slab is for huge pages as long as all of it is resident.
//
// All functions may be called on any number of threads.

#ifndef ROWBLOOM_CACHE_CHUNK_MEMORY_H_
#define ROWBLOOM_CACHE_CHUNK_MEMORY_H_

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "platform/platform.h"

namespace rowbloom::internal::cache {

class ChunkMemory {
 public:
  // Smaller pieces and larger ones than this are for the heap.
  static constexpr size_t kMinBytes = 1024;
  static constexpr size_t kSlabBytes = 2 << 20;

  // `page_bytes` are the system's.
  explicit ChunkMemory(bool uses_huge_pages,
                       size_t page_bytes = platform::PageBytes());
  // All that was taken must have been returned.
  ~ChunkMemory();
  ChunkMemory(const ChunkMemory&) = delete;
  ChunkMemory& operator=(const ChunkMemory&) = delete;

  // Returns nullptr if the size is below kMinBytes or above kSlabBytes, or if
  // the system has no memory: take it from the heap then.
  char* Take(size_t size_bytes);
  void Return(char* bytes, size_t size_bytes);

  // Gives pages back at once if the capacity is smaller than before.
  void SetCapacity(size_t capacity_bytes);

  size_t resident_bytes() const;
  size_t taken_bytes() const;

 private:
  static constexpr size_t kMinPageBytes = 4096;
  static constexpr size_t kGranuleBytes = 64;

  struct Slab {
    std::bitset<kSlabBytes / kMinPageBytes> resident;  // By page.
    // Some pages were given back. The system would make them resident once more
    // in a huge page, so it is asked for none until all are taken again.
    bool is_in_part = false;
  };
  using Slabs = std::map<char*, Slab>;   // By first byte.
  using Run = std::pair<size_t, char*>;  // Free bytes.
  using Runs = std::set<Run>;

  static size_t Rounded(size_t size_bytes) {
    return (size_bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
  }
  Slabs::iterator SlabOf(char* bytes);
  // The pages of the slab that lie in the run as a whole: first, and behind the
  // last.
  std::pair<size_t, size_t> WholePages(const char* slab, const char* run,
                                       size_t size_bytes) const;
  size_t ResidentPages(Slabs::const_iterator slab, const char* run,
                       size_t size_bytes) const;
  // The free run to take from; nullptr if none is large enough.
  const Run* FindRun(size_t size_bytes) const;
  void AddRun(char* run, size_t size_bytes);
  void RemoveRun(char* run, size_t size_bytes);
  bool AddSlab();
  void UseHugePages(Slabs::iterator slab, bool use);
  void GiveBackBeyondSlack();
  void GiveBack(char* run, size_t size_bytes);

  const bool uses_huge_pages_;
  const size_t page_bytes_;  // The system has pages of 4, 16 or 64 KiB.
  mutable std::mutex mutex_;
  Slabs slabs_;
  std::map<char*, size_t> runs_;  // All free runs, by address.
  // The same: those with resident pages, which are used first, and others.
  Runs resident_runs_;
  Runs other_runs_;
  size_t slack_bytes_ = kSlabBytes;
  size_t resident_pages_ = 0;
  size_t taken_bytes_ = 0;
};

// Bytes of a chunk, on a cache-line boundary, in a cache's memory or, without
// one, on the heap. The memory must outlive them.
class ChunkBytes {
 public:
  ChunkBytes(size_t size, ChunkMemory* memory);
  ~ChunkBytes();
  ChunkBytes(const ChunkBytes&) = delete;
  ChunkBytes& operator=(const ChunkBytes&) = delete;

  char* bytes() { return bytes_; }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  const size_t size_;
  ChunkMemory* memory_;  // nullptr: the heap.
  char* bytes_ = nullptr;
};

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_CHUNK_MEMORY_H_
