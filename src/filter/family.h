// SPDX-License-Identifier: Apache-2.0
//
// The filter families: one table from persisted code and name to functions.
// Adding a family touches its own files and one line of family.cc.
//
// A family's builder writes units and a descriptor; its `parse` turns a
// descriptor into the functions and the state that a lookup needs. Writers,
// readers, blocks and plugins know families through this table only.

#ifndef ROWBLOOM_FILTER_FAMILY_H_
#define ROWBLOOM_FILTER_FAMILY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rowbloom/filter.h"

namespace rowbloom::filter {

// The keys of the largest filter, at one bit per key. With more, sizes of
// filters would not fit 64 bits.
constexpr uint64_t kMaxKeyCount = uint64_t{1} << 49;

// A family's functions that cut filters: FilterSteps() in filter.h calls them.
struct FilterCutter {
  // Returns 1 for a descriptor that `parse` would refuse; the functions below
  // are then not called.
  uint32_t (*step_count)(const FilterDescriptor& descriptor);
  // These take fewer steps than there are, at least one.
  FilterDescriptor (*cut)(const FilterDescriptor& descriptor, uint32_t steps);
  void (*copy_unit)(const FilterDescriptor& descriptor, uint32_t steps,
                    uint32_t unit, std::string_view bytes, char* out);
};

struct FilterFamily {
  uint8_t code;  // Persisted; never reused.
  std::string_view name;

  // The rate of a large filter; decreasing.
  double (*expected_fpr)(double bits_per_key);
  // For `size_bytes` up to kMaxKeyCount / 8, `key_count` up to kMaxKeyCount.
  uint64_t (*max_keys)(double bits_per_key, uint64_t size_bytes);
  uint64_t (*size_bytes)(double bits_per_key, uint64_t key_count);
  // `kernel` is available; every kernel builds the same bytes.
  std::unique_ptr<FilterBuilder> (*new_builder)(double bits_per_key,
                                                Kernel kernel);

  // `state` has its units set: the first state->unit_count of the filter, each
  // of the size that the descriptor says. Checks the descriptor's parameters
  // and fills in the rest. `kernel` is available.
  absl::Status (*parse)(const FilterDescriptor& descriptor, Kernel kernel,
                        FilterState* state, FilterLookup* lookup);

  // nullptr if filters cannot be cut.
  const FilterCutter* cutter;
};

// The kernel that kBest selects on this CPU; returns other kernels unchanged.
Kernel ConcreteKernel(Kernel kernel);

absl::Span<const FilterFamily* const> AllFamilies();
const FilterFamily* FindFamily(uint8_t code);           // Or nullptr.
const FilterFamily* FindFamily(std::string_view name);  // Or nullptr.
// The names for a message about an unknown one, with commas between them.
// Without always_maybe, which is no filter.
std::string KnownFamilies();

// The bits per key at which the family's expected rate is `target_fpr`,
// within FilterSpec's range; its ends for rates beyond them.
double BitsPerKeyFor(const FilterFamily& family, double target_fpr);

// The family without bits: every lookup answers "maybe". Written for a filter
// of no keys and for a spec that cannot be met; the default of a view.
extern const FilterFamily kAlwaysMaybeFamily;
extern const FilterLookup kAlwaysMaybeLookup;

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAMILY_H_
