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
StoredKey StoredKeyOf(const FilterKey& key);

void AppendKey(const StoredKey& key, std::string* out);
// Advances *in; false if malformed. *key views into *in.
bool ReadKey(std::string_view* in, StoredKey* key);

struct ChunkEntry {
  StoredKey first_key;
  uint64_t offset = 0;  // From the block's start.
  FilterDescriptor descriptor;
};

// The chunk that holds the key if any does: the last whose first key is not
// greater. -1 if the key is before all. `chunks` are in order of first key.
int64_t FindChunk(const std::vector<ChunkEntry>& chunks, const StoredKey& key);

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_CHUNK_INDEX_H_
