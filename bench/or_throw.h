// SPDX-License-Identifier: Apache-2.0
//
// Turns errors into the exceptions of benchmarks.
//
//   const FilterCost cost = bench::OrThrow(FilterCost::OfName("compact"));

#ifndef ROWBLOOM_BENCH_OR_THROW_H_
#define ROWBLOOM_BENCH_OR_THROW_H_

#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rowbloom::bench {

// Throws std::runtime_error unless the status, Abseil's or RocksDB's, is OK.
template <typename Status>
void CheckOk(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

template <typename T>
T OrThrow(absl::StatusOr<T> result) {
  CheckOk(result.status());
  return *std::move(result);
}

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_OR_THROW_H_
