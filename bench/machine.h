// SPDX-License-Identifier: Apache-2.0
//
// Where and by what a result was measured: the `machine` of the JSON files.

#ifndef ROWBLOOM_BENCH_MACHINE_H_
#define ROWBLOOM_BENCH_MACHINE_H_

#include "nlohmann/json.hpp"

namespace rowbloom::bench {

nlohmann::ordered_json MachineJson();

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_MACHINE_H_
