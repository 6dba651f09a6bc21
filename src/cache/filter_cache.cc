// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cache.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/cached_chunks.h"
#include "cache/chunk_memory.h"
#include "cache/file_id.h"
#include "cache/load_ledger.h"
#include "util/absl_view.h"
#include "util/check.h"

namespace rowbloom {

std::string_view FilterCacheRoleName(FilterCacheRole role) {
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

std::string FilterCache::Usage::ToString() const {
  std::string text = absl::StrCat(
      "capacity_bytes ", capacity_bytes, "\nusage_bytes ", usage_bytes,
      "\npinned_bytes ", pinned_bytes, "\nretired_bytes ", retired_bytes,
      "\nindex_bytes_outside ", index_bytes_outside, "\nresident_bytes ",
      resident_bytes, "\nentry_count ", entry_count, "\n");
  for (size_t i = 0; i < role_bytes.size(); ++i) {
    const auto role = static_cast<FilterCacheRole>(i);
    absl::StrAppend(&text, util::AbslView(FilterCacheRoleName(role)), "_bytes ",
                    role_bytes[i], "\n");
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

ChunkCache::ChunkCache(const LoadRules& rules,
                       std::unique_ptr<ChunkMemory> memory)
    : ledger_(std::make_shared<LoadLedger>(rules)), memory_(std::move(memory)) {
  RB_CHECK(rules.half_life_lookups >= 1 &&
               rules.half_life_lookups <= LoadRules::kMaxHalfLifeLookups,
           "LoadRules::half_life_lookups must be 1 to 2^32");
  RB_CHECK(
      rules.slack_bytes >= 0 && rules.slack_bytes <= LoadRules::kMaxSlackBytes,
      "LoadRules::slack_bytes must be 0 to 2^60");
  for (const double value : {rules.max_loss, rules.wasted_share,
                             rules.hysteresis, rules.payback_half_lives}) {
    RB_CHECK(value >= 0 && std::isfinite(value),
             "LoadRules::max_loss, wasted_share, hysteresis and "
             "payback_half_lives must be 0 or more, and finite");
  }
}

ChunkCache::~ChunkCache() {
  RB_CHECK(file_count_.load() == 0,
           "a FilterCache is destroyed before a FilterReader or an "
           "HFileReader that uses it; declare the cache first");
}

}  // namespace internal::cache

}  // namespace rowbloom
