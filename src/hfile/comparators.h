// SPDX-License-Identifier: Apache-2.0
//
// The Java classes by which HBase's versions name the orders of keys.

#ifndef ROWBLOOM_HFILE_COMPARATORS_H_
#define ROWBLOOM_HFILE_COMPARATORS_H_

#include <optional>
#include <string_view>

#include "hfile/cell_key.h"

namespace rowbloom::hfile {

inline constexpr std::string_view kKvComparator =
    "org.apache.hadoop.hbase.KeyValue$KVComparator";
inline constexpr std::string_view kMetaComparator =
    "org.apache.hadoop.hbase.KeyValue$MetaComparator";
inline constexpr std::string_view kRawBytesComparator =
    "org.apache.hadoop.hbase.KeyValue$RawBytesComparator";
inline constexpr std::string_view kCellComparatorImpl =
    "org.apache.hadoop.hbase.CellComparatorImpl";

// What a trailer names; nothing if it is not known.
std::optional<RowOrder> OrderOfFile(std::string_view comparator);
// Whether a Bloom meta may name it: cells for ROWCOL, bytes for the others.
bool IsBloomComparator(std::string_view comparator, bool is_rowcol);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_COMPARATORS_H_
