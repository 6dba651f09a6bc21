// SPDX-License-Identifier: Apache-2.0
//
// rows: point gets of rows and of columns in a RocksDB tree, under filters that
// take as many bytes for each of their keys as RocksDB's Bloom filters.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
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

constexpr size_t kCellValueSize = 32;
constexpr uint64_t kPresentRowChecks = 50000;

constexpr uint64_t kColumnChoiceSeed = 101;
constexpr uint64_t kGetSeed = 200;  // Plus query and mix.
constexpr uint64_t kLevelSeed = 300;

constexpr Query kReportedQueries[] = {Query::kAbsentRow, Query::kAbsentColumn,
                                      Query::kPresentCell};

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
    Json runs = Compare();
    return {{"options", {{"gets", gets_}, {"bits_per_key", kBitsPerKey}}},
            {"tree",
             {{"input", run_.options.input},
              {"rows", data_.row_count()},
              {"cells", data_.cell_count()},
              {"levels", levels_}}},
            {"runs", std::move(runs)}};
  }

 private:
  // The runs of all policies.
  Json Compare() {
    Json runs = Json::array();
    std::optional<Level> bloom;
    for (const std::string& name : PolicyNames(kRows, run_.options.policies)) {
      double asked = name == kNone ? 0 : kBitsPerKey;
      // All filters have the bytes per key of the Bloom filters.
      const auto tree = BuildAsLarge(
          [&](double bits) { return Build(name, bits); },
          [&bloom](const Tree& built) {
            return !bloom ? 0
                          : static_cast<double>(bloom->filter_bytes) *
                                static_cast<double>(built.all.filter_keys) /
                                static_cast<double>(bloom->filter_keys);
          },
          /*tolerance=*/0.02, &asked);
      const Level& filters = tree->all;
      if (name == kBloom) bloom = filters;
      run_.progress.Begin("ask " + name,
                          lists_.size() * gets_ + present_rows_.cells.size());
      for (const GetList& list : lists_) {
        Json json = {{"policy", name},
                     {"query", QueryName(list.query)},
                     {"mix", MixName(list.mix)},
                     {"bits_per_key", asked},
                     {"filter_bytes", filters.filter_bytes}};
        json.update(Ask(tree->db(), list));
        runs.push_back(std::move(json));
      }
      Ask(tree->db(), present_rows_);
      run_.progress.End();
    }
    return runs;
  }

  std::unique_ptr<Tree> Build(const std::string& name, double bits) {
    run_.progress.Begin("load " + name + " at " + Number(bits, "%.4g bits"),
                        data_.cell_count());
    auto tree = std::make_unique<Tree>(
        TreeOptions(), MakeRowPolicy(name, bits), run_.NewPath(),
        [this](int level, Database* database) { Fill(level, database); },
        &levels_);
    run_.progress.End();
    return tree;
  }

  void Fill(int level, Database* database) {
    for (size_t i = 0; i < data_.row_count(); ++i) {
      for (const uint32_t q : data_.columns(i)) {
        if (LevelOf(Scramble(data_.row(i), kLevelSeed + q)) != level) continue;
        const std::string key = EncodeKey(data_.row(i), data_.qualifier(q));
        database->Put(key, MakeValue(key, kCellValueSize));
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
        is_right = value == MakeValue(EncodeKey(cell.row, cell.qualifier),
                                      kCellValueSize);
      }
      run_.answers.Add(is_right, QueryName(list.query), cell.row);
      run_.progress.Add(1);
    }
    const double reads = static_cast<double>(StopCounting());
    const double gets = static_cast<double>(list.cells.size());
    const double necessary = list.query == Query::kPresentCell ? gets : 0;
    return {{"gets", list.cells.size()},
            {"data_reads_per_get", reads / gets},
            {"wasted_reads_per_1000_gets", 1000 * (reads - necessary) / gets}};
  }

  Run& run_;
  const Dataset data_;
  const uint64_t gets_;
  std::vector<GetList> lists_;
  GetList present_rows_;
  Json levels_;
};

}  // namespace

Json MeasureRows(Run* run) { return RowsBench(run).Measure(); }

}  // namespace rowbloom::bench
