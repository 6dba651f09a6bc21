// SPDX-License-Identifier: Apache-2.0

#include "filter/fast/fast.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/blocked_bloom/blocked_bloom.h"
#include "filter/collecting_builder.h"
#include "filter/digest_order.h"
#include "filter/fast/fast_builder.h"

namespace rowbloom::filter {

namespace {

constexpr uint8_t kCode = 3;
static_assert(kFastLineSize == kLineSize, "as many lines as blocked_bloom");
// 2^40 lines hold 5e13 keys; more is damage.
constexpr uint64_t kMaxLineCount = uint64_t{1} << 40;

// With fewer bits per key, lines would be so full that one key in 30 is
// carried, or one in 50 false positives comes from a saturated line.
struct OperatingPoint {
  double min_bits_per_key;
  uint32_t planes;
};
constexpr OperatingPoint kOperatingPoints[] = {{6, 5},    {7.15, 6}, {8, 7},
                                               {9.25, 8}, {10.6, 9}, {12.7, 10},
                                               {16, 12},  {22.5, 15}};

double FprOfPlanes(uint32_t planes) {
  return std::ldexp(1.0, -static_cast<int>(planes));
}

EncodedFilter Encode(DigestList digests, double bits_per_key, Kernel kernel) {
  EncodedFilter filter;
  FilterDescriptor& descriptor = filter.descriptor;
  // The bits may have become those of a spec for which blocked_bloom stands in.
  const uint32_t planes =
      std::max(FastPlanesFor(bits_per_key), kOperatingPoints[0].planes);
  filter.units.resize(
      kBlockedBloomFamily.size_bytes(bits_per_key, digests.size()));
  filter.saturated_keys = BuildFastLines(
      std::move(digests), filter.units.size() / kFastLineSize, planes,
      FastKernelFor(kernel, planes), filter.units.data());
  descriptor.family_code = kCode;
  descriptor.unit_count = 1;
  descriptor.parameters = planes;
  descriptor.unit_size_bytes[0] = filter.units.size();
  return filter;
}

double ExpectedFpr(const FilterState& state, uint64_t key_count) {
  if (key_count == 0) return 0;
  const uint32_t planes = static_cast<uint32_t>(state.parameter);
  const double rate = FprOfPlanes(planes);
  if (state.slot_count > 1) return rate;
  // A single line cannot carry keys to another: it is saturated if an equation
  // depends on others and its fingerprint contradicts them.
  const double dependent = std::exp2(static_cast<double>(key_count) -
                                     static_cast<double>(FastSlots(planes)));
  return rate + (1 - rate) * -std::expm1(-dependent * (1 - rate));
}

absl::Status Parse(const FilterDescriptor& descriptor, Kernel kernel,
                   FilterState* state, FilterLookup* lookup) {
  const uint64_t size = descriptor.unit_size_bytes[0];
  if (descriptor.unit_count != 1 || size == 0 || size % kFastLineSize != 0 ||
      size / kFastLineSize > kMaxLineCount) {
    return absl::DataLossError(
        absl::StrCat("fast filter of ", static_cast<int>(descriptor.unit_count),
                     " units, the first of ", size,
                     " bytes: must be one unit of whole 64-byte lines"));
  }
  if (!FastPlanesAreValid(descriptor.parameters)) {
    return absl::DataLossError(
        absl::StrCat("fast filter of ", descriptor.parameters,
                     " planes: must be 5 to 10, 12 or 15"));
  }
  state->slot_count = size / kFastLineSize;
  state->parameter = descriptor.parameters;
  const FastKernel functions =
      FastKernelFor(kernel, static_cast<uint32_t>(descriptor.parameters));
  *lookup = {functions.may_contain, functions.may_contain_batch, ExpectedFpr,
             functions.prefetch};
  return absl::OkStatus();
}

}  // namespace

uint32_t FastPlanesFor(double bits_per_key) {
  uint32_t planes = 0;
  for (const OperatingPoint& point : kOperatingPoints) {
    if (bits_per_key >= point.min_bits_per_key) planes = point.planes;
  }
  return planes;
}

FastKernel FastKernelFor(Kernel kernel, uint32_t planes) {
  switch (ConcreteKernel(kernel)) {
#if ROWBLOOM_X86_KERNELS
    case Kernel::kSse42:
      return Sse42FastKernel(planes);
    case Kernel::kAvx2:
      return Avx2FastKernel(planes);
    case Kernel::kAvx512: {
      FastKernel avx512 = Avx2FastKernel(planes);
      avx512.solve = SolveFastLinesByAvx512;
      return avx512;
    }
#elif ROWBLOOM_ARM_KERNELS
    case Kernel::kNeon:
      return NeonFastKernel(planes);
#endif
    default:
      return PortableFastKernel(planes);
  }
}

const FilterFamily kFastFamily = {
    kCode, "fast",
    [](double bits_per_key) {
      const uint32_t planes = FastPlanesFor(bits_per_key);
      return planes == 0 ? kBlockedBloomFamily.expected_fpr(bits_per_key)
                         : FprOfPlanes(planes);
    },
    // It has as many lines as blocked_bloom, of the same size.
    [](double bits_per_key, uint64_t size_bytes) {
      return kBlockedBloomFamily.max_keys(bits_per_key, size_bytes);
    },
    [](double bits_per_key, uint64_t key_count) {
      return kBlockedBloomFamily.size_bytes(bits_per_key, key_count);
    },
    [](double bits_per_key, Kernel kernel) -> std::unique_ptr<FilterBuilder> {
      if (FastPlanesFor(bits_per_key) == 0) {
        return kBlockedBloomFamily.new_builder(bits_per_key, kernel);
      }
      return std::make_unique<CollectingBuilder<EncodeBy<Encode>>>(bits_per_key,
                                                                   kernel);
    },
    Parse, nullptr};

}  // namespace rowbloom::filter
