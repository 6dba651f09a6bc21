// SPDX-License-Identifier: Apache-2.0
//
// No key is ever lost and no kernel differs from another: filters of every
// family, of random bits per key or rate and size, over random and adversarial
// digests. Every kernel builds the filter, which must give the same bytes, and
// is asked for all of its keys through every number of first units, one by one
// and in batches, with units at any alignment.
//
// Filter i has the test's seed + i, so that a failure's seed with one lookup
// repeats that filter alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "filter/compact/compact_layout.h"
#include "filter/digest_sets.h"
#include "rowbloom/filter.h"
#include "testing/filters.h"
#include "testing/soak.h"

namespace rowbloom::soak {
namespace {

using testing::BuildFilter;
using testing::UnitBlocks;

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

// For sets that crowd one of them.
uint64_t HomeCount(const FilterSpec& spec, uint64_t key_count) {
  return spec.family() == "compact"
             ? filter::CompactHomes(key_count)
             : std::max<uint64_t>(1, FilterSizeBytes(spec, key_count) / 64);
}

Digests AnyDigests(const DigestSet& set, const FilterSpec& spec,
                   Random* random) {
  const size_t count = AnyKeyCount(random);
  if (count == 0) return {};
  return set.draw({count, HomeCount(spec, count)}, random);
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

// Returns the answers, which must be the same one by one and in batches.
std::vector<bool> Ask(const FilterView& view, const Digests& digests,
                      Random* random) {
  const auto answers = std::make_unique<bool[]>(digests.size());
  for (size_t i = 0; i < digests.size();) {
    const size_t count =
        std::min<size_t>(1 + random->Below(100), digests.size() - i);
    view.MayContain(absl::MakeConstSpan(&digests[i], count), &answers[i]);
    i += count;
  }
  uint64_t differences = 0;
  for (size_t i = 0; i < digests.size(); ++i) {
    differences += view.MayContain(digests[i]) != answers[i];
  }
  EXPECT_EQ(differences, 0u);
  return std::vector<bool>(answers.get(), answers.get() + digests.size());
}

// Asks all digests, with each kernel, through the first units of a filter.
void CheckLookups(const FilterDescriptor& descriptor,
                  absl::Span<const std::string_view> units, const Digests& keys,
                  const Digests& others, Random* random) {
  const std::vector<bool> expected =
      Ask(FilterView::Parse(descriptor, units, Kernel::kPortable).value(),
          others, random);
  for (const Kernel kernel : AvailableKernels()) {
    const UnitBlocks moved(units, random->Below(64));
    const FilterView view =
        FilterView::Parse(descriptor, moved.units(), kernel).value();
    EXPECT_EQ(Ask(view, keys, random), std::vector<bool>(keys.size(), true))
        << KernelName(kernel);
    EXPECT_EQ(Ask(view, others, random), expected) << KernelName(kernel);
  }
}

// Checks the filter of `seed`; returns how many lookups of its keys that took.
uint64_t CheckOneFilter(uint64_t seed) {
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

  const EncodedFilter filter = BuildFilter(spec, keys, Kernel::kPortable);
  const std::vector<Kernel> kernels = AvailableKernels();
  for (const Kernel kernel : kernels) {
    const EncodedFilter same = BuildFilter(spec, keys, kernel);
    EXPECT_EQ(same.descriptor, filter.descriptor) << KernelName(kernel);
    EXPECT_TRUE(same.units == filter.units) << KernelName(kernel);
    EXPECT_EQ(same.saturated_keys, filter.saturated_keys) << KernelName(kernel);
  }
  const std::vector<std::string_view> units = filter.UnitViews();
  // A filter without keys has no units.
  for (size_t count = std::min<size_t>(1, units.size()); count <= units.size();
       ++count) {
    CheckLookups(filter.descriptor, absl::MakeConstSpan(units.data(), count),
                 keys, others, &random);
  }
  return 2 * keys.size() * kernels.size() * std::max<size_t>(1, units.size());
}

TEST(FilterSoak, NoKeyIsLostAndKernelsAgree) {
  const uint64_t wanted = testing::Operations(30000000);
  uint64_t lookups = 0;
  for (uint64_t seed = testing::TestSeed(); lookups < wanted && !HasFailure();
       ++seed) {
    lookups += CheckOneFilter(seed);
  }
}

}  // namespace
}  // namespace rowbloom::soak
