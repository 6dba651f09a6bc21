// SPDX-License-Identifier: Apache-2.0

#include "hit_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <random>

namespace rowbloom::cache_bench {
namespace {

constexpr uint64_t kChunksPerFile = 100;

class Accesses {
 public:
  Accesses(const Zipf& zipf, const HitRateCase& c)
      : zipf_(zipf),
        through_hints_(c.through_hints),
        hints_(c.through_hints ? zipf.chunk_count() : 0),
        random_(c.seed) {
    const double bytes =
        c.cache_share * static_cast<double>(zipf.chunk_count() * kChunkBytes);
    cache_ = NewShardedLruCache(
        {static_cast<size_t>(std::llround(bytes)), -1, c.policy});
  }

  // Whether a hot chunk, drawn at random, was cached.
  bool AskHot() {
    const double place = static_cast<double>(random_() >> 11) / 0x1p53;
    const uint64_t chunk = zipf_.ChunkAt(place);
    FilterCache::Hint* hint = through_hints_ ? &hints_[chunk] : nullptr;
    // As a reader does; alone, it needs no guard.
    if (hint != nullptr && hint->value.load() != nullptr) {
      hint->used = true;
      return true;
    }
    return Ask({1 + chunk / kChunksPerFile, chunk % kChunksPerFile}, hint);
  }

  // Each chunk of a file that was never asked, once.
  void Sweep(uint64_t chunk_count) {
    const uint64_t file_id = FilterCache::NewFileId();
    for (uint64_t i = 0; i < chunk_count; ++i) Ask({file_id, i}, nullptr);
  }

 private:
  bool Ask(const FilterCacheKey& key, FilterCache::Hint* hint) {
    FilterCache::Handle* handle = cache_->Lookup(key, hint);
    const bool hit = handle != nullptr;
    if (!hit) {
      auto value = std::make_unique<FilterCache::Value>();
      FilterCache::EntryOptions options;
      options.charge_bytes = kChunkBytes;
      options.role = FilterCacheRole::kChunk;
      options.hint = hint;
      handle = cache_->Insert(key, &value, options);
    }
    if (handle != nullptr) cache_->Release(handle);
    return hit;
  }

  const Zipf& zipf_;
  const bool through_hints_;
  std::vector<FilterCache::Hint> hints_;
  std::mt19937_64 random_;
  std::unique_ptr<FilterCache> cache_;
};

}  // namespace

Zipf::Zipf(uint64_t chunk_count, double theta) {
  double sum = 0;
  for (uint64_t i = 0; i < chunk_count; ++i) {
    sum += std::pow(static_cast<double>(i + 1), -theta);
    sums_.push_back(sum);
  }
  for (double& s : sums_) s /= sum;
}

uint64_t Zipf::ChunkAt(double place) const {
  const auto it = std::upper_bound(sums_.begin(), sums_.end(), place);
  return std::min<uint64_t>(static_cast<uint64_t>(it - sums_.begin()),
                            sums_.size() - 1);
}

double Zipf::ShareOfFirst(uint64_t chunk_count) const {
  return chunk_count == 0
             ? 0
             : sums_[std::min(chunk_count, this->chunk_count()) - 1];
}

double HotHitRate(const Zipf& zipf, const HitRateCase& c) {
  Accesses accesses(zipf, c);
  const uint64_t warm_up = c.accesses / 2;
  // Between two sweeps.
  const double distance =
      static_cast<double>(c.sweep_chunks) * (1 - c.sweep_share) / c.sweep_share;
  double next_sweep = c.sweep_chunks > 0 ? distance : HUGE_VAL;
  uint64_t hits = 0;
  for (uint64_t i = 0; i < warm_up + c.accesses; ++i) {
    if (static_cast<double>(i) >= next_sweep) {
      accesses.Sweep(c.sweep_chunks);
      next_sweep += distance;
    }
    const bool hit = accesses.AskHot();
    if (i >= warm_up) hits += hit ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(c.accesses);
}

}  // namespace rowbloom::cache_bench
