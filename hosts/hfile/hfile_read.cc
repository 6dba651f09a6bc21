// SPDX-License-Identifier: Apache-2.0
//
// Decides which read may use which filter.

#include <cstddef>
#include <string_view>

#include "rowbloom/hfile.h"

namespace rowbloom {

namespace {

// True if every row from the start row, which begins with `prefix`, up to
// `stop` begins with `prefix`, too.
bool EndsWithinPrefix(std::string_view prefix, std::string_view stop,
                      bool include_stop) {
  if (stop.substr(0, prefix.size()) == prefix) return true;
  // The first row without the prefix is the prefix with its last byte raised.
  const size_t raised = prefix.find_last_not_of('\xff');
  if (raised == std::string_view::npos || include_stop || stop.empty()) {
    return false;
  }
  return stop.size() == raised + 1 &&
         stop.substr(0, raised) == prefix.substr(0, raised) &&
         static_cast<unsigned char>(stop[raised]) ==
             static_cast<unsigned char>(prefix[raised]) + 1;
}

}  // namespace

HFileFilterUse ClassifyHFileRead(BloomType bloom_type,
                                 uint32_t prefix_length_bytes,
                                 const HFileRead& read) {
  switch (bloom_type) {
    case BloomType::kNone:
      break;
    case BloomType::kRow:
      if (read.is_get()) return HFileFilterUse::kRow;
      break;
    case BloomType::kRowCol:
      if (read.is_get() && !read.qualifiers.empty()) {
        return HFileFilterUse::kColumns;
      }
      break;
    case BloomType::kRowPrefixFixedLength:
      if (read.is_get() ||
          (prefix_length_bytes > 0 &&
           read.start_row.size() >= prefix_length_bytes &&
           EndsWithinPrefix(read.start_row.substr(0, prefix_length_bytes),
                            read.stop_row, read.include_stop))) {
        return HFileFilterUse::kPrefix;
      }
      break;
  }
  return HFileFilterUse::kNone;
}

}  // namespace rowbloom
