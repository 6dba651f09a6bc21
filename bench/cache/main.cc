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
#include <cstdio>
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

namespace rowbloom::cache_bench {
namespace {

constexpr size_t kChunkBytes = 128 << 10;  // As charged.

// Draws hot chunks: chunk i in proportion to 1/(i+1)^theta.
class Zipf {
 public:
  Zipf(uint64_t chunk_count, double theta);

  uint64_t chunk_count() const { return sums_.size(); }
  // That of a number in [0, 1).
  uint64_t ChunkAt(double place) const;
  // The share of accesses that the most popular ones have: the hit rate of a
  // cache that knows them and holds nothing else.
  double ShareOfFirst(uint64_t chunk_count) const;

 private:
  std::vector<double> sums_;  // Element i: the shares of chunks 0 to i.
};

struct HitRateCase {
  bool is_plain_lru = false;  // Else NewShardedLruCache()'s.
  double cache_share = 0;     // As a share of the bytes of all hot chunks.
  uint64_t sweep_chunks = 0;  // A sweep asks each once; 0: no sweeps.
  double sweep_share = 0;     // As a share of all accesses.
  uint64_t accesses = 0;      // Measured, of hot chunks.
  uint64_t seed = 0;
};

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

// The hit rate over the accesses of hot chunks, after half as many accesses
// that are not counted.
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

struct Options {
  uint64_t hot_chunks = 10000;
  std::vector<double> zipf = {0.99, 0.8};
  std::vector<double> cache_percent = {1, 2, 5, 10, 20, 50};
  std::vector<uint64_t> sweep_chunks = {100, 1000, 10000};
  std::vector<double> sweep_percent = {10, 50};
  uint64_t accesses = 500000;
  uint64_t seed = 1;
  std::string json;  // Empty: none.
};

struct Sweeps {
  uint64_t chunks = 0;
  double percent = 0;
};

std::vector<Sweeps> SweepsOf(const Options& options) {
  std::vector<Sweeps> all = {{}};
  for (const uint64_t chunks : options.sweep_chunks) {
    for (const double percent : options.sweep_percent) {
      all.push_back({chunks, percent});
    }
  }
  return all;
}

nlohmann::ordered_json MeasureHitRates(const Options& options) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const double theta : options.zipf) {
    const Zipf zipf(options.hot_chunks, theta);
    std::printf(
        "\nHot hit rate in %%, Zipf %g over %llu chunks\n\n"
        "| sweeps: chunks, share | cache | best fixed | plain LRU | "
        "segmented LRU |\n|---|---|---|---|---|\n",
        theta, static_cast<unsigned long long>(options.hot_chunks));
    for (const Sweeps& sweeps : SweepsOf(options)) {
      for (const double percent : options.cache_percent) {
        const double best = zipf.ShareOfFirst(static_cast<uint64_t>(
            percent / 100 * static_cast<double>(options.hot_chunks)));
        if (sweeps.chunks == 0) {
          std::printf("| none |");
        } else {
          std::printf("| %llu, %g%% |",
                      static_cast<unsigned long long>(sweeps.chunks),
                      sweeps.percent);
        }
        std::printf(" %g%% | %.1f |", percent, 100 * best);
        for (const bool is_plain_lru : {true, false}) {
          HitRateCase c;
          c.is_plain_lru = is_plain_lru;
          c.cache_share = percent / 100;
          c.sweep_chunks = sweeps.chunks;
          c.sweep_share = sweeps.percent / 100;
          c.accesses = options.accesses;
          c.seed = options.seed;
          const double rate = HotHitRate(zipf, c);
          std::printf(" %.1f |", 100 * rate);
          std::fflush(stdout);
          runs.push_back(
              {{"zipf", theta},
               {"cache_percent", percent},
               {"sweep_chunks", sweeps.chunks},
               {"sweep_percent", sweeps.percent},
               {"policy", is_plain_lru ? "plain_lru" : "segmented_lru"},
               {"hot_hit_rate", rate},
               {"best_fixed_hit_rate", best}});
        }
        std::printf("\n");
      }
    }
  }
  return runs;
}

int Run(const Options& options) {
  const bench::JsonFile json(options.json);
  nlohmann::ordered_json results = {{"format_version", 1},
                                    {"machine", bench::MachineJson()},
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
  app.add_option("--json", options.json, "Also write the results to this file");
  return bench::RunProgram("cache_bench", &app, argc, argv,
                           [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::cache_bench

int main(int argc, char** argv) {
  return rowbloom::cache_bench::Main(argc, argv);
}
