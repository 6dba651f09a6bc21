// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "policy/filter_entry.h"
#include "policy/row_prefix_extractor.h"
#include "release.h"
#include "rocksdb/options.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

using plugin::CheckRocksDbRelease;
using plugin::kColumnEnd;
using plugin::kColumnUpperBound;

namespace {

absl::Status NoEnd(std::string_view row) {
  return absl::OutOfRangeError(absl::StrCat("row \"",
                                            absl::CHexEscape(std::string(row)),
                                            "\" is the last: no key ends it"));
}

}  // namespace

absl::StatusOr<RocksDbScan> RocksDbScan::OfSegments(
    const KeyCodec& key_codec, absl::Span<const std::string_view> segments) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  RocksDbScan scan;
  absl::Status status = key_codec.UpperBound(segments, &scan.upper_);
  if (status.ok()) status = key_codec.LowerBound(segments, &scan.lower_);
  if (!status.ok()) return status;
  scan.exact_lower_ = scan.lower_;
  scan.exact_upper_ = scan.upper_;
  return scan;
}

absl::StatusOr<RocksDbScan> RocksDbScan::OfRow(const KeyCodec& key_codec,
                                               std::string_view row) {
  return OfSegments(key_codec, {row});
}

absl::StatusOr<RocksDbScan> RocksDbScan::OfColumn(const KeyCodec& key_codec,
                                                  std::string_view row,
                                                  std::string_view qualifier) {
  if (const absl::Status& s = CheckRocksDbRelease(); !s.ok()) return s;
  auto keys = RocksDbDeletion::OfColumn(key_codec, row, qualifier);
  if (!keys.ok()) return keys.status();
  RocksDbScan scan;
  scan.lower_ = keys->begin;
  scan.upper_ = keys->end;
  if (key_codec == KeyCodec::Ordered()) {
    scan.lower_.pop_back();  // Up to the column prefix: see RowPrefixExtractor.
    scan.upper_.back() = kColumnUpperBound;
  }
  scan.exact_lower_ = std::move(keys->begin);
  scan.exact_upper_ = std::move(keys->end);
  return scan;
}

void RocksDbScan::Configure(rdb::ReadOptions* read) {
  const bool is_exact = read->tailing || plugin::live_column_extractors.load(
                                             std::memory_order_relaxed) == 0;
  lower_slice_ = is_exact ? exact_lower_ : lower_;
  upper_slice_ = is_exact ? exact_upper_ : upper_;
  read->iterate_lower_bound = &lower_slice_;
  read->iterate_upper_bound = upper_.empty() ? nullptr : &upper_slice_;
  // It asks the filter only if both bounds have one prefix, and never during
  // the scan, so it loses no key with any extractor.
  read->auto_prefix_mode = true;
  read->prefix_same_as_start = false;
  read->total_order_seek = false;
}

absl::StatusOr<RocksDbDeletion> RocksDbDeletion::OfRow(
    const KeyCodec& key_codec, std::string_view row) {
  RocksDbDeletion range;
  absl::Status status = key_codec.LowerBound({row}, &range.begin);
  if (status.ok()) status = key_codec.UpperBound({row}, &range.end);
  if (!status.ok()) return status;
  if (range.end.empty()) return NoEnd(row);
  return range;
}

absl::StatusOr<RocksDbDeletion> RocksDbDeletion::OfColumn(
    const KeyCodec& key_codec, std::string_view row,
    std::string_view qualifier) {
  RocksDbDeletion range;
  absl::Status status = key_codec.Encode(row, qualifier, &range.begin);
  if (!status.ok()) return status;
  if (key_codec.segment(1).leaves_out_byte) {
    range.end = range.begin;
    range.end.back() = kColumnEnd;  // After all versions.
    return range;
  }
  status = key_codec.UpperBound({row, qualifier}, &range.end);
  if (!status.ok()) return status;
  if (range.end.empty()) return NoEnd(range.begin);
  return range;
}

}  // namespace rowbloom
