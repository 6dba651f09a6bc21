// SPDX-License-Identifier: Apache-2.0
//
// One filter: digests in, bytes out, and a view over those bytes that answers
// "no" or "maybe". Filter blocks are built on it. A host that has its own
// container for filters (RocksDB) uses it directly.
//
//   std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(spec);
//   for (KeyDigest d : digests) builder->Add(d);
//   EncodedFilter filter = builder->Finish();
//   auto view = FilterView::Parse(filter.descriptor, filter.UnitViews());
//   if (view.ok() && !view->MayContain(digest)) Skip();
//
// A filter is stored in one or more units, in this order, that may be loaded
// separately: any non-empty run of first units is itself a correct filter, with
// more false positives. The descriptor (a few bytes: family, parameters, key
// count, and the size and checksum of each unit) is stored apart from the
// units: in the chunk index of a filter block, or behind the units in a filter
// blob. Bytes: docs/filter_families.md.
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
#include "rowbloom/filter_spec.h"
#include "rowbloom/filter_state.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Names that a FilterSpec may carry, in order of their persisted codes.
std::vector<std::string_view> FilterFamilyNames();

// Everything but the bits. A plain value; parsing one allocates nothing.
struct FilterDescriptor {
  static constexpr size_t kMaxUnits = 8;

  uint8_t family_code = 0;  // Selects the decoder; 0 is not a family.
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
  std::string units;  // All units, concatenated.
  // Keys that found no room: every lookup of them, and of some absent keys,
  // answers "maybe". Only rare sets of digests that are not random have any.
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
  // Replaces the bits of the spec, within FilterSpec's range, for this filter
  // and those after it: for a host that knows only then what they may take.
  virtual void SetBitsPerKey(double bits_per_key) = 0;
  // Encodes the added digests and leaves the builder empty. Keeps at most some
  // 3 MiB of working memory for the next filter.
  // Without keys the filter is "always_maybe", which costs no bytes, and not
  // one that answers "no" to everything.
  virtual EncodedFilter Finish() = 0;
};

// The instruction set of a builder or a view. All of them write the same bytes
// and give the same answers.
enum class Kernel : uint8_t {
  kBest,
  kPortable,
  kSse42,
  kAvx2,
  kNeon,
  kAvx512,
};
std::string_view KernelName(Kernel kernel);
// False if this build or this CPU lacks it. kBest is always available.
bool KernelAvailable(Kernel kernel);
// All available kernels except kBest, which stands for the first of them;
// kPortable is the last. A family that lacks a kernel uses kPortable, except
// that kAvx2 stands in for kAvx512.
std::vector<Kernel> AvailableKernels();

// `kernel` must be available.
std::unique_ptr<FilterBuilder> NewFilterBuilder(const FilterSpec& spec,
                                                Kernel kernel = Kernel::kBest);

// Arguments of these two above 2^49 keys or 2^46 bytes are clamped. MaxKeys()
// is the number of keys that a filter of this spec holds in `size_bytes` at
// its rate.
uint64_t MaxKeys(const FilterSpec& spec, uint64_t size_bytes);
// Bytes of the units of a filter over `key_count` keys.
uint64_t FilterSizeBytes(const FilterSpec& spec, uint64_t key_count);

// Checks every given unit against the descriptor: size and checksum. The
// message names the unit and both checksums.
absl::Status VerifyUnits(const FilterDescriptor& descriptor,
                         absl::Span<const std::string_view> units);

// In how many steps a filter can be made weaker and smaller in memory, without
// building it again. The first steps are a filter of their own; each further
// step adds bytes and removes false positives. The steps of compact are its
// planes, of one fingerprint bit each: each halves the rate (the last by less,
// if not all stripes have that plane). A filter whose family has no such
// steps, or whose descriptor its family refuses, is one step; always_maybe has
// none.
//
//   const FilterDescriptor cut = FilterAtStep(stored, steps);
//   // Its first cut.unit_count units, loaded and checked against `stored`:
//   CopyUnitAtStep(stored, steps, u, stored_unit, out);
//   auto view = FilterView::Parse(cut, cut_units);
uint32_t FilterSteps(const FilterDescriptor& descriptor);
// The descriptor of the first `steps` steps: at least one, no more than there
// are. Do not persist it: the checksum of a unit that is cut is 0. It may be
// cut again, with the same result as from the stored descriptor.
FilterDescriptor FilterAtStep(const FilterDescriptor& descriptor,
                              uint32_t steps);
// Writes unit `unit` of FilterAtStep(descriptor, steps) to `out`, in the size
// that this descriptor has for it. `bytes` are the same unit of `descriptor`,
// of its size (checked). They do not overlap `out`.
void CopyUnitAtStep(const FilterDescriptor& descriptor, uint32_t steps,
                    uint32_t unit, std::string_view bytes, char* out);

// The functions by which a family answers; the family sets them.
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
  // Many digests; may_contain[i] answers digests[i]. Hides memory latency by
  // prefetching, so it is faster for filters larger than the CPU's caches.
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Prefetches the memory that MayContain() reads first, for callers that ask
  // one digest of many filters.
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
