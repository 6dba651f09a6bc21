// SPDX-License-Identifier: Apache-2.0
//
// The machine, commit and command of a result, which are the `machine` of the
// JSON files; and processor times.

#ifndef ROWBLOOM_BENCH_MACHINE_H_
#define ROWBLOOM_BENCH_MACHINE_H_

#include "nlohmann/json.hpp"

namespace rowbloom::bench {

nlohmann::ordered_json MachineJson();

// The processor time of this thread, and that of all threads of the process.
double ThreadCpuSeconds();
double ProcessCpuSeconds();

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_MACHINE_H_
