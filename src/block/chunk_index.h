// SPDX-License-Identifier: Apache-2.0
//
// Where a filter block holds a key: in which chunk, by the shortened first
// filter key of each, and under which digest, if the store has a secret.

#ifndef ROWBLOOM_BLOCK_CHUNK_INDEX_H_
#define ROWBLOOM_BLOCK_CHUNK_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "rowbloom/compiler.h"
#include "rowbloom/digest_secret.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_key.h"

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

// A key behind `last` and not behind `first`, which must be greater: the
// shortest prefix of the row of `first` that is behind that of `last`, or if
// both are equal, the row and such a prefix of the qualifier. It has a
// qualifier if `first` has one. It views `first`.
StoredKey ShortestSeparator(const StoredKey& last, const StoredKey& first);

void AppendKey(const StoredKey& key, std::string* out);
// Advances *in; false if malformed. *key views into *in.
bool ReadKey(std::string_view* in, StoredKey* key);

// Where a key may be: nowhere, in one chunk, or anywhere, of which nothing is
// known. It is one word, so that functions return it in a register.
class Location {
 public:
  Location() : Location(kAnywhere) {}
  static Location Nowhere() { return Location(kNowhere); }
  // The chunk before this one; nowhere if it is the first.
  static Location Before(size_t chunk) { return Location(chunk - 1); }

  bool is_nowhere() const { return word_ == kNowhere; }
  bool is_anywhere() const { return word_ == kAnywhere; }
  bool is_in_chunk() const { return word_ < kAnywhere; }
  size_t chunk() const { return word_; }  // Only if it is in one.

 private:
  static constexpr size_t kNowhere = ~size_t{0};
  static constexpr size_t kAnywhere = kNowhere - 1;

  explicit Location(size_t word) : word_(word) {}

  size_t word_;
};

// The index of a block in memory, small: the encoded index and properties, and
// per chunk eight bytes of its lower bound and four that say where its entry
// begins. Entries stay encoded; each use decodes what it needs.
//
// Finds the chunk of a key. Compares eight bytes of each lower bound, which are
// contiguous in memory, and whole keys only where these are equal or the row is
// not before the last key's.
class ChunkIndex {
 public:
  // Larger indexes are not supported, nor are larger properties.
  static constexpr uint64_t kMaxBytes = 1 << 30;
  // ResourceExhausted for a block that readers would refuse.
  static absl::Status CheckSizes(uint64_t index_bytes,
                                 uint64_t properties_bytes);

  // An index of no chunks.
  ChunkIndex() = default;
  // `index` is valid, of `chunk_count` chunks; `last_key` is the encoded last
  // key of the last chunk, within `properties`, and empty if there is no chunk.
  // All bytes are copied. `filter`, if not empty, is that of the only chunk.
  ChunkIndex(size_t chunk_count, std::string_view index,
             std::string_view properties, std::string_view last_key,
             std::string_view filter = {});

  size_t size() const { return size_; }
  StoredKey FirstKeyOf(size_t chunk) const;
  FilterDescriptor DescriptorOf(size_t chunk) const;
  // From the block's start; for size() the end of the last chunk. Reads the
  // entries of fewer than kOffsetInterval chunks.
  uint64_t OffsetOf(size_t chunk) const;
  // The last key of the last chunk, if there is one.
  StoredKey LastKey() const;
  std::string_view index() const { return {bytes(), index_bytes_}; }
  std::string_view properties() const {
    return {bytes() + index_bytes_, properties_bytes_};
  }
  // The filter of the only chunk, if the index holds it; otherwise empty.
  std::string_view filter() const {
    return {bytes() + index_bytes_ + properties_bytes_, filter_bytes_};
  }
  // The bytes of the heap that it takes.
  size_t memory_bytes() const;

  // The chunk that holds the key if any does: the last whose lower bound is not
  // greater. Nowhere if the key is before the first bound or after the last
  // key.
  Location Find(const StoredKey& key) const {
    const Location location = FindByMark(key.row);
    return location.is_anywhere() ? FindAmong(key) : location;
  }
  // Find() for a row's own key.
  Location FindRow(std::string_view row) const {
    return Find({row, {}, false});
  }
  // All keys of a row may have the same Find(). Returns it, or anywhere if the
  // marks alone cannot tell.
  Location FindByMark(std::string_view row) const {
    if (!HasCommonPrefix(row)) return Location::Nowhere();
    const uint64_t mark = MarkOf(row, common_prefix_size_);
    if (mark >= last_mark_) {
      return mark > last_mark_ ? Location::Nowhere() : Location();
    }
    const size_t at = FirstNotBefore(mark);
    return marks_[at] == mark ? Location() : Location::Before(at);
  }

 private:
  // The offset is stored for one chunk in so many, but not for the first.
  static constexpr size_t kOffsetInterval = 4;

  // The functions below are inline and call no memcmp(): a call would make
  // every lookup save registers.

  bool HasCommonPrefix(std::string_view row) const {
    const std::string_view prefix(
        reinterpret_cast<const char*>(marks_.get()) + common_prefix_at_,
        common_prefix_size_);
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
  // be mispredicted. The sentinel is not smaller. There is a chunk.
  size_t FirstNotBefore(uint64_t mark) const {
    const uint64_t* const marks = marks_.get();
    // The answer is among the first 2^n marks or among the last ones.
    const size_t power = power_;
    // GCC would make a branch of a conditional expression.
    size_t at = (size_ + 1 - power) & -size_t{marks[power - 1] < mark};
    for (size_t half = power / 2; half > 0; half /= 2) {
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
  // Eight bytes as a number that orders as they do.
  static uint64_t Word(std::string_view bytes, size_t at) {
    uint64_t value;
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return internal::kIsLittleEndian ? internal::SwapBytes64(value) : value;
  }
  // Find() by whole keys, for a key that has the common prefix.
  Location FindAmong(const StoredKey& key) const;
  size_t OffsetCount() const { return size_ / kOffsetInterval; }
  // The encoded index from the chunk's entry on.
  std::string_view EntriesFrom(size_t chunk) const {
    return index().substr(entry_at()[chunk]);
  }

  const uint64_t* offsets() const { return marks_.get() + size_ + 1; }
  const uint32_t* entry_at() const {
    return reinterpret_cast<const uint32_t*>(offsets() + OffsetCount());
  }
  const char* bytes() const {
    return reinterpret_cast<const char*>(entry_at() + size_);
  }

  // One allocation: the marks of the lower bounds' rows after the common
  // prefix, and the largest number as a sentinel; the offsets; for each chunk
  // where in the index its entry begins; the index, the properties and the
  // filter.
  std::unique_ptr<uint64_t[]> marks_;
  uint64_t last_mark_ = 0;  // The mark of the last key's row.
  // Shared by all rows; where in the allocation.
  uint32_t common_prefix_at_ = 0;
  uint32_t common_prefix_size_ = 0;
  uint32_t size_ = 0;
  uint32_t power_ = 0;  // The largest 2^n that is at most size_.
  uint32_t index_bytes_ = 0;
  uint32_t properties_bytes_ = 0;
  uint32_t filter_bytes_ = 0;
  uint32_t last_key_at_ = 0;  // Where in the properties.
};

// Mixes a store's secret into digests. Every filter block with a secret depends
// on the definition (docs/filter_block_format.md, section "Secret"), so it must
// never change.
class DigestMixer {
 public:
  explicit DigestMixer(const DigestSecret& secret);

  bool has_secret() const { return check_ != 0; }
  // Distinguishes this secret from others; 0 without a secret.
  uint64_t check() const { return check_; }

  // The digest that filters are built from and queried with if there is a
  // secret.
  KeyDigest Mix(KeyDigest digest) const {
    // The high half of multiplier * digest + addend, modulo 2^128, both of 128
    // bits: any two digests are mapped independently of each other if nobody
    // knows the words (Dietzfelbinger 1996). That alone would keep arithmetic
    // progressions; the two shifts and the second product break them up.
    const internal::Product low =
        internal::Multiply(multiplier_low_, digest.value, addend_low_);
    uint64_t mixed = multiplier_high_ * digest.value + low.high + addend_high_;
    mixed ^= mixed >> 32;
    mixed *= 0x9fb21c651e98df25;
    return KeyDigest{mixed ^ mixed >> 32};
  }

 private:
  uint64_t check_ = 0;
  uint64_t multiplier_low_ = 0;
  uint64_t multiplier_high_ = 0;
  uint64_t addend_low_ = 0;
  uint64_t addend_high_ = 0;
};

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_CHUNK_INDEX_H_
