// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets of this CPU, detected once.

#ifndef ROWBLOOM_UTIL_CPU_H_
#define ROWBLOOM_UTIL_CPU_H_

namespace rowbloom::util {

bool CpuHasSse42();   // Also SSSE3 and POPCNT, which came before or with it.
bool CpuHasAvx2();    // Also BMI1, BMI2 and POPCNT, which came with it.
bool CpuHasAvx512();  // F, BW, VL, BITALG and VPOPCNTDQ, and CpuHasAvx2().
bool CpuHasNeon();    // True on 64-bit little-endian ARM.

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_CPU_H_
