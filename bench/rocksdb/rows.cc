// SPDX-License-Identifier: Apache-2.0
//
// rows: point gets of rows and of columns in a RocksDB tree, under filters that
// take as many bytes for each of their keys as RocksDB's Bloom filters.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb_rows.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

constexpr int kLevelCount = 4;
constexpr size_t kValueSize = 32;
// Filters within this share of the wanted bytes count as equal.
constexpr double kTolerance = 0.02;
constexpr int kMostTrials = 3;
constexpr uint64_t kPresentRowChecks = 50000;

constexpr uint64_t kColumnChoiceSeed = 101;
constexpr uint64_t kGetSeed = 200;  // Plus query and mix.
constexpr uint64_t kLevelSeed = 300;

constexpr Query kReportedQueries[] = {Query::kAbsentRow, Query::kAbsentColumn,
                                      Query::kPresentCell};

// Draws the level of a cell by a hash, with odds as the sizes of the levels.
int LevelOf(std::string_view row, uint32_t qualifier) {
  constexpr double kSizes[kLevelCount] = {10, 100, 1000, 10000};
  constexpr double kSum = 11110;
  const uint64_t hash = Scramble(row, kLevelSeed + qualifier);
  const double at = std::ldexp(static_cast<double>(hash), -64) * kSum;
  double limit = 0;
  for (int level = 1; level < kLevelCount; ++level) {
    limit += kSizes[level - 1];
    if (at < limit) return level;
  }
  return kLevelCount;
}

struct GetList {
  Query query;
  Mix mix;
  std::vector<Cell> cells;
};

GetList MakeGets(const Dataset& data, Query query, Mix mix,
                 const ZipfSampler& zipf, uint64_t count) {
  const uint64_t seed =
      kGetSeed + 10 * static_cast<uint64_t>(query) + static_cast<uint64_t>(mix);
  GetList list{query, mix, {}};
  list.cells.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t random = Scramble(i, seed);
    const uint64_t row = mix == Mix::kUniform
                             ? random
                             : Scramble(zipf.Rank(random), i / kGetsPerEpoch);
    list.cells.push_back(data.Draw(query, row % data.row_count(),
                                   Scramble(i, kColumnChoiceSeed)));
  }
  return list;
}

class RowsBench {
 public:
  explicit RowsBench(Run* run)
      : run_(*run),
        data_(run->options.input, run->options.Or(run->options.rows, 20000, 0)),
        gets_(run->options.Or(run->options.gets, 5000, 100000)) {
    run_.progress.Begin("choose the point gets", 0);
    const ZipfSampler zipf(data_.row_count(), kZipfExponent);
    for (const Query query : kReportedQueries) {
      for (const Mix mix : kMixes) {
        lists_.push_back(MakeGets(data_, query, mix, zipf, gets_));
      }
    }
    // A filter must not lose these rows. They are checked, but not reported.
    present_rows_ = MakeGets(data_, Query::kPresentRow, Mix::kUniform, zipf,
                             std::min(gets_, kPresentRowChecks));
    run_.progress.End();
  }

  Json Measure() {
    Json runs = Json::array();
    for (const double bits : run_.options.bits_per_key) {
      for (Json& one : Compare(bits)) runs.push_back(std::move(one));
    }
    return {{"options",
             {{"gets", gets_}, {"bits_per_key", run_.options.bits_per_key}}},
            {"tree",
             {{"input", run_.options.input},
              {"rows", data_.row_count()},
              {"cells", data_.cell_count()},
              {"levels", levels_}}},
            {"runs", std::move(runs)}};
  }

 private:
  // The runs of all policies.
  Json Compare(double bits_per_key) {
    Json runs = Json::array();
    std::optional<Level> bloom;
    for (const std::string& name : PolicyNames(kRows, run_.options.policies)) {
      double asked = name == kNone ? 0 : bits_per_key;
      const auto tree = BuildAsLargeAs(bloom, name, &asked);
      const Level& filters = tree->all;
      if (name == kBloom) bloom = filters;
      run_.progress.Begin("ask " + name,
                          lists_.size() * gets_ + present_rows_.cells.size());
      for (const GetList& list : lists_) {
        Json json = {
            {"policy", name},
            {"query", QueryName(list.query)},
            {"mix", MixName(list.mix)},
            {"compared_at_bits_per_key", bits_per_key},
            {"bits_per_key", asked},
            {"filter_bytes", filters.filter_bytes},
            {"bits_per_filter_key",
             name == kNone ? 0
                           : 8.0 * static_cast<double>(filters.filter_bytes) /
                                 static_cast<double>(filters.filter_keys)}};
        json.update(Ask(tree->db(), list));
        const double reads = json["data_reads_per_get"];
        Json& none = none_[&list - lists_.data()];
        if (name == kNone) none = reads;
        json["times_fewer_reads_than_none"] =
            none.is_null() || reads == 0 ? Json()
                                         : Json(none.get<double>() / reads);
        runs.push_back(std::move(json));
      }
      Ask(tree->db(), present_rows_);
      run_.progress.End();
    }
    return runs;
  }

  // The tree of a policy whose filters take as many bytes for each of their
  // keys as those of `bloom`, if that is given. Ribbon needs a second trial.
  std::unique_ptr<Tree> BuildAsLargeAs(const std::optional<Level>& bloom,
                                       const std::string& name,
                                       double* bits_asked) {
    double last_bits = 0;
    double last_bytes = 0;
    for (int trial = 1;; ++trial) {
      auto tree = Build(name, *bits_asked);
      const Level& filters = tree->all;
      const double bytes = static_cast<double>(filters.filter_bytes);
      if (!bloom || bytes == 0 || trial == kMostTrials) return tree;
      const double wanted = static_cast<double>(bloom->filter_bytes) *
                            static_cast<double>(filters.filter_keys) /
                            static_cast<double>(bloom->filter_keys);
      if (std::abs(bytes / wanted - 1) <= kTolerance) return tree;
      // A line through this size and the last.
      const double bits = *bits_asked + (wanted - bytes) *
                                            (*bits_asked - last_bits) /
                                            (bytes - last_bytes);
      last_bits = std::exchange(*bits_asked, bits);
      last_bytes = bytes;
    }
  }

  std::unique_ptr<Tree> Build(const std::string& name, double bits) {
    run_.progress.Begin("load " + name + " at " + Number(bits, "%.4g bits"),
                        data_.cell_count());
    TreeOptions options;
    options.level_count = kLevelCount;
    auto tree = std::make_unique<Tree>(
        options, MakeRowPolicy(name, bits), run_.NewPath(),
        [this](int level, Database* database) { Fill(level, database); },
        &levels_);
    run_.progress.End();
    if (name != kNone && tree->all.files_without_filter != 0) {
      throw std::runtime_error("files were written without the filter of " +
                               name);
    }
    return tree;
  }

  void Fill(int level, Database* database) {
    for (size_t i = 0; i < data_.row_count(); ++i) {
      for (const uint32_t q : data_.columns(i)) {
        if (LevelOf(data_.row(i), q) != level) continue;
        const std::string key = EncodeKey(data_.row(i), data_.qualifier(q));
        database->Put(key, MakeValue(key, kValueSize));
        run_.progress.Add(1);
      }
    }
  }

  Json Ask(rocksdb::DB* db, const GetList& list) {
    const bool asks_row = AsksRow(list.query);
    const bool is_present =
        list.query == Query::kPresentCell || list.query == Query::kPresentRow;
    const RocksDbRows rows(db, db->DefaultColumnFamily(), KeyCodec::Ordered());
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    rocksdb::PinnableSlice value;
    StartCounting();
    for (const Cell& cell : list.cells) {
      bool found = false;
      if (asks_row) {
        Check(rows.RowExists(options, cell.row, &found), "reading");
      } else {
        const rocksdb::Status status =
            rows.GetCell(options, cell.row, cell.qualifier, &value);
        if (!status.IsNotFound()) Check(status, "reading");
        found = status.ok();
      }
      bool is_right = found == is_present;
      if (is_right && list.query == Query::kPresentCell) {
        is_right =
            value == MakeValue(EncodeKey(cell.row, cell.qualifier), kValueSize);
      }
      run_.answers.Add(is_right, QueryName(list.query), cell.row);
      run_.progress.Add(1);
    }
    const ReadCounts counts = StopCounting(kLevelCount);
    const double gets = static_cast<double>(list.cells.size());
    // A cell is in one file, whose filter answers "maybe" rightly.
    const uint64_t necessary =
        list.query == Query::kPresentCell ? list.cells.size() : 0;
    Json fpr;
    Json by_level = Json::array();
    if (counts.filter_lookups != 0) {
      fpr = static_cast<double>(counts.filter_maybes - necessary) /
            static_cast<double>(counts.filter_lookups - necessary);
      for (int level = 1; level <= kLevelCount; ++level) {
        // A Seek for a row reads one data block in each file whose filter says
        // "maybe".
        const uint64_t false_positives =
            asks_row ? counts.data_reads_by_level[level]
                     : counts.false_positives_by_level[level];
        by_level.push_back(1000 * static_cast<double>(false_positives) / gets);
      }
    }
    const double reads = static_cast<double>(counts.data_reads);
    return {{"gets", list.cells.size()},
            {"data_reads_per_get", reads / gets},
            {"wasted_reads_per_1000_gets",
             1000 * (reads - static_cast<double>(necessary)) / gets},
            {"fpr", fpr},
            {"false_positives_per_1000_gets_by_level", by_level}};
  }

  Run& run_;
  const Dataset data_;
  const uint64_t gets_;
  std::vector<GetList> lists_;
  GetList present_rows_;
  std::map<size_t, Json> none_;  // Data reads without filters, by list.
  Json levels_;
};

}  // namespace

Json MeasureRows(Run* run) { return RowsBench(run).Measure(); }

}  // namespace rowbloom::bench
