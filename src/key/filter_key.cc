// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_key.h"

#define XXH_INLINE_ALL  // A call would cost half as much again.
#include <xxhash.h>

#include <cstddef>

#include "rowbloom/compiler.h"

namespace rowbloom {

namespace {

constexpr size_t kShortSize = 32;

// Out of line, so that DigestBytes() of short bytes saves no registers.
ROWBLOOM_NOINLINE KeyDigest DigestLongBytes(std::string_view bytes) {
  return KeyDigest{XXH3_64bits(bytes.data(), bytes.size())};
}

}  // namespace

KeyDigest DigestBytes(std::string_view bytes) {
  const char* const data = bytes.data();
  const size_t size = bytes.size();
  if (ROWBLOOM_UNLIKELY(size > kShortSize)) return DigestLongBytes(bytes);
  // The compiler keeps of each call what bytes of these sizes need.
  if (ROWBLOOM_LIKELY(size > 16 && size <= kShortSize)) {
    return KeyDigest{XXH3_64bits(data, size)};
  }
  if (size > 16) ROWBLOOM_UNREACHABLE();
  return KeyDigest{XXH3_64bits(data, size)};
}

KeyDigest DigestColumn(KeyDigest row, std::string_view qualifier) {
  return KeyDigest{
      XXH3_64bits_withSeed(qualifier.data(), qualifier.size(), row.value)};
}

FilterKey FilterKey::Row(std::string_view row) {
  FilterKey key;
  key.row_ = row;
  key.row_digest_ = DigestBytes(row);
  key.digest_ = key.row_digest_;
  return key;
}

FilterKey FilterKey::RowCol(std::string_view row, std::string_view qualifier) {
  return RowCol(Row(row), qualifier);
}

FilterKey FilterKey::RowCol(const FilterKey& row, std::string_view qualifier) {
  return RowCol(row.row_, qualifier, row.row_digest_,
                DigestColumn(row.row_digest_, qualifier));
}

FilterKey FilterKey::RowCol(std::string_view row, std::string_view qualifier,
                            KeyDigest row_digest, KeyDigest digest) {
  FilterKey key;
  key.row_ = row;
  key.qualifier_ = qualifier;
  key.row_digest_ = row_digest;
  key.digest_ = digest;
  key.kind_ = Kind::kRowCol;
  return key;
}

FilterKey FilterKey::Prefix(std::string_view prefix) {
  FilterKey key = Row(prefix);
  key.kind_ = Kind::kPrefix;
  return key;
}

int FilterKey::Compare(const FilterKey& other) const {
  // char_traits<char>::compare is unsigned, as memcmp is.
  if (const int c = row_.compare(other.row_); c != 0) return c;
  if (has_qualifier() != other.has_qualifier()) return has_qualifier() ? 1 : -1;
  return qualifier_.compare(other.qualifier_);
}

}  // namespace rowbloom
