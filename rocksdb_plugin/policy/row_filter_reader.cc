// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_reader.h"

#include <algorithm>
#include <array>

#include "policy/filter_entry.h"
#include "policy/scan_question.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

RowFilterReader::RowFilterReader(const rdb::Slice& contents) noexcept {
  const absl::StatusOr<RocksDbFilterInfo> info =
      ParseRocksDbFilter(ViewOf(contents));
  // A filter may cost a read. It must never lose a row. RocksDB 8 and newer
  // read filters without checking their checksum if
  // ReadOptions::verify_checksums is false.
  if (!info.ok() || !VerifyUnits(info->blob).ok()) return;
  view_ = info->blob.view;
  bloom_type_ = info->bloom_type;
  key_codec_ = info->key_codec;
  has_part_of_column_ = HasPartOfColumn(key_codec_);
}

std::optional<KeyDigest> RowFilterReader::DigestOf(
    const rdb::Slice& slice) const {
  const std::string_view entry = ViewOf(slice);
  if (const ScanQuestion* scan = ScanQuestion::OfThisThread()) {
    if (!scan->IsOfCodec(key_codec_)) return std::nullopt;
  } else if (!has_part_of_column_ && IsBoundOfColumn(entry)) {
    return std::nullopt;
  }
  const std::optional<std::string_view> asked =
      AskedPart(bloom_type_, key_codec_, entry);
  if (!asked.has_value()) return std::nullopt;
  return DigestBytes(*asked);
}

bool RowFilterReader::MayMatch(const rdb::Slice& entry) noexcept {
  const std::optional<KeyDigest> digest = DigestOf(entry);
  return !digest.has_value() || view_.MayContain(*digest);
}

void RowFilterReader::MayMatch(int count, rdb::Slice** entries,
                               bool* may_match) noexcept {
  // RocksDB asks for at most 32 keys at once; more go in several rounds.
  std::array<KeyDigest, 32> digests;
  std::array<bool, 32> is_asked;
  for (int begin = 0; begin < count;) {
    const int size = std::min(count - begin, static_cast<int>(digests.size()));
    for (int i = 0; i < size; ++i) {
      const std::optional<KeyDigest> digest = DigestOf(*entries[begin + i]);
      is_asked[i] = digest.has_value();
      digests[i] = digest.value_or(KeyDigest());
    }
    view_.MayContain(absl::MakeConstSpan(digests.data(), size),
                     may_match + begin);
    for (int i = 0; i < size; ++i) {
      may_match[begin + i] = may_match[begin + i] || !is_asked[i];
    }
    begin += size;
  }
}

}  // namespace rowbloom
