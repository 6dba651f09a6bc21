// SPDX-License-Identifier: Apache-2.0
//
// A chunk in memory: the units that were loaded, cut to the steps of precision
// that it was given, and the view that answers from them. It can be shrunk by
// its last unit while threads read it.

#ifndef ROWBLOOM_READER_RESIDENT_CHUNK_H_
#define ROWBLOOM_READER_RESIDENT_CHUNK_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cache/chunk_cache.h"
#include "reader/load_policy.h"
#include "rowbloom/filter.h"

namespace rowbloom::reader {

// The bytes of one unit, on a cache-line boundary. Shared by the versions of a
// chunk that have the whole unit.
class UnitBuffer {
 public:
  explicit UnitBuffer(size_t size);
  ~UnitBuffer();
  UnitBuffer(const UnitBuffer&) = delete;
  UnitBuffer& operator=(const UnitBuffer&) = delete;

  char* bytes() { return bytes_; }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  char* const bytes_;
  const size_t size_;
};

using UnitPtr = std::shared_ptr<const UnitBuffer>;
using UnitPtrs = std::array<UnitPtr, FilterDescriptor::kMaxUnits>;

// block::BlockIdentity() of a block, or 0 as long as the block is being
// written.
using SharedBlockIdentity = std::shared_ptr<const std::atomic<uint64_t>>;

// Identifies the bytes from which a chunk was read. If two files used one file
// id, a foreign chunk would deny this file's keys; a reader compares origins to
// reject it.
struct ChunkOrigin {
  uint64_t offset = 0;  // In the block.
  FilterDescriptor descriptor;
  SharedBlockIdentity block;  // Descriptors have only 32 bits per unit.

  // A block that is still being written (identity 0) equals no block.
  friend bool operator==(const ChunkOrigin& a, const ChunkOrigin& b) {
    return a.offset == b.offset && a.Block() != 0 && a.Block() == b.Block() &&
           a.descriptor == b.descriptor;
  }

 private:
  uint64_t Block() const { return block == nullptr ? 0 : block->load(); }
};

class ResidentChunk final : public cache::ChunkValue {
 public:
  // The chunk's memory at one time; Shrink() replaces it by another version.
  struct alignas(64) Version final : cache::Visible {
    FilterView view;  // First, so that lookups read one line.
    uint32_t steps = 0;
    // True if `steps` is all that the filter has.
    bool is_whole = false;  // FilterSteps() would cost each sampled lookup.
    // The steps left without the last unit, 0 if none, and that unit's charge
    // and savings. They are stored because the cache asks for them under its
    // lock.
    uint32_t rest_steps = 0;
    size_t last_unit_bytes = 0;
    double last_unit_saves = 0;
    UnitPtrs units;
  };

  // `units` are those of FilterAtStep(origin.descriptor, steps). `policy` is
  // the file's, and `chunk` its number there; without a policy the chunk stays
  // whole.
  static absl::StatusOr<std::unique_ptr<ResidentChunk>> Make(
      const ChunkOrigin& origin, uint32_t steps, const UnitPtrs& units,
      Kernel kernel, std::shared_ptr<const LoadPolicy> policy, size_t chunk);

  const ChunkOrigin& origin() const { return origin_; }
  // Call it before the cache has the chunk, or while a handle holds it.
  const Version& version() const { return *version_; }

  // Another reader counts its lookups from now on. Called under the cache's
  // lock.
  void set_policy(std::shared_ptr<const LoadPolicy> policy) {
    policy_ = std::move(policy);
  }

  // The charge in the cache for a chunk of `steps`.
  static size_t ChargeBytes(const FilterDescriptor& descriptor, uint32_t steps);

  const cache::Visible* visible() const override { return version_.get(); }
  double Worth() const override;
  std::unique_ptr<FilterCache::Value> Shrink(size_t* freed_bytes) override;

 private:
  struct Retired;

  ResidentChunk(const ChunkOrigin& origin, Kernel kernel,
                std::shared_ptr<const LoadPolicy> policy, size_t chunk);
  static absl::StatusOr<std::unique_ptr<Version>> MakeVersion(
      const FilterDescriptor& descriptor, uint32_t steps, const UnitPtrs& units,
      Kernel kernel);

  const ChunkOrigin origin_;
  const Kernel kernel_;
  std::shared_ptr<const LoadPolicy> policy_;
  const size_t chunk_;
  std::unique_ptr<const Version> version_;
};

}  // namespace rowbloom::reader

#endif  // ROWBLOOM_READER_RESIDENT_CHUNK_H_
