// SPDX-License-Identifier: Apache-2.0
//
// The prefixes of a row that a filter block holds: those that the key codec
// finds, each with the byte that it leaves out. All rows that begin with such a
// prefix have it, and their other prefixes up to it, too: whether some bytes
// are a prefix does not depend on those behind them. The whole row is not among
// them.

#ifndef ROWBLOOM_KEY_ROW_PREFIXES_H_
#define ROWBLOOM_KEY_ROW_PREFIXES_H_

#include <array>
#include <cstddef>
#include <string_view>

#include "rowbloom/key_codec.h"

namespace rowbloom::key {

struct RowPrefixes {
  size_t count = 0;
  std::array<size_t, KeyCodec::kMaxSegments> sizes;  // They increase.
};

// The number of prefixes of a row that holds all segments.
inline size_t MostPrefixes(const KeyCodec& codec) {
  const size_t key_levels = codec.key_level_count();
  return codec.LastSegmentOf(key_levels).takes_rest ? key_levels - 1
                                                    : key_levels;
}

inline RowPrefixes RowPrefixesOf(const KeyCodec& codec, std::string_view row) {
  const KeyCodec::Prefixes found = codec.PrefixesOf(row);
  RowPrefixes prefixes;
  for (size_t i = 0; i < found.count; ++i) {
    const KeyCodec::Segment& last = codec.LastSegmentOf(i + 1);
    // The byte that was left out tells the end from an escaped 00.
    const size_t size = found.sizes[i] + (last.leaves_out_byte ? 1 : 0);
    if (last.takes_rest || size > row.size()) break;
    prefixes.sizes[prefixes.count++] = size;
  }
  return prefixes;
}

}  // namespace rowbloom::key

#endif  // ROWBLOOM_KEY_ROW_PREFIXES_H_
