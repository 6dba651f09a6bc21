// SPDX-License-Identifier: Apache-2.0
//
// Who takes part: the names and the policies behind them.
//
//   auto contenders = ChooseContenders({"rocksdb_bloom10"}, {}, library);

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_CONTENDERS_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_CONTENDERS_H_

#include <memory>
#include <string>
#include <vector>

#include "contender.h"
#include "rocksdb_library.h"

namespace rowbloom::filter_bench {

// With which the others are compared.
inline constexpr char kBloomReference[] = "rocksdb_bloom10";
inline constexpr char kRibbonReference[] = "rocksdb_ribbon10";

// The default list: RocksDB's and some of each family that this build knows.
std::vector<std::string> DefaultNames();

// `names`: of the default list, or rocksdb_bloomX and rocksdb_ribbonX with
// any bits per key X; none means the default list. `policies`: NAME=POLICY, as
// FilterPolicy::Parse takes them, added behind. Throws bench::UsageError.
std::vector<std::unique_ptr<Contender>> ChooseContenders(
    const std::vector<std::string>& names,
    const std::vector<std::string>& policies, const RocksDbLibrary& library);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_CONTENDERS_H_
