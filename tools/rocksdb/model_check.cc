// SPDX-License-Identifier: Apache-2.0
//
// Rates are compared, false positives per lookup of a key that an SST does not
// have, and not counts per get: a get whose key is outside of the range of an
// SST does not ask its filter, and while statistics were counted the tree may
// have had more runs than it has now. Blocks that were read are not compared,
// as they depend on the cache. The model's rate is that of the run with the
// weakest filters: a lookup may ask any run.
//
// Only more false positives than expected are in the way of advice. Fewer are
// no sign that the model does not know the filters: the few keys that many gets
// ask for are most often none of the false positives, so statistics with fewer
// are what most databases have. And they do no harm: the filters that are
// there look more expensive than they are, at worst the advice is to write
// others that cost the same, and the numbers of those do not depend on it.

#include "tools/rocksdb/model_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace rowbloom::tools {
namespace {

// More than this times what is expected: rates of the model are within some 10%
// of the true ones, of small filters within 30%.
constexpr double kClearFactor = 2;
// And more by this share of the lookups. Less changes no advice, which takes 2%
// of a get's time to matter.
constexpr double kClearShare = 0.01;
// And more than chance explains with this confidence.
constexpr double kConfidence = 0.9999;

// Statistics do not tell how often gets asked for the same key, which is a
// false positive each time or never. Their lookups are taken to be of as many
// keys as this, asked for equally often: the most popular one of a million keys
// has a sixteenth of the gets at a Zipf exponent of 0.99.
constexpr double kKeysOfStatistics = 16;
// Fewer lookups in statistics may all be of one key.
constexpr uint64_t kLeastLookups = 100;

// The probability of `least` or more, if `mean` are expected (Poisson).
double UpperTail(double least, double mean) {
  double below = 0;
  double term = std::exp(-mean);
  for (int i = 0; i < least; ++i) {
    below += term;
    term *= mean / (i + 1);
  }
  return 1 - below;
}

// The popularity of the first key is 1 / this, or more.
double KeysOfStatistics(double zipf_exponent) {
  double sum = 0;
  for (int rank = 1; sum < kKeysOfStatistics && rank <= 1000; ++rank) {
    sum += std::pow(rank, -zipf_exponent);
  }
  return std::min(kKeysOfStatistics, sum);
}

double LargestFpr(const RocksDbTree& tree) {
  double largest = 0;
  for (const RocksDbRun& run : tree.runs) {
    if (run.filter_key_count == 0) continue;
    largest = std::max(largest, run.filter_false_positives /
                                    static_cast<double>(run.filter_key_count));
  }
  return largest;
}

// True if that many of `keys` keys are more than chance explains. The normal
// distribution serves for many.
bool IsBeyondChance(double false_positives, double expected) {
  constexpr double kMany = 100;
  constexpr double kDeviations = 3.72;  // Gives the same confidence.
  if (expected > kMany) {
    return false_positives > expected + kDeviations * std::sqrt(expected);
  }
  // The factor makes it so, and the sum has few terms.
  if (false_positives > 4 * kMany) return true;
  return UpperTail(std::floor(false_positives), expected) < 1 - kConfidence;
}

}  // namespace

Json ModelExcess::ToJson() const {
  return {{"lookups", counted.lookups()},
          {"false_positives", counted.false_positives},
          {"expected_false_positives", expected}};
}

std::string ModelExcess::ToString(const std::string& path) const {
  char numbers[200];
  std::snprintf(numbers, sizeof(numbers),
                "The filters let %llu of %llu lookups of absent keys pass, and "
                "the model expects %.0f at most: ",
                static_cast<unsigned long long>(counted.false_positives),
                static_cast<unsigned long long>(counted.lookups()), expected);
  return numbers + ("it does not know these filters. Run `rowbloom verify " +
                    path + "`; no advice.\n");
}

std::optional<ModelExcess> ExcessOverModel(const ReadCounts& counts,
                                           const RocksDbTree& tree,
                                           double zipf_exponent) {
  ModelExcess excess;
  double keys = 0;
  if (counts.of_distinct_keys.has_value()) {
    excess.counted = *counts.of_distinct_keys;
    keys = static_cast<double>(excess.counted.lookups());
  } else {
    // Statistics have the sums of all column families.
    if (tree.column_family_count != 1) return std::nullopt;
    if (!counts.filter_negatives.has_value() ||
        !counts.false_positives.has_value()) {
      return std::nullopt;
    }
    excess.counted = {*counts.filter_negatives, *counts.false_positives};
    if (excess.counted.lookups() < kLeastLookups) return std::nullopt;
    keys = KeysOfStatistics(zipf_exponent);
  }
  const double fpr = LargestFpr(tree);
  const auto lookups = static_cast<double>(excess.counted.lookups());
  // Without filters now, the counts are of others.
  if (fpr == 0 || lookups == 0) return std::nullopt;
  const auto false_positives =
      static_cast<double>(excess.counted.false_positives);
  excess.expected = fpr * lookups;
  const bool is_clear =
      false_positives > kClearFactor * excess.expected &&
      false_positives > excess.expected + kClearShare * lookups &&
      IsBeyondChance(false_positives * keys / lookups, fpr * keys);
  if (!is_clear) return std::nullopt;
  return excess;
}

}  // namespace rowbloom::tools
