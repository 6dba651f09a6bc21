// SPDX-License-Identifier: Apache-2.0
//
// The cache and the statistics behind their handles. A reader holds them too,
// so that they may be freed before it.

#ifndef ROWBLOOM_C_HANDLES_H_
#define ROWBLOOM_C_HANDLES_H_

#include <cstdint>
#include <memory>

#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_stats.h"

struct rowbloom_cache {
  std::shared_ptr<rowbloom::FilterCache> cache;
};

struct rowbloom_stats {
  std::shared_ptr<rowbloom::FilterStats> stats;
};

namespace rowbloom::c {

inline bool IsCounter(int32_t counter) {
  return counter >= 0 && counter < static_cast<int>(FilterCounter::kCount);
}

}  // namespace rowbloom::c

#endif  // ROWBLOOM_C_HANDLES_H_
