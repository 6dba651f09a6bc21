// SPDX-License-Identifier: Apache-2.0
//
// Reads chunks from a source, checks them and cuts them to the steps of
// precision that are wanted. Chunks that lie together are read together.

#ifndef ROWBLOOM_READER_CHUNK_LOADER_H_
#define ROWBLOOM_READER_CHUNK_LOADER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "reader/resident_chunk.h"
#include "rowbloom/export.h"
#include "rowbloom/io.h"

namespace rowbloom::reader {

// Reads exactly size_bytes or fails. Exported for rowbloom::hfile.
ROWBLOOM_EXPORT absl::Status ReadExactly(const RandomAccessSource& source,
                                         uint64_t offset, size_t size_bytes,
                                         char* scratch,
                                         std::string_view* result);

struct ChunkLoad {
  size_t chunk = 0;
  uint32_t steps = 0;  // Wanted: 1 to FilterSteps(), 0 for always_maybe.
  // A version of fewer steps, whose whole units need not be read again. They
  // must not change meanwhile: a handle holds it.
  const ResidentChunk* base = nullptr;
};

struct LoadResult {
  absl::StatusOr<std::unique_ptr<ResidentChunk>> chunk =
      absl::UnknownError("not loaded");
  uint64_t read_bytes = 0;
};

class ChunkLoader {
 public:
  // All must outlive the loader. `place` and `identity` are the block's.
  ChunkLoader(const RandomAccessSource* source, const block::BlockPlace& place,
              uint64_t identity, const std::vector<block::ChunkEntry>* chunks,
              Kernel kernel, std::shared_ptr<const FileDemand> demand)
      : source_(source),
        place_(place),
        identity_(std::make_shared<std::atomic<uint64_t>>(identity)),
        chunks_(chunks),
        kernel_(kernel),
        demand_(std::move(demand)) {}

  ChunkOrigin OriginOf(size_t chunk) const {
    return {place_.offset + (*chunks_)[chunk].offset,
            (*chunks_)[chunk].descriptor, identity_};
  }
  // Bytes that it will read.
  uint64_t SizeOf(const ChunkLoad& load) const;
  LoadResult Load(const ChunkLoad& load) const;
  // Results in the order of `loads`, whose chunks increase.
  std::vector<LoadResult> LoadAll(absl::Span<const ChunkLoad> loads) const;
  // Reads and checks the whole chunk.
  absl::Status Verify(size_t chunk) const;

 private:
  struct Range {
    uint64_t begin = 0;  // In the source.
    uint64_t end = 0;
    size_t first_unit = 0;
    size_t unit_count = 0;
  };
  Range RangeOf(const ChunkLoad& load) const;
  // `bytes` are those of the range.
  absl::StatusOr<std::unique_ptr<ResidentChunk>> Build(
      const ChunkLoad& load, const Range& range, std::string_view bytes) const;

  const RandomAccessSource* const source_;
  const block::BlockPlace place_;
  const SharedBlockIdentity identity_;
  const std::vector<block::ChunkEntry>* const chunks_;
  const Kernel kernel_;
  const std::shared_ptr<const FileDemand> demand_;
};

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_CHUNK_LOADER_H_
