// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/get_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "planning/check_range.h"

namespace rowbloom {

namespace {

absl::Status CheckRates(const GetRates& rates) {
  const struct {
    const char* name;
    double value;
  } counts[] = {{"missing_share", rates.missing_share},
                {"filter_asks", rates.filter_asks},
                {"filter_reads", rates.filter_reads},
                {"data_asks", rates.data_asks},
                {"data_reads", rates.data_reads},
                {"seeks", rates.seeks},
                {"scanned_bytes", rates.scanned_bytes},
                {"new_ssts", rates.new_ssts},
                {"new_filter_bytes", rates.new_filter_bytes}};
  for (const auto& count : counts) {
    absl::Status status = planning::CheckRange(
        count.name, count.value, 0, std::numeric_limits<double>::max());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The filter blocks that gets read because they are new: partitions of new
// SSTs, of which each one's last is short, and what leads to them.
double NewFilterBlocks(const GetRates& rates, double metadata_block_bytes) {
  return 2 * rates.new_ssts + rates.new_filter_bytes / metadata_block_bytes;
}

// Returns how many data blocks scans ask for: one in each run, and those that
// they read on.
double ScanAsks(const GetRates& rates, size_t run_count,
                double data_block_bytes) {
  return rates.seeks * static_cast<double>(run_count) +
         rates.scanned_bytes / data_block_bytes;
}

// Reads of a get, by the model and counted.
struct GetReads {
  double expected = 0;
  double counted = 0;
  double expected_of_filters = 0;
  double counted_of_filters = 0;
  double tolerance = 0;

  bool AreExplained() const {
    return std::abs(expected - counted) <= tolerance &&
           std::abs(expected_of_filters - counted_of_filters) <= tolerance;
  }
};

// Compares the reads that the model expects to the counted ones.
class GetModel {
 public:
  GetModel(absl::Span<const TreeRun> runs,
           absl::Span<const FilterSetting> filters, const GetRates& rates,
           const GetCostOptions& options)
      : runs_(runs),
        filters_(filters),
        rates_(rates),
        scan_asks_(ScanAsks(rates, runs.size(), options.data_block_bytes)),
        counted_of_filters_(std::max(
            0.0, rates.filter_reads -
                     NewFilterBlocks(rates, options.metadata_block_bytes))) {}

  // The expected and the counted reads have the counted asks of filters, which
  // depend on how many runs the tree had when gets asked. Sets scan_seeks and
  // scan_data_reads: where scans ask for many data blocks, or more blocks enter
  // the cache than gets ask for, those that the model does not expect of gets
  // are of others, and tell nothing of gets.
  GetReads ReadsOf(GetCostOptions* get) const {
    constexpr double kMostOtherAsks = 0.3;
    get->scan_seeks = 0;
    get->scan_data_reads = 0;
    GetCost model = CostOf(*get);
    const double others = kMostOtherAsks * model.data.asks;
    const bool are_of_gets = !rates_.counts_flushed_blocks &&
                             scan_asks_ <= others &&
                             rates_.data_reads <= model.data.asks + others;
    if (!are_of_gets) {
      get->scan_data_reads =
          std::max(0.0, rates_.data_reads - model.data.reads);
      if (scan_asks_ > 0) {
        get->scan_seeks =
            rates_.seeks * std::min(1.0, get->scan_data_reads / scan_asks_);
      }
      model = CostOf(*get);
    }
    constexpr double kFewReads = 0.02;
    constexpr double kFewOfAll = 0.05;
    constexpr double kMostReads = 0.15;
    GetReads reads;
    reads.tolerance = std::min(
        kMostReads,
        kFewReads + kFewOfAll * (rates_.filter_reads + rates_.data_reads));
    // The counted filters may be gone since.
    if (model.filter.asks > 0) {
      reads.expected_of_filters =
          rates_.filter_asks * (1 - model.filter.hit_rate());
      reads.counted_of_filters = counted_of_filters_;
    }
    reads.expected = reads.expected_of_filters;
    reads.counted = reads.counted_of_filters;
    if (!are_of_gets && rates_.filter_asks > 0) return reads;
    const double miss_share = 1 - model.data.hit_rate();
    const double asks = std::min(model.data.asks, rates_.data_asks);
    const double all_asks =
        std::min(model.data.asks + scan_asks_, rates_.data_asks);
    reads.counted += std::min(rates_.data_reads, all_asks);
    reads.expected =
        std::clamp(reads.counted, reads.expected_of_filters + asks * miss_share,
                   reads.expected_of_filters + all_asks * miss_share);
    return reads;
  }

 private:
  GetCost CostOf(const GetCostOptions& get) const {
    return ExpectedGetCost(runs_, filters_, get).value_or(GetCost());
  }

  const absl::Span<const TreeRun> runs_;
  const absl::Span<const FilterSetting> filters_;
  const GetRates& rates_;
  const double scan_asks_;
  const double counted_of_filters_;
};

}  // namespace

absl::Status FitGets(absl::Span<const TreeRun> runs,
                     absl::Span<const FilterSetting> filters,
                     const GetRates& rates, const GetPopularity& known,
                     GetCostOptions* options) {
  if (absl::Status status = CheckRates(rates); !status.ok()) return status;
  options->range_keys = known.range_keys;
  options->zipf_exponent = known.zipf_exponent;
  // Everything else is as it will be; from here on the model fails no more.
  if (const auto cost = ExpectedGetCost(runs, filters, *options); !cost.ok()) {
    return cost.status();
  }
  const GetModel model(runs, filters, rates, *options);
  const uint64_t cache_bytes = options->cache_bytes;
  const auto reads_of = [&](double range_keys, double zipf_exponent,
                            double share) {
    options->range_keys = range_keys;
    options->zipf_exponent = zipf_exponent;
    options->cache_bytes =
        static_cast<uint64_t>(share * static_cast<double>(cache_bytes));
    return model.ReadsOf(options);
  };
  const auto explains = [&](double share) {
    return reads_of(known.range_keys, known.zipf_exponent, share)
        .AreExplained();
  };
  if (explains(1) || (known.cache_share < 1 && explains(known.cache_share))) {
    return absl::OkStatus();
  }
  // Returns the value within the range where the model's reads, which fall with
  // it, are the counted ones.
  const auto fit = [](double low, double high, const auto& reads_with) {
    constexpr int kHalvings = 8;
    double middle = (low + high) / 2;
    for (int i = 0; i < kHalvings; ++i) {
      const GetReads reads = reads_with(middle);
      (reads.expected > reads.counted ? low : high) = middle;
      middle = (low + high) / 2;
    }
    return middle;
  };
  const GetReads most = reads_of(1, 0, 1);
  if (most.expected <= most.counted) {
    // Many databases may share the cache.
    constexpr double kLeastShare = 0.005;
    reads_of(1, 0, fit(kLeastShare, 1, [&](double share) {
               return reads_of(1, 0, share);
             }));
    return absl::OkStatus();
  }
  // Single keys, some data blocks, some filter partitions: one range may have
  // nearly all gets.
  struct Range {
    double keys;
    double most_skew;
  };
  Range ranges[] = {{1, 1.3}, {256, 2}, {16384, 4}};
  // While the tree changes, more than one size of ranges explains the reads.
  // The known size stays then, and small ones come before large ones: gets of
  // large ranges read few filters, and a plan for them gives SSTs more bits.
  std::stable_partition(
      std::begin(ranges), std::end(ranges),
      [&](const Range& range) { return range.keys == known.range_keys; });
  double best_range = 1;
  double best_skew = 0;
  double least_error = std::numeric_limits<double>::infinity();
  for (const Range& range : ranges) {
    const double skew = fit(0, range.most_skew, [&](double zipf_exponent) {
      return reads_of(range.keys, zipf_exponent, 1);
    });
    const GetReads reads = reads_of(range.keys, skew, 1);
    const double error =
        std::abs(reads.expected - reads.counted) +
        std::abs(reads.expected_of_filters - reads.counted_of_filters);
    if (error >= least_error && !reads.AreExplained()) continue;
    least_error = error;
    best_range = range.keys;
    best_skew = skew;
    if (reads.AreExplained()) break;
  }
  reads_of(best_range, best_skew, 1);
  return absl::OkStatus();
}

}  // namespace rowbloom
