// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_warmer.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "cache/cached_chunks.h"
#include "cache/chunk_memory.h"
#include "cache/file_id.h"
#include "reader/resident_chunk.h"
#include "util/check.h"

namespace rowbloom {
namespace {

class FilterWarmer final : public FilterChunkObserver {
 public:
  FilterWarmer(FilterCache* cache, const FilterWarmerOptions& options)
      : cache_(internal::cache::ChunkCache::Of(*cache)), options_(options) {
    RB_CHECK(options.file_id != 0 &&
                 internal::cache::CheckFileId(options.file_id).ok(),
             "NewFilterWarmer(): file_id must be 1 to 2^63 - 1");
    RB_CHECK(internal::cache::CheckPriority(options.priority).ok(),
             "NewFilterWarmer(): priority is not a FilterCachePriority");
  }

  void OnChunk(uint64_t chunk, const EncodedFilter& filter) override {
    // A chunk of another block would get this block's identity.
    RB_CHECK(!is_finished_ && chunk == chunk_count_,
             "a FilterWarmer was given a second filter block: make one for "
             "each");
    ++chunk_count_;
    internal::reader::UnitPtrs units;
    size_t unit = 0;
    for (const std::string_view bytes : filter.UnitViews()) {
      auto buffer = std::make_shared<internal::cache::ChunkBytes>(
          bytes.size(), cache_.memory());
      std::copy(bytes.begin(), bytes.end(), buffer->bytes());
      units[unit++] = std::move(buffer);
    }
    const uint32_t steps = FilterSteps(filter.descriptor);
    auto resident = internal::reader::ResidentChunk::Make(
        filter.descriptor, steps, units, {0, identity_}, Kernel::kBest, nullptr,
        static_cast<size_t>(chunk));
    if (!resident.ok()) return;  // A reader would refuse it as well.
    cache_.PutChunk(
        {options_.file_id, chunk}, *std::move(resident),
        internal::reader::ResidentChunk::ChargeBytes(filter.descriptor, steps),
        options_.priority, /*shortcut=*/nullptr);
  }

  void OnFinish(uint64_t identity) override {
    RB_CHECK(!is_finished_,
             "a FilterWarmer was told twice that its filter block is finished");
    is_finished_ = true;
    identity_->store(identity);
  }

 private:
  internal::cache::ChunkCache& cache_;
  const FilterWarmerOptions options_;
  uint64_t chunk_count_ = 0;
  bool is_finished_ = false;
  // All chunks share it. As long as it is 0, no reader takes them for its own.
  const std::shared_ptr<std::atomic<uint64_t>> identity_ =
      std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace

std::unique_ptr<FilterChunkObserver> NewFilterWarmer(
    FilterCache* cache, const FilterWarmerOptions& options) {
  RB_CHECK(cache != nullptr, "NewFilterWarmer(): cache is null");
  return std::make_unique<FilterWarmer>(cache, options);
}

}  // namespace rowbloom
