// SPDX-License-Identifier: Apache-2.0
//
// cache_bench: hit rates of our cache and of a plain LRU on Zipf accesses with
// sweeps over cold files. See bench/README.md.
//
//   cache_bench --zipf 0.99 --cache_percent 10
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bench/program.h"
#include "bench/zipf.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kChunkBytes = 128 << 10;  // As charged.
constexpr uint64_t kChunksPerFile = 100;
constexpr uint64_t kHotChunks = 10000;
constexpr uint64_t kAccesses = 500000;  // That are counted.

// Looks a chunk up and inserts it if it is absent. True if it was there.
using Ask = std::function<bool(const FilterCacheKey&)>;

Ask PlainLru(size_t capacity_bytes) {
  using Key = std::pair<uint64_t, uint64_t>;
  struct State {
    std::list<Key> keys;  // The newest first.
    absl::flat_hash_map<Key, std::list<Key>::iterator> places;
  };
  return [state = std::make_shared<State>(),
          most = capacity_bytes / kChunkBytes](const FilterCacheKey& asked) {
    auto& [keys, places] = *state;
    const Key key = {asked.file_id, asked.chunk};
    const auto found = places.find(key);
    if (found != places.end()) {
      keys.splice(keys.begin(), keys, found->second);
      return true;
    }
    keys.push_front(key);
    places[key] = keys.begin();
    if (keys.size() > most) {
      places.erase(keys.back());
      keys.pop_back();
    }
    return false;
  };
}

Ask SegmentedLru(size_t capacity_bytes) {
  return [cache = std::shared_ptr<FilterCache>(NewShardedLruCache(
              {capacity_bytes}))](const FilterCacheKey& key) {
    FilterCache::Handle* handle = cache->Lookup(key);
    const bool hit = handle != nullptr;
    if (!hit) {
      auto value = std::make_unique<FilterCache::Value>();
      handle = cache->Insert(key, &value, {kChunkBytes});
    }
    if (handle != nullptr) cache->Release(handle);
    return hit;
  };
}

struct Sweeps {
  uint64_t chunks = 0;  // A sweep asks each once; 0: no sweeps.
  double percent = 0;   // A share of all accesses.
};

// The hit rate over the accesses of hot chunks, after half as many accesses
// that are not counted.
double HotHitRate(const ZipfSampler& zipf, const Sweeps& sweeps,
                  const Ask& ask) {
  std::mt19937_64 random(1);
  constexpr uint64_t kWarmUp = kAccesses / 2;
  const double share = sweeps.percent / 100;
  // Between two sweeps.
  const double distance =
      static_cast<double>(sweeps.chunks) * (1 - share) / share;
  double next_sweep = sweeps.chunks > 0 ? distance : HUGE_VAL;
  uint64_t hits = 0;
  for (uint64_t i = 0; i < kWarmUp + kAccesses; ++i) {
    if (static_cast<double>(i) >= next_sweep) {
      const uint64_t cold_file = FilterCache::NewFileId();
      for (uint64_t c = 0; c < sweeps.chunks; ++c) ask({cold_file, c});
      next_sweep += distance;
    }
    const uint64_t chunk = zipf.Rank(random());
    const bool hit = ask({1 + chunk / kChunksPerFile, chunk % kChunksPerFile});
    if (i >= kWarmUp) hits += hit ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(kAccesses);
}

struct Options {
  std::vector<double> zipf = {0.99, 0.8};
  std::vector<double> cache_percent = {1, 2, 5, 10, 20, 50};
  std::vector<uint64_t> sweep_chunks = {100, 1000, 10000};
  std::vector<double> sweep_percent = {10, 50};
};

Json Measure(const Options& options) {
  std::vector<Sweeps> all_sweeps = {{}};
  for (const uint64_t chunks : options.sweep_chunks) {
    for (const double percent : options.sweep_percent) {
      all_sweeps.push_back({chunks, percent});
    }
  }
  Json runs = Json::array();
  for (const double theta : options.zipf) {
    const ZipfSampler zipf(kHotChunks, theta);
    for (const Sweeps& sweeps : all_sweeps) {
      for (const double percent : options.cache_percent) {
        const double hot_chunks = percent / 100 * kHotChunks;
        const auto bytes = static_cast<size_t>(
            std::llround(hot_chunks * static_cast<double>(kChunkBytes)));
        const std::pair<const char*, Ask> policies[] = {
            {"plain_lru", PlainLru(bytes)},
            {"segmented_lru", SegmentedLru(bytes)}};
        for (const auto& [policy, ask] : policies) {
          runs.push_back(
              {{"zipf", theta},
               {"cache_percent", percent},
               {"sweep_chunks", sweeps.chunks},
               {"sweep_percent", sweeps.percent},
               {"policy", policy},
               {"hot_hit_rate", HotHitRate(zipf, sweeps, ask)},
               {"best_fixed_hit_rate",
                zipf.ShareOfFirst(static_cast<uint64_t>(hot_chunks))}});
        }
      }
    }
  }
  return {{"options", {{"hot_chunks", kHotChunks}, {"accesses", kAccesses}}},
          {"hit_rates", std::move(runs)}};
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Hit rates of our cache and of a plain LRU. They are the same on every "
      "machine.");
  const auto add = [&app](const char* name, auto* values, const char* help) {
    return app.add_option(name, *values, help)
        ->delimiter(',')
        ->capture_default_str();
  };
  add("--zipf", &options.zipf, "Exponents of the law of accesses")
      ->check(CLI::Range(0.0, 2.0));
  add("--cache_percent", &options.cache_percent,
      "Capacities, by the bytes of all hot chunks")
      ->check(CLI::Range(0.1, 100.0));
  add("--sweep_chunks", &options.sweep_chunks,
      "Chunks of a cold file, each asked once in a row")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10000000}));
  add("--sweep_percent", &options.sweep_percent,
      "Share of all accesses that sweeps make")
      ->check(CLI::Range(0.1, 99.0));
  return RunToJson("cache_bench", &app, argc, argv,
                   [&] { return Measure(options); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
