// SPDX-License-Identifier: Apache-2.0
//
// The key by which a cell enters a filter and by which a lookup asks it: a row,
// or a row with a qualifier, together with its 64-bit digest. A lookup can also
// ask for all rows that begin with a prefix.
//
//   const FilterKey cell = FilterKey::RowCol("user17", "email");
//   for (const Sst& sst : ssts) {          // Hashed once, asked many times.
//     if (sst.filter->MayContain(cell)) Read(sst);
//   }
//
// A FilterKey is a view: the row and the qualifier must outlive it. Recent
// releases of Clang warn of a key that views a temporary string (-Wdangling).
//
// Digest: XXH3-64 of the row, or prefix, with seed 0; of a (row, qualifier),
// XXH3-64 of the qualifier seeded with the row's digest. Every filter persists
// digests, so the definition never changes.

#ifndef ROWBLOOM_FILTER_KEY_H_
#define ROWBLOOM_FILTER_KEY_H_

#include <cstdint>
#include <string_view>

#include "absl/base/attributes.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The hash of a filter key, a strong type so that no other integer is passed.
struct KeyDigest {
  uint64_t value = 0;
};

inline bool operator==(KeyDigest a, KeyDigest b) { return a.value == b.value; }
inline bool operator!=(KeyDigest a, KeyDigest b) { return a.value != b.value; }

// The digest of a bare byte string: of a row, or of a flat key of the host.
KeyDigest DigestBytes(std::string_view bytes);
// The digest of a column of the row that has the digest `row`.
KeyDigest DigestColumn(KeyDigest row, std::string_view qualifier);

class FilterKey {
 public:
  static FilterKey Row(std::string_view row ABSL_ATTRIBUTE_LIFETIME_BOUND);
  static FilterKey RowCol(std::string_view row ABSL_ATTRIBUTE_LIFETIME_BOUND,
                          std::string_view qualifier
                              ABSL_ATTRIBUTE_LIFETIME_BOUND);
  // Reuses the row's digest: hashes the qualifier only.
  static FilterKey RowCol(const FilterKey& row,
                          std::string_view qualifier
                              ABSL_ATTRIBUTE_LIFETIME_BOUND);
  // Asks "is there a row that begins with these bytes?" A filter block answers
  // if it was written with FilterOptions::key_codec, or if its bloom type is
  // ROWPREFIX_FIXED_LENGTH and these are at least as many bytes as its
  // prefixes. Only lookups take it.
  static FilterKey Prefix(
      std::string_view prefix ABSL_ATTRIBUTE_LIFETIME_BOUND);
  // Hashes nothing: takes the digests that Row() and RowCol() computed before.
  static FilterKey RowCol(std::string_view row ABSL_ATTRIBUTE_LIFETIME_BOUND,
                          std::string_view qualifier
                              ABSL_ATTRIBUTE_LIFETIME_BOUND,
                          KeyDigest row_digest, KeyDigest digest);

  // The numbers stay within the process.
  enum class Kind : uint8_t { kRow, kRowCol, kPrefix };
  Kind kind() const { return kind_; }
  // The row, or the prefix.
  std::string_view row() const { return row_; }
  std::string_view qualifier() const { return qualifier_; }
  bool has_qualifier() const { return kind_ == Kind::kRowCol; }
  bool is_prefix() const { return kind_ == Kind::kPrefix; }
  KeyDigest digest() const { return digest_; }
  KeyDigest row_digest() const { return row_digest_; }

  // Orders by row, then the row's own key, then its columns by qualifier:
  // bytewise, unsigned. A prefix compares as a row of its bytes. Negative, zero
  // or positive.
  int Compare(const FilterKey& other) const;

 private:
  FilterKey() = default;

  std::string_view row_;
  std::string_view qualifier_;
  KeyDigest row_digest_;
  KeyDigest digest_;
  Kind kind_ = Kind::kRow;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_KEY_H_
