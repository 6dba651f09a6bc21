// SPDX-License-Identifier: Apache-2.0
//
// The Java classes with which HBase's versions name the orders of keys.

#ifndef ROWBLOOM_HFILE_COMPARATORS_H_
#define ROWBLOOM_HFILE_COMPARATORS_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
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

// The order that a trailer's comparator names; nullopt if it is unknown.
std::optional<RowOrder> OrderOfFile(std::string_view comparator);
// The error for a trailer's comparator without an order.
absl::Status UnknownComparator(std::string_view comparator);
// True if a Bloom meta may name it: a cell comparator for ROWCOL, a byte
// comparator for the others.
bool IsBloomComparator(std::string_view comparator, bool is_rowcol);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_COMPARATORS_H_
