// SPDX-License-Identifier: Apache-2.0
//
// levels: questions for prefixes of every level of keys of three levels, under
// one filter for all levels, RocksDB's Bloom filters for one level and whole
// keys, and none.

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_rows.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kKeyLevels = 3;
constexpr size_t kLeafValueSize = 32;

constexpr uint64_t kTreeLevelSeed = 400;
constexpr uint64_t kChoiceSeed = 401;
constexpr uint64_t kAbsentSeed = 402;
constexpr uint64_t kEventSeed = 500;

using Segments = std::vector<std::string>;

std::vector<std::string_view> Views(const Segments& segments, size_t count) {
  return {segments.begin(), segments.begin() + static_cast<ptrdiff_t>(count)};
}

// Keys, and how to change a key so that one of its segments is absent.
struct KeySet {
  std::string name;
  // One for all levels, and for each level one whose keys have that alone.
  std::string codec;
  std::vector<std::string> one_level;
  std::vector<Segments> keys;  // In order.
  std::function<std::string(size_t level, const std::string&, uint64_t random)>
      other_segment;
};

// The first three letters of each word, the word, and its columns.
KeySet Words(const Options& options) {
  const Dataset data(options.input, options.Or(options.rows, 40000, 0));
  KeySet set;
  set.name = "words";
  set.codec = "letters.fixed:3,word.ordered,column.ordered";
  set.one_level = {"letters.fixed:3,-word.ordered,-column.ordered",
                   "-letters.fixed:3,word.ordered,-column.ordered"};
  for (size_t i = 0; i < data.row_count(); ++i) {
    if (data.row(i).size() < 3) continue;
    for (const uint32_t q : data.columns(i)) {
      set.keys.push_back(
          {data.row(i).substr(0, 3), data.row(i), data.qualifier(q)});
    }
  }
  set.other_segment = [](size_t level, const std::string& segment,
                         uint64_t random) {
    std::string other = segment;
    const char letter = static_cast<char>('a' + random % 26);
    if (level == 1) {
      other[2] = letter;
      other[1] = static_cast<char>('a' + random / 26 % 26);
    } else {
      other.insert(other.size() / 2, 1, letter);
    }
    return other;
  };
  return set;
}

// Events of users of tenants. A tenth of the tenants has most of them.
KeySet Events(const Options& options) {
  KeySet set;
  set.name = "events";
  set.codec = "tenant.fixed:4,user.delimiter:/,time.fixed:8";
  set.one_level = {"tenant.fixed:4,-user.delimiter:/,-time.fixed:8",
                   "-tenant.fixed:4,user.delimiter:/,-time.fixed:8"};
  const uint64_t count = options.quick ? 100000 : 1000000;
  const uint64_t tenants = count / 500;
  const ZipfSampler zipf(tenants, kZipfExponent);
  const auto big_endian = [](uint64_t value, size_t size) {
    std::string bytes(size, '\0');
    for (size_t i = size; i-- > 0; value >>= 8) {
      bytes[i] = static_cast<char>(value & 0xff);
    }
    return bytes;
  };
  std::set<Segments> keys;
  uint64_t time = 1700000000000;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t tenant = zipf.Rank(Scramble(i, kEventSeed));
    const uint64_t user = Scramble(i, kEventSeed + 1) % 100;
    time += Scramble(i, kEventSeed + 2) % 1000;
    keys.insert(
        {big_endian(Scramble(tenant, kEventSeed + 3), 4),
         "user" + std::to_string(Scramble(tenant * 100 + user, kEventSeed + 4) %
                                 1000000),
         big_endian(time, 8)});
  }
  set.keys.assign(keys.begin(), keys.end());
  set.other_segment = [big_endian](size_t level, const std::string& segment,
                                   uint64_t random) {
    if (level == 1) return big_endian(random, 4);
    if (level == 2) return "user" + std::to_string(random % 1000000);
    std::string other = segment;
    other[7] = static_cast<char>(random & 0xff);
    other[6] = static_cast<char>(random >> 8 & 0xff);
    return other;
  };
  return set;
}

struct LevelContender {
  const char* name;
  const char* filter;
  size_t one_level = 0;  // The only level that the filter answers for; 0: all.
};
constexpr LevelContender kLevelContenders[] = {
    {kNone, ""},
    {"rocksdb_bloom_level_1", kBloom, 1},
    {"rocksdb_bloom_level_2", kBloom, 2},
    {"blocked_bloom", "blocked_bloom"},
    {"compact", "compact"}};

class LevelsBench {
 public:
  LevelsBench(Run* run, KeySet set)
      : run_(*run),
        set_(std::move(set)),
        codec_(OrThrow(KeyCodec::Parse(set_.codec))),
        gets_(run->options.Or(run->options.gets, 2000, 20000)) {
    ChoosePrefixes();
    CountFilterKeys();
  }

  Json Measure() {
    Json runs = Json::array();
    std::vector<double> reads_of_none(kKeyLevels);
    for (const LevelContender& contender : kLevelContenders) {
      const std::string name = contender.name;
      RocksDbOptions options;
      options.key_codec = codec_;
      if (contender.one_level != 0) {
        options.bloom_type = BloomType::kRow;
        options.key_codec =
            OrThrow(KeyCodec::Parse(set_.one_level[contender.one_level - 1]));
      }
      const Policy policy = MakePolicy(name, contender.filter, kBitsPerKey,
                                       options, /*finds_rows=*/name != kNone);
      run_.progress.Begin(set_.name + ": load " + name, set_.keys.size());
      const Tree tree(
          TreeOptions(), policy, run_.NewPath(),
          [this](int level, Database* database) { Fill(level, database); },
          &shape_);
      run_.progress.End();
      for (size_t level = 1; level <= kKeyLevels; ++level) {
        run_.progress.Begin("ask " + codec_.KeyLevelName(level), 2 * gets_);
        Ask(tree.db(), options.key_codec, level, /*present=*/true);
        const double reads =
            Ask(tree.db(), options.key_codec, level, /*present=*/false);
        run_.progress.End();
        if (policy.filter == nullptr) reads_of_none[level - 1] = reads;
        Json json = {
            {"keys", set_.name},
            {"policy", name},
            {"level", level},
            {"level_name", codec_.KeyLevelName(level)},
            {"data_reads_per_get", reads},
            {"times_fewer_reads_than_none",
             reads == 0 ? Json() : Json(reads_of_none[level - 1] / reads)},
            {"filter_bytes", tree.all.filter_bytes}};
        if (policy.is_rowbloom) {
          json["filter_keys"] = filter_keys_[level - 1];
          json["filter_bytes_of_level"] =
              static_cast<double>(tree.all.filter_bytes) *
              static_cast<double>(filter_keys_[level - 1]) /
              static_cast<double>(tree.all.filter_keys);
        }
        runs.push_back(std::move(json));
      }
    }
    return runs;
  }

  Json DataJson() const {
    return {{"keys", set_.name},
            {"key_codec", set_.codec},
            {"count", set_.keys.size()},
            {"levels", shape_}};
  }

 private:
  // The absent prefixes lie among the keys, which are in order, and differ from
  // a present one in the last segment.
  void ChoosePrefixes() {
    if (!std::is_sorted(set_.keys.begin(), set_.keys.end())) {
      throw std::runtime_error(set_.name + ": keys are not in order");
    }
    for (size_t level = 1; level <= kKeyLevels; ++level) {
      absent_.emplace_back();
      present_.emplace_back();
      for (uint64_t i = 0; absent_.back().size() < gets_; ++i) {
        if (i > 100 * gets_) throw std::runtime_error("no absent prefixes");
        Segments segments =
            set_.keys[Scramble(i, kChoiceSeed + level) % set_.keys.size()];
        segments.resize(level);
        if (present_.back().size() < gets_) present_.back().push_back(segments);
        segments.back() = set_.other_segment(level, segments.back(),
                                             Scramble(i, kAbsentSeed + level));
        const auto next =
            std::lower_bound(set_.keys.begin(), set_.keys.end(), segments);
        if (next == set_.keys.begin() || next == set_.keys.end()) continue;
        const bool is_present =
            std::equal(segments.begin(), segments.end(), next->begin());
        if (!is_present) absent_.back().push_back(std::move(segments));
      }
    }
  }

  // Each level of the tree is a sorted run, where equal prefixes count once.
  void CountFilterKeys() {
    filter_keys_.assign(kKeyLevels, 0);
    std::vector<Segments> last(kLevelCount + 1);
    for (const Segments& key : set_.keys) {
      Segments& before = last[LevelOf(Scramble(Encoded(key), kTreeLevelSeed))];
      bool differs = before.empty();
      for (size_t i = 0; i < kKeyLevels; ++i) {
        differs = differs || before[i] != key[i];
        filter_keys_[i] += differs ? 1 : 0;
      }
      before = key;
    }
  }

  std::string Encoded(const Segments& segments) const {
    std::string key;
    CheckOk(codec_.Encode(Views(segments, segments.size()), &key));
    return key;
  }

  void Fill(int level, Database* database) {
    for (const Segments& segments : set_.keys) {
      const std::string key = Encoded(segments);
      if (LevelOf(Scramble(key, kTreeLevelSeed)) != level) continue;
      database->Put(key, MakeValue(key, kLeafValueSize));
      run_.progress.Add(1);
    }
  }

  // Returns the data blocks that a question reads on average. Whole keys are
  // asked for by Get().
  double Ask(rocksdb::DB* db, const KeyCodec& asked, size_t level,
             bool present) {
    const RocksDbRows rows(db, db->DefaultColumnFamily(), asked);
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    std::string value;
    StartCounting();
    for (const Segments& segments : (present ? present_ : absent_)[level - 1]) {
      bool exists = false;
      if (level == kKeyLevels) {
        const rocksdb::Status status =
            db->Get(options, Encoded(segments), &value);
        if (!status.IsNotFound()) Check(status, "reading");
        exists = status.ok();
      } else {
        Check(rows.Exists(options, Views(segments, level), &exists), "reading");
      }
      run_.answers.Add(exists == present, codec_.KeyLevelName(level),
                       Encoded(segments));
      run_.progress.Add(1);
    }
    return static_cast<double>(StopCounting()) / static_cast<double>(gets_);
  }

  Run& run_;
  const KeySet set_;
  const KeyCodec codec_;
  const uint64_t gets_;
  std::vector<std::vector<Segments>> present_, absent_;  // By level.
  std::vector<uint64_t> filter_keys_;                    // By level.
  Json shape_;
};

}  // namespace

Json MeasureLevels(Run* run) {
  Json data = Json::array();
  Json runs = Json::array();
  for (KeySet set : {Words(run->options), Events(run->options)}) {
    LevelsBench bench(run, std::move(set));
    for (Json& one : bench.Measure()) runs.push_back(std::move(one));
    data.push_back(bench.DataJson());
  }
  return {{"options", {{"bits_per_key", kBitsPerKey}}},
          {"data", std::move(data)},
          {"runs", std::move(runs)}};
}

}  // namespace rowbloom::bench
