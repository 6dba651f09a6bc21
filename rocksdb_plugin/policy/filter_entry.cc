// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_entry.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"

namespace rowbloom {

EntryParts SplitEntry(BloomType bloom_type, const KeyCodec& codec,
                      std::string_view entry) {
  size_t row_size = 0;
  size_t column_size = 0;
  if (bloom_type == BloomType::kRowCol) {
    column_size = codec.ColumnPartSize(entry, &row_size);
  } else {
    row_size = codec.RowPartSize(entry);
  }
  EntryParts parts;
  parts.row = entry.substr(0, row_size);
  parts.has_column = column_size > 0;
  if (parts.has_column) {
    parts.asked = entry.substr(0, column_size);
  } else {
    parts.asked = row_size > 0 ? parts.row : entry;
  }
  return parts;
}

bool IsBoundOfOtherCodec(const KeyCodec& codec, std::string_view entry) {
  if (codec.kind() == KeyCodec::Kind::kOrdered) return false;
  size_t row_size = 0;
  const size_t column_size =
      KeyCodec::Ordered().ColumnPartSize(entry, &row_size);
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

}  // namespace rowbloom
