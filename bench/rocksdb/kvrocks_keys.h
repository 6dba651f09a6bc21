// SPDX-License-Identifier: Apache-2.0
//
// Fields of hashes and members of sets as Apache Kvrocks stores them
// (docs/kvrocks.md), and its scan of one hash.

#ifndef ROWBLOOM_BENCH_ROCKSDB_KVROCKS_KEYS_H_
#define ROWBLOOM_BENCH_ROCKSDB_KVROCKS_KEYS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "rocksdb/db.h"

namespace rowbloom::bench {

inline constexpr char kNamespace[] = "__namespace";  // Kvrocks' default.
inline constexpr size_t kFieldValueSize = 32;

// A key is namespace, user key, version and field; a row is all but the field.
inline constexpr char kFieldKeys[] =
    "-ns.length:1,-key.length:4,version.fixed:8,field.rest";

std::string FieldKey(std::string_view user_key, std::string_view field);

// The fields of a hash that have their value, by a scan as HGETALL's. RocksDB
// asks filters if `asks_filters`, which needs a prefix extractor for hashes.
size_t CountFields(rocksdb::DB* db, std::string_view user_key,
                   bool asks_filters);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_KVROCKS_KEYS_H_
