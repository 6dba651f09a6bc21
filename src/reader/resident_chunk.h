// SPDX-License-Identifier: Apache-2.0
//
// A chunk in memory: the units that were loaded, cut to the steps of precision
// that it was given, and the view that answers from them. It never changes: the
// cache replaces it by a smaller one, without its last unit. A ChunkLoader
// makes it from the bytes of its block; adjacent chunks are read together.

#ifndef ROWBLOOM_READER_RESIDENT_CHUNK_H_
#define ROWBLOOM_READER_RESIDENT_CHUNK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "cache/cached_chunks.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/io.h"
#include "util/cache_line.h"

namespace rowbloom::internal::reader {

class LoadJudge;

// A unit is shared by the chunks that have the whole unit.
using UnitPtr = std::shared_ptr<const cache::ChunkBytes>;
using UnitPtrs = std::array<UnitPtr, FilterDescriptor::kMaxUnits>;

// The block from which a chunk was read. If two files used one file id, a
// foreign chunk would deny this file's keys; a reader compares identities to
// reject it.
struct BlockOfChunk {
  // block::BlockIdentity(), which depends on the descriptors of all chunks.
  uint64_t identity = 0;
  // In its place, for a block that is being written: 0 until it is finished.
  std::shared_ptr<const std::atomic<uint64_t>> written_identity = nullptr;

  // False for a block that is still being written.
  bool Is(uint64_t other) const {
    const uint64_t own =
        written_identity == nullptr ? identity : written_identity->load();
    return own != 0 && own == other;
  }
};

class alignas(util::kCacheLineBytes) ResidentChunk final
    : public cache::CachedFilter {
 public:
  // `units` are those of FilterAtStep(descriptor, steps). `judge` is the
  // file's, and `chunk` its number there; without a judge the chunk stays
  // whole.
  static absl::StatusOr<std::unique_ptr<ResidentChunk>> Make(
      const FilterDescriptor& descriptor, uint32_t steps, const UnitPtrs& units,
      const BlockOfChunk& block, Kernel kernel,
      std::shared_ptr<const LoadJudge> judge, size_t chunk);
  static void* operator new(size_t size) { return util::NewOnCacheLine(size); }
  static void operator delete(void* chunk) { util::DeleteOnCacheLine(chunk); }

  const FilterView& view() const { return view_; }
  uint32_t steps() const { return steps_; }
  // True if steps() is all that the filter has.
  bool is_whole() const { return is_whole_; }
  const BlockOfChunk& block() const { return block_; }
  const UnitPtrs& units() const { return units_; }

  // Another reader counts its lookups from now on. Called under the cache's
  // lock.
  void set_judge(std::shared_ptr<const LoadJudge> judge) {
    judge_ = std::move(judge);
  }

  // The charge in the cache for a chunk of `steps`.
  static size_t ChargeBytes(const FilterDescriptor& descriptor, uint32_t steps);
  // The charge for all steps of the descriptor.
  static size_t ChargeBytes(const FilterDescriptor& descriptor);

  double Worth() const override;
  std::unique_ptr<cache::CachedFilter> Shrunk(
      size_t* freed_bytes) const override;

 private:
  ResidentChunk(const FilterDescriptor& descriptor, uint32_t steps,
                const UnitPtrs& units, const BlockOfChunk& block, Kernel kernel,
                std::shared_ptr<const LoadJudge> judge, size_t chunk);
  const void* internal_kind() const override { return KindOf<ResidentChunk>(); }
  // The descriptor of FilterAtStep(descriptor, steps), without checksums.
  FilterDescriptor Descriptor() const;

  const uint32_t steps_;
  const bool is_whole_;  // FilterSteps() would cost each sampled lookup.
  const Kernel kernel_;
  const uint8_t family_code_;
  const size_t chunk_;
  std::shared_ptr<const LoadJudge> judge_;
  // The steps left without the last unit, 0 if none, and that unit's charge and
  // savings. They are stored because the cache asks for them under its lock.
  const uint32_t rest_steps_;
  const size_t last_unit_bytes_;
  const double last_unit_saves_;
  alignas(util::kCacheLineBytes) FilterView view_;  // Lookups read one line.
  const uint64_t parameters_;
  const BlockOfChunk block_;
  const UnitPtrs units_;
};

// Locates the bytes of a chunk, reads them, checks them and cuts them to the
// wanted steps of precision. It owns the index of the block.
class ChunkLoader {
 public:
  // `source` must outlive the loader. `offset` is the block's, in the source.
  ChunkLoader(const RandomAccessSource* source, uint64_t offset,
              block::ParsedFilterBlock block)
      : index_(std::move(block.index)),
        identity_(block.identity),
        source_(source),
        offset_(offset) {}

  const block::ChunkIndex& index() const { return index_; }
  block::BlockPlace Place() const;
  uint64_t identity() const { return identity_; }
  // The read that brings `steps` of the chunk (1 to FilterSteps()) into memory.
  FilterLoad LoadOf(size_t chunk, uint32_t steps) const;
  // True if LoadOf() could have returned this load.
  bool IsLoad(const FilterLoad& load) const;
  // Makes a chunk in `memory` from the bytes of a load. See
  // ResidentChunk::Make().
  absl::StatusOr<std::unique_ptr<ResidentChunk>> Build(
      const FilterLoad& load, std::string_view bytes,
      cache::ChunkMemory* memory, Kernel kernel,
      std::shared_ptr<const LoadJudge> judge) const;
  // Reads and checks the whole chunk, in `memory`.
  absl::Status Verify(size_t chunk, cache::ChunkMemory* memory,
                      Kernel kernel) const;
  const RandomAccessSource& source() const { return *source_; }

 private:
  const block::ChunkIndex index_;
  const uint64_t identity_;
  const RandomAccessSource* const source_;
  const uint64_t offset_;
};

// True if a read of the bytes from `begin` to `end` should go on over the bytes
// of `next`, of the same source.
bool JoinsRead(uint64_t begin, uint64_t end, const FilterLoad& next);

// A load in progress.
struct PendingLoad {
  const ChunkLoader* loader = nullptr;
  FilterLoad load;
  cache::ChunkMemory* memory = nullptr;  // The cache's; nullptr for the heap.
  // Set by ReadAll(). The bytes live as long as `buffer` and the source.
  absl::StatusOr<std::string_view> bytes = std::string_view();
  std::shared_ptr<const cache::ChunkBytes> buffer;
};

// Reads the bytes of all loads, at once if their sources can. Adjacent loads of
// one source are one read if they follow each other in `loads`.
void ReadAll(absl::Span<PendingLoad> loads);

}  // namespace rowbloom::internal::reader

#endif  // ROWBLOOM_READER_RESIDENT_CHUNK_H_
