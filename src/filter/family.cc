// SPDX-License-Identifier: Apache-2.0

#include "filter/family.h"

#include <algorithm>
#include <iterator>

#include "filter/blocked_bloom/blocked_bloom.h"
#include "filter/compact/compact.h"
#include "filter/fast/fast.h"

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

// Asks for all sets that src/CMakeLists.txt compiles a kernel for: those that a
// kernel's name leaves out came before the one that it says, or with it.
bool KernelAvailable(Kernel kernel) {
  switch (kernel) {
    case Kernel::kBest:
    case Kernel::kPortable:
      return true;
#if defined(__x86_64__)
    case Kernel::kSse42:
      return __builtin_cpu_supports("sse4.2") &&
             __builtin_cpu_supports("ssse3") &&
             __builtin_cpu_supports("popcnt");
    case Kernel::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    case Kernel::kAvx512:
      return KernelAvailable(Kernel::kAvx2) &&
             __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bitalg") &&
             __builtin_cpu_supports("avx512vpopcntdq");
#elif defined(__AARCH64EL__)
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
