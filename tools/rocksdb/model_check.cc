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

#include "absl/strings/str_format.h"

namespace rowbloom::tools {
namespace {

// More than this times what is expected: rates of the model are within some 10%
// of the true ones, of small filters within 30%.
constexpr double kClearFactor = 2;
// The rates must also differ by this share of the lookups. Less changes no
// advice, which takes 2% of a get's time to matter.
constexpr double kClearShare = 0.01;
// They must differ by more than chance explains, with this confidence.
constexpr double kConfidence = 0.9999;

// Statistics do not tell how often gets asked for the same key, which is a
// false positive each time or never. Their lookups are taken to be of as many
// keys as this, asked for equally often: the most popular one of a million keys
// has a sixteenth of the gets at a Zipf exponent of 0.99.
constexpr double kKeysOfStatistics = 16;
// Fewer lookups in statistics may all be of one key.
constexpr uint64_t kLeastLookups = 100;

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

// By Chernoff's bound: as many or more have at most the probability
// exp(-expected) (e expected / count)^count.
bool IsBeyondChance(double count, double expected) {
  return count > expected &&
         count * std::log(count / expected) - count + expected >
             -std::log(1 - kConfidence);
}

}  // namespace

Json ModelExcess::ToJson() const {
  return {{"lookups", counted.lookups()},
          {"false_positives", counted.false_positives},
          {"expected_false_positives", expected}};
}

std::string ModelExcess::ToString(const std::string& path) const {
  return absl::StrFormat(
      "The filters let %d of %d lookups of absent keys pass, and the model "
      "expects %.0f at most: it does not know these filters. Run `rowbloom "
      "verify %s`; no advice.\n",
      counted.false_positives, counted.lookups(), expected, path);
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
