// SPDX-License-Identifier: Apache-2.0
//
// levels: questions for absent tenants, users, rows and cells of an event log
// in examples/mini_kv, under filters with a key codec and without.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/or_throw.h"
#include "bench/split_mix.h"
#include "bench/work_directory.h"
#include "examples/mini_kv/mini_kv.h"
#include "measures.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::reader_bench {
namespace {

using bench::CheckOk;
using bench::OrThrow;
using mini_kv::MiniKv;

constexpr uint64_t kUsersPerTenant = 10;
constexpr uint64_t kRowsPerUser = 10;
constexpr const char* kColumns[] = {"action", "device"};
constexpr const char* kLevels[] = {"tenant", "user", "row", "cell"};
constexpr size_t kValueSize = 32;

struct Policy {
  std::string name;
  FilterOptions filter;
};

std::vector<Policy> Policies(const LevelsOptions& options) {
  std::vector<Policy> policies(1);
  policies[0].name = "none";
  policies[0].filter.bloom_type = BloomType::kNone;
  const auto add = [&](const std::string& name, const char* family) {
    FilterOptions& filter = policies.emplace_back().filter;
    policies.back().name = name;
    filter.bloom_type = BloomType::kRowCol;
    filter.filter_spec = FilterSpec::BitsPerKey(family, options.bits_per_key);
    return &filter;
  };
  add("blocked_bloom, no key codec", "blocked_bloom");
  FilterOptions* tenants = add("blocked_bloom, tenants", "blocked_bloom");
  tenants->bloom_type = BloomType::kRowPrefixFixedLength;
  tenants->prefix_length_bytes = 9;
  for (const char* family : {"blocked_bloom", "fast", "compact"}) {
    add(family, family)->key_codec =
        *KeyCodec::Parse("tenant.delimiter:/,user.delimiter:/,row.rest");
  }
  return policies;
}

std::string Segment(char kind, uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%c%07llu", kind,
                static_cast<unsigned long long>(number));
  return text;
}

// Numbers in use are even: the odd ones between them are absent.
struct Event {
  std::string tenant, user, row;  // Each begins with the one before.
};
Event EventOf(uint64_t i, int absent_level = -1) {
  const auto number = [&](uint64_t n, int level) {
    return 2 * n + (level == absent_level ? 1 : 0);
  };
  const uint64_t user = i / kRowsPerUser;
  Event event;
  event.tenant = Segment('t', number(user / kUsersPerTenant, 0)) + "/";
  event.user =
      event.tenant + Segment('u', number(user % kUsersPerTenant, 1)) + "/";
  event.row = event.user + Segment('e', number(i % kRowsPerUser, 2));
  return event;
}

mini_kv::Options StoreOptions(const LevelsOptions& options) {
  mini_kv::Options store;
  store.memtable_size_bytes = options.memtable_size_bytes;
  store.file_size_bytes = options.memtable_size_bytes;
  store.level1_size_bytes = 2 * options.memtable_size_bytes;
  return store;
}

// Puts the cells in an order that looks random. Returns the filters' bytes.
uint64_t Load(const LevelsOptions& options, const Policy& policy,
              const std::string& path, bench::Progress* progress) {
  std::vector<uint64_t> order(options.rows * std::size(kColumns));
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    return bench::SplitMix(a ^ options.seed) <
           bench::SplitMix(b ^ options.seed);
  });
  mini_kv::Options store_options = StoreOptions(options);
  store_options.filter = policy.filter;
  progress->Begin("load " + policy.name, order.size());
  const auto store = OrThrow(MiniKv::Open(store_options, path));
  for (const uint64_t cell : order) {
    CheckOk(store->Put(EventOf(cell / std::size(kColumns)).row,
                       kColumns[cell % std::size(kColumns)],
                       std::string(kValueSize, 'v')));
    progress->Add(1);
  }
  CheckOk(store->Flush());
  progress->End();
  uint64_t filter_bytes = 0;
  for (const auto& level : store->levels()) filter_bytes += level.filter_bytes;
  return filter_bytes;
}

// Asks for an event whose segment of the level is absent, and is there but for
// that. Asks for a cell by another column.
bool Exists(MiniKv* store, uint64_t i, int level, bool is_absent) {
  const Event event = EventOf(i, is_absent ? level : -1);
  switch (level) {
    case 0:
      return OrThrow(store->PrefixExists(event.tenant));
    case 1:
      return OrThrow(store->PrefixExists(event.user));
    case 2:
      return OrThrow(store->RowExists(event.row));
    default:
      return OrThrow(store->Get(event.row, is_absent ? "city" : kColumns[0]))
          .has_value();
  }
}

}  // namespace

nlohmann::ordered_json MeasureLevels(const LevelsOptions& options,
                                     bench::Progress* progress) {
  const bench::WorkDirectory directory("", "reader_bench", false);
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  std::vector<double> without(std::size(kLevels));
  for (const Policy& policy : Policies(options)) {
    const std::string path = directory.path() + "/store";
    const uint64_t filter_bytes = Load(options, policy, path, progress);
    progress->Begin("ask " + policy.name,
                    2 * options.gets * std::size(kLevels));
    for (size_t level = 0; level < std::size(kLevels); ++level) {
      // No filter is in the cache at first.
      const auto store = OrThrow(MiniKv::Open(StoreOptions(options), path));
      double reads[2] = {};
      for (const bool is_absent : {true, false}) {
        const uint64_t before = store->stats().reads.data_blocks;
        for (uint64_t get = 0; get < options.gets; ++get) {
          const uint64_t i =
              bench::SplitMix(get + options.seed * bench::kSplitMixStep) %
              options.rows;
          if (Exists(store.get(), i, static_cast<int>(level), is_absent) ==
              is_absent) {
            throw std::runtime_error(policy.name + ": a wrong answer for " +
                                     EventOf(i).row);
          }
          progress->Add(1);
        }
        reads[is_absent ? 1 : 0] =
            static_cast<double>(store->stats().reads.data_blocks - before) /
            static_cast<double>(options.gets);
      }
      if (policy.name == "none") without[level] = reads[1];
      nlohmann::ordered_json fewer;  // Null: no read at all.
      if (reads[1] > 0) fewer = without[level] / reads[1];
      runs.push_back({{"policy", policy.name},
                      {"filter_bytes", filter_bytes},
                      {"level", kLevels[level]},
                      {"data_reads_of_absent", reads[1]},
                      {"times_fewer", fewer},
                      {"data_reads_of_present", reads[0]}});
    }
    progress->End();
    std::filesystem::remove_all(path);
  }
  return {{"seed", options.seed},
          {"rows", options.rows},
          {"cells", options.rows * std::size(kColumns)},
          {"users", options.rows / kRowsPerUser},
          {"tenants", options.rows / kRowsPerUser / kUsersPerTenant},
          {"bits_per_key", options.bits_per_key},
          {"gets", options.gets},
          {"runs", runs}};
}

}  // namespace rowbloom::reader_bench
