// SPDX-License-Identifier: Apache-2.0
//
// Measures what RocksDbRows and its samples add to a lookup, beside RocksDB's
// own calls with the same bounds: all that is read lies in the block cache.
//
//   rows_bench                       four files, 100,000 rows
//   rows_bench --rows 500 --benchmark_min_time=0.01
//
// An iteration is a round in which each way asks for the same 1,000 rows.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro.h"
#include "bench/paired.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_rows.h"

namespace rowbloom::bench {
namespace {

constexpr int kFiles = 4;
constexpr int kLookups = 1000;  // By each way in a round.

std::string Row(int n) { return "row" + std::to_string(10000000 + n); }

std::string Key(const std::string& row, const std::string& qualifier) {
  std::string key;
  CheckOk(KeyCodec::Ordered().Encode(row, qualifier, &key));
  return key;
}

// Holds the even rows, with a column for each file.
std::unique_ptr<rocksdb::DB> Fill(rocksdb::Env* env, int row_count) {
  RocksDbOptions filter_options;
  filter_options.key_codec = KeyCodec::Ordered();
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = NewRocksDbFilterPolicy(filter_options);
  table.block_cache = rocksdb::NewLRUCache(1 << 30);
  rocksdb::Options options;
  options.env = env;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 1 << 30;
  options.prefix_extractor = NewRowPrefixExtractor(filter_options);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  std::unique_ptr<rocksdb::DB> db;
  CheckOk(plugin::OpenDb(
      [&](auto* opened) {
        return rocksdb::DB::Open(options, "/rows_bench", opened);
      },
      &db));
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < row_count; row += 2) {
      CheckOk(db->Put({}, Key(Row(row), "q" + std::to_string(file)), "value"));
    }
    CheckOk(db->Flush({}));
  }
  return db;
}

using Way = std::function<bool(const std::string& row)>;

// `ways`: RocksDB's own call; through the rows; with one lookup of 64 counted;
// with all counted.
void Compare(benchmark::State& state, int row_count, bool present,
             int first_row, const std::vector<Way>& ways) {
  std::vector<std::string> rows;
  for (int i = 0; i < kLookups; ++i) {
    const int64_t even = 2 * (int64_t{7919} * i % (row_count / 2));
    rows.push_back(Row(static_cast<int>(even) + first_row));
  }
  std::vector<std::function<void()>> rounds;
  for (const Way& way : ways) {
    rounds.emplace_back([&rows, &way, present] {
      for (const std::string& row : rows) {
        if (way(row) != present) CountWrongAnswers(1);
      }
    });
  }
  Paired paired(rounds);
  for (auto _ : state) paired.Round();
  state.counters["rocksdb_ns"] = 1e9 * paired.MedianSeconds(0) / kLookups;
  state.counters["rows_to_rocksdb"] = paired.Ratio(1, 0);
  state.counters["sampled_to_rows"] = paired.Ratio(2, 1);
  state.counters["counted_to_rows"] = paired.Ratio(3, 1);
}

class RowsBench {
 public:
  explicit RowsBench(int row_count)
      : row_count_(row_count),
        env_(rocksdb::NewMemEnv(rocksdb::Env::Default())),
        db_(Fill(env_.get(), row_count)) {}

  void AddBenchmarks() {
    Add("absent_cell", false, 0, Cells("absent"));
    Add("present_cell", true, 0, Cells("q0"));
    std::vector<Way> ways = {[this](const auto& row) { return Seek(row); }};
    for (const RocksDbRows* with : rows_) {
      ways.emplace_back([this, with](const std::string& row) {
        bool exists = false;
        return with->RowExists(read_, row, &exists).ok() && exists;
      });
    }
    Add("absent_row", false, 1, ways);  // Odd rows.
  }

 private:
  void Add(const char* name, bool present, int first_row,
           const std::vector<Way>& ways) {
    benchmark::RegisterBenchmark(
        name, [this, present, first_row, ways](benchmark::State& state) {
          Compare(state, row_count_, present, first_row, ways);
        });
  }

  std::vector<Way> Cells(const std::string& qualifier) {
    std::vector<Way> ways = {[this, qualifier](const std::string& row) {
      value_.Reset();
      return db_->Get(read_, family_, Key(row, qualifier), &value_).ok();
    }};
    for (const RocksDbRows* with : rows_) {
      ways.emplace_back([this, with, qualifier](const std::string& row) {
        return with->GetCell(read_, row, qualifier, &value_).ok();
      });
    }
    return ways;
  }

  bool Seek(const std::string& row) {
    std::string lower;
    std::string upper;
    CheckOk(codec_.LowerBound({row}, &lower));
    CheckOk(codec_.UpperBound({row}, &upper));
    const rocksdb::Slice upper_slice(upper);
    rocksdb::ReadOptions scan;
    scan.auto_prefix_mode = true;
    scan.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(scan, family_));
    it->Seek(lower);
    CheckOk(it->status());
    return it->Valid();
  }

  const int row_count_;
  const std::unique_ptr<rocksdb::Env> env_;
  const std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* const family_ = db_->DefaultColumnFamily();
  const KeyCodec codec_ = KeyCodec::Ordered();
  FilterStats stats_;
  const RocksDbRows plain_{db_.get(), family_, codec_};
  const RocksDbRows sampled_{db_.get(), family_, codec_, {&stats_}};
  const RocksDbRows counted_{db_.get(), family_, codec_, {&stats_, 1}};
  const std::vector<const RocksDbRows*> rows_ = {&plain_, &sampled_, &counted_};
  const rocksdb::ReadOptions read_;
  rocksdb::PinnableSlice value_;
};

int Main(int argc, char** argv) {
  int row_count = 100000;
  std::unique_ptr<RowsBench> bench;
  CLI::App app("What RocksDbRows and its samples add to a lookup.");
  app.add_option("--rows", row_count, "Rows, of which half are present")
      ->check(CLI::Range(100, 10000000))
      ->capture_default_str();
  return RunMicro("rows_bench", &app, argc, argv, [&] {
    bench = std::make_unique<RowsBench>(row_count);
    bench->AddBenchmarks();
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
