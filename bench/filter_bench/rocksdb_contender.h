// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's own filters, driven through its builder and reader objects.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_CONTENDER_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_CONTENDER_H_

#include <memory>
#include <string>

#include "contender.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb_library.h"

namespace rowbloom::filter_bench {

// `library` must outlive the contender and its filters.
std::unique_ptr<Contender> NewRocksDbContender(
    std::string name, const RocksDbLibrary& library,
    std::unique_ptr<const rocksdb::FilterPolicy> policy);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_ROCKSDB_CONTENDER_H_
