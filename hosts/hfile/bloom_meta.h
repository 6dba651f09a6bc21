// SPDX-License-Identifier: Apache-2.0
//
// The block that describes a Bloom filter: sizes, hash, and the index of its
// chunks.
//
//   version (4) | bytes (8) | hash count (4) | hash type (4) | keys (8)
//   | maximum keys (8) | chunks (4) | comparator (sized)
//   | for each chunk: offset (8) | size in the file (4) | first key (sized)

#ifndef ROWBLOOM_HFILE_BLOOM_META_H_
#define ROWBLOOM_HFILE_BLOOM_META_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/hfile_types.h"

namespace rowbloom::hfile {

inline constexpr int32_t kBloomMetaVersion = 3;

struct BloomChunkEntry {
  uint64_t offset = 0;
  uint32_t size = 0;  // In the file, with header and checksums.
  std::string first_key;
};

struct BloomMeta {
  uint64_t size_bytes = 0;  // The size of all chunks, uncompressed.
  int32_t hash_count = 0;
  HFileHash hash = HFileHash::kMurmur;
  uint64_t key_count = 0;
  uint64_t max_keys = 0;
  std::string comparator;
  std::vector<BloomChunkEntry> chunks;
};

// Unimplemented for another version or hash; DataLoss if it is impossible: no
// chunk, or one that does not lie before `end` and after the previous one.
absl::StatusOr<BloomMeta> ParseBloomMeta(std::string_view payload,
                                         uint64_t end);
std::string SerializeBloomMeta(const BloomMeta& meta);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_META_H_
