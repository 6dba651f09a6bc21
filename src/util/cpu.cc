// SPDX-License-Identifier: Apache-2.0

#include "util/cpu.h"

namespace rowbloom::util {

bool CpuHasSse42() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("sse4.2") &&
                          __builtin_cpu_supports("ssse3") &&
                          __builtin_cpu_supports("popcnt");
  return has;
#else
  return false;
#endif
}

bool CpuHasAvx2() {
#if defined(__x86_64__)
  static const bool has =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  return has;
#else
  return false;
#endif
}

bool CpuHasAvx512() {
#if defined(__x86_64__)
  static const bool has = CpuHasAvx2() && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bitalg") &&
                          __builtin_cpu_supports("avx512vpopcntdq");
  return has;
#else
  return false;
#endif
}

bool CpuHasNeon() {
#if defined(__AARCH64EL__)
  return true;
#else
  return false;
#endif
}

}  // namespace rowbloom::util
