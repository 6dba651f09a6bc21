// SPDX-License-Identifier: Apache-2.0

#include "counts.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/slice.h"

namespace rowbloom::reads {
namespace {

constexpr uint64_t kWrongAnswersReported = 3;

uint64_t MetadataReads(const rocksdb::PerfContext& perf) {
  return perf.index_block_read_count + perf.filter_block_read_count +
         perf.compression_dict_block_read_count;
}

}  // namespace

void StartCounting() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->EnablePerLevelPerfContext();
  rocksdb::get_perf_context()->Reset();
}

ReadCounts StopCounting(int level_count) {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  ReadCounts counts;
  counts.metadata_reads = MetadataReads(perf);
  counts.data_reads = DataReads();
  counts.bytes_read = perf.block_read_byte;
  counts.filter_maybes = perf.bloom_sst_hit_count;
  counts.filter_lookups = perf.bloom_sst_hit_count + perf.bloom_sst_miss_count;
  counts.data_reads_by_level.assign(level_count + 1, 0);
  counts.false_positives_by_level.assign(level_count + 1, 0);
  for (const auto& [level, of_level] : *perf.level_to_perf_context) {
    if (level > static_cast<uint32_t>(level_count)) continue;
    counts.data_reads_by_level[level] = of_level.block_cache_miss_count;
    counts.false_positives_by_level[level] =
        of_level.bloom_filter_full_positive -
        of_level.bloom_filter_full_true_positive;
  }
  return counts;
}

uint64_t DataReads() {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  return perf.block_read_count - MetadataReads(perf);
}

uint64_t DataReadsOfLevel(uint32_t level) {
  const auto& levels = *rocksdb::get_perf_context()->level_to_perf_context;
  const auto it = levels.find(level);
  return it == levels.end() ? 0 : it->second.block_cache_miss_count;
}

void Answers::Add(bool is_right, std::string_view query, std::string_view key) {
  ++checked_;
  if (is_right || ++wrong_ > kWrongAnswersReported) return;
  std::fprintf(
      stderr, "\nWRONG ANSWER: %s %s\n", std::string(query).c_str(),
      rocksdb::Slice(key.data(), key.size()).ToString(/*hex=*/true).c_str());
}

void Latencies::Add(Clock::time_point start, Clock::time_point end) {
  const std::chrono::nanoseconds took = end - start;
  nanoseconds_.push_back(
      static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));
}

double Latencies::MeanMicroseconds() const {
  return std::accumulate(nanoseconds_.begin(), nanoseconds_.end(), 0.0) /
         (1000 * static_cast<double>(nanoseconds_.size()));
}

double Latencies::QuantileMicroseconds(double quantile) {
  const auto at = std::min(
      nanoseconds_.size() - 1,
      static_cast<size_t>(quantile * static_cast<double>(nanoseconds_.size())));
  const auto place = nanoseconds_.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(nanoseconds_.begin(), place, nanoseconds_.end());
  return *place / 1000.0;
}

}  // namespace rowbloom::reads
