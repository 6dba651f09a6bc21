// SPDX-License-Identifier: Apache-2.0

#include "hit_rate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <memory>
#include <random>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache_bench {
namespace {

constexpr uint64_t kChunksPerFile = 100;

class PlainLru final : public FilterCache {
 public:
  explicit PlainLru(size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  Handle* Lookup(const FilterCacheKey& key) override {
    const auto found = places_.find({key.file_id, key.chunk});
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return HandleOf(&*found->second);
  }
  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    entries_.push_front({{key.file_id, key.chunk}, std::move(*value)});
    places_[entries_.front().key] = entries_.begin();
    while (entries_.size() * options.charge_bytes > capacity_bytes_) {
      places_.erase(entries_.back().key);
      entries_.pop_back();
    }
    return HandleOf(&entries_.front());
  }
  // The bench holds one handle at a time, of the newest entry.
  Value* ValueOf(Handle* handle) const override {
    return reinterpret_cast<Entry*>(handle)->value.get();
  }
  void Release(Handle*) override {}
  void Erase(const FilterCacheKey&) override {}
  void EraseFile(uint64_t) override {}
  void SetCapacity(size_t) override {}
  Usage GetUsage() const override { return {}; }

 private:
  using Key = std::pair<uint64_t, uint64_t>;
  struct Entry {
    Key key;
    std::unique_ptr<Value> value;
  };
  static Handle* HandleOf(Entry* entry) {
    return reinterpret_cast<Handle*>(entry);
  }

  const size_t capacity_bytes_;
  std::list<Entry> entries_;  // The newest first.
  absl::flat_hash_map<Key, std::list<Entry>::iterator> places_;
};

class Accesses {
 public:
  Accesses(const Zipf& zipf, const HitRateCase& c)
      : zipf_(zipf), random_(c.seed) {
    const auto bytes = static_cast<size_t>(std::llround(
        c.cache_share * static_cast<double>(zipf.chunk_count() * kChunkBytes)));
    if (c.is_plain_lru) {
      cache_ = std::make_unique<PlainLru>(bytes);
    } else {
      cache_ = NewShardedLruCache({bytes});
    }
  }

  // Asks for a hot chunk, drawn at random. True if it was cached.
  bool AskHot() {
    const double place = static_cast<double>(random_() >> 11) / 0x1p53;
    const uint64_t chunk = zipf_.ChunkAt(place);
    return Ask({1 + chunk / kChunksPerFile, chunk % kChunksPerFile});
  }

  // Asks once for each chunk of a file that was never asked.
  void Sweep(uint64_t chunk_count) {
    const uint64_t file_id = FilterCache::NewFileId();
    for (uint64_t i = 0; i < chunk_count; ++i) Ask({file_id, i});
  }

 private:
  bool Ask(const FilterCacheKey& key) {
    FilterCache::Handle* handle = cache_->Lookup(key);
    const bool hit = handle != nullptr;
    if (!hit) {
      auto value = std::make_unique<FilterCache::Value>();
      FilterCache::EntryOptions options;
      options.charge_bytes = kChunkBytes;
      options.role = FilterCacheRole::kChunk;
      handle = cache_->Insert(key, &value, options);
    }
    if (handle != nullptr) cache_->Release(handle);
    return hit;
  }

  const Zipf& zipf_;
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
