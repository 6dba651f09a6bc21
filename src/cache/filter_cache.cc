// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cache.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cache/cached_chunks.h"
#include "cache/chunk_memory.h"
#include "cache/file_id.h"
#include "cache/load_ledger.h"
#include "cache/load_rules.h"
#include "util/check.h"

namespace rowbloom {

namespace {

absl::string_view RoleName(FilterCacheRole role) {
  switch (role) {
    case FilterCacheRole::kChunk:
      return "chunk";
    case FilterCacheRole::kIndex:
      return "index";
    case FilterCacheRole::kOther:
    case FilterCacheRole::kCount:
      break;
  }
  return "other";
}

}  // namespace

std::string FilterCache::Usage::ToString() const {
  std::string text = absl::StrCat(
      "capacity_bytes ", capacity_bytes, "\nusage_bytes ", usage_bytes,
      "\npinned_bytes ", pinned_bytes, "\nretired_bytes ", retired_bytes,
      "\nindex_bytes_outside ", index_bytes_outside, "\nresident_bytes ",
      resident_bytes, "\nentry_count ", entry_count, "\n");
  for (size_t i = 0; i < role_bytes.size(); ++i) {
    const auto role = static_cast<FilterCacheRole>(i);
    absl::StrAppend(&text, RoleName(role), "_bytes ", role_bytes[i], "\n");
  }
  absl::StrAppend(&text, "hits ", hits, "\nmisses ", misses, "\ninserts ",
                  inserts, "\nevictions ", evictions, "\nshrinks ", shrinks,
                  "\nrejections ", rejections, "\n");
  return text;
}

uint64_t FilterCache::NewFileId() {
  // Above the ids that engines assign, which are file numbers.
  static std::atomic<uint64_t> next{internal::cache::kFirstNewFileId};
  return next.fetch_add(1, std::memory_order_relaxed);
}

namespace internal::cache {

ChunkCache::ChunkCache(std::unique_ptr<ChunkMemory> memory)
    : ledger_(std::make_shared<LoadLedger>()), memory_(std::move(memory)) {}

ChunkCache::~ChunkCache() {
  RB_CHECK(file_count_.load() == 0,
           "a FilterCache is destroyed before a FilterReader or an "
           "HFileReader that uses it; declare the cache first");
}

void SetLoadRules(const LoadRules& rules, FilterCache* cache) {
  ChunkCache::Of(*cache).ledger().set_rules(rules);
}

}  // namespace internal::cache

}  // namespace rowbloom
