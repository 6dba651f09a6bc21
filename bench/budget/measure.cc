// SPDX-License-Identifier: Apache-2.0

#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "bench/point_get/workload.h"

namespace rowbloom::budget_bench {
namespace {

constexpr uint64_t kStep = 5000;
constexpr uint64_t kWrongAnswersTold = 3;

class Asker {
 public:
  Asker(rocksdb::DB* db, bool fill_cache) : db_(db) {
    read_options_.fill_cache = fill_cache;
  }

  void Ask(const Get& get) {
    if (!IsRight(get) && ++wrong_answers_ <= kWrongAnswersTold) {
      std::fprintf(
          stderr, "\nWRONG ANSWER: %s: %s\n",
          rocksdb::Slice(get.key).ToString(/*hex=*/true).c_str(),
          get.level == 0 ? "found" : "not found, or with another value");
    }
  }

  uint64_t wrong_answers() const { return wrong_answers_; }

 private:
  bool IsRight(const Get& get) {
    value_.Reset();
    const rocksdb::Status status =
        db_->Get(read_options_, db_->DefaultColumnFamily(), get.key, &value_);
    if (!status.ok() && !status.IsNotFound()) {
      throw std::runtime_error("reading: " + status.ToString());
    }
    if (get.level == 0) return status.IsNotFound();
    if (!status.ok()) return false;
    point_get::MakeValue(get.key, kValueSize, &expected_);
    return value_ == expected_;
  }

  rocksdb::DB* const db_;
  rocksdb::ReadOptions read_options_;
  rocksdb::PinnableSlice value_;
  std::string expected_;
  uint64_t wrong_answers_ = 0;
};

}  // namespace

Wasted CountWasted(rocksdb::DB* db, int level_count,
                   const std::function<Get()>& next_get,
                   const AskLimits& limits, bool fill_cache,
                   bench::Progress* progress) {
  Wasted result;
  Asker asker(db, fill_cache);
  std::vector<uint64_t> necessary(level_count + 1);
  point_get::StartCounting();
  while (result.gets < limits.gets) {
    const Get get = next_get();
    const uint64_t before =
        get.level > 0 ? point_get::DataReadsOfLevel(get.level) : 0;
    asker.Ask(get);
    if (get.level > 0) {
      // A get ends with the run that has its key, after one block of it, which
      // may be cached.
      const uint64_t needed = point_get::DataReadsOfLevel(get.level) - before;
      necessary[get.level] += needed;
      result.necessary_reads += needed;
    } else if (get.level == Get::kSomewhere) {
      ++result.necessary_reads;
    }
    if (++result.gets % kStep != 0) continue;
    progress->Add(kStep);
    if (point_get::DataReads() - result.necessary_reads >=
        limits.wasted_reads) {
      break;
    }
  }
  result.counts = point_get::StopCounting(level_count);
  result.wrong_answers = asker.wrong_answers();
  for (int level = 0; level <= level_count; ++level) {
    result.reads_by_level.push_back(result.counts.data_reads_by_level[level] -
                                    necessary[level]);
  }
  return result;
}

uint64_t WarmUp(rocksdb::DB* db, uint64_t cache_blocks, GetStream* present,
                GetStream* gets, uint64_t most_gets,
                bench::Progress* progress) {
  Asker asker(db, /*fill_cache=*/true);
  point_get::StartCounting();
  const auto ask = [&](GetStream* stream, uint64_t most, uint64_t reads) {
    for (uint64_t asked = 0; asked < most && point_get::DataReads() < reads;
         ++asked) {
      asker.Ask(stream->Next());
      if (asked % kStep == 0) progress->Add(0);
    }
  };
  // A read fills the cache by a block.
  ask(present, 100 * cache_blocks, cache_blocks);
  ask(gets, most_gets, 2 * cache_blocks);
  point_get::StopCounting(0);
  return asker.wrong_answers();
}

Latency TimeGets(rocksdb::DB* db, GetStream* gets, uint64_t count,
                 bench::Progress* progress) {
  using Clock = std::chrono::steady_clock;
  Asker asker(db, /*fill_cache=*/false);
  std::vector<uint32_t> nanoseconds;
  nanoseconds.reserve(count);
  double sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const Get get = gets->Next();
    const Clock::time_point start = Clock::now();
    asker.Ask(get);
    const std::chrono::nanoseconds took = Clock::now() - start;
    nanoseconds.push_back(
        static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));
    sum += nanoseconds.back();
    progress->Add(1);
  }
  Latency latency;
  latency.wrong_answers = asker.wrong_answers();
  latency.mean_us = sum / 1000 / static_cast<double>(count);
  latency.p50_us = point_get::QuantileMicroseconds(&nanoseconds, 0.5);
  latency.p99_us = point_get::QuantileMicroseconds(&nanoseconds, 0.99);
  return latency;
}

}  // namespace rowbloom::budget_bench
