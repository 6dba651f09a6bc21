// SPDX-License-Identifier: Apache-2.0
//
// sst: the memory of a process that writes SSTs, by filter: one SST by one
// thread, and one by each of four, as four compactions do.

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/memory/child.h"
#include "bench/split_mix.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::bench {
namespace {

constexpr double kBitsPerKey = 10;
constexpr size_t kKeySize = 16;

struct Sst {
  std::string filter;
  uint64_t keys = 0;
  bool partitioned = false;
  int threads = 1;
};

std::shared_ptr<const rocksdb::FilterPolicy> NewPolicy(
    const std::string& filter) {
  using Pointer = std::shared_ptr<const rocksdb::FilterPolicy>;
  if (filter == "rocksdb_bloom") {
    return Pointer(rocksdb::NewBloomFilterPolicy(kBitsPerKey));
  }
  if (filter == "rocksdb_ribbon") {
    return Pointer(rocksdb::NewRibbonFilterPolicy(kBitsPerKey, -1));
  }
  RocksDbOptions options;
  options.filter_spec = FilterSpec::BitsPerKey(filter, kBitsPerKey);
  return Pointer(NewRocksDbFilterPolicy(options));
}

void Check(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// Writes keys in order, whose low bytes are random.
void WriteSst(const Sst& sst, const std::string& path) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = NewPolicy(sst.filter);
  if (sst.partitioned) {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  rocksdb::Options options;
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  Check(writer.Open(path));
  uint64_t random = 1;
  std::string key(kKeySize, '\0');
  const auto put = [&](size_t at, uint64_t number) {
    for (size_t i = 0; i < 8; ++i) {
      key[at + i] = static_cast<char>(number >> (56 - 8 * i));
    }
  };
  for (uint64_t i = 0; i < sst.keys; ++i) {
    put(0, i);
    put(8, NextSplitMix(&random));
    Check(writer.Put(key, "value"));
  }
  Check(writer.Finish());
}

Json Measure(const Sst& sst, const std::string& directory) {
  Json result = {{"filter", sst.filter},
                 {"keys", sst.keys},
                 {"partitioned", sst.partitioned},
                 {"threads", sst.threads}};
  result.update(InChild([&]() -> Json {
    Sst small = sst;
    small.keys = 10000;
    WriteSst(small, directory + "/0");
    const Memory memory;
    std::vector<std::thread> threads;
    for (int i = 0; i < sst.threads; ++i) {
      threads.emplace_back(
          [&, i] { WriteSst(sst, directory + "/" + std::to_string(i)); });
    }
    for (std::thread& thread : threads) thread.join();
    return {{"peak_bytes", memory.PeakBytes()},
            {"resident_afterwards_bytes", memory.ResidentBytes()}};
  }));
  return result;
}

}  // namespace

Json MeasureSsts(const Sizes& sizes) {
  const std::filesystem::path directory =
      std::filesystem::temp_directory_path() /
      ("memory_bench." + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::vector<Sst> ssts;
  const std::vector<uint64_t> keys =
      sizes.quick ? std::vector<uint64_t>{100000} : sizes.keys;
  constexpr uint64_t kKeysOf64MiB = 2200000;
  for (const bool partitioned : {false, true}) {
    for (const std::string& filter : sizes.filters) {
      for (const uint64_t count : keys) {
        ssts.push_back({filter, count, partitioned, 1});
      }
      ssts.push_back(
          {filter, sizes.quick ? keys[0] : kKeysOf64MiB, partitioned, 4});
    }
  }
  Json runs = Json::array();
  for (const Sst& sst : ssts) runs.push_back(Measure(sst, directory));
  std::filesystem::remove_all(directory);
  return {{"ssts", std::move(runs)}};
}

}  // namespace rowbloom::bench
