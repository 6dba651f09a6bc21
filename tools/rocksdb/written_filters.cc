// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/written_filters.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rowbloom/filter.h"
#include "rowbloom/filter_blob.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_spec.h"

namespace rowbloom::tools {
namespace {

constexpr char kFamily[] = "compact";

// An entry of the index over partitions, besides its key: as that of any index
// (get_cost.cc).
constexpr double kIndexEntryExtraBytes = 12;

// RocksDB's five bytes behind a Ribbon filter, and the slots that round it up
// to a multiple of 128: half of that on average.
constexpr double kRibbonExtraBytes = 5;
constexpr double kRibbonExtraSlots = 64;

// The bytes of a compact filter of `key_count` keys in a table.
double CompactBytes(double builder_bits, double key_count) {
  // Most codecs take 8 bytes (rocksdb_plugin/policy/filter_info.h).
  constexpr size_t kMetadataBytes = 8;
  const FilterSpec spec = FilterSpec::BitsPerKey(kFamily, builder_bits);
  const std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(spec);
  builder->Add(KeyDigest{});
  const EncodedFilter of_one_key = builder->Finish();
  const size_t extra_bytes =
      EncodeFilterBlob(of_one_key, std::string(kMetadataBytes, '\0')).size() -
      of_one_key.units.size();
  const auto keys = static_cast<uint64_t>(std::ceil(key_count));
  return static_cast<double>(FilterSizeBytes(spec, keys) + extra_bytes);
}

double RibbonBytes(double fpr, double key_count) {
  const auto keys = static_cast<uint64_t>(std::ceil(key_count));
  const double bits =
      FilterCost::OfRocksDbRibbon(keys).ForFpr(fpr).bits_per_key;
  return (key_count + kRibbonExtraSlots) * bits / 8 + kRibbonExtraBytes;
}

// The curve by which the policy of rowbloom chooses: that of filters of as many
// keys as it expects in a partition (rocksdb_plugin/policy/native_policy.cc).
absl::StatusOr<FilterCost> PolicyCost(FilterWriter writer,
                                      const RocksDbTree& tree,
                                      double bits_per_key) {
  if (writer == FilterWriter::kComposedRibbon) {
    return FilterCost::OfRocksDbRibbon();
  }
  if (!tree.partitions_filters || bits_per_key == 0) {
    return FilterCost::OfFamily(kFamily);
  }
  return FilterCost::OfFamily(
      kFamily, std::max<uint64_t>(
                   1, static_cast<uint64_t>(
                          8 * static_cast<double>(tree.metadata_block_bytes) /
                          bits_per_key)));
}

// The number of filters of a run, each with its last one that is not full.
double FilterCount(const RocksDbTree& tree, const RocksDbRun& run,
                   const BlockUse& filters) {
  const auto files = static_cast<double>(std::max<uint64_t>(run.file_count, 1));
  if (!tree.partitions_filters || filters.block_count == 0) return files;
  return files * std::ceil(filters.block_count / files);
}

}  // namespace

absl::StatusOr<std::vector<FilterSetting>> WrittenFilters(
    FilterWriter writer, const RocksDbTree& tree, const TotalMemoryPlan& plan,
    const GetCostOptions& get) {
  const double asked = plan.filters.bits_per_key;
  const absl::StatusOr<FilterCost> cost = PolicyCost(writer, tree, asked);
  if (!cost.ok()) return cost.status();
  // Writes filters of `less` bits fewer than planned. Returns the mean of all.
  std::vector<FilterSetting> written(tree.runs.size());
  const auto write = [&](double less) {
    double bits = 0;
    double all_keys = 0;
    for (size_t i = 0; i < tree.runs.size(); ++i) {
      const auto keys = static_cast<double>(tree.runs[i].key_count);
      const double planned = plan.filters.runs[i].setting.bits_per_key;
      all_keys += keys;
      written[i] = {};
      if (keys == 0 || planned <= less) continue;
      written[i] = cost->ForBits(planned - less);
      if (written[i].bits_per_key == 0) continue;
      const double count =
          FilterCount(tree, tree.runs[i], plan.cost.runs[i].filter);
      double bytes = writer == FilterWriter::kCompact
                         ? CompactBytes(written[i].builder_bits, keys / count)
                         : RibbonBytes(written[i].fpr, keys / count);
      if (tree.partitions_filters) {
        bytes += get.key_bytes + kIndexEntryExtraBytes;
      }
      written[i].bits_per_key = 8 * count * bytes / keys;
      bits += 8 * count * bytes;
    }
    return all_keys == 0 ? 0 : bits / all_keys;
  };
  const double over = write(0) - asked;
  if (plan.mode == BudgetMode::kFixed) return written;
  // Control takes `control_gain` of what is left over the budget off each SST.
  const double gain = FileBudgetOptions().control_gain;
  write(gain / (1 + gain) * over);
  return written;
}

}  // namespace rowbloom::tools
