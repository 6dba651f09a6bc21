// SPDX-License-Identifier: Apache-2.0
//
// The price of a false positive rate in memory: bits per key and rate of one
// kind of filter, as a curve of settings that a builder accepts.
//
//   auto cost = FilterCost::OfFamily("compact");
//   FilterSetting setting = cost->ForFpr(0.001);   // 10.1 bits per key
//   setting = cost->ForBits(10);                   // 0.11%
//   FilterSpec::BitsPerKey("compact", setting.builder_bits);
//
// The curve starts at no filter: 0 bits, rate 1. It has only settings that no
// mix of two others clearly beats, so rates fall, and each further bit gains
// less, within a few percent. A family may have gaps between settings, where
// nothing in between pays; elsewhere the curve is interpolated. Arithmetic
// only, the same on every platform; a value, cheap to copy, any thread.

#ifndef ROWBLOOM_FILTER_COST_H_
#define ROWBLOOM_FILTER_COST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The default is no filter.
struct FilterSetting {
  // The number that the builder takes: FilterSpec::BitsPerKey of a
  // family, or the argument of RocksDB's NewBloomFilterPolicy or
  // NewRibbonFilterPolicy. 0 means "write no filter".
  double builder_bits = 0;
  double bits_per_key = 0;  // The size of the filter.
  double fpr = 1;           // Its expected rate.
};

class FilterCost {
 public:
  // Keys of a filter so large that rounding does not matter.
  static constexpr uint64_t kLargeFilter = uint64_t{1} << 32;

  // Sizes and rates are the family's own (FilterSizeBytes,
  // FilterSpec::expected_fpr), for filters of `keys_per_filter` keys: those
  // of an SST, or of a chunk. InvalidArgument if no family has that name, or
  // it is always_maybe. Takes some milliseconds.
  static absl::StatusOr<FilterCost> OfFamily(
      std::string_view family, uint64_t keys_per_filter = kLargeFilter);

  // RocksDB's own filters (format_version 5 and later) of a large SST. The
  // rates are those of RocksDB 7.8: util/bloom_impl.h, CacheLocalFpRate and
  // ChooseNumProbes. They are within a few percent of the measured rates.
  static FilterCost OfRocksDbBloom();
  // The setting of a Ribbon filter is the bits of a Bloom filter of the same
  // rate. Its size: util/ribbon_config.cc (slots for keys) and
  // util/ribbon_impl.h (columns for a rate). RocksDB writes no Ribbon filter
  // above 950 million keys.
  static FilterCost OfRocksDbRibbon(uint64_t keys_per_filter = 1000000);

  // The cost with this name(), for large filters.
  static absl::StatusOr<FilterCost> OfName(std::string_view name);

  // The caller's own curve. Settings are finite, in any order, with
  // bits_per_key above 0 and rates above 0, up to 1.
  static absl::StatusOr<FilterCost> FromSettings(
      std::string_view name, std::vector<FilterSetting> settings);

  // The family's name, "rocksdb_bloom" or "rocksdb_ribbon".
  const std::string& name() const { return curve_->name; }

  // The setting whose rate is nearest to `fpr`, as a factor: the strongest for
  // rates below those of the curve, no filter for rates nearest to 1.
  FilterSetting ForFpr(double fpr) const;
  // The strongest setting that takes at most this number of bits per key; no
  // filter for NaN.
  FilterSetting ForBits(double bits_per_key) const;

 private:
  struct Curve {
    std::string name;
    std::vector<FilterSetting> settings;  // Bits rise, rates fall.
  };

  explicit FilterCost(Curve curve)
      : curve_(std::make_shared<const Curve>(std::move(curve))) {}

  std::shared_ptr<const Curve> curve_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_COST_H_
