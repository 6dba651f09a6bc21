// SPDX-License-Identifier: Apache-2.0
//
// Finds the filter keys of an entry as RocksDB passes it to a filter: a user
// key, or the prefix of one. Builders and readers ask the same codec, so a
// lookup always asks for a filter key that was added for the same entry.
//
//   const size_t count = KeyLevelCount(type, codec);
//   KeyCodec::Prefixes prefixes = codec.PrefixesOf(entry, count);
//   adds:  each prefix, or the whole entry if it has no prefix
//   asks:  AskedPrefix(count, codec, entry), the longest of these, if the
//          filter can deny the entry: AskedKey()
//
// | entry holds                           | asked        | added         |
// |---------------------------------------|--------------|---------------|
// | a prefix of a key level of the filter | the longest  | all prefixes  |
// | a whole segment, but no such prefix   | nothing      | all of it     |
// | no whole segment                      | all of it    | all of it     |
//
// Where nothing is asked the answer is "maybe": a prefix of a key level that
// the filter does not hold is not among the entries that it was built from.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_

#include <atomic>
#include <cstddef>
#include <optional>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "policy/scan_question.h"
#include "rdb.h"
#include "rocksdb/slice.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::plugin {

// The key levels, from the first one on, that a filter of ROW or ROWCOL holds.
inline size_t KeyLevelCount(BloomType bloom_type, const KeyCodec& codec) {
  return bloom_type == BloomType::kRowCol ? codec.key_level_count() : 1;
}

inline std::optional<std::string_view> AskedPrefix(size_t key_level_count,
                                                   const KeyCodec& codec,
                                                   std::string_view entry) {
  const KeyCodec::Prefixes prefixes = codec.PrefixesOf(entry, key_level_count);
  if (prefixes.count > 0) {
    return std::string_view(entry.data(), prefixes.sizes[prefixes.count - 1]);
  }
  if (prefixes.has_segment) return std::nullopt;
  return entry;
}

// Counts the extractors of this process that map bounds of columns: those for
// ROWCOL and "ordered" keys.
inline std::atomic<int> live_column_extractors{0};

// True if the entry may be the bound of a column that such an extractor made:
// nobody added it to a filter of a codec that has no such prefix, which
// therefore cannot deny it. Where there is no such extractor, it is a key like
// others, for example a number.
bool IsWrittenAsBoundOfColumn(std::string_view entry);
inline bool IsBoundOfColumn(std::string_view entry) {
  // The prefix of a column ends with its 00.
  return !entry.empty() && entry.back() == '\0' &&
         live_column_extractors.load(std::memory_order_relaxed) > 0 &&
         IsWrittenAsBoundOfColumn(entry);
}
bool HasColumnPrefix(const KeyCodec& codec);

// AskedPrefix(); none if the filter cannot deny the entry, because it is from a
// scan by another codec or a bound of a column. `has_column_prefix` is that of
// the codec.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline std::optional<std::string_view> AskedKey(
    size_t key_level_count, const KeyCodec& codec, bool has_column_prefix,
    std::string_view entry) {
  if (const ScanQuestion* scan = ScanQuestion::OfThisThread()) {
    if (!scan->IsOfCodec(codec)) return std::nullopt;
  } else if (!has_column_prefix && IsBoundOfColumn(entry)) {
    return std::nullopt;
  }
  return AskedPrefix(key_level_count, codec, entry);
}

// InvalidArgument unless ROW or ROWCOL: RocksDB has no row prefix of ours by
// which both a cell and a shorter row could be asked, and no filter at all is
// filter_policy=nullptr.
absl::Status CheckBloomType(BloomType bloom_type);
// Also returns InvalidArgument for ROWCOL with a codec of one key level, which
// has no columns.
absl::Status CheckBloomType(BloomType bloom_type, const KeyCodec& codec);

inline std::string_view ViewOf(const rdb::Slice& slice) {
  return std::string_view(slice.data(), slice.size());
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_FILTER_ENTRY_H_
