// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_reader.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/base/attributes.h"
#include "policy/filter_entry.h"
#include "policy/scan_question.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

RowFilterReader::RowFilterReader(const rdb::Slice& contents) noexcept {
  const absl::StatusOr<RocksDbFilterInfo> info =
      ParseRocksDbFilter(ViewOf(contents));
  // A filter may cost a read. It must never lose a row. RocksDB 8 and newer
  // read filters without checking their checksum if
  // ReadOptions::verify_checksums is false.
  if (!info.ok() || !VerifyUnits(info->blob).ok()) return;
  view_ = info->blob.view;
  key_codec_ = info->key_codec;
  key_level_count_ = KeyLevelCount(info->bloom_type, key_codec_);
  has_column_prefix_ = HasColumnPrefix(key_codec_);
  has_whole_keys_ = key_codec_ == KeyCodec::WholeKey();
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline std::optional<std::string_view>
RowFilterReader::Asked(const rdb::Slice& entry) const {
  return AskedKey(key_level_count_, key_codec_, has_column_prefix_,
                  ViewOf(entry));
}

ABSL_ATTRIBUTE_NOINLINE bool RowFilterReader::MayMatchPrefix(
    const rdb::Slice& entry) const {
  const std::optional<std::string_view> asked = Asked(entry);
  return !asked.has_value() || view_.MayContain(DigestBytes(*asked));
}

bool RowFilterReader::MayMatch(const rdb::Slice& entry) noexcept {
  // Gets of whole keys outside of scans, which are most, look for no prefix.
  const bool asks_for_all = has_whole_keys_ &&
                            ScanQuestion::OfThisThread() == nullptr &&
                            !IsBoundOfColumn(ViewOf(entry));
  return asks_for_all ? view_.MayContain(DigestBytes(ViewOf(entry)))
                      : MayMatchPrefix(entry);
}

void RowFilterReader::MayMatch(int count, rdb::Slice** entries,
                               bool* may_match) noexcept {
  // RocksDB asks for at most 32 keys at once; more go in several rounds.
  std::array<KeyDigest, 32> digests;
  for (int begin = 0; begin < count;) {
    const int size = std::min(count - begin, static_cast<int>(digests.size()));
    uint32_t unasked = 0;  // A bit for each entry that asks nothing.
    for (int i = 0; i < size; ++i) {
      const std::optional<std::string_view> asked = Asked(*entries[begin + i]);
      if (asked.has_value()) {
        digests[i] = DigestBytes(*asked);
      } else {
        unasked |= uint32_t{1} << i;
      }
    }
    view_.MayContain(absl::MakeConstSpan(digests.data(), size),
                     may_match + begin);
    for (int i = 0; unasked != 0; ++i, unasked >>= 1) {
      if (unasked & 1) may_match[begin + i] = true;
    }
    begin += size;
  }
}

}  // namespace rowbloom::plugin
