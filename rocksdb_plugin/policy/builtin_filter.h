// SPDX-License-Identifier: Apache-2.0
//
// How to tell the filters of RocksDB's own policies apart, 7.0 and later, and
// how to ask them.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_BUILTIN_FILTER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_BUILTIN_FILTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"

namespace rowbloom::plugin {

// The CompatibilityName in SSTs with them and of policies that read them.
inline constexpr char kBuiltinCompatibilityName[] =
    "rocksdb.BuiltinBloomFilter";

// Five bytes follow the bits. The first is negative and names the filter; in an
// old Bloom filter, it is the number of probes.
inline std::string_view BuiltinFamily(std::string_view filter) {
  constexpr size_t kTrailerSize = 5;
  if (filter.size() <= kTrailerSize) return "rocksdb_empty";
  switch (static_cast<signed char>(filter[filter.size() - kTrailerSize])) {
    case -1:
      return "rocksdb_bloom";
    case -2:
      return "rocksdb_ribbon";
    default:
      return "rocksdb_legacy_bloom";
  }
}

// True if the filter may hold the key or prefix.
using BuiltinAsker = std::function<bool(size_t filter, std::string_view entry)>;

// Asks filters of RocksDB's own policies, which must outlive it. Null in a
// build without native mode.
BuiltinAsker AskerOfBuiltin(absl::Span<const std::string> filters);

// The bits in the id of a policy of RocksDB's, such as "bloomfilter:10:false",
// which tells them nowhere else; 0 if there are none. Ribbon's are those of the
// Bloom filter of the same rate.
inline double BitsInId(const rdb::FilterPolicy& policy) {
  const std::string id = policy.GetId();
  const size_t colon = id.find(':');
  return colon == std::string::npos
             ? 0
             : std::strtod(id.c_str() + colon + 1, nullptr);
}

// The number of levels, from 0 on, in which RocksDB's Ribbon policy, whose id
// is "ribbonfilter:10:0", writes Bloom filters of the same rate: those above
// its bloom_before_level, and flushes unless that is -1. 0 for other policies.
inline int BloomLevels(const rdb::FilterPolicy& policy) {
  const std::string id = policy.GetId();
  const size_t colon = id.rfind(':');
  if (id.rfind("ribbonfilter:", 0) != 0 || colon == std::string::npos) return 0;
  const int before_level = std::atoi(id.c_str() + colon + 1);
  return before_level < 0 ? 0 : std::max(1, before_level);
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_BUILTIN_FILTER_H_
