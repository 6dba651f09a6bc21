// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_stats.h"

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"

namespace rowbloom {

std::string_view FilterCounterName(FilterCounter counter) {
  switch (counter) {
    case FilterCounter::kLookups:
      return "lookups";
    case FilterCounter::kNegatives:
      return "negatives";
    case FilterCounter::kTruePositives:
      return "true_positives";
    case FilterCounter::kFalsePositives:
      return "false_positives";
    case FilterCounter::kChunkLoads:
      return "chunk_loads";
    case FilterCounter::kChunkLoadBytes:
      return "chunk_load_bytes";
    case FilterCounter::kLoadErrors:
      return "load_errors";
    case FilterCounter::kCount:
      break;
  }
  return "unknown";
}

std::string FilterStatsSnapshot::ToString() const {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto name = FilterCounterName(static_cast<FilterCounter>(i));
    absl::StrAppend(&out, base::AbslView(name), " ", values[i], "\n");
  }
  return out;
}

FilterStatsSnapshot FilterStats::Snapshot() const {
  FilterStatsSnapshot sum;
  for (const Shard& shard : shards_) {
    for (size_t i = 0; i < sum.values.size(); ++i) {
      sum.values[i] += shard.values[i].load(std::memory_order_relaxed);
    }
  }
  return sum;
}

size_t FilterStats::ThreadShard() {
  static std::atomic<size_t> next{0};
  thread_local const size_t shard =
      next.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

}  // namespace rowbloom
