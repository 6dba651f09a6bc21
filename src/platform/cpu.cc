// SPDX-License-Identifier: Apache-2.0

#include "platform/platform.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rowbloom::platform {

namespace {

#if defined(__x86_64__)

constexpr bool HasAll(uint64_t word, uint64_t bits) {
  return (word & bits) == bits;
}
constexpr uint64_t Bit(int i) { return uint64_t{1} << i; }

// The registers that the system keeps for each thread: XCR0.
uint64_t KeptRegisters() {
  uint32_t low;
  uint32_t high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

// Not __builtin_cpu_supports(), which knows nothing in some runtime libraries
// of compilers, zig's for example. Bits: Intel's manual, volume 2, CPUID.
CpuFeatures ReadFeatures() {
  CpuFeatures cpu;
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return cpu;
  const uint64_t kSse42 = Bit(9) | Bit(19) | Bit(20) | Bit(23);  // With POPCNT.
  const uint64_t kXsaveAndAvx = Bit(27) | Bit(28);
  const bool has_avx = HasAll(ecx, kXsaveAndAvx);
  cpu.sse42 = HasAll(ecx, kSse42);
  if (!cpu.sse42 || !has_avx ||
      !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    return cpu;
  }
  const uint64_t kAvx2 = Bit(3) | Bit(5) | Bit(8);       // With BMI and BMI2.
  const uint64_t kAvx512 = Bit(16) | Bit(30) | Bit(31);  // F, BW, VL
  const uint64_t kBitalgAndVpopcntdq = Bit(12) | Bit(14);
  const uint64_t kYmm = Bit(1) | Bit(2);
  const uint64_t kZmm = kYmm | Bit(5) | Bit(6) | Bit(7);
  const uint64_t kept = KeptRegisters();
  cpu.avx2 = HasAll(ebx, kAvx2) && HasAll(kept, kYmm);
  cpu.avx512 = cpu.avx2 && HasAll(ebx, kAvx512) &&
               HasAll(ecx, kBitalgAndVpopcntdq) && HasAll(kept, kZmm);
  return cpu;
}

#else

CpuFeatures ReadFeatures() { return CpuFeatures(); }

#endif

}  // namespace

const CpuFeatures& Cpu() {
  static const CpuFeatures features = ReadFeatures();
  return features;
}

}  // namespace rowbloom::platform
