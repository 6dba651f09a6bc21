// SPDX-License-Identifier: Apache-2.0
//
// Rows of bits of one shape, from which dynamic, split, balanced and matrix
// filters are made. They differ in the row that a key goes to and in the rows
// that a lookup probes.
//
//   FilterRows::Key key(digest, rows.shape());   // Its positions, once.
//   rows.Put(i, key);
//   if (rows.Covers(i, key)) ...
//
// Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_FILTER_ROWS_H_
#define ROWBLOOM_MEMFILTER_FILTER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

namespace memfilter {
class SavedFormReader;
class SavedFormWriter;
}  // namespace memfilter

// The limit for filters whose rows are all allocated at the start.
inline constexpr uint32_t kMaxRowCount = 1 << 16;

class FilterRows {
 public:
  // The positions of a key, the same in each row. They are computed when a row
  // is first probed for them, since most rows are probed for one or two.
  class Key {
   public:
    Key(KeyDigest digest, const BloomShape& shape)
        : probes_(digest, shape.bit_count) {}
    // i is at most one more than the largest position computed so far.
    uint64_t Position(uint32_t i) const {
      if (i == made_) positions_[made_++] = probes_.Next();
      return positions_[i];
    }

   private:
    mutable BloomProbes probes_;
    mutable uint32_t made_ = 0;
    mutable uint64_t positions_[kMaxProbeCount];
  };

  explicit FilterRows(const BloomShape& shape) : shape_(shape) {}

  const BloomShape& shape() const { return shape_; }
  size_t size() const { return rows_.size(); }
  // ResourceExhausted, and nothing is changed, if there is no memory for the
  // rows.
  absl::Status Append(size_t count);

  // True if all bits of the key are set in the row.
  bool Covers(size_t row, const Key& key) const {
    const BitArray& bits = rows_[row].bits;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      if (!bits.Test(key.Position(i))) return false;
    }
    return true;
  }
  bool AnyCovers(const Key& key) const {
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (Covers(row, key)) return true;
    }
    return false;
  }
  // answers[i] is AnyCovers() of digests[i].
  void AnyCovers(absl::Span<const KeyDigest> digests, bool* answers) const;
  // The number of the key's bits that are set in the row.
  uint32_t Matches(size_t row, const Key& key) const {
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      count += rows_[row].bits.Test(key.Position(i));
    }
    return count;
  }
  // Sets the key's bits. If that changes the row, counts the key and returns
  // true.
  bool Put(size_t row, const Key& key) {
    uint64_t changed = 0;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      changed += rows_[row].bits.Set(key.Position(i));
    }
    rows_[row].bits_set += changed;
    rows_[row].key_count += changed != 0;
    return changed != 0;
  }
  // Prefetches the word that Covers() reads first.
  void PrefetchFirst(size_t row, KeyDigest digest) const {
    rows_[row].bits.Prefetch(BloomProbes(digest, shape_.bit_count).Next());
  }

  uint64_t bits_set(size_t row) const { return rows_[row].bits_set; }
  uint64_t key_count(size_t row) const { return rows_[row].key_count; }
  // True if half of the row's bits are set: the fill at which a row holds the
  // most keys for its rate.
  bool IsSaturated(size_t row) const {
    return rows_[row].bits_set >= shape_.bit_count - shape_.bit_count / 2;
  }

  // Merges row by row; both have the same number of rows of the same shape.
  void SetAll(const FilterRows& other);
  // Copies the other's rows, of the same shape, to the front; skips groups of
  // group_size rows in which no bit is set.
  void Prepend(const FilterRows& other, size_t group_size);

  double fill() const;  // Over all rows; 0 if there are none.
  // RowFpr() is the rate of one row, AnyFpr() that of a lookup in all rows.
  double RowFpr(size_t row) const;
  double AnyFpr() const;
  uint64_t total_key_count() const;
  uint64_t memory_usage_bytes() const;

  // The rows in a saved filter: their shape and number, each row's key count,
  // then all bits. Load() returns at least one row, unless *reader has refused,
  // and allocates no more bytes than the saved filter has.
  void Save(memfilter::SavedFormWriter* writer) const;
  static FilterRows Load(memfilter::SavedFormReader* reader);

 private:
  struct Row {
    BitArray bits;
    uint64_t bits_set = 0;
    uint64_t key_count = 0;
  };

  BloomShape shape_;
  std::vector<Row> rows_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_FILTER_ROWS_H_
