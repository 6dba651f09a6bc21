// SPDX-License-Identifier: Apache-2.0

#include "policy/row_prefix_extractor.h"

#include "absl/strings/str_cat.h"
#include "policy/filter_entry.h"
#include "release.h"
#include "rowbloom/rocksdb.h"
#include "status.h"

namespace rowbloom::plugin {

namespace {

std::string ExtractorId(BloomType bloom_type, const KeyCodec& key_codec) {
  return absl::StrCat(RowPrefixExtractor::kClassName(), ":",
                      std::string(BloomTypeName(bloom_type)), ":",
                      key_codec.ToStringWithoutNames());
}

// A seek looks only at keys with the prefix of its target, and must find the
// next key.
absl::Status CheckHasPrefix(BloomType bloom_type, const KeyCodec& codec) {
  absl::Status status = CheckBloomType(bloom_type, codec);
  if (!status.ok() || !codec.LastSegmentOf(1).takes_rest) return status;
  return absl::InvalidArgumentError(absl::StrCat(
      "prefix_extractor ", RowPrefixExtractor::kClassName(), " with key codec ",
      codec.ToString(),
      ": a prefix would be a whole key, and a seek would find no other; name a "
      "key_codec that says where a row ends, or set no prefix_extractor"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<const RowPrefixExtractor>>
RowPrefixExtractor::Parse(std::string_view id) {
  const std::string_view name = kClassName();
  const size_t type_begin = name.size() + 1;
  const size_t colon = id.find(':', type_begin);
  if (id.substr(0, type_begin) != absl::StrCat(kClassName(), ":") ||
      colon == std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "prefix_extractor \"", std::string(id), "\" is not of the form ",
        kClassName(), ":BLOOM_TYPE:CODEC, for example ", kClassName(),
        ":ROWCOL:ordered"));
  }
  absl::StatusOr<BloomType> bloom_type =
      ParseBloomType(id.substr(type_begin, colon - type_begin));
  if (!bloom_type.ok()) return bloom_type.status();
  absl::StatusOr<KeyCodec> key_codec = KeyCodec::Parse(id.substr(colon + 1));
  if (!key_codec.ok()) return key_codec.status();
  absl::Status status = CheckHasPrefix(*bloom_type, *key_codec);
  if (!status.ok()) return status;
  return std::make_unique<const RowPrefixExtractor>(*bloom_type, *key_codec);
}

RowPrefixExtractor::RowPrefixExtractor(BloomType bloom_type,
                                       const KeyCodec& key_codec)
    : bloom_type_(bloom_type),
      key_codec_(key_codec),
      maps_columns_(bloom_type == BloomType::kRowCol &&
                    key_codec == KeyCodec::Ordered()),
      id_(ExtractorId(bloom_type, key_codec)) {
  if (maps_columns_) ++live_column_extractors;
}

RowPrefixExtractor::~RowPrefixExtractor() {
  if (maps_columns_) --live_column_extractors;
}

bool RowPrefixExtractor::IsInstanceOf(const std::string& name) const noexcept {
  return name == kClassName() || name == id_;
}

size_t RowPrefixExtractor::PrefixSize(std::string_view key) const {
  // Bounds end with one of two bytes; most stored keys end with another byte,
  // and need not be parsed to their column's end.
  if (!maps_columns() || key.empty() ||
      (key.back() != '\0' && key.back() != kColumnUpperBound)) {
    return key_codec_.FirstPrefixSize(key);
  }
  size_t row_size = 0;
  const size_t column_size = key_codec_.SecondPrefixSize(key, &row_size);
  const bool is_column_bound =
      column_size > 0 &&
      (key.size() == column_size ||
       (key.size() == column_size + 1 && key.back() == kColumnUpperBound));
  return is_column_bound ? column_size : row_size;
}

const ScanQuestion* RowPrefixExtractor::QuestionFor(
    std::string_view key) const {
  const ScanQuestion* scan = ScanQuestion::OfThisThread();
  return scan != nullptr &&
                 scan->key_level() <= KeyLevelCount(bloom_type_, key_codec_) &&
                 scan->Covers(key) && scan->IsOfCodec(key_codec_)
             ? scan
             : nullptr;
}

rdb::Slice RowPrefixExtractor::Transform(const rdb::Slice& key) const noexcept {
  if (const ScanQuestion* scan = QuestionFor(ViewOf(key))) {
    return rdb::Slice(scan->prefix().data(), scan->prefix().size());
  }
  return rdb::Slice(key.data(), PrefixSize(ViewOf(key)));
}

bool RowPrefixExtractor::InDomain(const rdb::Slice& key) const noexcept {
  return QuestionFor(ViewOf(key)) != nullptr ||
         key_codec_.FirstPrefixSize(ViewOf(key)) > 0;
}

bool RowPrefixExtractor::FullLengthEnabled(size_t*) const noexcept {
  return false;
}

bool RowPrefixExtractor::SameResultWhenAppended(
    const rdb::Slice& prefix) const noexcept {
  const std::string_view key = ViewOf(prefix);
  size_t row_size = 0;
  const size_t column_size = key_codec_.SecondPrefixSize(key, &row_size);
  if (row_size == 0) return false;
  const KeyCodec::Segment& last = key_codec_.LastSegmentOf(1);
  if (!last.leaves_out_byte) return !last.takes_rest;
  // The prefix's last 00 could still become an escaped one.
  if (!maps_columns()) return row_size < key.size();
  // A shorter key could still become the bound of a column.
  return column_size > 0 && PrefixSize(key) == row_size;
}

}  // namespace rowbloom::plugin

namespace rowbloom {

std::shared_ptr<const rdb::SliceTransform> NewRowPrefixExtractor(
    const RocksDbOptions& options, rdb::Status* error) {
  absl::Status status = plugin::CheckRocksDbRelease();
  const BloomType bloom_type = options.effective_bloom_type();
  if (status.ok()) {
    status = plugin::CheckHasPrefix(bloom_type, options.key_codec);
  }
  if (!plugin::IsOk(status, error)) return nullptr;
  return std::make_shared<const plugin::RowPrefixExtractor>(bloom_type,
                                                            options.key_codec);
}

}  // namespace rowbloom
