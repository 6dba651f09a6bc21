// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "comparators.h"
#include "policy/filter_entry.h"
#include "policy/scan_question.h"
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

using plugin::CheckRocksDbRelease;
using plugin::IsBytewise;
using plugin::ScanQuestion;
using plugin::ToRocksDbStatus;
using plugin::ViewOf;

using rdb::ReadOptions;
using rdb::Status;

namespace {

Status CheckScannable(const rdb::ColumnFamilyHandle& column_family) {
  const rdb::Comparator* const comparator = column_family.GetComparator();
  if (IsBytewise(*comparator)) return Status::OK();
  return Status::NotSupported(
      "the bounds of rows are those of a bytewise order, and the comparator is",
      comparator->Name());
}

// The longest key level that all filters hold of which RocksDB may ask one.
// Other policies' filters hold what the extractor makes of stored keys, key
// level 1, and whole keys. RocksDB asks each file by the extractor that it was
// written with, which need not be the present one.
size_t AskableKeyLevels(const rdb::Options& options) {
  const auto* table =
      options.table_factory->GetOptions<rdb::BlockBasedTableOptions>();
  const bool only_ours =
      table != nullptr &&
      (table->filter_policy == nullptr ||
       std::string_view(table->filter_policy->CompatibilityName()) ==
           kRocksDbCompatibilityName);
  return only_ours ? KeyCodec::kMaxSegments : 1;
}

Status CheckTwoSegments(const KeyCodec& codec) {
  if (codec.segment_count() == 2) return Status::OK();
  return Status::InvalidArgument(
      "the key codec has " + std::to_string(codec.segment_count()) +
          " segments, not a row and a qualifier",
      "use Scan() and Exists(), or Get() with a key of Encode()");
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

// Lets `sample` count a scan that found nothing.
void TellIfEmpty(const RocksDbPrefixScan& scan, RocksDbLookupSample* sample) {
  if (!scan.Valid() && scan.status().ok()) sample->TellScanFoundNothing();
}

// For RocksDB releases where values may wait in blobs until they are needed.
template <typename Read>
auto PrepareValues(Read* read, int /*preferred*/)
    -> decltype(read->allow_unprepared_value, void()) {
  read->allow_unprepared_value = false;
}
template <typename Read>
void PrepareValues(Read* /*read*/, long /*otherwise*/) {}

}  // namespace

struct RocksDbPrefixScan::State {
  explicit State(const KeyCodec& key_codec) : codec(key_codec) {}

  const KeyCodec codec;
  std::string lower;
  std::string upper;
  std::optional<ScanQuestion> question;
  rdb::Slice lower_slice;
  rdb::Slice upper_slice;
  ReadOptions read;
  Status error;  // If there is no iterator.
  std::unique_ptr<rdb::Iterator> it;

  const ScanQuestion* asked() const {
    return question.has_value() ? &*question : nullptr;
  }
};

RocksDbPrefixScan::RocksDbPrefixScan(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
RocksDbPrefixScan::RocksDbPrefixScan(RocksDbPrefixScan&&) noexcept = default;
RocksDbPrefixScan& RocksDbPrefixScan::operator=(RocksDbPrefixScan&&) noexcept =
    default;
RocksDbPrefixScan::~RocksDbPrefixScan() = default;

bool RocksDbPrefixScan::Valid() const {
  return state_ != nullptr && state_->it != nullptr && state_->it->Valid();
}

void RocksDbPrefixScan::Next() {
  if (!Valid()) return;
  // RocksDB may seek anew: behind a range tombstone or many versions of a key.
  const ScanQuestion::Scope scope(state_->asked());
  state_->it->Next();
}

rdb::Slice RocksDbPrefixScan::key() const { return state_->it->key(); }
rdb::Slice RocksDbPrefixScan::value() const { return state_->it->value(); }

Status RocksDbPrefixScan::status() const {
  if (state_ == nullptr) {
    return Status::InvalidArgument("the scan was moved to another object");
  }
  return state_->it == nullptr ? state_->error : state_->it->status();
}

RocksDbRows::RocksDbRows(rdb::DB* db, rdb::ColumnFamilyHandle* column_family,
                         const KeyCodec& key_codec,
                         const RocksDbSampling& sampling)
    : db_(db),
      column_family_(column_family),
      key_codec_(key_codec),
      sampling_(sampling),
      release_(ToRocksDbStatus(CheckRocksDbRelease())),
      scannable_(release_.ok() ? CheckScannable(*column_family) : release_),
      askable_key_levels_(
          release_.ok() ? AskableKeyLevels(db->GetOptions(column_family)) : 0),
      has_columns_(release_.ok() ? CheckTwoSegments(key_codec) : release_) {}

RocksDbPrefixScan RocksDbRows::Scan(
    const ReadOptions& read,
    absl::Span<const std::string_view> segments) const {
  auto state = std::make_unique<RocksDbPrefixScan::State>(key_codec_);
  state->error = scannable_;
  if (state->error.ok()) {
    absl::Status bounds = key_codec_.UpperBound(segments, &state->upper);
    if (bounds.ok()) bounds = key_codec_.LowerBound(segments, &state->lower);
    state->error = ToRocksDbStatus(bounds);
  }
  if (!state->error.ok()) return RocksDbPrefixScan(std::move(state));

  const KeyCodec::Prefixes prefixes =
      key_codec_.PrefixesOf(state->lower, askable_key_levels_);
  if (prefixes.count > 0) {
    state->question.emplace(state->codec, prefixes.count,
                            std::string_view(state->lower)
                                .substr(0, prefixes.sizes[prefixes.count - 1]),
                            state->upper);
  }
  state->lower_slice = state->lower;
  state->upper_slice = state->upper;
  state->read = read;
  ReadOptions& options = state->read;
  options.iterate_lower_bound = &state->lower_slice;
  options.iterate_upper_bound =
      state->upper.empty() ? nullptr : &state->upper_slice;
  // It asks the filter only if both bounds have one prefix, and never for keys
  // between them, so it loses no key with any extractor.
  options.auto_prefix_mode = true;
  options.prefix_same_as_start = false;
  options.total_order_seek = false;
  options.tailing = false;
  options.iter_start_ts = nullptr;
  if (MustVerify(read)) options.verify_checksums = true;
  PrepareValues(&options, 0);
  const ScanQuestion::Scope scope(state->asked());
  state->it.reset(db_->NewIterator(options, column_family_));
  state->it->SeekToFirst();
  return RocksDbPrefixScan(std::move(state));
}

Status RocksDbRows::Exists(const ReadOptions& read,
                           absl::Span<const std::string_view> segments,
                           bool* exists) const {
  RocksDbLookupSample sample(sampling_);
  const RocksDbPrefixScan scan = Scan(read, segments);
  TellIfEmpty(scan, &sample);
  *exists = scan.Valid();
  return scan.status();
}

Status RocksDbRows::RowExists(const ReadOptions& read, std::string_view row,
                              bool* exists) const {
  return Exists(read, {row}, exists);
}

Status RocksDbRows::GetRow(const ReadOptions& read, std::string_view row,
                           std::vector<RocksDbCell>* cells) const {
  cells->clear();
  if (!has_columns_.ok()) return has_columns_;
  RocksDbLookupSample sample(sampling_);
  RocksDbPrefixScan scan = Scan(read, {row});
  TellIfEmpty(scan, &sample);
  std::string decoded_row;
  for (; scan.Valid(); scan.Next()) {
    RocksDbCell cell;
    const absl::Status decoded = key_codec_.Decode(
        ViewOf(scan.key()), &decoded_row, &cell.qualifier, &cell.version);
    if (!decoded.ok()) {
      cells->clear();
      return NotOfCodec(scan.key(), decoded.message());
    }
    cell.value = scan.value().ToString();
    cells->push_back(std::move(cell));
  }
  if (!scan.status().ok()) cells->clear();
  return scan.status();
}

Status RocksDbRows::GetCell(const ReadOptions& read, std::string_view row,
                            std::string_view qualifier,
                            rdb::PinnableSlice* value) const {
  value->Reset();
  if (!has_columns_.ok()) return has_columns_;
  std::string key;
  const absl::Status encoded = key_codec_.Encode(row, qualifier, &key);
  if (!encoded.ok()) return ToRocksDbStatus(encoded);
  RocksDbLookupSample sample(sampling_);
  const SafeRead safe(read);
  Status status = db_->Get(*safe, column_family_, key, value);
  if (IsFailure(status)) sample.Discard();
  return status;
}

Status RocksDbRows::GetNewestCell(const ReadOptions& read, std::string_view row,
                                  std::string_view qualifier,
                                  rdb::PinnableSlice* value,
                                  std::string* version) const {
  if (version != nullptr) version->clear();
  if (!has_columns_.ok()) return has_columns_;
  if (key_codec_.segment(1).takes_rest) {
    return GetCell(read, row, qualifier, value);  // It has no versions.
  }
  value->Reset();
  RocksDbLookupSample sample(sampling_);
  const RocksDbPrefixScan scan = Scan(read, {row, qualifier});
  TellIfEmpty(scan, &sample);
  if (!scan.Valid()) {
    return scan.status().ok() ? Status::NotFound() : scan.status();
  }
  std::string first;
  const absl::Status encoded = key_codec_.Encode(row, qualifier, &first);
  if (!encoded.ok()) return ToRocksDbStatus(encoded);
  if (version != nullptr) {
    *version = ViewOf(scan.key()).substr(first.size());
  }
  value->PinSelf(scan.value());
  return Status::OK();
}

}  // namespace rowbloom
