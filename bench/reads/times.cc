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
#include "report.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "run.h"

namespace rowbloom::reads {
namespace {

constexpr double kBitsPerKey = 10;
constexpr std::chrono::microseconds kDelay(100);
constexpr uint64_t kTimedSeed = 4000;

// Reads sleep while it is set.
using IsSlow = std::shared_ptr<std::atomic<bool>>;

class SlowFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  SlowFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, IsSlow is_slow)
      : FSRandomAccessFileOwnerWrapper(std::move(file)),
        is_slow_(std::move(is_slow)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size,
                         const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* debug) const override {
    if (*is_slow_) std::this_thread::sleep_for(kDelay);
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result,
                                                scratch, debug);
  }

 private:
  const IsSlow is_slow_;
};

class SlowFileSystem : public rocksdb::FileSystemWrapper {
 public:
  explicit SlowFileSystem(IsSlow is_slow)
      : FileSystemWrapper(rocksdb::FileSystem::Default()),
        is_slow_(std::move(is_slow)) {}

  const char* Name() const override { return "SlowFileSystem"; }

  rocksdb::IOStatus NewRandomAccessFile(
      const std::string& name, const rocksdb::FileOptions& options,
      std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
      rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus status =
        target()->NewRandomAccessFile(name, options, &file, debug);
    if (status.ok()) {
      *result = std::make_unique<SlowFile>(std::move(file), is_slow_);
    }
    return status;
  }

 private:
  const IsSlow is_slow_;
};

Json TimeGets(const KeyTree& keys, rocksdb::DB* db, double missing_share,
              uint64_t count, Run* run) {
  GetStream gets(&keys, {missing_share, Mix::kUniform}, kTimedSeed);
  Latencies latencies;
  for (uint64_t i = 0; i < count; ++i) {
    const Get get = gets.Next();
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
  const auto is_slow = std::make_shared<std::atomic<bool>>(false);
  const auto env =
      rocksdb::NewCompositeEnv(std::make_shared<SlowFileSystem>(is_slow));
  TreeShape shape;
  shape.key_count = run->options.Or(run->options.keys, 40000, 300000);
  const uint64_t count = run->options.Or(run->options.gets, 100, 5000);
  KeyTree keys(shape, run, env.get());
  Json rows = Json::array();
  Table table({"policy", "100% absent", "50% absent", "0% absent"});
  for (const std::string& policy : PoliciesOf(kKeys, run->options)) {
    double asked = 0;
    const auto tree = keys.BuildWith(policy, kBitsPerKey, &asked);
    std::vector<std::string> cells = {policy};
    run->progress.Begin("time " + policy, std::size(kMissingShares) * count);
    *is_slow = true;
    for (const double missing_share : kMissingShares) {
      Json row = TimeGets(keys, tree->db(), missing_share, count, run);
      cells.push_back(Number(row["mean_us"], "%.1f, ") +
                      Number(row["p50_us"], "%.1f, ") +
                      Number(row["p99_us"], "%.1f"));
      row["policy"] = policy;
      rows.push_back(std::move(row));
    }
    *is_slow = false;
    run->progress.End();
    table.Add(std::move(cells));
  }
  table.Print("Microseconds of a get: mean, p50, p99");
  return {{"times", std::move(rows)}};
}

}  // namespace rowbloom::reads
