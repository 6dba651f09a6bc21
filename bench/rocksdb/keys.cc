// SPDX-License-Identifier: Apache-2.0
//
// keys, memory: gets of 8-byte keys in RocksDB trees of fixed shape, by how the
// memory of their filters is spent.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "key_tree.h"
#include "policies.h"
#include "run.h"

namespace rowbloom::bench {
namespace {

constexpr uint64_t kRepetitions = 3;
constexpr uint64_t kMostWasted = 2000;  // A repetition ends with as many.
constexpr uint64_t kPresentSeed = 1000;
constexpr uint64_t kGetSeed = 2000;  // Plus the repetition.
constexpr uint64_t kWarmUpSeed = 3000;

// Compares the gets of two runs.
bool SameMix(const Json& a, const Json& b) {
  return a["missing_share"] == b["missing_share"] && a["mix"] == b["mix"] &&
         a["cache_share"] == b["cache_share"];
}

std::vector<GetMix> MixesOf(Mix popularity, double cache_share) {
  std::vector<GetMix> mixes;
  for (const double missing : kMissingShares) {
    mixes.push_back({missing, popularity, cache_share});
  }
  return mixes;
}
std::vector<GetMix> ColdUniform() { return MixesOf(Mix::kUniform, 0); }

std::vector<GetMix> AllMixes() {
  std::vector<GetMix> all = ColdUniform();
  for (const auto& more : {MixesOf(Mix::kZipf, 0), MixesOf(Mix::kUniform, 0.01),
                           MixesOf(Mix::kUniform, 0.1)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

TreeShape ShapeOf(TreeKind kind, const Options& options) {
  TreeShape shape;
  shape.key_count = options.Or(options.keys, 40000, 2500000);
  if (kind == TreeKind::kUniversal) {
    shape.kind = kind;
    shape.size_ratio = 2;
    shape.level_count = 8;
  }
  return shape;
}

// Asks gets until the block cache holds what gets of this kind leave in it:
// first hits until it is full, then such gets until as many blocks were read as
// it holds.
void WarmUp(const KeyTree& keys, rocksdb::DB* db, const GetMix& mix,
            uint64_t cache_blocks, Run* run) {
  constexpr uint64_t kMostGets = 1000000;
  StartCounting();
  const auto ask = [&](const std::function<Get()>& gets, uint64_t most,
                       uint64_t reads) {
    for (uint64_t i = 0; i < most && DataReads() < reads; ++i) {
      Ask(db, gets(), /*fill_cache=*/true, &run->answers);
      run->progress.Add(0);
    }
  };
  // A read fills the cache by a block.
  ask(GetsOf(keys, {0, mix.popularity}, kPresentSeed), 100 * cache_blocks,
      cache_blocks);
  ask(GetsOf(keys, mix, kWarmUpSeed), kMostGets, 2 * cache_blocks);
  StopCounting();
}

Json CountOne(const KeyTree& keys, const Tree& tree, const GetMix& mix,
              uint64_t most_gets, Run* run) {
  const bool cached = mix.cache_share != 0;
  if (cached) {
    const double bytes =
        mix.cache_share * static_cast<double>(tree.all.data_bytes);
    keys.cache->SetCapacity(static_cast<size_t>(bytes));
    WarmUp(keys, tree.db(), mix, static_cast<uint64_t>(bytes / kBlockSizeBytes),
           run);
  }
  Wasted sum;
  for (uint64_t i = 0; i < kRepetitions; ++i) {
    sum += CountWasted(tree.db(), GetsOf(keys, mix, kGetSeed + i), most_gets,
                       kMostWasted, cached, run);
  }
  keys.cache->SetCapacity(0);
  return {{"missing_share", mix.missing_share},
          {"mix", MixName(mix.popularity)},
          {"cache_share", mix.cache_share},
          {"wasted_reads_per_1000_gets", sum.PerThousand()}};
}

// Adds the counts of one policy to `runs` of `results`.
void Count(const KeyTree& keys, const Tree& tree, const std::string& policy,
           const std::vector<GetMix>& mixes, Json* results, Run* run) {
  const uint64_t most_gets = run->options.Or(run->options.gets, 10000, 100000);
  run->progress.Begin("ask " + policy, mixes.size() * kRepetitions * most_gets);
  for (const GetMix& mix : mixes) {
    Json counted = {{"policy", policy},
                    {"bits_per_key", tree.all.BitsPerKey()}};
    counted.update(CountOne(keys, tree, mix, most_gets, run));
    (*results)["runs"].push_back(std::move(counted));
  }
  run->progress.End();
}

// The wasted reads of rocksdb_bloom in the same gets, if its filters take about
// 10 bits per key.
Json Baseline(const Json& runs, const Json& same) {
  for (const Json& run : runs) {
    if (run["policy"] == kBloom && SameMix(run, same) &&
        std::abs(run["bits_per_key"].get<double>() - kBitsPerKey) < 0.5) {
      return run["wasted_reads_per_1000_gets"];
    }
  }
  return nullptr;
}

// The bits per key with which a policy wastes as many reads as the baseline, by
// a line through the logarithms of wasted reads between the two measured sizes
// around it. Null if there are no such sizes.
Json BitsForBaseline(const Json& runs, const Json& policy, const Json& same) {
  std::vector<std::pair<double, double>> points;  // Bits, wasted.
  for (const Json& run : runs) {
    if (run["policy"] == policy && SameMix(run, same)) {
      points.emplace_back(run["bits_per_key"].get<double>(),
                          run["wasted_reads_per_1000_gets"].get<double>());
    }
  }
  std::sort(points.begin(), points.end());
  const Json baseline = Baseline(runs, same);
  for (size_t i = 1; i < points.size() && !baseline.is_null(); ++i) {
    const double reads = baseline;
    const auto& [bits, more] = points[i - 1];
    const auto& [next_bits, less] = points[i];
    if (more < reads || less > reads || less == more) continue;
    if (less == 0) return next_bits;
    const double share = std::log(more / reads) / std::log(more / less);
    return bits + share * (next_bits - bits);
  }
  return nullptr;
}

Json EqualReads(const Json& runs, const std::vector<std::string>& policies) {
  Json rows = Json::array();
  for (const std::string& policy : policies) {
    Json bits = Json::array();
    for (size_t i = 0; i < std::size(kMissingShares); ++i) {
      bits.push_back(BitsForBaseline(runs, policy, runs[i]));
    }
    rows.push_back({{"policy", policy},
                    {"missing_shares", kMissingShares},
                    {"bits_per_key", std::move(bits)}});
  }
  return rows;
}

void Finish(const KeyTree& keys, Json* results) {
  (*results)["tree"] = TreeKindName(keys.shape.kind);
  (*results)["levels"] = keys.levels;
}

}  // namespace

Json MeasureKeys(Run* run) {
  Json trees = Json::array();
  for (const TreeKind kind : {TreeKind::kLeveled, TreeKind::kUniversal}) {
    KeyTree keys(ShapeOf(kind, run->options), run);
    Json results;
    for (const std::string& policy :
         PolicyNames(kKeys, run->options.policies)) {
      const auto tree = keys.BuildWith(policy, kBitsPerKey);
      Count(keys, *tree, policy,
            kind == TreeKind::kLeveled ? AllMixes() : ColdUniform(), &results,
            run);
    }
    Finish(keys, &results);
    trees.push_back(std::move(results));
  }
  return {{"reads", {{"trees", std::move(trees)}}}};
}

Json MeasureMemory(Run* run) {
  std::vector<double> axis = {1, 2, 4, 6, 8, 10, 12, 14};
  std::vector<double> hits_only_axis = {0.2, 0.4, 0.6, 0.8, 1, 1.5};
  if (run->options.quick) {
    axis = {4, 6, 8, 10};
    hits_only_axis = {0.4, 0.8};
  }
  const auto policies = PolicyNames(kMemory, run->options.policies);
  KeyTree keys(ShapeOf(TreeKind::kLeveled, run->options), run);
  Json results;
  for (const std::string& policy : policies) {
    for (const double bits : policy == kHitsOnly ? hits_only_axis : axis) {
      Count(keys, *keys.Build(policy, bits), policy, ColdUniform(), &results,
            run);
    }
  }
  Finish(keys, &results);
  results["equal_reads"] = EqualReads(results["runs"], policies);
  return {{"memory", std::move(results)}};
}

}  // namespace rowbloom::bench
