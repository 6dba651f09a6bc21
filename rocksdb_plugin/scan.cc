// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "rocksdb/options.h"
#include "row_prefix_extractor.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

absl::StatusOr<RocksDbScan> RocksDbScan::OfRow(const KeyCodec& key_codec,
                                               std::string_view row) {
  RocksDbScan scan;
  if (absl::Status s = key_codec.RowLowerBound(row, &scan.lower_); !s.ok()) {
    return s;
  }
  if (absl::Status s = key_codec.RowUpperBound(row, &scan.upper_); !s.ok()) {
    return s;
  }
  return scan;
}

absl::StatusOr<RocksDbScan> RocksDbScan::OfColumn(const KeyCodec& key_codec,
                                                  std::string_view row,
                                                  std::string_view qualifier) {
  RocksDbScan scan;
  if (absl::Status s = key_codec.Encode(row, qualifier, &scan.lower_);
      !s.ok()) {
    return s;
  }
  scan.upper_ = scan.lower_;
  if (key_codec.kind() == KeyCodec::Kind::kOrdered) {
    scan.lower_.pop_back();  // Up to the column part: see RowPrefixExtractor.
    scan.upper_.back() = kColumnUpperBound;
  } else {
    scan.upper_.push_back('\0');  // The column is one key.
  }
  return scan;
}

void RocksDbScan::Configure(ROCKSDB_NAMESPACE::ReadOptions* read) {
  upper_slice_ = ROCKSDB_NAMESPACE::Slice(upper_);
  read->iterate_upper_bound = upper_.empty() ? nullptr : &upper_slice_;
  // Asks the filter only if both bounds have one prefix, and never while the
  // scan is under way, so it cannot lose a key whatever the extractor is.
  read->auto_prefix_mode = true;
  read->prefix_same_as_start = false;
  read->total_order_seek = false;
}

}  // namespace rowbloom
