// SPDX-License-Identifier: Apache-2.0
//
// What is known here of the filters of RocksDB's own policies, 7.0 and later.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUILTIN_FILTER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUILTIN_FILTER_H_

#include <cstddef>
#include <string_view>

namespace rowbloom {

// By this name SSTs carry them, and policies that read them go by it.
inline constexpr char kBuiltinCompatibilityName[] =
    "rocksdb.BuiltinBloomFilter";

// Behind the bits are five bytes. The first is negative and says which filter
// it is; of an old Bloom filter, it is the number of probes.
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

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUILTIN_FILTER_H_
