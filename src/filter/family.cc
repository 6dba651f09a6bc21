// SPDX-License-Identifier: Apache-2.0

#include "filter/family.h"

#include <algorithm>
#include <iterator>

#include "filter/blocked_bloom/blocked_bloom.h"
#include "filter/compact/compact.h"
#include "filter/fast/fast.h"
#include "platform/platform.h"
#include "rowbloom/compiler.h"

namespace rowbloom {

namespace filter {

namespace {

// In order of their codes.
constexpr const FilterFamily* kFamilies[] = {
    &kAlwaysMaybeFamily,
    &kBlockedBloomFamily,
    &kFastFamily,
    &kCompactFamily,
};

// The best first.
constexpr Kernel kKernels[] = {Kernel::kAvx512, Kernel::kAvx2, Kernel::kSse42,
                               Kernel::kNeon, Kernel::kPortable};

}  // namespace

Kernel ConcreteKernel(Kernel kernel) {
  return kernel == Kernel::kBest
             ? *std::find_if(std::begin(kKernels), std::end(kKernels),
                             KernelAvailable)
             : kernel;
}

absl::Span<const FilterFamily* const> AllFamilies() { return kFamilies; }

const FilterFamily* FindFamily(uint8_t code) {
  for (const FilterFamily* family : kFamilies) {
    if (family->code == code) return family;
  }
  return nullptr;
}

const FilterFamily* FindFamily(std::string_view name) {
  for (const FilterFamily* family : kFamilies) {
    if (family->name == name) return family;
  }
  return nullptr;
}

double BitsPerKeyFor(const FilterFamily& family, double target_fpr) {
  double low = FilterSpec::kMinBitsPerKey;
  double high = FilterSpec::kMaxBitsPerKey;
  if (family.expected_fpr(low) <= target_fpr) return low;
  if (family.expected_fpr(high) > target_fpr) return high;
  constexpr int kHalvings = 40;  // 23 bits / 2^40: far below any effect.
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (family.expected_fpr(middle) > target_fpr ? low : high) = middle;
  }
  return high;
}

std::string KnownFamilies() {
  std::string known;
  for (const FilterFamily* family : AllFamilies()) {
    if (family == &kAlwaysMaybeFamily) continue;
    if (!known.empty()) known += ", ";
    known += family->name;
  }
  return known;
}

}  // namespace filter

std::vector<std::string_view> FilterFamilyNames() {
  std::vector<std::string_view> names;
  for (const filter::FilterFamily* family : filter::AllFamilies()) {
    names.push_back(family->name);
  }
  return names;
}

std::string_view KernelName(Kernel kernel) {
  switch (kernel) {
    case Kernel::kBest:
      return "best";
    case Kernel::kPortable:
      return "portable";
    case Kernel::kSse42:
      return "sse42";
    case Kernel::kAvx2:
      return "avx2";
    case Kernel::kNeon:
      return "neon";
    case Kernel::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool KernelAvailable(Kernel kernel) {
  switch (kernel) {
    case Kernel::kBest:
    case Kernel::kPortable:
      return true;
#if ROWBLOOM_X86_KERNELS
    case Kernel::kSse42:
      return platform::Cpu().sse42;
    case Kernel::kAvx2:
      return platform::Cpu().avx2;
    case Kernel::kAvx512:
      return platform::Cpu().avx512;
#elif ROWBLOOM_ARM_KERNELS
    case Kernel::kNeon:
      return true;
#endif
    default:
      return false;
  }
}

std::vector<Kernel> AvailableKernels() {
  std::vector<Kernel> kernels;
  std::copy_if(std::begin(filter::kKernels), std::end(filter::kKernels),
               std::back_inserter(kernels), KernelAvailable);
  return kernels;
}

}  // namespace rowbloom
