// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_entry.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace rowbloom::plugin {

namespace {

const KeyCodec& OrderedCodec() {
  static const auto* const ordered = new KeyCodec(KeyCodec::Ordered());
  return *ordered;
}

}  // namespace

bool HasColumnPrefix(const KeyCodec& codec) {
  return codec.BeginsAs(OrderedCodec());
}

bool IsWrittenAsBoundOfColumn(std::string_view entry) {
  size_t row_size = 0;
  const size_t column_size = OrderedCodec().SecondPrefixSize(entry, &row_size);
  return column_size > 0 && column_size == entry.size();
}

absl::Status CheckBloomType(BloomType bloom_type) {
  if (bloom_type == BloomType::kRow || bloom_type == BloomType::kRowCol) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bloom type ", std::string(BloomTypeName(bloom_type)),
      " is not for RocksDB; allowed: ROW, ROWCOL (for no filter, set "
      "filter_policy to nullptr)"));
}

absl::Status CheckBloomType(BloomType bloom_type, const KeyCodec& codec) {
  absl::Status status = CheckBloomType(bloom_type);
  if (!status.ok() || bloom_type == BloomType::kRow ||
      codec.key_level_count() > 1) {
    return status;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "bloom_type ROWCOL needs columns, and key_codec ", codec.ToString(),
      " has none: name a key_codec that says where a row ends, for example "
      "ordered, fixed:N or delimiter:C, or leave bloom_type out"));
}

}  // namespace rowbloom::plugin
