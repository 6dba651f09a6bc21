// SPDX-License-Identifier: Apache-2.0

#include "cache/chunk_memory.h"

#include <algorithm>
#include <iterator>

#include "platform/platform.h"
#include "util/cache_line.h"
#include "util/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define ROWBLOOM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROWBLOOM_ASAN 1
#endif
#endif

#if defined(ROWBLOOM_ASAN)
extern "C" void __asan_poison_memory_region(const volatile void* bytes,
                                            size_t size);
extern "C" void __asan_unpoison_memory_region(const volatile void* bytes,
                                              size_t size);
#endif

namespace rowbloom::internal::cache {

namespace {

// With pages that are partly free, and the heap, a tenth.
constexpr size_t kSlackDivisor = 16;

// AddressSanitizer finds uses of free runs.
void Forbid([[maybe_unused]] const char* bytes, [[maybe_unused]] size_t size) {
#if defined(ROWBLOOM_ASAN)
  __asan_poison_memory_region(bytes, size);
#endif
}

void Allow([[maybe_unused]] const char* bytes, [[maybe_unused]] size_t size) {
#if defined(ROWBLOOM_ASAN)
  __asan_unpoison_memory_region(bytes, size);
#endif
}

}  // namespace

ChunkMemory::ChunkMemory(bool uses_huge_pages, size_t page_bytes)
    : uses_huge_pages_(uses_huge_pages),
      page_bytes_(std::max(kMinPageBytes, page_bytes)) {
  RB_CHECK(kSlabBytes % page_bytes_ == 0,
           "pages of this system do not divide 2 MiB");
}

ChunkMemory::~ChunkMemory() {
  RB_CHECK(taken_bytes_ == 0,
           "a FilterCache is destroyed before a chunk that lies in it");
  for (const auto& [bytes, slab] : slabs_) {
    Allow(bytes, kSlabBytes);
    platform::Unmap(bytes, kSlabBytes);
  }
}

ChunkMemory::Slabs::iterator ChunkMemory::SlabOf(char* bytes) {
  return std::prev(slabs_.upper_bound(bytes));
}

std::pair<size_t, size_t> ChunkMemory::WholePages(const char* slab,
                                                  const char* run,
                                                  size_t size_bytes) const {
  const auto begin = static_cast<size_t>(run - slab);
  return {(begin + page_bytes_ - 1) / page_bytes_,
          (begin + size_bytes) / page_bytes_};
}

size_t ChunkMemory::ResidentPages(Slabs::const_iterator slab, const char* run,
                                  size_t size_bytes) const {
  const auto [first, end] = WholePages(slab->first, run, size_bytes);
  size_t pages = 0;
  for (size_t page = first; page < end; ++page) {
    pages += slab->second.resident[page];
  }
  return pages;
}

const ChunkMemory::Run* ChunkMemory::FindRun(size_t size_bytes) const {
  for (const Runs* runs : {&resident_runs_, &other_runs_}) {
    const auto run = runs->lower_bound({size_bytes, nullptr});
    if (run != runs->end()) return &*run;
  }
  return nullptr;
}

void ChunkMemory::AddRun(char* run, size_t size_bytes) {
  runs_[run] = size_bytes;
  const bool is_resident = ResidentPages(SlabOf(run), run, size_bytes) > 0 ||
                           size_bytes < 2 * page_bytes_;
  (is_resident ? resident_runs_ : other_runs_).insert({size_bytes, run});
}

void ChunkMemory::RemoveRun(char* run, size_t size_bytes) {
  runs_.erase(run);
  if (resident_runs_.erase({size_bytes, run}) == 0) {
    other_runs_.erase({size_bytes, run});
  }
}

bool ChunkMemory::AddSlab() {
  char* const bytes = platform::MapAligned(kSlabBytes);
  if (bytes == nullptr) return false;
  Slab& slab = slabs_[bytes];
  if (platform::UseHugePages(bytes, kSlabBytes, uses_huge_pages_)) {
    // The first touch makes all of it resident.
    for (size_t page = 0; page < kSlabBytes / page_bytes_; ++page) {
      slab.resident.set(page);
    }
    resident_pages_ += kSlabBytes / page_bytes_;
  }
  Forbid(bytes, kSlabBytes);
  AddRun(bytes, kSlabBytes);
  return true;
}

char* ChunkMemory::Take(size_t size_bytes) {
  if (size_bytes < kMinBytes || size_bytes > kSlabBytes) return nullptr;
  const size_t size = Rounded(size_bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  const Run* found = FindRun(size);
  if (found == nullptr) {
    if (!AddSlab()) return nullptr;
    found = FindRun(size);
  }
  const auto [run_size, run] = *found;
  RemoveRun(run, run_size);
  if (run_size > size) AddRun(run + size, run_size - size);
  const auto slab = SlabOf(run);
  const auto begin = static_cast<size_t>(run - slab->first);
  for (size_t page = begin / page_bytes_;
       page < (begin + size + page_bytes_ - 1) / page_bytes_; ++page) {
    resident_pages_ += !slab->second.resident[page];
    slab->second.resident[page] = true;
  }
  if (slab->second.is_in_part &&
      slab->second.resident.count() == kSlabBytes / page_bytes_) {
    UseHugePages(slab, true);
  }
  taken_bytes_ += size;
  Allow(run, size);
  GiveBackBeyondSlack();
  return run;
}

void ChunkMemory::Return(char* bytes, size_t size_bytes) {
  size_t size = Rounded(size_bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  Forbid(bytes, size);
  taken_bytes_ -= size;
  const auto slab = SlabOf(bytes);
  // Joins the free runs before and behind it in its slab.
  const auto next = runs_.lower_bound(bytes);
  if (next != runs_.end() && next->first == bytes + size &&
      next->first < slab->first + kSlabBytes) {
    const auto [run, run_size] = *next;
    RemoveRun(run, run_size);
    size += run_size;
  }
  const auto after = runs_.lower_bound(bytes);
  if (after != runs_.begin()) {
    const auto [run, run_size] = *std::prev(after);
    if (run >= slab->first && run + run_size == bytes) {
      RemoveRun(run, run_size);
      bytes = run;
      size += run_size;
    }
  }
  AddRun(bytes, size);
  GiveBackBeyondSlack();
}

void ChunkMemory::SetCapacity(size_t capacity_bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  slack_bytes_ = std::max(kSlabBytes, capacity_bytes / kSlackDivisor);
  GiveBackBeyondSlack();
}

void ChunkMemory::UseHugePages(Slabs::iterator slab, bool use) {
  slab->second.is_in_part = !use;
  if (uses_huge_pages_) platform::UseHugePages(slab->first, kSlabBytes, use);
}

void ChunkMemory::GiveBackBeyondSlack() {
  while (resident_pages_ * page_bytes_ > taken_bytes_ + slack_bytes_ &&
         !resident_runs_.empty()) {
    const auto [size, run] = *resident_runs_.rbegin();
    if (size < 2 * page_bytes_) return;  // It may have no whole page.
    GiveBack(run, size);
  }
}

void ChunkMemory::GiveBack(char* run, size_t size_bytes) {
  RemoveRun(run, size_bytes);
  const auto slab = SlabOf(run);
  resident_pages_ -= ResidentPages(slab, run, size_bytes);
  if (size_bytes == kSlabBytes) {
    Allow(run, kSlabBytes);
    platform::Unmap(run, kSlabBytes);
    slabs_.erase(slab);
    return;
  }
  if (!slab->second.is_in_part) UseHugePages(slab, false);
  const auto [first, end] = WholePages(slab->first, run, size_bytes);
  platform::GiveBack(slab->first + first * page_bytes_,
                     (end - first) * page_bytes_);
  for (size_t page = first; page < end; ++page) {
    slab->second.resident[page] = false;
  }
  AddRun(run, size_bytes);
}

ChunkBytes::ChunkBytes(size_t size, ChunkMemory* memory)
    : size_(size), memory_(memory) {
  if (memory_ != nullptr) bytes_ = memory_->Take(size_);
  if (bytes_ != nullptr) return;
  memory_ = nullptr;
  bytes_ = static_cast<char*>(util::NewOnCacheLine(size_));
}

ChunkBytes::~ChunkBytes() {
  if (memory_ != nullptr) {
    memory_->Return(bytes_, size_);
  } else {
    util::DeleteOnCacheLine(bytes_);
  }
}

size_t ChunkMemory::resident_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return resident_pages_ * page_bytes_;
}

size_t ChunkMemory::taken_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return taken_bytes_;
}

}  // namespace rowbloom::internal::cache
