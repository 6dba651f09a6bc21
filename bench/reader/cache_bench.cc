// SPDX-License-Identifier: Apache-2.0
//
// cache_bench: hit rates of our cache and of a plain LRU on Zipf accesses with
// sweeps over cold files. See bench/README.md.
//
//   cache_bench --zipf 0.99 --cache_percent 10
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/container/flat_hash_map.h"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rowbloom/filter_cache.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kChunkBytes = 128 << 10;  // As charged.
constexpr uint64_t kChunksPerFile = 100;

// Draws hot chunks: chunk i in proportion to 1/(i+1)^theta.
class Zipf {
 public:
  Zipf(uint64_t chunk_count, double theta) {
    double sum = 0;
    for (uint64_t i = 0; i < chunk_count; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -theta);
      sums_.push_back(sum);
    }
    for (double& s : sums_) s /= sum;
  }

  uint64_t chunk_count() const { return sums_.size(); }
  // That of a number in [0, 1).
  uint64_t ChunkAt(double place) const {
    const auto it = std::upper_bound(sums_.begin(), sums_.end() - 1, place);
    return static_cast<uint64_t>(it - sums_.begin());
  }
  // The share of accesses that the most popular ones have: the hit rate of a
  // cache that knows them and holds nothing else.
  double ShareOfFirst(uint64_t chunk_count) const {
    return chunk_count == 0
               ? 0
               : sums_[std::min(chunk_count, this->chunk_count()) - 1];
  }

 private:
  std::vector<double> sums_;  // Element i: the shares of chunks 0 to i.
};

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
double HotHitRate(const Zipf& zipf, const Sweeps& sweeps, uint64_t accesses,
                  uint64_t seed, const Ask& ask) {
  std::mt19937_64 random(seed);
  const uint64_t warm_up = accesses / 2;
  const double share = sweeps.percent / 100;
  // Between two sweeps.
  const double distance =
      static_cast<double>(sweeps.chunks) * (1 - share) / share;
  double next_sweep = sweeps.chunks > 0 ? distance : HUGE_VAL;
  uint64_t hits = 0;
  for (uint64_t i = 0; i < warm_up + accesses; ++i) {
    if (static_cast<double>(i) >= next_sweep) {
      const uint64_t cold_file = FilterCache::NewFileId();
      for (uint64_t c = 0; c < sweeps.chunks; ++c) ask({cold_file, c});
      next_sweep += distance;
    }
    const uint64_t chunk =
        zipf.ChunkAt(static_cast<double>(random() >> 11) / 0x1p53);
    const bool hit = ask({1 + chunk / kChunksPerFile, chunk % kChunksPerFile});
    if (i >= warm_up) hits += hit ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(accesses);
}

struct Options {
  uint64_t hot_chunks = 10000;
  std::vector<double> zipf = {0.99, 0.8};
  std::vector<double> cache_percent = {1, 2, 5, 10, 20, 50};
  std::vector<uint64_t> sweep_chunks = {100, 1000, 10000};
  std::vector<double> sweep_percent = {10, 50};
  uint64_t accesses = 500000;
  uint64_t seed = 1;
  std::string json = "/dev/stdout";
};

nlohmann::ordered_json MeasureHitRates(const Options& options) {
  std::vector<Sweeps> all_sweeps = {{}};
  for (const uint64_t chunks : options.sweep_chunks) {
    for (const double percent : options.sweep_percent) {
      all_sweeps.push_back({chunks, percent});
    }
  }
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const double theta : options.zipf) {
    const Zipf zipf(options.hot_chunks, theta);
    for (const Sweeps& sweeps : all_sweeps) {
      for (const double percent : options.cache_percent) {
        const double hot_chunks =
            percent / 100 * static_cast<double>(options.hot_chunks);
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
               {"hot_hit_rate",
                HotHitRate(zipf, sweeps, options.accesses, options.seed, ask)},
               {"best_fixed_hit_rate",
                zipf.ShareOfFirst(static_cast<uint64_t>(hot_chunks))}});
        }
      }
    }
  }
  return runs;
}

int Run(const Options& options) {
  const JsonFile json(options.json);
  nlohmann::ordered_json results = {{"format_version", 1},
                                    {"machine", MachineJson()},
                                    {"options",
                                     {{"hot_chunks", options.hot_chunks},
                                      {"accesses", options.accesses},
                                      {"seed", options.seed}}}};
  results["hit_rates"] = MeasureHitRates(options);
  json.Write(results);
  return 0;
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
  app.add_option("--json", options.json, "Write the results to this file")
      ->capture_default_str();
  return RunProgram("cache_bench", &app, argc, argv,
                    [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
