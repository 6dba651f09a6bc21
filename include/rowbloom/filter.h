// SPDX-License-Identifier: Apache-2.0
//
// One filter: digests in, bytes out, and a view over those bytes that answers
// "no" or "maybe". The layer below filter blocks, and what a host that has a
// container of its own for filters (RocksDB) uses directly.
//
//   std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(policy);
//   for (KeyDigest d : digests) builder->Add(d);
//   EncodedFilter filter = builder->Finish();
//   auto view = FilterView::Parse(filter.descriptor, filter.UnitViews());
//   if (view.ok() && !view->MayContain(digest)) Skip();
//
// A filter is stored in one or more units, in this order, that may be loaded
// apart: any non-empty run of first units is itself a correct filter, only a
// weaker one. The descriptor (a few bytes: family, parameters, key count, and
// the size and checksum of each unit) is stored apart from the units: in the
// chunk index of a filter block, or behind the units in a filter blob. Bytes:
// docs/filter_families.md.
//
// FilterView is immutable, allocates nothing, and may be asked by any number
// of threads; the unit bytes must outlive it, at any alignment.

#ifndef ROWBLOOM_FILTER_H_
#define ROWBLOOM_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/filter_state.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Names that a FilterPolicy may carry, in order of their persisted codes.
std::vector<std::string_view> FilterFamilyNames();

// Everything but the bits. A plain value; parsing one allocates nothing.
struct FilterDescriptor {
  static constexpr size_t kMaxUnits = 8;

  uint8_t family_code = 0;  // Which decoder; 0 is no family.
  uint8_t unit_count = 0;   // 0 only for the family "always_maybe".
  uint64_t parameters = 0;  // The family's own; unknown bits are refused.
  uint64_t key_count = 0;   // Distinct runs added; informative.
  std::array<uint64_t, kMaxUnits> unit_size_bytes{};
  std::array<uint32_t, kMaxUnits> unit_checksum{};

  uint64_t total_size_bytes() const;
  // The persisted family name, or "unknown".
  std::string_view family_name() const;

  friend bool operator==(const FilterDescriptor& a, const FilterDescriptor& b) {
    return a.family_code == b.family_code && a.unit_count == b.unit_count &&
           a.parameters == b.parameters && a.key_count == b.key_count &&
           a.unit_size_bytes == b.unit_size_bytes &&
           a.unit_checksum == b.unit_checksum;
  }

  void AppendTo(std::string* out) const;
  // Reads one descriptor from the front of *in and advances it. DataLoss for
  // damaged bytes, Unimplemented for a newer descriptor version or a family
  // that this library does not know.
  static absl::StatusOr<FilterDescriptor> Parse(std::string_view* in);
};

static_assert(FilterDescriptor::kMaxUnits ==
              sizeof(FilterState::unit) / sizeof(FilterState::unit[0]));

struct EncodedFilter {
  FilterDescriptor descriptor;
  std::string units;  // All units, one behind the other.
  // Keys that found no room: every lookup of them, and of some absent keys,
  // answers "maybe". 0 but for few sets of digests that are not random.
  uint64_t saturated_keys = 0;

  // The units as views into `units`; invalidated with it.
  std::vector<std::string_view> UnitViews() const;
};

// Calls match  (Add* Finish)* . One thread at a time.
class FilterBuilder {
 public:
  virtual ~FilterBuilder() = default;

  virtual void Add(KeyDigest digest) = 0;
  // Digests added since the last Finish; runs of equal ones count once.
  virtual uint64_t key_count() const = 0;
  // Heap bytes held now.
  virtual size_t memory_usage_bytes() const = 0;
  // Encodes what was added and leaves the builder empty, its memory freed.
  // Of no keys, a filter that answers "no" to everything is not written:
  // it is "always_maybe", which costs no bytes.
  virtual EncodedFilter Finish() = 0;
};

// Which instructions a builder or a view uses. All write the same bytes and
// give the same answers.
enum class Kernel : uint8_t { kBest, kPortable, kSse42, kAvx2, kNeon };
std::string_view KernelName(Kernel kernel);
// False if this build or this CPU lacks it. kBest is always available.
bool KernelAvailable(Kernel kernel);
// All that are, but for kBest: it is the first of them, kPortable the last. A
// family that has no kernel of that name uses kPortable.
std::vector<Kernel> AvailableKernels();

// `kernel` must be available.
std::unique_ptr<FilterBuilder> NewFilterBuilder(const FilterPolicy& policy,
                                                Kernel kernel = Kernel::kBest);

// Of more than 2^49 keys, or 2^46 bytes, what these say is said of as many.
// Keys that a filter of this policy holds in `size_bytes` at its rate.
uint64_t MaxKeys(const FilterPolicy& policy, uint64_t size_bytes);
// Bytes of the units of a filter over `key_count` keys.
uint64_t FilterSizeBytes(const FilterPolicy& policy, uint64_t key_count);

// Checks every given unit against the descriptor: size and checksum. The
// message names the unit and both checksums.
absl::Status VerifyUnits(const FilterDescriptor& descriptor,
                         absl::Span<const std::string_view> units);

// In how many steps a filter can be made weaker and smaller in memory, without
// building it again: the first steps are a filter of their own, to which each
// step more adds bytes and takes away false positives. Steps of compact are its
// columns: each halves the rate (the last by less, if not all segments have
// that column). A filter that its family does not cut, or whose descriptor it
// refuses, is one step; always_maybe has none.
//
//   const FilterDescriptor cut = FilterAtStep(stored, steps);
//   // Its first cut.unit_count units, loaded and checked against `stored`:
//   CopyUnitAtStep(stored, steps, u, stored_unit, out);
//   auto view = FilterView::Parse(cut, cut_units);
uint32_t FilterSteps(const FilterDescriptor& descriptor);
// What describes the first `steps` steps: at least one, no more than there are.
// Not to be persisted: the checksum of a unit that is cut is 0. May be cut
// again, with the same result as from the stored descriptor.
FilterDescriptor FilterAtStep(const FilterDescriptor& descriptor,
                              uint32_t steps);
// Writes to `out` what unit `unit` is in FilterAtStep(descriptor, steps), which
// has that unit and says its size. `bytes` are that unit of `descriptor`: of
// the size that it says, otherwise not looked at. They do not overlap `out`.
void CopyUnitAtStep(const FilterDescriptor& descriptor, uint32_t steps,
                    uint32_t unit, std::string_view bytes, char* out);

// How a family answers, filled in by it.
struct FilterLookup {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  double (*expected_fpr)(const FilterState& state, uint64_t key_count);
  void (*prefetch)(const FilterState& state, uint64_t digest);
};

class FilterView {
 public:
  // Answers "maybe" to everything.
  FilterView();

  // `units` are the first units.size() units of the filter, at least one
  // unless it has none. Checks structure, not checksums (see VerifyUnits), in
  // O(1). A lenient caller keeps a default FilterView on error.
  static absl::StatusOr<FilterView> Parse(
      const FilterDescriptor& descriptor,
      absl::Span<const std::string_view> units, Kernel kernel = Kernel::kBest);

  bool MayContain(KeyDigest digest) const {
    return lookup_.may_contain(state_, digest.value);
  }
  // The same for many; may_contain[i] answers digests[i]. Hides memory
  // latency by prefetching, so it is the faster form beyond the cache.
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Has the processor fetch what MayContain() will read first: for those who
  // ask one digest each of many filters.
  void Prefetch(KeyDigest digest) const {
    lookup_.prefetch(state_, digest.value);
  }

  // The rate that the loaded units are expected to have.
  double expected_fpr() const {
    return lookup_.expected_fpr(state_, key_count_);
  }
  uint64_t key_count() const { return key_count_; }

 private:
  FilterLookup lookup_;
  FilterState state_;
  uint64_t key_count_ = 0;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_H_
