// SPDX-License-Identifier: Apache-2.0

#include "hfile/comparators.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/escaping.h"
#include "hfile/errors.h"

namespace rowbloom::hfile {

namespace {

constexpr std::string_view kCellComparators[] = {
    kKvComparator,
    kCellComparatorImpl,
    "org.apache.hadoop.hbase.KeyValue$KeyComparator",
    "org.apache.hadoop.hbase.CellComparator",
    "org.apache.hadoop.hbase.InnerStoreCellComparator",
    "org.apache.hudi.io.storage.HoodieHBaseKVComparator",
};

constexpr std::string_view kMetaComparators[] = {
    kMetaComparator,
    "org.apache.hadoop.hbase.KeyValue$MetaKeyComparator",
    "org.apache.hadoop.hbase.CellComparator$MetaCellComparator",
    "org.apache.hadoop.hbase.CellComparatorImpl$MetaCellComparator",
    "org.apache.hadoop.hbase.MetaCellComparator",
};

// HBase 0.96 dropped the table -ROOT-.
constexpr std::string_view kRootComparators[] = {
    "org.apache.hadoop.hbase.KeyValue$RootComparator",
    "org.apache.hadoop.hbase.KeyValue$RootKeyComparator",
};

constexpr std::string_view kBytesComparators[] = {
    kRawBytesComparator,
    "org.apache.hadoop.hbase.util.Bytes$ByteArrayComparator",
};

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

std::optional<RowOrder> OrderOfFile(std::string_view comparator) {
  if (Has(kCellComparators, comparator)) return RowOrder::kBytes;
  if (Has(kMetaComparators, comparator)) return RowOrder::kMeta;
  return std::nullopt;
}

absl::Status UnknownComparator(std::string_view comparator) {
  const std::string name = absl::CHexEscape(util::AbslView(comparator));
  if (Has(kRootComparators, comparator)) {
    return Older("comparator \"", name,
                 "\" is of the table -ROOT- of HBase 0.94 and before");
  }
  return Unimplemented("comparator \"", name, "\" is not known");
}

bool IsBloomComparator(std::string_view comparator, bool is_rowcol) {
  if (!is_rowcol) {
    return comparator.empty() || Has(kBytesComparators, comparator);
  }
  return Has(kCellComparators, comparator) || Has(kMetaComparators, comparator);
}

}  // namespace rowbloom::hfile
