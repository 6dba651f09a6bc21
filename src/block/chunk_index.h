// SPDX-License-Identifier: Apache-2.0
//
// Maps the shortened first filter key of each chunk to the chunk's offset and
// descriptor.

#ifndef ROWBLOOM_BLOCK_CHUNK_INDEX_H_
#define ROWBLOOM_BLOCK_CHUNK_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"
#include "util/coding.h"

namespace rowbloom::block {

// A filter key's bytes without its digest.
struct StoredKey {
  std::string_view row;
  std::string_view qualifier;
  bool has_qualifier = false;
};

// Orders keys as FilterKey::Compare() does.
int Compare(const StoredKey& a, const StoredKey& b);
inline StoredKey StoredKeyOf(const FilterKey& key) {
  return {key.row(), key.qualifier(), key.has_qualifier()};
}

// A hash of the bytes of both: blocks whose index or properties differ have
// different identities, except with probability 2^-64.
uint64_t BlockIdentity(std::string_view index, std::string_view properties);

// The shortest prefix of `first` that is greater than `last`, which must be
// smaller than `first`. It has a qualifier if `first` has one, an empty one if
// the prefix ends within the row. It views `first`.
StoredKey ShortestSeparator(const StoredKey& last, const StoredKey& first);

void AppendKey(const StoredKey& key, std::string* out);
// Advances *in; false if malformed. *key views into *in.
bool ReadKey(std::string_view* in, StoredKey* key);

struct ChunkEntry {
  // A lower bound of the chunk's keys, greater than all keys of the previous
  // chunk. For the first chunk it is exactly its first key.
  StoredKey first_key;
  uint64_t offset = 0;  // From the block's start.
  FilterDescriptor descriptor;
};

// Finds the chunk of a key. Compares eight bytes of each lower bound, which are
// contiguous in memory, and whole keys only where these are equal or the row is
// not before the last key's.
class ChunkLocator {
 public:
  ChunkLocator() = default;
  // `chunks` are in order of first_key; `last_key` is the last key of the last
  // chunk. Both, and the bytes they view, must outlive the locator.
  ChunkLocator(const std::vector<ChunkEntry>* chunks,
               const StoredKey* last_key);

  // The chunk that holds the key if any does: the last whose lower bound is not
  // greater. kNone if the key is before the first bound or after the last key.
  static constexpr int64_t kNone = -1;
  int64_t Find(const StoredKey& key) const {
    const int64_t chunk = FindByMark(key.row);
    return chunk == kUnsure ? FindAmong(key) : chunk;
  }
  // Find() for a row's own key.
  int64_t FindRow(std::string_view row) const { return Find({row, {}, false}); }
  // All keys of a row may have the same Find(). Returns it, or kUnsure if the
  // marks alone cannot tell.
  static constexpr int64_t kUnsure = -2;
  int64_t FindByMark(std::string_view row) const {
    if (!HasCommonPrefix(row)) return kNone;
    const uint64_t mark = MarkOf(row, common_prefix_.size());
    if (mark >= last_mark_) return kUnsure;
    const size_t at = FirstNotBefore(mark);
    return marks_[at] == mark ? kUnsure : static_cast<int64_t>(at) - 1;
  }

 private:
  // The functions below are inline and call no memcmp(): a call would make
  // every lookup save registers.

  bool HasCommonPrefix(std::string_view row) const {
    const std::string_view prefix = common_prefix_;
    if (prefix.empty()) return true;
    if (row.size() < prefix.size()) return false;
    size_t at = 0;
    if (prefix.size() >= sizeof(uint64_t)) {
      const size_t last = prefix.size() - sizeof(uint64_t);
      for (; at < last; at += sizeof(uint64_t)) {
        if (Word(row, at) != Word(prefix, at)) return false;
      }
      return Word(row, last) == Word(prefix, last);
    }
    for (; at < prefix.size(); ++at) {
      if (row[at] != prefix[at]) return false;
    }
    return true;
  }
  // Returns the number of marks that are smaller, without a branch that could
  // be mispredicted.
  size_t FirstNotBefore(uint64_t mark) const {
    const uint64_t* const marks = marks_.data();
    size_t at = 0;
    for (size_t half = half_; half > 0; half /= 2) {
      const size_t right = at + half;
      at = marks[right - 1] < mark ? right : at;
    }
    return at;
  }
  // The eight bytes from `at` as a big-endian number, padded with zeros. Rows
  // with different marks are in the order of their marks.
  static uint64_t MarkOf(std::string_view row, size_t at) {
    const size_t size = row.size() - at;
    if (size >= sizeof(uint64_t)) return Word(row, at);
    if (size == 0) return 0;
    const size_t missing_bits = 64 - 8 * size;
    if (row.size() >= sizeof(uint64_t)) {
      return Word(row, row.size() - sizeof(uint64_t)) << missing_bits;
    }
    uint64_t mark = 0;
    for (; at < row.size(); ++at) {
      mark = mark << 8 | static_cast<uint8_t>(row[at]);
    }
    return mark << missing_bits;
  }
  static uint64_t Word(std::string_view bytes, size_t at) {
    return util::LoadBigEndian64(bytes.data() + at);
  }
  // Find() by whole keys, for a key that has the common prefix.
  int64_t FindAmong(const StoredKey& key) const;

  // The marks of the lower bounds' rows after the common prefix, padded to 2^n
  // numbers with the largest.
  std::vector<uint64_t> marks_ = {~uint64_t{0}};
  size_t half_ = 0;                 // Half the size of marks_.
  uint64_t last_mark_ = 0;          // The mark of *last_key_.
  std::string_view common_prefix_;  // Shared by all rows.
  const std::vector<ChunkEntry>* chunks_ = nullptr;
  const StoredKey* last_key_ = nullptr;
};

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_CHUNK_INDEX_H_
