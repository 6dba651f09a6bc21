// SPDX-License-Identifier: Apache-2.0

#include "key_tree.h"

#include <algorithm>
#include <cmath>

#include "bench/split_mix.h"

namespace rowbloom::bench {
namespace {

constexpr uint64_t kAbsentKeys = uint64_t{1} << 40;
constexpr uint64_t kMissSeed = 1;
constexpr uint64_t kKeySeed = 2;
constexpr uint64_t kEpochSeed = 3;
// Filters of 10 bits per key have 9.95 to 10.05.
constexpr double kBytesTolerance = 0.005;
// Wasted reads are compared with their limit after so many gets.
constexpr uint64_t kStep = 5000;

// Keys of one site share the beginning.
std::string UrlOf(const std::string& key) {
  constexpr const char* kTopics[] = {"news", "products", "blog/archive",
                                     "users", "static/images"};
  const uint64_t random = Scramble(key, 1);
  std::string url = "https://www.site-" + std::to_string(random % 997) +
                    ".example.com/" + kTopics[random / 997 % 5] + "/";
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : key) {
    url += kDigits[static_cast<uint8_t>(c) >> 4];
    url += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return url.append(random / 5000 % 20, 'x');
}

std::vector<uint64_t> EndsOfRuns(const TreeShape& shape) {
  std::vector<uint64_t> ends;
  uint64_t sum = 0;
  for (const TreeRun& run : OrThrow(RunsOf(shape))) {
    ends.push_back(sum += run.key_count);
  }
  return ends;
}

}  // namespace

std::string KeyOf(uint64_t number) {
  std::string key(sizeof(number), '\0');
  for (size_t i = key.size(); i-- > 0; number >>= 8) {
    key[i] = static_cast<char>(number & 0xff);
  }
  return key;
}

std::string ValueOf(const std::string& key, size_t size) {
  std::string value = key;
  value.resize(size, '.');
  return value;
}

KeyTree::KeyTree(const TreeShape& tree_shape, Run* run, FilterPlace place,
                 size_t size, KeyForm key_form)
    : shape(tree_shape),
      value_size(size),
      form(key_form),
      run_ends(EndsOfRuns(shape)),
      key_count(run_ends.back()),
      zipf(key_count, kZipfExponent),
      // One shard has one order of use for all blocks.
      cache(rocksdb::NewLRUCache(0, /*num_shard_bits=*/0)),
      run_(*run),
      place_(place) {}

std::unique_ptr<Tree> KeyTree::Build(const std::string& name,
                                     double bits_asked) {
  const Policy policy = MakeKeyPolicy(name, bits_asked, shape);
  auto tree = BuildOnce(policy, bits_asked);
  if (!policy.listeners.empty() && policy.statistics == nullptr) {
    tree->Rewrite(policy, [] {});
  }
  return tree;
}

std::unique_ptr<Tree> KeyTree::BuildOnce(const Policy& policy,
                                         double bits_asked) {
  run_.progress.Begin(
      "build " + policy.name + " at " + Number(bits_asked, "%.4g bits"),
      key_count);
  TreeOptions options;
  options.level_count = static_cast<int>(run_ends.size());
  options.is_universal = shape.kind == TreeKind::kUniversal;
  options.block_cache = cache;
  options.place = place_;
  // The value begins with its key, so that half of a URL's bytes are new.
  if (form == KeyForm::kUrls) options.compression = rocksdb::kLZ4Compression;
  auto tree = std::make_unique<Tree>(
      options, policy, run_.NewPath(),
      [this](int level, Database* database) { Fill(level, database); },
      &levels);
  run_.progress.End();
  return tree;
}

std::unique_ptr<Tree> KeyTree::BuildWith(const std::string& policy,
                                         double bits_per_key) {
  double asked = bits_per_key;
  return BuildAsLarge([&](double bits) { return Build(policy, bits); },
                      [&](const Tree& tree) {
                        return bits_per_key *
                               static_cast<double>(tree.all.keys) / 8;
                      },
                      kBytesTolerance, &asked);
}

void KeyTree::Fill(int level, Database* database) {
  std::vector<std::string> keys;
  for (uint64_t i = level == 1 ? 0 : run_ends[level - 2];
       i < run_ends[level - 1]; ++i) {
    keys.push_back(Key(i));
  }
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) {
    database->Put(key, ValueOf(key, value_size));
    run_.progress.Add(1);
  }
}

std::string KeyTree::KeyOfNumber(uint64_t number) const {
  return form == KeyForm::kUrls ? UrlOf(KeyOf(number)) : KeyOf(number);
}

std::string KeyTree::Key(uint64_t index) const {
  return KeyOfNumber(SplitMix(index));
}

int KeyTree::LevelOf(uint64_t index) const {
  const auto it = std::upper_bound(run_ends.begin(), run_ends.end(), index);
  return static_cast<int>(it - run_ends.begin()) + 1;
}

std::string KeyTree::AbsentKey(uint64_t index) const {
  return KeyOfNumber(SplitMix(key_count + index));
}

std::function<Get()> GetsOf(const KeyTree& keys, const GetMix& mix,
                            uint64_t seed) {
  return
      [&keys, mix, first = Scramble(seed, 0), count = uint64_t{0}]() mutable {
        const uint64_t number = first + count++;
        uint64_t drawn = Scramble(number, kKeySeed);
        if (mix.popularity == Mix::kZipf) {
          drawn = Scramble(keys.zipf.Rank(drawn),
                           Scramble(first + count / kGetsPerEpoch, kEpochSeed));
        }
        const uint64_t miss = Scramble(number, kMissSeed);
        if (std::ldexp(static_cast<double>(miss), -64) < mix.missing_share) {
          return Get{keys.AbsentKey(drawn % kAbsentKeys), 0};
        }
        const uint64_t index = drawn % keys.key_count;
        return Get{keys.Key(index), keys.LevelOf(index)};
      };
}

void Ask(rocksdb::DB* db, const Get& get, bool fill_cache, Answers* answers) {
  rocksdb::ReadOptions options;
  options.fill_cache = fill_cache;
  rocksdb::PinnableSlice value;
  const rocksdb::Status status =
      db->Get(options, db->DefaultColumnFamily(), get.key, &value);
  if (!status.IsNotFound()) Check(status, "reading");
  answers->Add(get.level == 0 ? status.IsNotFound()
                              : status.ok() && value == ValueOf(get.key),
               get.level == 0 ? "absent" : "present", get.key);
}

Wasted CountWasted(rocksdb::DB* db, const std::function<Get()>& gets,
                   uint64_t most_gets, uint64_t most_wasted, bool fill_cache,
                   Run* run) {
  Wasted wasted;
  uint64_t necessary = 0;
  StartCounting();
  while (wasted.gets < most_gets) {
    const Get get = gets();
    const uint64_t before = get.level > 0 ? DataReadsOfLevel(get.level) : 0;
    Ask(db, get, fill_cache, &run->answers);
    if (get.level > 0) {
      // A get ends with the run that has its key, after one block of it, which
      // may be cached.
      necessary += DataReadsOfLevel(get.level) - before;
    } else if (get.level == Get::kSomewhere) {
      ++necessary;
    }
    run->progress.Add(1);
    if (++wasted.gets % kStep == 0 && DataReads() - necessary >= most_wasted) {
      break;
    }
  }
  wasted.reads = StopCounting() - necessary;
  return wasted;
}

}  // namespace rowbloom::bench
