// SPDX-License-Identifier: Apache-2.0

#include "filter/blocked_bloom/blocked_bloom_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "filter/blocked_bloom/blocked_bloom_kernel.h"

namespace rowbloom::filter {

namespace {

constexpr double kLineBits = 512;

// The exact rate if keys probe in one round, by inclusion and exclusion over
// the subsets of the bits that an absent key probes. A subset is empty if no
// key sets any of its bits.
double OneRoundFpr(double keys, double line_count, uint32_t probe_count) {
  const double miss = 1 - kSectors / kLineBits;  // One bit, by one probe.
  double all_miss[kSectors + 1] = {1};
  for (uint32_t i = 0; i < kSectors; ++i) all_miss[i + 1] = all_miss[i] * miss;
  // The probes of an absent key in sectors that a key probes, too, for each
  // difference of their rotations.
  uint32_t shared[kSectors] = {};
  for (uint32_t rotation = 0; rotation < kSectors; ++rotation) {
    for (uint32_t i = 0; i < probe_count; ++i) {
      const bool probed = (i + rotation) % kSectors < probe_count;
      shared[rotation] |= static_cast<uint32_t>(probed) << i;
    }
  }
  double rate = 0;
  for (uint32_t subset = 1; subset < 1u << probe_count; ++subset) {
    double hit = 0;  // P(a key in the line sets a bit of the subset).
    for (const uint32_t probes : shared) {
      hit += (1 - all_miss[internal::CountOnes(subset & probes)]) / kSectors;
    }
    // The probability that the subset is empty, less 1: all signs add up to 0.
    const double empty = std::expm1(keys * std::log1p(-hit / line_count));
    rate += internal::CountOnes(subset) % 2 == 0 ? empty : -empty;
  }
  return std::max(0.0, rate);
}

// The rate of a line that holds `keys` keys.
double LineFpr(double keys, uint32_t probe_count) {
  // In a round of k probes, a key probes a given bit with probability k / 512.
  // It never probes two bits of one sector, and two bits of different sectors
  // only if both sectors are among the k of 8.
  double log_empty = 0;
  double log_both_empty_same = 0;
  double log_both_empty_other = 0;
  for (double k = probe_count; k > 0; k -= kSectors) {
    const double round = std::min<double>(k, kSectors);
    const double p = round / kLineBits;
    const double p_both =
        p * p * (round - 1) / round * kSectors / (kSectors - 1);
    log_empty += std::log1p(-p);
    log_both_empty_same += std::log1p(-2 * p);
    log_both_empty_other += std::log1p(-2 * p + p_both);
  }
  const double empty = std::exp(keys * log_empty);
  const double same = std::exp(keys * log_both_empty_same);
  const double other = std::exp(keys * log_both_empty_other);
  const double sector = kLineBits / kSectors;
  const double fill = 1 - empty;
  if (fill <= 0) return 0;
  // Pairs of probes are not quite independent. Two probes of one sector depend
  // on the same keys; of two sectors, one has fewer keys if the other has more.
  const double sector_covariance =
      (empty + (sector - 1) * same - sector * empty * empty) / sector;
  const double other_covariance = other - empty * empty;
  const double probes = static_cast<double>(probe_count);
  const double sector_pairs = std::max(0.0, probes - kSectors);
  const double other_pairs = probes * (probes - 1) / 2 - sector_pairs;
  const double square = fill * fill;
  return std::pow(fill, probe_count) *
         std::pow(1 + sector_covariance / square, sector_pairs) *
         std::pow(1 + other_covariance / square, other_pairs);
}

}  // namespace

double BlockedBloomFpr(uint64_t key_count, uint64_t line_count,
                       uint32_t probe_count) {
  if (key_count == 0) return 0;
  if (probe_count <= kSectors) {
    return OneRoundFpr(static_cast<double>(key_count),
                       static_cast<double>(line_count), probe_count);
  }
  if (line_count == 1) {
    return LineFpr(static_cast<double>(key_count), probe_count);
  }
  // The number of keys in a line is binomial. Sums outward from its mode, with
  // weights relative to the mode's.
  const double n = static_cast<double>(key_count);
  const double q = 1.0 / static_cast<double>(line_count);
  const double mode = std::floor((n + 1) * q);
  double total = 0;
  double total_weight = 0;
  const auto add = [&](double keys, double weight) {
    total += weight * LineFpr(keys, probe_count);
    total_weight += weight;
  };
  constexpr double kNegligible = 1e-12;
  double weight = 1;
  for (double j = mode; weight > kNegligible && j <= n; ++j) {
    add(j, weight);
    weight *= (n - j) / (j + 1) * q / (1 - q);
  }
  weight = 1;
  for (double j = mode; j > 0; --j) {
    weight *= j / (n - j + 1) * (1 - q) / q;
    if (weight < kNegligible) break;
    add(j - 1, weight);
  }
  return std::min(1.0, total / total_weight);
}

double BlockedBloomFpr(double bits_per_key, uint32_t probe_count) {
  constexpr uint64_t kManyLines = uint64_t{1} << 20;
  return BlockedBloomFpr(static_cast<uint64_t>(static_cast<double>(kManyLines) *
                                               kLineBits / bits_per_key),
                         kManyLines, probe_count);
}

uint32_t BlockedBloomProbeCount(double bits_per_key) {
  // The smallest bits per key at which one more probe is better.
  constexpr double kOneMoreFrom[] = {2.10,  3.60,  5.15,  6.75,  8.40, 10.20,
                                     12.10, 13.95, 16.25, 18.70, 21.35};
  return 1 + static_cast<uint32_t>(std::upper_bound(std::begin(kOneMoreFrom),
                                                    std::end(kOneMoreFrom),
                                                    bits_per_key) -
                                   std::begin(kOneMoreFrom));
}

}  // namespace rowbloom::filter
