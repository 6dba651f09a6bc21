// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filters, whatever their family, through its public API.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_ROWBLOOM_CONTENDER_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_ROWBLOOM_CONTENDER_H_

#include <memory>
#include <string>

#include "contender.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::filter_bench {

std::unique_ptr<Contender> NewRowbloomContender(std::string name,
                                                FilterPolicy policy);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_ROWBLOOM_CONTENDER_H_
