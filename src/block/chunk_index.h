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
    uint64_t mark = 0;
    const uint64_t* at = FindMark(key.row, &mark);
    return at == nullptr              ? -1
           : IsSurelyBefore(at, mark) ? ChunkBefore(at)
                                      : FindAmong(key, at);
  }
  // Of a row's own key.
  int64_t FindRow(std::string_view row) const {
    uint64_t mark = 0;
    const uint64_t* at = FindMark(row, &mark);
    return at == nullptr              ? -1
           : IsSurelyBefore(at, mark) ? ChunkBefore(at)
                                      : FindAmong({row, {}, false}, at);
  }

 private:
  // The first mark that is not smaller than the row's; nullptr if no chunk can
  // have the row.
  const uint64_t* FindMark(std::string_view row, uint64_t* mark) const {
    if (!common_prefix_.empty() &&
        row.substr(0, common_prefix_.size()) != common_prefix_) {
      return nullptr;
    }
    row.remove_prefix(common_prefix_.size());
    *mark = MarkOf(row);
    if (*mark > last_mark_) return nullptr;
    // Without a branch that could be mispredicted.
    const uint64_t* at = marks_.data();
    for (size_t half = half_; half > 0; half /= 2) {
      const uint64_t* const right = at + half;
      at = right[-1] < *mark ? right : at;
    }
    return at;
  }
  // If not, whole keys decide.
  bool IsSurelyBefore(const uint64_t* at, uint64_t mark) const {
    return *at != mark && mark != last_mark_;
  }
  int64_t ChunkBefore(const uint64_t* at) const {
    return at - marks_.data() - 1;
  }
  // The first eight bytes as a big-endian number, zeros behind their end. Rows
  // with different marks are in the order of their marks.
  static uint64_t MarkOf(std::string_view bytes) {
    return bytes.size() >= sizeof(uint64_t)
               ? base::LoadBigEndian64(bytes.data())
               : ShortMarkOf(bytes);
  }
  static uint64_t ShortMarkOf(std::string_view bytes);
  // `at` is the first mark that is not smaller than the key's.
  int64_t FindAmong(const StoredKey& key, const uint64_t* at) const;

  // Of the rows of first keys, behind the prefix; filled up to 2^n numbers with
  // the largest.
  std::vector<uint64_t> marks_;
  size_t half_ = 0;                 // Of these.
  uint64_t last_mark_ = 0;          // Of the last key.
  std::string_view common_prefix_;  // Of all rows.
  const std::vector<ChunkEntry>* chunks_ = nullptr;
  const StoredKey* last_key_ = nullptr;
};

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_CHUNK_INDEX_H_
