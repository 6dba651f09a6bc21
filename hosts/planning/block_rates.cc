// SPDX-License-Identifier: Apache-2.0

#include "planning/block_rates.h"

#include <algorithm>
#include <cmath>

namespace rowbloom::planning {

namespace {

// The sum of rank^-exponent over ranks from `first` to `last`, by the midpoint
// rule.
double ZipfMass(double first, double last, double exponent) {
  const double low = first - 0.5;
  const double high = last + 0.5;
  const double power = 1 - exponent;
  if (std::abs(power) < 1e-9) return std::log(high / low);
  return (std::pow(high, power) - std::pow(low, power)) / power;
}

// Returns all keys, or ranges, the most popular first. Their asks add up to 1.
std::vector<KeyGroup> ZipfKeys(double key_count, double zipf_exponent) {
  if (zipf_exponent == 0) return {{key_count, 1 / key_count}};
  constexpr double kSingleRanks = 16;
  constexpr double kRatio = 1.5;
  std::vector<KeyGroup> groups;
  double sum = 0;
  // `last` reaches key_count even where doubles are more than 1 apart.
  for (double last = 0; last < key_count;) {
    const double first = last + 1;
    last = first <= kSingleRanks
               ? first
               : std::min(key_count, std::floor(first * kRatio));
    const double mass = first <= kSingleRanks
                            ? std::pow(first, -zipf_exponent)
                            : ZipfMass(first, last, zipf_exponent);
    const double count = last - first + 1;
    groups.push_back({count, mass / count});
    sum += mass;
  }
  for (KeyGroup& group : groups) group.asks /= sum;
  return groups;
}

// The keys of one group that ask for blocks of one kind.
struct Askers {
  double asks = 0;  // For each key.
  // Either the share of a block's own keys that are of this group, or the
  // expected number of other keys that ask for the block.
  double own_share = 0;
  double others = 0;
};

std::vector<Askers> AskersOf(const BlockKeys& blocks,
                             const std::vector<KeyGroup>& keys,
                             double missing_share) {
  double key_count = 0;
  for (const KeyGroup& group : keys) key_count += group.key_count;
  std::vector<Askers> askers;
  askers.reserve(3 * keys.size());
  for (const KeyGroup& group : keys) {
    const double per_block = group.key_count / blocks.block_count;
    const double present = (1 - missing_share) * group.asks;
    askers.push_back({present, group.key_count / key_count, 0});
    if (blocks.older_key_share > 0 && present > 0) {
      askers.push_back({present, 0, per_block * blocks.older_key_share});
    }
    if (blocks.absent_key_share > 0 && missing_share > 0) {
      askers.push_back(
          {missing_share * group.asks, 0, per_block * blocks.absent_key_share});
    }
  }
  std::stable_sort(
      askers.begin(), askers.end(),
      [](const Askers& a, const Askers& b) { return a.asks > b.asks; });
  return askers;
}

// Mean and variance of a block's asks.
struct Moments {
  double mean = 0;
  double variance = 0;
};

// The sums over a group of askers and all less popular ones.
struct Rest {
  double own_share = 0;
  double own_asks = 0;     // own_share * asks
  double own_squares = 0;  // own_share * asks^2
  Moments others;

  // The moments of one of a block's own keys, if it is among these.
  Moments OwnKey() const {
    if (own_share <= 0) return {};
    const double mean = own_asks / own_share;
    return {mean, std::max(0.0, own_squares / own_share - mean * mean)};
  }
};

std::vector<Rest> RestsOf(const std::vector<Askers>& askers) {
  std::vector<Rest> rests(askers.size() + 1);
  for (size_t i = askers.size(); i-- > 0;) {
    const Askers& group = askers[i];
    Rest& rest = rests[i];
    rest = rests[i + 1];
    rest.own_share += group.own_share;
    rest.own_asks += group.own_share * group.asks;
    rest.own_squares += group.own_share * group.asks * group.asks;
    rest.others.mean += group.others * group.asks;
    rest.others.variance += group.others * group.asks * group.asks;
  }
  return rests;
}

// Adds blocks of two rates that have these moments; no rate is below `least`.
void AddBlocks(double block_count, const Moments& asks, double least,
               std::vector<BlockGroup>* groups) {
  const double low =
      std::max(least, asks.mean - std::sqrt(std::max(0.0, asks.variance)));
  const double below = asks.mean - low;
  if (below <= 1e-6 * asks.mean) {
    if (asks.mean > 0) groups->push_back({block_count, asks.mean});
    return;
  }
  const double low_share = asks.variance / (asks.variance + below * below);
  if (low > 0) groups->push_back({block_count * low_share, low});
  groups->push_back(
      {block_count * (1 - low_share), asks.mean + asks.variance / below});
}

// Merges groups whose asks differ little.
std::vector<BlockGroup> Merged(std::vector<BlockGroup> groups) {
  constexpr double kRatio = 1.3;
  std::sort(
      groups.begin(), groups.end(),
      [](const BlockGroup& a, const BlockGroup& b) { return a.asks < b.asks; });
  std::vector<BlockGroup> merged;
  double lowest = 0;
  for (const BlockGroup& group : groups) {
    if (!(group.block_count > 0)) continue;
    if (merged.empty() || group.asks > lowest * kRatio) {
      merged.push_back(group);
      lowest = group.asks;
      continue;
    }
    BlockGroup& into = merged.back();
    const double asks =
        into.block_count * into.asks + group.block_count * group.asks;
    into.block_count += group.block_count;
    into.asks = asks / into.block_count;
  }
  return merged;
}

// The rates of blocks whose keys are at random places. Blocks are told apart by
// the most popular key that asks for them. The asks of their other keys are a
// mean and a variance.
std::vector<BlockGroup> RatesAtRandom(const BlockKeys& blocks,
                                      const std::vector<KeyGroup>& keys,
                                      double missing_share) {
  const std::vector<Askers> askers = AskersOf(blocks, keys, missing_share);
  const std::vector<Rest> rests = RestsOf(askers);
  const double own_keys = blocks.own_keys;
  std::vector<BlockGroup> groups;
  groups.reserve(2 * askers.size());
  // The share of blocks for which no more popular key asks.
  double left = 1;
  for (size_t i = 0; i < askers.size() && left > 1e-15; ++i) {
    const Askers& group = askers[i];
    const Rest& rest = rests[i + 1];
    // The keys of this group that ask for the block, if there are any.
    double any = 0;
    double count = 0;
    double count_squared = 0;
    Moments asks;
    if (group.own_share > 0) {
      const double share = std::min(1.0, group.own_share / rests[i].own_share);
      any = -std::expm1(own_keys * std::log1p(-share));
      if (any <= 0) continue;
      count = own_keys * share;
      count_squared = (count * (1 - share) + count * count) / any;
      count /= any;
      const double variance = std::max(0.0, count_squared - count * count);
      const Moments colder = rest.OwnKey();
      const double difference = group.asks - colder.mean;
      asks.mean = count * group.asks + (own_keys - count) * colder.mean +
                  rest.others.mean;
      asks.variance = variance * difference * difference +
                      (own_keys - count) * colder.variance +
                      rest.others.variance;
    } else {
      any = -std::expm1(-group.others);
      if (any <= 0) continue;
      count = group.others / any;
      count_squared = (group.others + group.others * group.others) / any;
      const double variance = std::max(0.0, count_squared - count * count);
      const Moments own = rest.OwnKey();
      asks.mean = count * group.asks + own_keys * own.mean + rest.others.mean;
      asks.variance = variance * group.asks * group.asks +
                      own_keys * own.variance + rest.others.variance;
    }
    AddBlocks(blocks.block_count * left * any, asks, group.asks, &groups);
    left *= 1 - any;
  }
  return Merged(std::move(groups));
}

// The rates of blocks whose keys are in ranges: older and absent keys ask for
// the blocks of their own range.
std::vector<BlockGroup> RatesOfRanges(const BlockKeys& blocks,
                                      const Popularity& popularity,
                                      double missing_share) {
  double key_count = 0;
  for (const KeyGroup& group : popularity.ranges) {
    key_count += group.key_count * popularity.range_keys;
  }
  const double all_asks =
      (1 - missing_share) * (blocks.block_count * blocks.own_keys / key_count +
                             blocks.older_key_share) +
      missing_share * blocks.absent_key_share;
  if (!(all_asks > 0)) return {};
  BlockKeys ranges;
  ranges.block_count = blocks.block_count;
  ranges.own_keys = std::max(1.0, blocks.spanned_keys / popularity.range_keys);
  std::vector<BlockGroup> groups =
      RatesAtRandom(ranges, popularity.ranges, /*missing_share=*/0);
  double sum = 0;
  for (const BlockGroup& group : groups) sum += group.block_count * group.asks;
  for (BlockGroup& group : groups) group.asks *= all_asks / sum;
  return groups;
}

}  // namespace

Popularity ZipfRanges(double key_count, double range_keys,
                      double zipf_exponent) {
  const double range_count = std::max(1.0, std::round(key_count / range_keys));
  return {key_count / range_count, ZipfKeys(range_count, zipf_exponent)};
}

std::vector<BlockGroup> BlockRates(const BlockKeys& blocks,
                                   const Popularity& popularity,
                                   double missing_share) {
  return popularity.range_keys > 1
             ? RatesOfRanges(blocks, popularity, missing_share)
             : RatesAtRandom(blocks, popularity.ranges, missing_share);
}

}  // namespace rowbloom::planning
