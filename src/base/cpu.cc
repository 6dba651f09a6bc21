// SPDX-License-Identifier: Apache-2.0

#include "base/cpu.h"

namespace rowbloom::base {

bool CpuHasAvx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") &&
                          __builtin_cpu_supports("bmi2") &&
                          __builtin_cpu_supports("popcnt");
  return has;
#else
  return false;
#endif
}

}  // namespace rowbloom::base
