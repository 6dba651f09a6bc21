// SPDX-License-Identifier: Apache-2.0
//
// Locates the bytes of a chunk, reads them, checks them and cuts them to the
// wanted steps of precision. Adjacent chunks are read together.

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
#include "reader/load_judge.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/io.h"

namespace rowbloom::reader {

class ChunkLoader {
 public:
  // All must outlive the loader. `place` and `identity` are the block's.
  ChunkLoader(const RandomAccessSource* source, const block::BlockPlace& place,
              uint64_t identity, const std::vector<block::ChunkEntry>* chunks,
              Kernel kernel, std::shared_ptr<const LoadJudge> judge)
      : source_(source),
        place_(place),
        identity_(std::make_shared<std::atomic<uint64_t>>(identity)),
        chunks_(chunks),
        kernel_(kernel),
        judge_(std::move(judge)) {}

  ChunkOrigin OriginOf(size_t chunk) const {
    const block::ChunkEntry& entry = (*chunks_)[chunk];
    return {entry.offset, entry.descriptor, identity_};
  }
  // The read that brings `steps` of the chunk (1 to FilterSteps()) into memory.
  FilterLoad LoadOf(size_t chunk, uint32_t steps) const;
  // True if LoadOf() could have returned this load.
  bool IsLoad(const FilterLoad& load) const;
  // Makes a chunk from the bytes of a load.
  absl::StatusOr<std::unique_ptr<ResidentChunk>> Build(
      const FilterLoad& load, std::string_view bytes) const;
  // Reads and checks the whole chunk.
  absl::Status Verify(size_t chunk) const;
  const RandomAccessSource& source() const { return *source_; }

 private:
  const RandomAccessSource* const source_;
  const block::BlockPlace place_;
  const SharedBlockIdentity identity_;
  const std::vector<block::ChunkEntry>* const chunks_;
  const Kernel kernel_;
  const std::shared_ptr<const LoadJudge> judge_;
};

// A load in progress.
struct PendingLoad {
  const ChunkLoader* loader = nullptr;
  FilterLoad load;
  // Set by ReadAll(). The bytes live as long as `buffer` and the source.
  absl::StatusOr<std::string_view> bytes = std::string_view();
  std::shared_ptr<const char[]> buffer;
};

// Reads the bytes of all loads, at once if their sources can. Adjacent loads of
// one source are one read if they follow each other in `loads`.
void ReadAll(absl::Span<PendingLoad> loads);

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_CHUNK_LOADER_H_
