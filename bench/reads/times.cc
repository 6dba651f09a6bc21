// SPDX-License-Identifier: Apache-2.0
//
// times: latency of gets from a storage device that takes its time.

#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "key_tree.h"
#include "policies.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "run.h"

namespace rowbloom::reads {
namespace {

constexpr double kBitsPerKey = 10;
constexpr std::chrono::microseconds kDelay(100);
constexpr uint64_t kTimedSeed = 4000;

std::atomic<bool> reads_sleep = false;

class SlowFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  using FSRandomAccessFileOwnerWrapper::FSRandomAccessFileOwnerWrapper;

  rocksdb::IOStatus Read(uint64_t offset, size_t size,
                         const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    if (reads_sleep) std::this_thread::sleep_for(kDelay);
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result,
                                                scratch, debug);
  }
};

class SlowFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  const char* Name() const override { return "SlowFileSystem"; }

  rocksdb::IOStatus NewRandomAccessFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
      rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus status =
        target()->NewRandomAccessFile(name, options, &file, debug);
    if (status.ok()) *result = std::make_unique<SlowFile>(std::move(file));
    return status;
  }
};

Json TimeGets(const KeyTree& keys, rocksdb::DB* db, double missing_share,
              uint64_t count, Run* run) {
  const auto gets = GetsOf(keys, {missing_share, Mix::kUniform}, kTimedSeed);
  Latencies latencies;
  for (uint64_t i = 0; i < count; ++i) {
    const Get get = gets();
    const auto start = Latencies::Clock::now();
    Ask(db, get, /*fill_cache=*/false, &run->answers);
    latencies.Add(start, Latencies::Clock::now());
    run->progress.Add(1);
  }
  return {{"missing_share", missing_share},
          {"mean_us", latencies.MeanMicroseconds()},
          {"p50_us", latencies.QuantileMicroseconds(0.5)},
          {"p99_us", latencies.QuantileMicroseconds(0.99)}};
}

}  // namespace

Json MeasureTimes(Run* run) {
  // By default, Linux may sleep 50 us longer.
  prctl(PR_SET_TIMERSLACK, 1UL);
  const auto env = rocksdb::NewCompositeEnv(
      std::make_shared<SlowFileSystem>(rocksdb::FileSystem::Default()));
  TreeShape shape;
  shape.key_count = run->options.Or(run->options.keys, 40000, 300000);
  const uint64_t count = run->options.Or(run->options.gets, 100, 5000);
  KeyTree keys(shape, run, env.get());
  Json rows = Json::array();
  Table table({"policy", "100% absent", "50% absent", "0% absent"});
  for (const std::string& policy : PolicyNames(kKeys, run->options.policies)) {
    double asked = 0;
    const auto tree = keys.BuildWith(policy, kBitsPerKey, &asked);
    std::vector<std::string> cells = {policy};
    run->progress.Begin("time " + policy, std::size(kMissingShares) * count);
    reads_sleep = true;
    for (const double missing_share : kMissingShares) {
      Json row = TimeGets(keys, tree->db(), missing_share, count, run);
      cells.push_back(Number(row["mean_us"], "%.1f, ") +
                      Number(row["p50_us"], "%.1f, ") +
                      Number(row["p99_us"], "%.1f"));
      row["policy"] = policy;
      rows.push_back(std::move(row));
    }
    reads_sleep = false;
    run->progress.End();
    table.Add(std::move(cells));
  }
  table.Print("Microseconds of a get: mean, p50, p99");
  return {{"times", std::move(rows)}};
}

}  // namespace rowbloom::reads
