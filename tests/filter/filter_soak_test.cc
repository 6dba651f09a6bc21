// SPDX-License-Identifier: Apache-2.0
//
// No key is ever lost and no kernel differs from another: filters of every
// family, of random bits per key or rate and size, over random and adversarial
// digests. Every kernel builds the filter, which must give the same bytes, and
// is asked for all of its keys through every number of first units, one by one
// and in batches, with units at any alignment.
//
//   ROWBLOOM_SOAK_LOOKUPS=1000000000 ROWBLOOM_SOAK_SEED=7 filter_test
//       --gtest_filter=FilterSoak.*
//
// Filter i has seed ROWBLOOM_SOAK_SEED + i, so that a failure's seed with one
// lookup repeats that filter alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "filter/digest_sets.h"
#include "rowbloom/filter.h"
#include "testing/environment.h"
#include "testing/filters.h"

namespace rowbloom::soak {
namespace {

using testing::BuildFilter;
using testing::UnitBlocks;

struct Counts {
  uint64_t lookups = 0;  // Lookups of keys of the filter.
  uint64_t false_negatives = 0;
  // Kernels whose filter has other bytes than the portable kernel's.
  uint64_t byte_differences = 0;
  // Answers for other digests that are not the portable kernel's.
  uint64_t answer_differences = 0;
};

double Uniform(double low, double high, Random* random) {
  return std::uniform_real_distribution<double>(low, high)(*random);
}

// A goal of any bits per key, or of any rate from 1/2 down to 2^-16.
FilterSpec AnySpecOf(std::string_view family, Random* random) {
  return random->Below(2) == 0
             ? FilterSpec::BitsPerKey(
                   family, Uniform(FilterSpec::kMinBitsPerKey,
                                   FilterSpec::kMaxBitsPerKey, random))
             : FilterSpec::TargetFpr(family,
                                     std::exp2(-Uniform(1, 16, random)));
}

// No key, one, or any order of magnitude. A filter of millions takes the time
// of thousands of others, so there are few.
size_t AnyKeyCount(Random* random) {
  const uint64_t kind = random->Below(100);
  if (kind < 2) return kind;
  const double max_log2 = kind < 4 ? 22 : 15;
  return static_cast<size_t>(std::exp2(Uniform(0, max_log2, random)));
}

// docs/filter_families.md; for sets that crowd one of them.
uint64_t HomeCount(const FilterSpec& spec, uint64_t key_count) {
  const double homes =
      spec.family() == "compact"
          ? static_cast<double>(key_count) / (32 * 1.05) + 0.5
          : static_cast<double>(FilterSizeBytes(spec, key_count)) / 64;
  return std::max<uint64_t>(1, static_cast<uint64_t>(homes));
}

Digests AnyDigests(const DigestSet& set, const FilterSpec& spec,
                   Random* random) {
  const size_t count = AnyKeyCount(random);
  if (count == 0) return {};
  return set.draw({count, HomeCount(spec, count)}, random);
}

// Builds with every kernel; the result is portable's.
EncodedFilter BuildWithAll(const FilterSpec& spec, const Digests& digests,
                           Counts* counts) {
  EncodedFilter portable = BuildFilter(spec, digests, Kernel::kPortable);
  for (const Kernel kernel : AvailableKernels()) {
    if (kernel == Kernel::kPortable) continue;
    const EncodedFilter filter = BuildFilter(spec, digests, kernel);
    counts->byte_differences +=
        !(filter.descriptor == portable.descriptor &&
          filter.units == portable.units &&
          filter.saturated_keys == portable.saturated_keys);
  }
  return portable;
}

// Random digests, and neighbours of keys.
Digests OtherDigests(const Digests& keys, Random* random) {
  constexpr size_t kMost = 5000;
  Digests others;
  for (size_t i = 0; i < std::min(keys.size(), kMost) + 100; ++i) {
    others.push_back({(*random)()});
    if (keys.empty()) continue;
    const KeyDigest key = keys[random->Below(keys.size())];
    others.push_back({key.value ^ uint64_t{1} << random->Below(64)});
  }
  return others;
}

// Answers of one kind of lookups, digest by digest.
using Answers = std::unique_ptr<bool[]>;

Answers AskOneByOne(const FilterView& view, const Digests& digests) {
  Answers answers(new bool[digests.size()]);
  for (size_t i = 0; i < digests.size(); ++i) {
    answers[i] = view.MayContain(digests[i]);
  }
  return answers;
}

Answers AskInBatches(const FilterView& view, const Digests& digests,
                     Random* random) {
  Answers answers(new bool[digests.size()]);
  for (size_t i = 0; i < digests.size();) {
    const size_t count =
        std::min<size_t>(1 + random->Below(100), digests.size() - i);
    view.MayContain(absl::MakeConstSpan(&digests[i], count), &answers[i]);
    i += count;
  }
  return answers;
}

uint64_t CountNo(const Answers& answers, size_t count) {
  return static_cast<uint64_t>(
      std::count(answers.get(), answers.get() + count, false));
}

uint64_t CountDifferences(const Answers& a, const Answers& b, size_t count) {
  uint64_t differences = 0;
  for (size_t i = 0; i < count; ++i) differences += a[i] != b[i];
  return differences;
}

// All digests, with each kernel, through the first `unit_count` units.
void Ask(const EncodedFilter& filter, size_t unit_count, const Digests& keys,
         const Digests& others, Random* random, Counts* counts) {
  const std::vector<std::string_view> all = filter.UnitViews();
  const auto units = absl::MakeConstSpan(all.data(), unit_count);
  const Answers expected = AskOneByOne(
      FilterView::Parse(filter.descriptor, units, Kernel::kPortable).value(),
      others);
  for (const Kernel kernel : AvailableKernels()) {
    const UnitBlocks moved(units, random->Below(64));
    const FilterView view =
        FilterView::Parse(filter.descriptor, moved.units(), kernel).value();
    counts->lookups += 2 * keys.size();
    counts->false_negatives +=
        CountNo(AskOneByOne(view, keys), keys.size()) +
        CountNo(AskInBatches(view, keys, random), keys.size());
    counts->answer_differences +=
        CountDifferences(AskOneByOne(view, others), expected, others.size()) +
        CountDifferences(AskInBatches(view, others, random), expected,
                         others.size());
  }
}

// Checks the filter of `seed`; adds to `lookups` how many keys it asked for.
void CheckOneFilter(uint64_t seed, uint64_t* lookups) {
  Random random(seed);
  const std::vector<std::string_view> families = FilterFamilyNames();
  const FilterSpec spec = AnySpecOf(families[seed % families.size()], &random);
  // Half of the filters hold digests of a good hash function, the first set.
  const size_t i = seed / families.size() % (2 * std::size(kDigestSets));
  const DigestSet& set = kDigestSets[i < std::size(kDigestSets) ? i : 0];
  const Digests keys = AnyDigests(set, spec, &random);
  const Digests others = OtherDigests(keys, &random);
  SCOPED_TRACE(spec.ToString() + ", " + std::to_string(keys.size()) + " " +
               std::string(set.name) + " digests, seed " +
               std::to_string(seed));

  Counts counts;
  const EncodedFilter filter = BuildWithAll(spec, keys, &counts);
  const size_t all_units = filter.descriptor.unit_count;
  // A filter without keys has no units.
  for (size_t count = std::min<size_t>(1, all_units); count <= all_units;
       ++count) {
    Ask(filter, count, keys, others, &random, &counts);
  }
  *lookups += counts.lookups;
  EXPECT_EQ(counts.false_negatives, 0u);
  EXPECT_EQ(counts.byte_differences, 0u);
  EXPECT_EQ(counts.answer_differences, 0u);
}

TEST(FilterSoak, NoKeyIsLostAndKernelsAgree) {
  const uint64_t wanted =
      testing::NumberFromEnvironment("ROWBLOOM_SOAK_LOOKUPS", 40000000);
  uint64_t lookups = 0;
  for (uint64_t seed = testing::NumberFromEnvironment("ROWBLOOM_SOAK_SEED", 1);
       lookups < wanted && !HasFailure(); ++seed) {
    CheckOneFilter(seed, &lookups);
  }
}

}  // namespace
}  // namespace rowbloom::soak
