// SPDX-License-Identifier: Apache-2.0
//
// The filter policies under comparison, each set up as its user would: one
// policy and the row prefix extractor with it. rowbloom's are named after their
// bloom type and, but for the first two, their filter family.
//
//   for (const std::string& name : PolicyNames()) {
//     Policy policy = MakePolicy(name, 10, "blocked_bloom");
//     table.filter_policy = policy.filter;
//     options.prefix_extractor = policy.prefix_extractor;
//   }
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_POINT_GET_POLICIES_H_
#define ROWBLOOM_BENCH_POINT_GET_POLICIES_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"

namespace rowbloom::point_get {

// Part of the JSON contract, in the order of the tables.
inline constexpr char kNone[] = "none";
inline constexpr char kRocksDbBloom[] = "rocksdb_bloom";
inline constexpr char kRocksDbRibbon[] = "rocksdb_ribbon";
const std::vector<std::string>& PolicyNames();

struct Policy {
  std::string name;
  double bits_per_key = 0;  // As given to the policy; 0 for kNone.
  bool is_rowbloom = false;
  std::shared_ptr<const rocksdb::FilterPolicy> filter;  // Null for kNone.
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;
  std::vector<std::shared_ptr<rocksdb::EventListener>> listeners;
};

// `family` is for those of rowbloom whose names have none; the others ignore
// it.
Policy MakePolicy(const std::string& name, double bits_per_key,
                  const std::string& family);

// The nearest to `bits_per_key` that the policy accepts.
double ClampBitsPerKey(const std::string& name, double bits_per_key);

// The fewest bits per key at which one of rowbloom's policies is expected to
// have that false positive rate; nothing for the others, which cannot be asked.
std::optional<double> BitsPerKeyForFpr(const std::string& name, double fpr,
                                       const std::string& family);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_POLICIES_H_
