// SPDX-License-Identifier: Apache-2.0
//
// kvrocks: data blocks that HGET, HEXISTS, SISMEMBER, HGETALL and SMEMBERS read
// in trees with the keys of Apache Kvrocks (docs/kvrocks.md): one of metadata,
// which each call reads first, and one of fields and members.

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kvrocks_keys.h"
#include "policies.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kMetadataSize = 25;  // Flags, expiry, version, size.

constexpr uint64_t kKeyLevelSeed = 402;
constexpr uint64_t kCallSeed = 410;  // Plus the call.
constexpr uint64_t kFieldSeed = 420;

// As one filter key each.
constexpr char kWholeFieldKeys[] =
    "-ns.length:1,-key.length:4,-version.fixed:8,field.rest";
constexpr char kMetadataKeys[] = "-ns.length:1,key.rest";

struct Contender {
  const char* name;
  const char* filter;      // RocksDB's or a family; "" for none.
  const char* field_keys;  // Key codec of the filters.
  bool finds_rows;         // The filter also answers for a key's fields.
};
constexpr Contender kContenders[] = {
    {kNone, "", kFieldKeys, false},
    {kBloom, kBloom, kFieldKeys, false},  // Kvrocks as it is.
    {"rocksdb_bloom_rows", kBloom, kFieldKeys, true},
    {"rowbloom_compact", "compact", kWholeFieldKeys, false},
    {"rowbloom_rowcol_fast", "fast", kFieldKeys, true},
    {"rowbloom_rowcol_compact", "compact", kFieldKeys, true},
};

enum class Call { kAbsentKey, kAbsentField, kPresentField, kWholeKey };
constexpr Call kCalls[] = {Call::kAbsentKey, Call::kAbsentField,
                           Call::kPresentField, Call::kWholeKey};
const char* CallName(Call call) {
  constexpr const char* kNames[] = {"absent_key", "absent_field",
                                    "present_field", "whole_key"};
  return kNames[static_cast<size_t>(call)];
}

std::string MetadataKey(std::string_view user_key) {
  std::string key;
  static const KeyCodec codec = OrThrow(KeyCodec::Parse(kMetadataKeys));
  CheckOk(codec.Encode({kNamespace, user_key}, &key));
  return key;
}

int LevelOfKey(std::string_view key) {
  return LevelOf(Scramble(key, kKeyLevelSeed));
}

class KvrocksBench {
 public:
  explicit KvrocksBench(Run* run)
      : run_(*run),
        data_(run->options.input,
              run->options.Or(run->options.rows, 20000, 200000)),
        calls_(run->options.Or(run->options.gets, 5000, 100000)) {}

  Json Measure() {
    Json runs = Json::array();
    for (const Contender& contender : kContenders) {
      for (Json& one : MeasureOne(contender)) runs.push_back(std::move(one));
    }
    return {{"options", {{"gets", calls_}, {"bits_per_key", kBitsPerKey}}},
            {"tree",
             {{"input", run_.options.input},
              {"keys", data_.row_count()},
              {"fields", data_.cell_count()},
              {"runs_per_key", RunsPerKey()},
              {"metadata_levels", metadata_shape_},
              {"field_levels", field_shape_}}},
            {"runs", std::move(runs)}};
  }

 private:
  // The mean number of levels that hold a key's fields.
  double RunsPerKey() const {
    uint64_t runs = 0;
    for (size_t i = 0; i < data_.row_count(); ++i) {
      std::set<int> levels;
      for (const uint32_t q : data_.columns(i)) {
        levels.insert(LevelOfKey(FieldKey(data_.row(i), data_.qualifier(q))));
      }
      runs += levels.size();
    }
    return static_cast<double>(runs) / static_cast<double>(data_.row_count());
  }

  Json MeasureOne(const Contender& contender) {
    const auto metadata = BuildMetadata(contender);
    const auto fields = BuildFields(contender);
    Json runs = Json::array();
    run_.progress.Begin("ask " + std::string(contender.name),
                        std::size(kCalls) * calls_);
    for (const Call call : kCalls) {
      Json json = {{"policy", contender.name},
                   {"call", CallName(call)},
                   {"metadata_filter_bytes", metadata->all.filter_bytes},
                   {"field_filter_bytes", fields->all.filter_bytes},
                   {"filter_bits_per_field", fields->all.BitsPerKey()}};
      json.update(Ask(contender, call, metadata->db(), fields->db()));
      runs.push_back(std::move(json));
    }
    run_.progress.End();
    return runs;
  }

  std::unique_ptr<Tree> BuildMetadata(const Contender& contender) {
    return BuildAsLarge(
        contender, kMetadataKeys, /*finds_rows=*/false,
        [this](int level, Database* database) {
          for (size_t i = 0; i < data_.row_count(); ++i) {
            const std::string key = MetadataKey(data_.row(i));
            if (LevelOfKey(key) != level) continue;
            database->Put(key, MakeValue(key, kMetadataSize));
            run_.progress.Add(1);
          }
        },
        data_.row_count(), &metadata_bytes_, &metadata_shape_);
  }

  std::unique_ptr<Tree> BuildFields(const Contender& contender) {
    return BuildAsLarge(
        contender, contender.field_keys, contender.finds_rows,
        [this](int level, Database* database) {
          for (size_t i = 0; i < data_.row_count(); ++i) {
            for (const uint32_t q : data_.columns(i)) {
              const std::string key =
                  FieldKey(data_.row(i), data_.qualifier(q));
              if (LevelOfKey(key) != level) continue;
              database->Put(key, MakeValue(key, kFieldValueSize));
              run_.progress.Add(1);
            }
          }
        },
        data_.cell_count(), &field_bytes_, &field_shape_);
  }

  // The tree whose filters take as many bytes as Kvrocks' own do, which set
  // *bytes.
  std::unique_ptr<Tree> BuildAsLarge(const Contender& contender,
                                     const char* codec, bool finds_rows,
                                     const Tree::FillLevel& fill, uint64_t keys,
                                     double* bytes, Json* shape) {
    RocksDbOptions options;
    options.key_codec = OrThrow(KeyCodec::Parse(codec));
    options.bloom_type = finds_rows ? BloomType::kRowCol : BloomType::kRow;
    const auto build = [&](double bits) {
      run_.progress.Begin("load " + std::string(contender.name) + " at " +
                              Number(bits, "%.4g bits"),
                          keys);
      auto tree =
          std::make_unique<Tree>(TreeOptions(),
                                 MakePolicy(contender.name, contender.filter,
                                            bits, options, finds_rows),
                                 run_.NewPath(), fill, shape);
      run_.progress.End();
      return tree;
    };
    double bits = kBitsPerKey;
    auto tree = bench::BuildAsLarge(
        build, [bytes](const Tree&) { return *bytes; },
        /*tolerance=*/0.02, &bits);
    if (contender.name == std::string(kBloom)) {
      *bytes = static_cast<double>(tree->all.filter_bytes);
    }
    return tree;
  }

  // The call for key i.
  Json Ask(const Contender& contender, Call call, rocksdb::DB* metadata,
           rocksdb::DB* fields) {
    const Query query = call == Call::kAbsentKey      ? Query::kAbsentRow
                        : call == Call::kAbsentField  ? Query::kAbsentColumn
                        : call == Call::kPresentField ? Query::kPresentCell
                                                      : Query::kPresentRow;
    uint64_t metadata_reads = 0;
    uint64_t field_reads = 0;
    uint64_t fields_found = 0;
    for (uint64_t n = 0; n < calls_; ++n) {
      const size_t i = Scramble(n, kCallSeed + static_cast<uint64_t>(call)) %
                       data_.row_count();
      const Cell cell = data_.Draw(query, i, Scramble(n, kFieldSeed));
      StartCounting();
      bool found = Get(metadata, MetadataKey(cell.row), kMetadataSize);
      metadata_reads += StopCounting();
      run_.answers.Add(found == (call != Call::kAbsentKey), CallName(call),
                       cell.row);
      run_.progress.Add(1);
      if (call == Call::kAbsentKey) continue;
      StartCounting();
      bool is_right = false;
      if (call == Call::kWholeKey) {
        const size_t count =
            CountFields(fields, cell.row, contender.finds_rows);
        fields_found += count;
        is_right = count == data_.columns(i).size();
      } else {
        found =
            Get(fields, FieldKey(cell.row, cell.qualifier), kFieldValueSize);
        is_right = found == (call == Call::kPresentField);
      }
      field_reads += StopCounting();
      run_.answers.Add(is_right, CallName(call), cell.row);
    }
    const double count = static_cast<double>(calls_);
    return {{"gets", calls_},
            {"metadata_reads_per_call",
             static_cast<double>(metadata_reads) / count},
            {"field_reads_per_call", static_cast<double>(field_reads) / count},
            {"data_reads_per_call",
             static_cast<double>(metadata_reads + field_reads) / count},
            {"fields_per_call", static_cast<double>(fields_found) / count}};
  }

  // Returns whether the key is there. A wrong value counts as absent.
  static bool Get(rocksdb::DB* db, const std::string& key, size_t value_size) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    rocksdb::PinnableSlice value;
    const rocksdb::Status status =
        db->Get(options, db->DefaultColumnFamily(), key, &value);
    if (status.IsNotFound()) return false;
    Check(status, "reading");
    return value == MakeValue(key, value_size);
  }

  Run& run_;
  const Dataset data_;
  const uint64_t calls_;
  double metadata_bytes_ = 0;
  double field_bytes_ = 0;
  Json metadata_shape_;
  Json field_shape_;
};

}  // namespace

Json MeasureKvrocks(Run* run) { return KvrocksBench(run).Measure(); }

}  // namespace rowbloom::bench
