// SPDX-License-Identifier: Apache-2.0
//
// What filters of LevelDB's size cost: bytes, false positives and time of a
// lookup, by keys in a filter, all through leveldb::FilterPolicy. Beside each
// stands the rate of LevelDB's own Bloom filter in as many bytes.
//
//   leveldb_filter_bench                    40 to 2560 keys, 10 bits a key
//   leveldb_filter_bench --keys 40 --bits_per_key 15

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/program.h"
#include "leveldb/filter_policy.h"
#include "leveldb/slice.h"
#include "rowbloom/filter.h"
#include "rowbloom/leveldb.h"

namespace {

using LevelDbPolicy = std::unique_ptr<const leveldb::FilterPolicy>;

struct Options {
  std::vector<int> keys = {40, 160, 640, 2560};
  int bits_per_key = 10;
  uint64_t lookups = 4000000;
};

struct Result {
  double bytes_per_filter = 0;
  double fpr = 0;
  double ns_per_lookup = std::numeric_limits<double>::infinity();
  uint64_t false_negatives = 0;
};

std::vector<std::string> Keys(const char* kind, int filter, size_t count) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(kind + std::to_string(filter) + "." + std::to_string(i));
  }
  return keys;
}

// Of filters of so many keys, each in the processor's cache. Its time is that
// of the filter asked fastest: the machine may have been disturbed at the
// others.
Result Measure(const leveldb::FilterPolicy& policy, int key_count,
               uint64_t lookups) {
  using Clock = std::chrono::steady_clock;
  constexpr int kFilters = 200;
  const std::vector<std::string> absent =
      Keys("absent", 0, std::max<uint64_t>(1, lookups / kFilters));
  Result result;
  uint64_t positives = 0;
  for (int f = 0; f < kFilters; ++f) {
    const std::vector<std::string> keys =
        Keys("key", f, static_cast<size_t>(key_count));
    const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
    std::string filter;
    policy.CreateFilter(slices.data(), key_count, &filter);
    result.bytes_per_filter += static_cast<double>(filter.size()) / kFilters;
    for (const std::string& key : keys) {
      result.false_negatives += !policy.KeyMayMatch(key, filter);
    }
    const Clock::time_point start = Clock::now();
    for (const std::string& key : absent) {
      positives += policy.KeyMayMatch(key, filter);
    }
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    result.ns_per_lookup =
        std::min(result.ns_per_lookup,
                 time.count() / static_cast<double>(absent.size()));
  }
  const double asked = static_cast<double>(absent.size()) * kFilters;
  result.fpr = static_cast<double>(positives) / asked;
  return result;
}

void Print(int keys, std::string_view name, const Result& result,
           double bloom_fpr) {
  std::printf("| %4d | %-13.*s | %7.1f | %5.2f | %6.3f%% | %6.3f%% | %4.0f |\n",
              keys, static_cast<int>(name.size()), name.data(),
              result.bytes_per_filter, 8 * result.bytes_per_filter / keys,
              100 * result.fpr, 100 * bloom_fpr, result.ns_per_lookup);
  std::fflush(stdout);
}

// Returns false negatives.
uint64_t Compare(const Options& options, int keys) {
  const auto bloom = [&](int bits_per_key) {
    const LevelDbPolicy policy(leveldb::NewBloomFilterPolicy(bits_per_key));
    return Measure(*policy, keys, options.lookups);
  };
  const Result own = bloom(options.bits_per_key);
  Print(keys, "leveldb bloom", own, own.fpr);
  uint64_t false_negatives = own.false_negatives;
  for (const std::string_view family : rowbloom::FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    const auto policy = rowbloom::NewLevelDbFilterPolicy(
        rowbloom::FilterPolicy::BitsPerKey(family, options.bits_per_key));
    if (!policy.ok()) throw std::runtime_error(policy.status().ToString());
    const Result result = Measure(**policy, keys, options.lookups);
    // But for its last byte, the number of probes.
    const int equal_bits =
        static_cast<int>(8 * (result.bytes_per_filter - 1) / keys);
    Print(keys, family, result, bloom(equal_bits).fpr);
    false_negatives += result.false_negatives;
  }
  return false_negatives;
}

int Run(const Options& options) {
  std::printf(
      "| keys | filter | bytes | bits/key | false positives "
      "| those of leveldb bloom in as many bytes | ns a lookup "
      "|\n|---|---|---|---|---|---|---|"
      "\n");
  uint64_t false_negatives = 0;
  for (const int keys : options.keys) false_negatives += Compare(options, keys);
  return false_negatives == 0 ? 0 : rowbloom::bench::kExitFailure;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Filters as LevelDB makes them, one for each data block.\nExit code 1 if "
      "any present key was answered \"no\".");
  app.add_option("--keys", options.keys, "In a filter, one or more numbers")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--bits_per_key", options.bits_per_key, "Of all filters")
      ->check(
          CLI::Range(static_cast<int>(rowbloom::FilterPolicy::kMinBitsPerKey),
                     static_cast<int>(rowbloom::FilterPolicy::kMaxBitsPerKey)))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups, "Absent keys for each line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  return rowbloom::bench::RunProgram("leveldb_filter_bench", &app, argc, argv,
                                     [&] { return Run(options); });
}
