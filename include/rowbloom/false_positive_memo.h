// SPDX-License-Identifier: Apache-2.0
//
// Remembers false positives: absent keys for which a filter said "maybe". If
// the same keys are asked again and again, each then costs one read only.
//
//   FalsePositiveMemo memo(1 << 20);
//   if (reader->MayContain(key) && !memo.Denies(file_id, key)) {
//     const bool key_was_there = ReadSst(key);
//     if (!key_was_there) memo.Remember(file_id, key);
//   }
//
// A wrong Remember() loses the row: call it only if the file has no cell of the
// key at all. A cell that is deleted, too new or too old to be returned counts,
// and so does a tombstone. Ids are those of immutable files; never use an id
// for a second file: a Remember() under way survives EraseFile().
//
// All methods may be called on any number of threads; Remember() allocates. An
// entry takes some 200 bytes.

#ifndef ROWBLOOM_FALSE_POSITIVE_MEMO_H_
#define ROWBLOOM_FALSE_POSITIVE_MEMO_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rowbloom/export.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"

namespace ROWBLOOM_EXPORT rowbloom {

class FalsePositiveMemo {
 public:
  // The memory of all entries, overhead included. Old entries make room for
  // new ones.
  explicit FalsePositiveMemo(size_t capacity_bytes);

  // True if Remember() was called with the same file and the same key.
  bool Denies(uint64_t file_id, const FilterKey& key) const;
  void Remember(uint64_t file_id, const FilterKey& key);
  // Takes time proportional to all entries.
  void EraseFile(uint64_t file_id);
  FilterCache::Usage GetUsage() const { return cache_->GetUsage(); }

 private:
  const std::unique_ptr<FilterCache> cache_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FALSE_POSITIVE_MEMO_H_
