// SPDX-License-Identifier: Apache-2.0
//
// How to tell the filters of RocksDB's own policies apart, 7.0 and later.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_BUILTIN_FILTER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_BUILTIN_FILTER_H_

#include <cstddef>
#include <string_view>

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

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_BUILTIN_FILTER_H_
