// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_cost.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/family.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

constexpr char kRocksDbBloom[] = "rocksdb_bloom";
constexpr char kRocksDbRibbon[] = "rocksdb_ribbon";

// The spacing of a curve's samples, in bits per key.
constexpr double kGrid = 1.0 / 64;
// Neighbours whose rates differ by more than this factor have a gap between
// them.
constexpr double kGapFactor = 0.75;
constexpr double kLineBits = 512;

// Interpolates the logarithm of the rate, which falls about evenly.
FilterSetting Between(const FilterSetting& a, const FilterSetting& b,
                      double part) {
  FilterSetting result;
  result.builder_bits =
      a.builder_bits + part * (b.builder_bits - a.builder_bits);
  result.bits_per_key =
      a.bits_per_key + part * (b.bits_per_key - a.bits_per_key);
  result.fpr = a.fpr * std::pow(b.fpr / a.fpr, part);
  return result;
}

bool HasGap(const FilterSetting& a, const FilterSetting& b) {
  return b.fpr < kGapFactor * a.fpr;
}

// The rate of a mix of `a` and `b` that takes `bits` per key.
double FprOfMix(const FilterSetting& a, const FilterSetting& b, double bits) {
  const double part =
      (bits - a.bits_per_key) / (b.bits_per_key - a.bits_per_key);
  return a.fpr + part * (b.fpr - a.fpr);
}

// The settings that no mix of others beats. `settings` are in order of their
// bits.
std::vector<FilterSetting> Hull(const std::vector<FilterSetting>& settings) {
  std::vector<FilterSetting> hull = {FilterSetting()};
  for (const FilterSetting& setting : settings) {
    if (setting.fpr >= hull.back().fpr) continue;
    // With equal bits, the setting with the lower rate stays.
    if (setting.bits_per_key <= hull.back().bits_per_key) hull.pop_back();
    while (hull.size() > 1 &&
           hull.back().fpr > FprOfMix(hull[hull.size() - 2], setting,
                                      hull.back().bits_per_key)) {
      hull.pop_back();
    }
    hull.push_back(setting);
  }
  return hull;
}

// No filter, and the settings that no mix of others clearly beats.
std::vector<FilterSetting> Worthwhile(std::vector<FilterSetting> settings) {
  constexpr double kClearly = 1.06;
  std::stable_sort(settings.begin(), settings.end(),
                   [](const FilterSetting& a, const FilterSetting& b) {
                     return a.bits_per_key < b.bits_per_key;
                   });
  const std::vector<FilterSetting> hull = Hull(settings);
  std::vector<FilterSetting> result = {hull.front()};
  auto next = hull.begin() + 1;
  for (const FilterSetting& setting : settings) {
    while (next != hull.end() && next->bits_per_key < setting.bits_per_key) {
      ++next;
    }
    if (next == hull.end()) break;
    if (setting.fpr >= result.back().fpr ||
        setting.fpr > kClearly * FprOfMix(*std::prev(next), *next,
                                          setting.bits_per_key)) {
      continue;
    }
    if (setting.bits_per_key <= result.back().bits_per_key) result.pop_back();
    result.push_back(setting);
  }
  return result;
}

// Policy bits on a grid, and on both sides of each step.
std::vector<double> PolicyBits(const filter::FilterFamily& family) {
  constexpr double kStep = 0.97;  // A lower rate ratio is a step; smooth:
                                  // 0.985.
  constexpr int kHalvings = 20;
  std::vector<double> all;
  double rate = 1;
  for (double bits = FilterSpec::kMinBitsPerKey;
       bits <= FilterSpec::kMaxBitsPerKey; bits += kGrid) {
    const double next_rate = family.expected_fpr(bits);
    if (!all.empty() && next_rate < kStep * rate) {
      double low = all.back();
      double high = bits;
      for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (family.expected_fpr(middle) > next_rate ? low : high) = middle;
      }
      all.push_back(low);
      all.push_back(high);
    }
    all.push_back(bits);
    rate = next_rate;
  }
  return all;
}

double StandardFpr(double bits_per_key, int probe_count) {
  return std::pow(1 - std::exp(-probe_count / bits_per_key), probe_count);
}

int RocksDbProbeCount(double bits_per_key) {
  // The most bits per key for 1, 2, ... probes.
  constexpr double kMostBits[] = {2.080,  3.580,  5.100,  6.640,
                                  8.300,  10.070, 11.720, 14.001,
                                  16.050, 18.300, 22.001, 25.501};
  const double* const most = std::lower_bound(
      std::begin(kMostBits), std::end(kMostBits), bits_per_key);
  if (most != std::end(kMostBits)) {
    return 1 + static_cast<int>(most - std::begin(kMostBits));
  }
  constexpr double kMostProbesFrom = 50;
  return bits_per_key > kMostProbesFrom
             ? 24
             : static_cast<int>(std::ceil(bits_per_key / 2)) - 2;
}

// The mean of the rates one standard deviation above and below the mean keys
// of a line.
double RocksDbBloomFpr(double bits_per_key) {
  const int probe_count = RocksDbProbeCount(bits_per_key);
  const double keys = kLineBits / bits_per_key;
  const double deviation = std::sqrt(keys);
  return (StandardFpr(kLineBits / (keys + deviation), probe_count) +
          StandardFpr(kLineBits / (keys - deviation), probe_count)) /
         2;
}

// Slots per key. For powers of two up to 2^17 RocksDB has a table, from 1.0226
// to 1.036, which this follows within 0.6%; above, this is RocksDB's formula.
double RocksDbRibbonSlots(double keys) {
  const double slots = 1.04 * keys;
  const double of_large = 131072 / 126506.0 - 17 * 0.0038;
  return std::max(1.0226, of_large + 0.0038 * std::log2(slots));
}

// Some slots have a column more than others.
double RocksDbRibbonColumns(double fpr) {
  const double lower = std::floor(-std::log2(fpr));
  const double lower_fpr = std::exp2(-lower);
  const double lower_portion = (fpr - lower_fpr / 2) / (lower_fpr / 2);
  return lower + 1 - lower_portion;
}

absl::Status NoCost(std::string_view family, absl::string_view known) {
  const bool is_no_filter = family == filter::kAlwaysMaybeFamily.name;
  return absl::InvalidArgumentError(absl::StrCat(
      is_no_filter ? "" : "unknown ", "filter family \"",
      util::AbslView(family), "\"",
      is_no_filter ? " is no filter and has no cost" : "", "; known: ", known));
}

}  // namespace

absl::StatusOr<FilterCost> FilterCost::OfFamily(std::string_view family,
                                                uint64_t keys_per_filter) {
  const filter::FilterFamily* const found = filter::FindFamily(family);
  if (found == nullptr || found == &filter::kAlwaysMaybeFamily) {
    return NoCost(family, filter::KnownFamilies());
  }
  const uint64_t keys =
      std::clamp<uint64_t>(keys_per_filter, 1, filter::kMaxKeyCount);
  std::vector<FilterSetting> settings;
  for (const double bits : PolicyBits(*found)) {
    const double size = static_cast<double>(found->size_bytes(bits, keys));
    settings.push_back({bits, 8 * size / static_cast<double>(keys),
                        found->expected_fpr(bits)});
  }
  return FilterCost({std::string(family), Worthwhile(std::move(settings))});
}

absl::StatusOr<FilterCost> FilterCost::OfName(std::string_view name) {
  if (name == kRocksDbBloom) return OfRocksDbBloom();
  if (name == kRocksDbRibbon) return OfRocksDbRibbon();
  absl::StatusOr<FilterCost> cost = OfFamily(name);
  if (cost.ok()) return cost;
  return NoCost(name, absl::StrCat(filter::KnownFamilies(), ", ", kRocksDbBloom,
                                   ", ", kRocksDbRibbon));
}

FilterCost FilterCost::OfRocksDbBloom() {
  std::vector<FilterSetting> settings;
  for (double bits = 1; bits <= FilterSpec::kMaxBitsPerKey; bits += kGrid) {
    settings.push_back({bits, bits, RocksDbBloomFpr(bits)});
  }
  return FilterCost({kRocksDbBloom, Worthwhile(std::move(settings))});
}

FilterCost FilterCost::OfRocksDbRibbon(uint64_t keys_per_filter) {
  const double slots = RocksDbRibbonSlots(
      static_cast<double>(std::max<uint64_t>(keys_per_filter, 1)));
  std::vector<FilterSetting> settings;
  // Ends at 24 bits per key of the ribbon filter itself, as others do.
  for (double bloom_bits = 1; bloom_bits < 100; bloom_bits += kGrid) {
    const double fpr = RocksDbBloomFpr(bloom_bits);
    const double bits = slots * RocksDbRibbonColumns(fpr);
    if (bits > FilterSpec::kMaxBitsPerKey) break;
    settings.push_back({bloom_bits, bits, fpr});
  }
  return FilterCost({kRocksDbRibbon, Worthwhile(std::move(settings))});
}

absl::StatusOr<FilterCost> FilterCost::FromSettings(
    std::string_view name, std::vector<FilterSetting> settings) {
  for (const FilterSetting& setting : settings) {
    // Written so that NaN fails, too.
    if (setting.bits_per_key > 0 && std::isfinite(setting.bits_per_key) &&
        std::isfinite(setting.builder_bits) && setting.fpr > 0 &&
        setting.fpr <= 1) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        util::AbslView(name), ": a setting of ", setting.bits_per_key,
        " bits per key with rate ", setting.fpr,
        ": bits must be above 0 and the rate above 0, at most 1"));
  }
  return FilterCost({std::string(name), Worthwhile(std::move(settings))});
}

FilterSetting FilterCost::ForFpr(double fpr) const {
  const std::vector<FilterSetting>& settings = curve_->settings;
  const auto below = std::lower_bound(
      settings.begin(), settings.end(), fpr,
      [](const FilterSetting& s, double rate) { return s.fpr > rate; });
  if (below == settings.end()) return settings.back();
  if (below == settings.begin()) return *below;
  const FilterSetting& above = *std::prev(below);
  const double part =
      std::log(fpr / above.fpr) / std::log(below->fpr / above.fpr);
  if (HasGap(above, *below)) return part < 0.5 ? above : *below;
  return Between(above, *below, part);
}

FilterSetting FilterCost::ForBits(double bits_per_key) const {
  const std::vector<FilterSetting>& settings = curve_->settings;
  if (std::isnan(bits_per_key)) return settings.front();
  const auto above =
      std::upper_bound(settings.begin(), settings.end(), bits_per_key,
                       [](double bits, const FilterSetting& s) {
                         return bits < s.bits_per_key;
                       });
  if (above == settings.begin()) return settings.front();
  const FilterSetting& below = *std::prev(above);
  if (above == settings.end() || HasGap(below, *above)) return below;
  return Between(below, *above,
                 (bits_per_key - below.bits_per_key) /
                     (above->bits_per_key - below.bits_per_key));
}

}  // namespace rowbloom
