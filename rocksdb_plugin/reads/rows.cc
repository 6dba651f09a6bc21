// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "policy/filter_entry.h"
#include "release.h"
#include "rocksdb/comparator.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/iterator.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_rows.h"
#include "status.h"

namespace rowbloom {

using rdb::ReadOptions;
using rdb::Status;

namespace {

Status CheckScannable(const rdb::ColumnFamilyHandle& column_family) {
  const rdb::Comparator* const comparator = column_family.GetComparator();
  const std::string_view name = comparator->Name();
  if (name == "leveldb.BytewiseComparator" ||
      name == "leveldb.BytewiseComparator.u64ts") {
    return Status::OK();
  }
  return Status::NotSupported(
      "the bounds of rows are those of a bytewise order, and the comparator is",
      comparator->Name());
}

// True if filters are read that are not ours. Our filters hold columns, or say
// that they do not. Other filters that were written with an extractor that maps
// the bounds of a column to that column would deny it; RocksDB asks each file
// by the extractor that it was written with, which need not be the present one.
bool ColumnsHide(const rdb::Options& options) {
  const auto* table =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  return table == nullptr ||
         (table->filter_policy != nullptr &&
          std::string_view(table->filter_policy->CompatibilityName()) !=
              kRocksDbCompatibilityName);
}

// With verify_checksums=false RocksDB 8.0 and later read filters without
// checking their checksum, and also the index of partitioned filters, where
// damage leads to another partition, which answers "no". Our filters check
// themselves, but not that index.
bool MustVerify(const ReadOptions& read) {
  return ROCKSDB_MAJOR >= 8 && !read.verify_checksums;
}

// `read`, with verify_checksums if that is needed.
class SafeRead {
 public:
  explicit SafeRead(const ReadOptions& read) : read_(&read) {
    if (!MustVerify(read)) return;
    verified_ = read;
    verified_->verify_checksums = true;
    read_ = &*verified_;
  }
  SafeRead(const SafeRead&) = delete;
  SafeRead& operator=(const SafeRead&) = delete;

  const ReadOptions& operator*() const { return *read_; }

 private:
  const ReadOptions* read_;
  std::optional<ReadOptions> verified_;
};

// After a failure it is unknown if the key is there, and if a filter was right.
bool IsFailure(const Status& status) {
  return !status.ok() && !status.IsNotFound();
}

Status NotOfCodec(const rdb::Slice& key, absl::string_view why) {
  return Status::Corruption("key " + key.ToString(/*hex=*/true),
                            std::string(why));
}

// For RocksDB releases where values may wait in blobs until they are needed.
template <typename Read>
auto PrepareValues(Read* read, int /*preferred*/)
    -> decltype(read->allow_unprepared_value, void()) {
  read->allow_unprepared_value = false;
}
template <typename Read>
void PrepareValues(Read* /*read*/, long /*otherwise*/) {}

// An iterator over the keys of a RocksDbScan, which owns all that it points to.
class OneScan {
 public:
  OneScan(rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
          const ReadOptions& read, bool total_order, RocksDbScan scan)
      : scan_(std::move(scan)), read_(read) {
    if (MustVerify(read)) read_.verify_checksums = true;
    read_.tailing = false;
    scan_.Configure(&read_);
    if (total_order) {
      read_.auto_prefix_mode = false;
      read_.total_order_seek = true;
    }
    read_.iter_start_ts = nullptr;
    PrepareValues(&read_, 0);
    it_.reset(db->NewIterator(read_, column_family));
    it_->SeekToFirst();
  }

  rdb::Iterator* operator->() const { return it_.get(); }

  // Tells `sample` whether to count the scan.
  void Tell(RocksDbLookupSample* sample) const {
    if (!it_->Valid() && it_->status().ok()) sample->TellScanFoundNothing();
  }

 private:
  RocksDbScan scan_;
  ReadOptions read_;
  std::unique_ptr<rdb::Iterator> it_;
};

}  // namespace

RocksDbRows::RocksDbRows(rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
                         const KeyCodec& key_codec,
                         const RocksDbSampling& sampling)
    : db_(db),
      column_family_(column_family),
      key_codec_(key_codec),
      sampling_(sampling),
      release_(ToRocksDbStatus(CheckRocksDbRelease())),
      scannable_(release_.ok() ? CheckScannable(*column_family) : release_),
      columns_hide_(release_.ok() &&
                    ColumnsHide(db->GetOptions(column_family))) {}

Status RocksDbRows::RowExists(const ReadOptions& read, std::string_view row,
                              bool* exists) const {
  *exists = false;
  if (!scannable_.ok()) return scannable_;
  absl::StatusOr<RocksDbScan> bounds = RocksDbScan::OfRow(key_codec_, row);
  if (!bounds.ok()) return ToRocksDbStatus(bounds.status());
  RocksDbLookupSample sample(sampling_);
  const OneScan scan(db_, column_family_, read,
                     /*total_order=*/false, *std::move(bounds));
  scan.Tell(&sample);
  *exists = scan->Valid();
  return scan->status();
}

Status RocksDbRows::GetRow(const ReadOptions& read, std::string_view row,
                           std::vector<RocksDbCell>* cells) const {
  cells->clear();
  if (!scannable_.ok()) return scannable_;
  absl::StatusOr<RocksDbScan> bounds = RocksDbScan::OfRow(key_codec_, row);
  if (!bounds.ok()) return ToRocksDbStatus(bounds.status());
  RocksDbLookupSample sample(sampling_);
  const OneScan scan(db_, column_family_, read,
                     /*total_order=*/false, *std::move(bounds));
  scan.Tell(&sample);
  std::string decoded_row;
  for (; scan->Valid(); scan->Next()) {
    RocksDbCell cell;
    const absl::Status decoded = key_codec_.Decode(
        ViewOf(scan->key()), &decoded_row, &cell.qualifier, &cell.version);
    if (!decoded.ok()) {
      cells->clear();
      return NotOfCodec(scan->key(), decoded.message());
    }
    cell.value = scan->value().ToString();
    cells->push_back(std::move(cell));
  }
  if (!scan->status().ok()) cells->clear();
  return scan->status();
}

Status RocksDbRows::GetCell(const ReadOptions& read, std::string_view row,
                            std::string_view qualifier,
                            rdb::PinnableSlice* value) const {
  value->Reset();
  if (!release_.ok()) return release_;
  std::string key;
  const absl::Status encoded = key_codec_.Encode(row, qualifier, &key);
  if (!encoded.ok()) return ToRocksDbStatus(encoded);
  RocksDbLookupSample sample(sampling_);
  const SafeRead safe(read);
  Status status = db_->Get(*safe, column_family_, key, value);
  if (IsFailure(status)) sample.Discard();
  return status;
}

void RocksDbRows::MultiGetCells(const ReadOptions& read,
                                absl::Span<const RocksDbCellName> names,
                                std::vector<rdb::PinnableSlice>* values,
                                std::vector<Status>* statuses) const {
  values->clear();
  values->resize(names.size());
  statuses->assign(names.size(), release_);
  if (!release_.ok()) return;
  std::vector<std::string> keys(names.size());
  std::vector<rdb::Slice> slices;
  std::vector<size_t> places;  // Indexes into `names`.
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::Status encoded =
        key_codec_.Encode(names[i].row, names[i].qualifier, &keys[i]);
    if (encoded.ok()) {
      slices.emplace_back(keys[i]);
      places.push_back(i);
    } else {
      (*statuses)[i] = ToRocksDbStatus(encoded);
    }
  }
  if (places.empty()) return;
  std::vector<rdb::PinnableSlice> found(places.size());
  std::vector<Status> found_statuses(places.size());
  {
    RocksDbLookupSample sample(sampling_);
    const SafeRead safe(read);
    db_->MultiGet(*safe, column_family_, slices.size(), slices.data(),
                  found.data(), found_statuses.data());
    if (std::any_of(found_statuses.begin(), found_statuses.end(), IsFailure)) {
      sample.Discard();
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    (*values)[places[i]] = std::move(found[i]);
    (*statuses)[places[i]] = std::move(found_statuses[i]);
  }
}

Status RocksDbRows::GetNewestCell(const ReadOptions& read, std::string_view row,
                                  std::string_view qualifier,
                                  rdb::PinnableSlice* value,
                                  std::string* version) const {
  if (version != nullptr) version->clear();
  if (key_codec_.kind() != KeyCodec::Kind::kOrdered) {
    return GetCell(read, row, qualifier, value);  // It has no versions.
  }
  value->Reset();
  if (!scannable_.ok()) return scannable_;
  absl::StatusOr<RocksDbScan> bounds =
      RocksDbScan::OfColumn(key_codec_, row, qualifier);
  if (!bounds.ok()) return ToRocksDbStatus(bounds.status());
  RocksDbLookupSample sample(sampling_);
  const OneScan scan(db_, column_family_, read,
                     /*total_order=*/columns_hide_, *std::move(bounds));
  scan.Tell(&sample);
  if (!scan->Valid()) {
    return scan->status().ok() ? Status::NotFound() : scan->status();
  }
  const std::string_view key = ViewOf(scan->key());
  // The column part is followed by the terminator's last byte.
  size_t row_size = 0;
  const size_t version_begin = key_codec_.ColumnPartSize(key, &row_size) + 1;
  if (key.size() < version_begin || key[version_begin - 1] != '\1') {
    return NotOfCodec(scan->key(), "no cell, though it begins as one");
  }
  if (version != nullptr) *version = key.substr(version_begin);
  value->PinSelf(scan->value());
  return Status::OK();
}

}  // namespace rowbloom
