// SPDX-License-Identifier: Apache-2.0
//
// What this CPU can do, found once.

#ifndef ROWBLOOM_BASE_CPU_H_
#define ROWBLOOM_BASE_CPU_H_

namespace rowbloom::base {

bool CpuHasSse42();  // And SSSE3 and POPCNT, which came before or with it.
bool CpuHasAvx2();   // And BMI1, BMI2 and POPCNT, which came with it.
bool CpuHasNeon();   // Of 64-bit ARM, little-endian.

}  // namespace rowbloom::base

#endif  // ROWBLOOM_BASE_CPU_H_
