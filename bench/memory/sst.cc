// SPDX-License-Identifier: Apache-2.0
//
// sst: the memory of a process that writes SSTs, by filter: one SST by one
// thread, and one by each of four, as four compactions do. These wait for each
// other with all keys added: else it is chance whether their peaks coincide.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/memory/child.h"
#include "bench/memory/measures.h"
#include "bench/or_throw.h"
#include "bench/rocksdb/policies.h"
#include "bench/split_mix.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"

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

// Writes keys in order, whose low bytes are random. Calls finish() when all are
// added.
void WriteSst(const Sst& sst, const std::string& path,
              const std::function<void()>& finish) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy =
      MakePolicy(sst.filter, sst.filter, kBitsPerKey, {}, false).filter;
  if (sst.partitioned) {
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  rocksdb::Options options;
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  CheckOk(writer.Open(path));
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
    CheckOk(writer.Put(key, "value"));
  }
  finish();
  CheckOk(writer.Finish());
}

Json Measure(const Sst& sst, const std::string& directory) {
  Json result = {{"filter", sst.filter},
                 {"keys", sst.keys},
                 {"partitioned", sst.partitioned},
                 {"threads", sst.threads}};
  result.update(InChild([&]() -> Json {
    Sst small = sst;
    small.keys = 10000;
    WriteSst(small, directory + "/0", [] {});
    const Memory memory;
    std::atomic<int> writing{sst.threads};
    const auto wait_for_all = [&writing] {
      --writing;
      while (writing > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < sst.threads; ++i) {
      threads.emplace_back([&, i] {
        WriteSst(sst, directory + "/" + std::to_string(i), wait_for_all);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return {{"peak_bytes", memory.PeakBytes()},
            {"resident_afterwards_bytes", memory.ResidentBytes()}};
  }));
  return result;
}

}  // namespace

Json MeasureSsts(const MemoryOptions& options) {
  const TempDirectory directory = MemoryBenchDirectory();
  std::vector<Sst> ssts;
  const std::vector<uint64_t> keys =
      options.quick ? std::vector<uint64_t>{100000} : options.keys;
  constexpr uint64_t kKeysOf64MiB = 2200000;
  for (const bool partitioned : {false, true}) {
    for (const std::string& filter : options.filters) {
      for (const uint64_t count : keys) {
        ssts.push_back({filter, count, partitioned, 1});
      }
      ssts.push_back(
          {filter, options.quick ? keys[0] : kKeysOf64MiB, partitioned, 4});
    }
  }
  Json runs = Json::array();
  for (const Sst& sst : ssts) runs.push_back(Measure(sst, directory.path()));
  return {{"ssts", std::move(runs)}};
}

}  // namespace rowbloom::bench
