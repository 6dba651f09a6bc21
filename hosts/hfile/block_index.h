// SPDX-License-Identifier: Apache-2.0
//
// Indexes over blocks: of the data, in one or more levels, and of named meta
// blocks. A root index is a list of entries without a count; leaves and
// intermediate blocks begin with a table of offsets.

#ifndef ROWBLOOM_HFILE_BLOCK_INDEX_H_
#define ROWBLOOM_HFILE_BLOCK_INDEX_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rowbloom::hfile {

struct IndexEntry {
  uint64_t offset = 0;
  uint32_t size = 0;  // In the file, with header and checksums.
  std::string key;
};

// Parses `count` entries. In a root of several levels, the place of the file's
// middle key follows them.
absl::StatusOr<std::vector<IndexEntry>> ParseRootIndex(std::string_view payload,
                                                       uint64_t count,
                                                       bool has_mid_key);
// Parses an index of at most `max_count` entries.
absl::StatusOr<std::vector<IndexEntry>> ParseInnerIndex(
    std::string_view payload, uint64_t max_count);

void AppendRootIndexEntry(const IndexEntry& entry, std::string* payload);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOCK_INDEX_H_
