// SPDX-License-Identifier: Apache-2.0
//
// Measures filters of LevelDB's size, all through leveldb::FilterPolicy: bytes,
// false positives and the time of a lookup, by keys in a filter. Beside each
// rate stands that of LevelDB's own Bloom filter in as many bytes.
//
//   leveldb_bench                    40 to 2560 keys, 10 bits a key
//   leveldb_bench --keys 40 --bits_per_key 15
//
// Names: rate/FILTER/KEYS and lookup/FILTER/KEYS, in which the keys are absent.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/micro.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "rowbloom/filter.h"
#include "rowbloom/leveldb.h"

namespace rowbloom::bench {
namespace {

constexpr int kFilters = 200;
constexpr size_t kLookups = 20000;  // In an iteration.

struct Options {
  std::vector<int> keys = {40, 160, 640, 2560};
  int bits_per_key = 10;
  uint64_t lookups = 4000000;
};

std::vector<std::string> Keys(const char* kind, int filter, size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(kind + std::to_string(filter) + "." + std::to_string(i));
  }
  return keys;
}

std::vector<std::string> MakeFilters(const leveldb::FilterPolicy& policy,
                                     int key_count) {
  std::vector<std::string> filters(kFilters);
  for (int f = 0; f < kFilters; ++f) {
    const auto keys = Keys("key", f, static_cast<size_t>(key_count));
    const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    policy.CreateFilter(slices.data(), key_count, &filters[f]);
    for (const std::string& key : keys) {
      if (!policy.KeyMayMatch(key, filters[f])) CountWrongAnswers(1);
    }
  }
  return filters;
}

uint64_t Positives(const leveldb::FilterPolicy& policy,
                   const std::string& filter,
                   const std::vector<std::string>& absent) {
  uint64_t positives = 0;
  for (const std::string& key : absent) {
    positives += policy.KeyMayMatch(key, filter) ? 1 : 0;
  }
  return positives;
}

double MeanBytes(const std::vector<std::string>& filters) {
  size_t bytes = 0;
  for (const std::string& filter : filters) bytes += filter.size();
  return static_cast<double>(bytes) / kFilters;
}

double Rate(const leveldb::FilterPolicy& policy,
            const std::vector<std::string>& filters, uint64_t lookups) {
  const auto absent =
      Keys("absent", 0, std::max<uint64_t>(1, lookups / kFilters));
  uint64_t positives = 0;
  for (const std::string& filter : filters) {
    positives += Positives(policy, filter, absent);
  }
  return static_cast<double>(positives) /
         (static_cast<double>(absent.size()) * kFilters);
}

using LevelDbPolicy = std::shared_ptr<const leveldb::FilterPolicy>;

void CountRate(benchmark::State& state, const LevelDbPolicy& policy, int keys,
               uint64_t lookups) {
  for (auto _ : state) {
    const auto filters = MakeFilters(*policy, keys);
    const double bytes = MeanBytes(filters);
    // The last byte of a Bloom filter is its number of probes.
    const LevelDbPolicy bloom(leveldb::NewBloomFilterPolicy(
        static_cast<int>(8 * (bytes - 1) / keys)));
    state.counters["bytes"] = bytes;
    state.counters["bits_per_key"] = 8 * bytes / keys;
    state.counters["fpr"] = Rate(*policy, filters, lookups);
    state.counters["fpr_of_bloom"] =
        Rate(*bloom, MakeFilters(*bloom, keys), lookups);
  }
}

// Each iteration asks another filter, which is then in the processor's cache.
void TimeLookups(benchmark::State& state, const LevelDbPolicy& policy,
                 int keys) {
  const auto filters = MakeFilters(*policy, keys);
  const auto absent = Keys("absent", 0, kLookups);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Positives(*policy, filters[next++ % kFilters], absent));
  }
  state.counters["time_per_lookup"] = TimeOfEach(kLookups);
}

void AddBenchmarks(const Options& options) {
  std::vector<std::pair<std::string, LevelDbPolicy>> policies;
  policies.emplace_back("leveldb_bloom",
                        leveldb::NewBloomFilterPolicy(options.bits_per_key));
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    policies.emplace_back(
        family, OrThrow(NewLevelDbFilterPolicy(
                    FilterSpec::BitsPerKey(family, options.bits_per_key))));
  }
  for (const int keys : options.keys) {
    for (const auto& named : policies) {
      const std::string end = named.first + "/" + std::to_string(keys);
      const LevelDbPolicy policy = named.second;
      benchmark::RegisterBenchmark(
          ("rate/" + end).c_str(),
          [policy, keys, lookups = options.lookups](benchmark::State& state) {
            CountRate(state, policy, keys, lookups);
          })
          ->Iterations(1)
          ->Repetitions(1);
      benchmark::RegisterBenchmark(("lookup/" + end).c_str(),
                                   [policy, keys](benchmark::State& state) {
                                     TimeLookups(state, policy, keys);
                                   });
    }
  }
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Filters as LevelDB makes them, one for each data block.\nExit code 1 if "
      "any present key was answered \"no\".");
  app.option_defaults()->always_capture_default();
  app.add_option("--keys", options.keys, "In a filter, or a list: 40,160")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--bits_per_key", options.bits_per_key, "Of all filters")
      ->check(CLI::Range(static_cast<int>(FilterSpec::kMinBitsPerKey),
                         static_cast<int>(FilterSpec::kMaxBitsPerKey)));
  app.add_option("--lookups", options.lookups, "Absent keys for each rate")
      ->check(CLI::PositiveNumber);
  return RunMicro("leveldb_bench", &app, argc, argv,
                  [&] { AddBenchmarks(options); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
