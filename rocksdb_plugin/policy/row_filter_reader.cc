// SPDX-License-Identifier: Apache-2.0

#include "policy/row_filter_reader.h"

#include <algorithm>
#include <array>

#include "policy/filter_entry.h"
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
}

KeyDigest RowFilterReader::DigestOf(const rdb::Slice& entry) const {
  return DigestBytes(SplitEntry(bloom_type_, key_codec_, ViewOf(entry)).asked);
}

bool RowFilterReader::MayMatch(const rdb::Slice& entry) noexcept {
  return IsBoundOfOtherCodec(key_codec_, ViewOf(entry)) ||
         view_.MayContain(DigestOf(entry));
}

void RowFilterReader::MayMatch(int count, rdb::Slice** entries,
                               bool* may_match) noexcept {
  // RocksDB asks for at most 32 keys at once; more go in several rounds.
  std::array<KeyDigest, 32> digests;
  for (int begin = 0; begin < count;) {
    const int size = std::min(count - begin, static_cast<int>(digests.size()));
    for (int i = 0; i < size; ++i) digests[i] = DigestOf(*entries[begin + i]);
    view_.MayContain(absl::MakeConstSpan(digests.data(), size),
                     may_match + begin);
    for (int i = begin; i < begin + size; ++i) {
      may_match[i] =
          may_match[i] || IsBoundOfOtherCodec(key_codec_, ViewOf(*entries[i]));
    }
    begin += size;
  }
}

}  // namespace rowbloom
