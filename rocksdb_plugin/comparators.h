// SPDX-License-Identifier: Apache-2.0
//
// Comparators that rowbloom knows by name.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_COMPARATORS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_COMPARATORS_H_

#include <string_view>

#include "rdb.h"
#include "rocksdb/comparator.h"

namespace rowbloom::plugin {

// True for the order in which the bounds of a KeyCodec enclose a row.
inline bool IsBytewise(const rdb::Comparator& comparator) {
  const std::string_view name = comparator.Name();
  return name == "leveldb.BytewiseComparator" ||
         name == "leveldb.BytewiseComparator.u64ts";
}

// True for RocksDB's own orders of bytes. Other comparators may take keys alone
// that the application wrote.
inline bool TakesAnyBytes(const rdb::Comparator& comparator) {
  const std::string_view name = comparator.Name();
  return IsBytewise(comparator) ||
         name == "rocksdb.ReverseBytewiseComparator" ||
         name == "rocksdb.ReverseBytewiseComparator.u64ts";
}

// True if equal keys have equal bytes, timestamps aside, which RocksDB strips
// before it feeds or asks a filter.
inline bool EqualMeansSameBytes(const rdb::Comparator& comparator) {
  if (!comparator.CanKeysWithDifferentByteContentsBeEqual()) return true;
  const std::string_view name = comparator.Name();
  return name == "leveldb.BytewiseComparator.u64ts" ||
         name == "rocksdb.ReverseBytewiseComparator.u64ts";
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_COMPARATORS_H_
