// SPDX-License-Identifier: Apache-2.0
//
// The filter policies that are compared, each set up as its user would.
//
//   for (const std::string& name : PolicyNames(kRows))
//     Policy policy = MakeRowPolicy(name, 10);
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_ROCKSDB_POLICIES_H_
#define ROWBLOOM_BENCH_ROCKSDB_POLICIES_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/or_throw.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/listener.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/statistics.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::bench {

inline constexpr char kNone[] = "none";
inline constexpr char kBloom[] = "rocksdb_bloom";
inline constexpr char kRibbon[] = "rocksdb_ribbon";
inline constexpr char kHitsOnly[] = "compact_hits_only";

// A command compares its own selection of policies.
enum Command : unsigned {
  kRows = 1,
  kKeys = 2,
  kMemory = 4,
  kGrow = 8,
  kCpu = 16,
  kTime = 32,
  kPhases = 64,
};
// The names are part of the JSON contract. The order is that of the tables. If
// `only` is not empty, the other names are left out.
std::vector<std::string> PolicyNames(Command command,
                                     const std::vector<std::string>& only = {});

// The policy of a text like "compact:10", and its bits.
std::pair<std::string, double> ParseFilter(const std::string& text,
                                           Command command);

struct Policy {
  std::string name;
  bool is_rowbloom = false;
  std::shared_ptr<const rocksdb::FilterPolicy> filter;  // Null for kNone.
  std::shared_ptr<const rocksdb::SliceTransform> prefix_extractor;
  std::vector<std::shared_ptr<rocksdb::EventListener>> listeners;
  // Bits follow what it counts; null if they do not follow gets.
  std::shared_ptr<rocksdb::Statistics> statistics;
  bool has_filter_in_each_file = false;  // A Tree checks it.
};

// A policy with RocksDB's filters, those of a family of rowbloom, or, if
// `filter` is empty, none. RocksDB's are given `bits_per_key` as they are:
// Ribbon takes them as the Bloom filter whose rate it has to match. rowbloom's
// have the keys of `options`, and with `finds_rows` there is the prefix
// extractor of these, by which any filter answers for rows.
Policy MakePolicy(const std::string& name, const std::string& filter,
                  double bits_per_key, RocksDbOptions options, bool finds_rows);

// A policy for cells, whose keys KeyCodec::Ordered() has encoded.
Policy MakeRowPolicy(const std::string& name, double bits_per_key);

// A policy for keys of 8 bytes in a tree of this shape, with the listener that
// a budget needs. Its filters take about `bits_per_key` on average; those of
// Ribbon too.
Policy MakeKeyPolicy(const std::string& name, double bits_per_key,
                     const TreeShape& shape);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_POLICIES_H_
