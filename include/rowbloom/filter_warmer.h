// SPDX-License-Identifier: Apache-2.0
//
// Puts the chunks of a filter block into the cache while they are written, so
// that the first lookups of a new file load none.
//
//   auto warmer = NewFilterWarmer(cache.get(), {file_id});
//   FilterBlockWriter writer(options, &sink, warmer.get());
//   ...
//   reader_options.file_id = file_id;   // The same id, and the same cache.
//
// A reader of this file id uses these chunks. Chunks for which the cache has no
// room are left out. If the file is not finished, or never read, call
// cache->EraseFile(file_id). The cache must outlive the warmer. A warmer is for
// one block (checked). One thread.

#ifndef ROWBLOOM_FILTER_WARMER_H_
#define ROWBLOOM_FILTER_WARMER_H_

#include <cstdint>
#include <memory>

#include "rowbloom/export.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_cache.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct FilterWarmerOptions {
  uint64_t file_id = 0;  // As in FilterReaderOptions; not 0.
  FilterCachePriority priority = FilterCachePriority::kNormal;
};

// `cache` must not be null, nor options.file_id 0, and options.priority one of
// the two (checked).
std::unique_ptr<FilterChunkObserver> NewFilterWarmer(
    FilterCache* cache, const FilterWarmerOptions& options);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_WARMER_H_
