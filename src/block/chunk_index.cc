// SPDX-License-Identifier: Apache-2.0

#include "block/chunk_index.h"

#include <algorithm>

#include "base/coding.h"
#include "block/format.h"

namespace rowbloom::block {

int Compare(const StoredKey& a, const StoredKey& b) {
  if (const int c = a.row.compare(b.row); c != 0) return c;
  if (a.has_qualifier != b.has_qualifier) return a.has_qualifier ? 1 : -1;
  return a.qualifier.compare(b.qualifier);
}

StoredKey StoredKeyOf(const FilterKey& key) {
  return {key.row(), key.qualifier(), key.has_qualifier()};
}

void AppendKey(const StoredKey& key, std::string* out) {
  out->push_back(static_cast<char>(key.has_qualifier ? kRowColKey : kRowKey));
  base::AppendSized(key.row, out);
  if (key.has_qualifier) base::AppendSized(key.qualifier, out);
}

bool ReadKey(std::string_view* in, StoredKey* key) {
  uint8_t kind = 0;
  if (!base::ReadFixed(in, &kind)) return false;
  if (kind != kRowKey && kind != kRowColKey) return false;
  *key = StoredKey();
  key->has_qualifier = kind == kRowColKey;
  return base::ReadSized(in, &key->row) &&
         (!key->has_qualifier || base::ReadSized(in, &key->qualifier));
}

int64_t FindChunk(const std::vector<ChunkEntry>& chunks, const StoredKey& key) {
  const auto after =
      std::upper_bound(chunks.begin(), chunks.end(), key,
                       [](const StoredKey& asked, const ChunkEntry& chunk) {
                         return Compare(asked, chunk.first_key) < 0;
                       });
  return after - chunks.begin() - 1;
}

}  // namespace rowbloom::block
