// SPDX-License-Identifier: Apache-2.0
//
// First filter key of each chunk -> where the chunk is and how to decode it.

#ifndef ROWBLOOM_BLOCK_CHUNK_INDEX_H_
#define ROWBLOOM_BLOCK_CHUNK_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/coding.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"

namespace rowbloom::block {

// A filter key's bytes without its digest.
struct StoredKey {
  std::string_view row;
  std::string_view qualifier;
  bool has_qualifier = false;
};

// As FilterKey::Compare.
int Compare(const StoredKey& a, const StoredKey& b);
inline StoredKey StoredKeyOf(const FilterKey& key) {
  return {key.row(), key.qualifier(), key.has_qualifier()};
}

void AppendKey(const StoredKey& key, std::string* out);
// Advances *in; false if malformed. *key views into *in.
bool ReadKey(std::string_view* in, StoredKey* key);

struct ChunkEntry {
  StoredKey first_key;
  uint64_t offset = 0;  // From the block's start.
  FilterDescriptor descriptor;
};

// Finds the chunk of a key. Looks at eight bytes of each first key, which lie
// side by side, and at whole keys only where these are equal.
class ChunkLocator {
 public:
  ChunkLocator() = default;
  // `chunks` are in order of first key, `last_key` is the last one's last.
  // Both, and what they view, must outlive the locator.
  ChunkLocator(const std::vector<ChunkEntry>* chunks,
               const StoredKey* last_key);

  // The chunk that holds the key if any does: the last whose first key is not
  // greater. -1 if the key is before all, or behind the last key.
  int64_t Find(const StoredKey& key) const {
    if (marks_.empty() || !HasCommonPrefix(key.row)) return -1;
    const uint64_t mark = MarkOf(key.row.substr(common_prefix_.size()));
    const uint64_t* const first = marks_.data();
    if (mark >= last_mark_) return FindAtLastMark(key, mark);
    // The first mark that is not smaller, without a branch that could be
    // mispredicted.
    const uint64_t* at = first;
    for (size_t count = marks_.size(); count > 0;) {
      const size_t half = (count + 1) / 2;
      at += half * static_cast<size_t>(at[half - 1] < mark);
      count -= half;
    }
    if (at < first + marks_.size() && *at == mark) return FindAmong(key, at);
    return at - first - 1;
  }

 private:
  bool HasCommonPrefix(std::string_view row) const {
    return common_prefix_.empty() ||
           row.substr(0, common_prefix_.size()) == common_prefix_;
  }
  // The first eight bytes as a big-endian number, zeros behind their end. Rows
  // with different marks are in the order of their marks.
  static uint64_t MarkOf(std::string_view bytes) {
    return bytes.size() >= sizeof(uint64_t)
               ? base::LoadBigEndian64(bytes.data())
               : ShortMarkOf(bytes);
  }
  static uint64_t ShortMarkOf(std::string_view bytes);
  // Whole keys decide.
  int64_t FindAtLastMark(const StoredKey& key, uint64_t mark) const;
  // `at` is the first mark that is the key's.
  int64_t FindAmong(const StoredKey& key, const uint64_t* at) const;

  std::vector<uint64_t>
      marks_;               // Of the rows of first keys, behind the prefix.
  uint64_t last_mark_ = 0;  // Of the last key's.
  std::string_view common_prefix_;  // Of all rows.
  const std::vector<ChunkEntry>* chunks_ = nullptr;
  const StoredKey* last_key_ = nullptr;
};

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_CHUNK_INDEX_H_
