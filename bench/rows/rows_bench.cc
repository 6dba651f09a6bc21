// SPDX-License-Identifier: Apache-2.0
//
// What RocksDbRows and its samples add to a lookup, beside RocksDB's own calls
// with the same bounds: all that is read lies in the block cache.
//
//   rows_bench                       four files, 100,000 rows
//   rows_bench --rounds 2001 --json rows.json
//
// Each round asks the same keys in each way, in turns; ratios are those within
// a round, and of rounds the median is told.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_rows.h"

namespace {

constexpr int kFiles = 4;

struct Options {
  int rows = 100000;
  int rounds = 601;
  int lookups = 1000;
  std::string json;
};

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string Row(int n) { return "row" + std::to_string(10000000 + n); }

std::string Key(const std::string& row, const std::string& qualifier) {
  std::string key;
  if (!rowbloom::KeyCodec::Ordered().Encode(row, qualifier, &key).ok()) {
    std::exit(1);  // "ordered" keys hold any row.
  }
  return key;
}

// Even rows, of a column for each file.
std::unique_ptr<rocksdb::DB> Fill(rocksdb::Env* env, int row_count) {
  const rowbloom::RocksDbOptions filter_options;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = rowbloom::NewRocksDbFilterPolicy(filter_options);
  table.block_cache = rocksdb::NewLRUCache(1 << 30);
  rocksdb::Options options;
  options.env = env;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 1 << 30;
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(filter_options);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  std::unique_ptr<rocksdb::DB> db;
  Check(rowbloom::OpenDb(
      [&](auto* opened) {
        return rocksdb::DB::Open(options, "/rows_bench", opened);
      },
      &db));
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < row_count; row += 2) {
      Check(db->Put({}, Key(Row(row), "q" + std::to_string(file)), "value"));
    }
    Check(db->Flush({}));
  }
  return db;
}

struct Way {
  const char* name;
  std::function<bool(const std::string& row)> found;
};

struct Kind {
  const char* name;
  bool expect_found;
  int first_row;  // Present rows are even.
  std::vector<Way> ways;
};

double NanosecondsPerLookup(const Kind& kind, const Way& way,
                            const Options& options,
                            const std::vector<std::string>& rows) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  int found = 0;
  for (const std::string& row : rows) found += way.found(row);
  const std::chrono::duration<double, std::nano> took = Clock::now() - start;
  if (found != (kind.expect_found ? options.lookups : 0)) {
    std::fprintf(stderr, "rows_bench: %s, %s: %d found of %d\n", kind.name,
                 way.name, found, options.lookups);
    std::exit(1);
  }
  return took.count() / options.lookups;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

// A row of the table: of each way the median time, and the median of its
// ratios to the first way's and to the second's.
nlohmann::ordered_json Measure(const Kind& kind, const Options& options) {
  std::vector<std::string> rows;
  for (int i = 0; i < options.lookups; ++i) {
    const int64_t stride = 2 * (int64_t{7919} * i % (options.rows / 2));
    rows.push_back(Row(static_cast<int>(stride) + kind.first_row));
  }
  const size_t ways = kind.ways.size();
  std::vector<std::vector<double>> times(ways);
  for (int round = 0; round <= options.rounds; ++round) {
    for (size_t i = 0; i < ways; ++i) {
      const size_t way = (i + round) % ways;
      const double ns =
          NanosecondsPerLookup(kind, kind.ways[way], options, rows);
      if (round > 0) times[way].push_back(ns);  // The first warms the cache.
    }
  }
  nlohmann::ordered_json result{{"lookup", kind.name}};
  std::printf("| %s ", kind.name);
  for (size_t way = 0; way < ways; ++way) {
    const auto ratio_to = [&](size_t other) {
      std::vector<double> ratios;
      for (int round = 0; round < options.rounds; ++round) {
        ratios.push_back(times[way][round] / times[other][round]);
      }
      return Median(ratios);
    };
    result["ways"].push_back({{"way", kind.ways[way].name},
                              {"ns_per_lookup", Median(times[way])},
                              {"ratio_to_rocksdb", ratio_to(0)},
                              {"ratio_to_rows", ratio_to(1)}});
    if (way == 0) std::printf("| %.0f ns ", Median(times[way]));
    if (way == 1) std::printf("| %.3f ", ratio_to(0));
    if (way > 1) std::printf("| %.3f ", ratio_to(1));
  }
  std::printf("|\n");
  std::fflush(stdout);
  return result;
}

int Run(const Options& options) {
  const rowbloom::bench::JsonFile json(options.json);
  const std::unique_ptr<rocksdb::Env> env(
      rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const std::unique_ptr<rocksdb::DB> db = Fill(env.get(), options.rows);
  rocksdb::ColumnFamilyHandle* family = db->DefaultColumnFamily();
  const rowbloom::KeyCodec codec = rowbloom::KeyCodec::Ordered();
  rowbloom::FilterStats stats;
  const rowbloom::RocksDbRows rows(db.get(), family, codec);
  const rowbloom::RocksDbRows sampled(db.get(), family, codec, {&stats});
  const rowbloom::RocksDbRows counted(db.get(), family, codec, {&stats, 1});

  const rocksdb::ReadOptions read;
  rocksdb::PinnableSlice value;
  const auto get = [&](const std::string& qualifier) {
    return Way{"rocksdb", [&, qualifier](const std::string& row) {
                 value.Reset();
                 return db->Get(read, family, Key(row, qualifier), &value).ok();
               }};
  };
  const auto get_cell = [&](const char* name, const rowbloom::RocksDbRows& with,
                            const std::string& qualifier) {
    return Way{name, [&, qualifier](const std::string& row) {
                 return with.GetCell(read, row, qualifier, &value).ok();
               }};
  };
  const auto row_exists = [&](const char* name,
                              const rowbloom::RocksDbRows& with) {
    return Way{name, [&](const std::string& row) {
                 bool exists = false;
                 return with.RowExists(read, row, &exists).ok() && exists;
               }};
  };
  const Way seek{"rocksdb", [&](const std::string& row) {
                   std::string lower, upper;
                   if (!codec.RowLowerBound(row, &lower).ok() ||
                       !codec.RowUpperBound(row, &upper).ok()) {
                     std::exit(1);
                   }
                   const rocksdb::Slice upper_slice(upper);
                   rocksdb::ReadOptions scan;
                   scan.auto_prefix_mode = true;
                   scan.iterate_upper_bound = &upper_slice;
                   const std::unique_ptr<rocksdb::Iterator> it(
                       db->NewIterator(scan, family));
                   it->Seek(lower);
                   Check(it->status());
                   return it->Valid();
                 }};

  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  std::printf(
      "| lookup | RocksDB | rows to RocksDB | one of 64 counted, to rows "
      "| all counted, to rows |\n|---|---|---|---|---|\n");
  const auto cells = [&](const std::string& qualifier) {
    return std::vector<Way>{get(qualifier), get_cell("rows", rows, qualifier),
                            get_cell("sampled", sampled, qualifier),
                            get_cell("counted", counted, qualifier)};
  };
  const Kind kinds[] = {
      {"absent cell", false, 0, cells("absent")},
      {"present cell", true, 0, cells("q0")},
      {"absent row",
       false,
       1,
       {seek, row_exists("rows", rows), row_exists("sampled", sampled),
        row_exists("counted", counted)}}};
  for (const Kind& kind : kinds) results.push_back(Measure(kind, options));

  json.Write({{"format_version", 1},
              {"machine", rowbloom::bench::MachineJson()},
              {"rows", options.rows},
              {"files", kFiles},
              {"rounds", options.rounds},
              {"lookups", options.lookups},
              {"results", results}});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("What RocksDbRows and its samples add to a lookup.");
  app.add_option("--rows", options.rows, "Rows, of which half are present")
      ->check(CLI::Range(100, 10000000))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Rounds")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups, "Lookups of each way a round")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--json", options.json, "Write the results to this file too");
  return rowbloom::bench::RunProgram("rows_bench", &app, argc, argv,
                                     [&] { return Run(options); });
}
