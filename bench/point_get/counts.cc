// SPDX-License-Identifier: Apache-2.0

#include "counts.h"

#include <algorithm>

#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"

namespace rowbloom::point_get {

namespace {

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

double QuantileMicroseconds(std::vector<uint32_t>* nanoseconds,
                            double quantile) {
  if (nanoseconds->empty()) return 0;
  const size_t at = std::min(
      nanoseconds->size() - 1,
      static_cast<size_t>(quantile * static_cast<double>(nanoseconds->size())));
  std::nth_element(nanoseconds->begin(), nanoseconds->begin() + at,
                   nanoseconds->end());
  return (*nanoseconds)[at] / 1000.0;
}

}  // namespace rowbloom::point_get
