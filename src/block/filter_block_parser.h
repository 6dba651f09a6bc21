// SPDX-License-Identifier: Apache-2.0
//
// The only parser of a filter block's bytes. It trusts nothing: every length,
// offset, count, order and checksum is checked here, once, and lookups trust
// the result. The bytes of a chunk are checked when it is loaded.
//
// Errors name the file and the offset in it: DataLoss for damage,
// Unimplemented for a newer format.

#ifndef ROWBLOOM_BLOCK_FILTER_BLOCK_PARSER_H_
#define ROWBLOOM_BLOCK_FILTER_BLOCK_PARSER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "block/chunk_index.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/key_codec.h"

namespace rowbloom::block {

// A block's place in its source, for messages and bounds checks.
struct BlockPlace {
  std::string_view source_name;
  uint64_t offset = 0;  // The block's start in the source.
  uint64_t size_bytes = 0;
};

// DataLoss "NAME: offset N: what", N counted in the source.
absl::Status DataLossAt(const BlockPlace& place, uint64_t offset_in_block,
                        std::string_view what);
// Puts the same name and offset before the message of `status`.
absl::Status Annotate(const BlockPlace& place, uint64_t offset_in_block,
                      const absl::Status& status);

struct ParsedFooter {
  uint64_t index_offset = 0;
  uint64_t index_size = 0;
  uint64_t properties_size = 0;
  uint32_t index_checksum = 0;
  uint32_t properties_checksum = 0;
  bool has_secret = false;
  bool has_prefixes_without_rows = false;

  // Index, properties and footer.
  uint64_t tail_size(const BlockPlace& place) const {
    return place.size_bytes - index_offset;
  }
};

// `footer` is the block's last Footer::kSize bytes.
absl::StatusOr<ParsedFooter> ParseFooter(const BlockPlace& place,
                                         std::string_view footer);

// The properties of a block say this. It views their encoded bytes.
struct BlockProperties {
  BloomType bloom_type{};  // No bloom type until one is read.
  uint32_t prefix_length_bytes = 0;
  bool has_row_keys = false;
  uint64_t cell_count = 0;
  uint64_t key_count = 0;
  uint64_t chunk_count = 0;
  uint64_t secret_check = 0;  // DigestMixer::check() of the writer's secret.
  std::optional<KeyCodec> key_codec;
  std::string_view filter_spec;
  std::string_view writer;
  std::string_view last_key;  // Encoded.
};

// Decodes the properties of an index that was parsed.
BlockProperties PropertiesOf(const ChunkIndex& index);
// The bytes of the whole block of such an index.
uint64_t BlockSizeOf(const ChunkIndex& index);

struct ParsedFilterBlock {
  uint64_t identity = 0;           // BlockIdentity().
  bool has_empty_filters = false;  // Some that have no bytes.
  ChunkIndex index;
};

// The filter of a block's only chunk is held with its index if it is no larger:
// a cache would take more for its entry alone.
inline constexpr uint64_t kMaxHeldFilterBytes = 256;

// `tail` is the block's last footer.tail_size() bytes. `chunks` are the bytes
// before it, or empty: if they are undamaged, the index may hold a filter.
absl::StatusOr<ParsedFilterBlock> ParseTail(const BlockPlace& place,
                                            const ParsedFooter& footer,
                                            std::string_view tail,
                                            std::string_view chunks = {});

}  // namespace rowbloom::block

#endif  // ROWBLOOM_BLOCK_FILTER_BLOCK_PARSER_H_
