// SPDX-License-Identifier: Apache-2.0

#include "heap_meter.h"

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

// glibc's own functions under the names that stay when malloc is replaced.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);
}
// NOLINTEND(bugprone-reserved-identifier)

namespace rowbloom::filter_bench {
namespace {

bool counting = false;
int64_t live_bytes = 0;
int64_t peak_live_bytes = 0;

void Count(int64_t bytes) {
  live_bytes += bytes;
  peak_live_bytes = std::max(peak_live_bytes, live_bytes);
}

int64_t SizeOf(void* block) {
  return static_cast<int64_t>(malloc_usable_size(block));
}

void* Counted(void* block) {
  if (counting) Count(SizeOf(block));
  return block;
}

}  // namespace

HeapMeter::HeapMeter() {
  live_bytes = 0;
  peak_live_bytes = 0;
  counting = true;
}

HeapMeter::~HeapMeter() { counting = false; }

uint64_t HeapMeter::peak_bytes() const {
  return static_cast<uint64_t>(peak_live_bytes);
}

}  // namespace rowbloom::filter_bench

using rowbloom::filter_bench::Count;
using rowbloom::filter_bench::Counted;
using rowbloom::filter_bench::counting;
using rowbloom::filter_bench::SizeOf;

extern "C" {

void* malloc(size_t size) { return Counted(__libc_malloc(size)); }

void* calloc(size_t count, size_t size) {
  return Counted(__libc_calloc(count, size));
}

void* memalign(size_t alignment, size_t size) {
  return Counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

// A block that moves counts once, as large ones are moved by their pages.
void* realloc(void* block, size_t size) {
  if (!counting) return __libc_realloc(block, size);
  const int64_t before = SizeOf(block);
  void* moved = __libc_realloc(block, size);
  if (moved != nullptr || size == 0) Count(SizeOf(moved) - before);
  return moved;
}

void free(void* block) {
  if (counting) Count(-SizeOf(block));
  __libc_free(block);
}

}  // extern "C"
