// SPDX-License-Identifier: Apache-2.0
//
// Filters that change while they live: their common terms, and one type for all
// of them, for programs that choose the filter at run time.
//
//   std::unique_ptr<MemFilter> filter = AnyFilter(*StandardFilter::New(shape));
//   absl::StatusOr<bool> added = filter->Add(digest);
//   absl::StatusOr<std::unique_ptr<MemFilter>> loaded = LoadMemFilter(bytes);
//
// The filters themselves (standard.h, concurrent.h, counting.h, scalable.h,
// layers.h) have no virtual functions. Each of them has:
//
//   New(options)         InvalidArgument for options out of their range,
//                        ResourceExhausted if there is no memory for its bits.
//   Add(digest)          True if it set a bit that was clear, or in a
//                        CountingFilter a counter that was 0; otherwise the key
//                        may have been there already. StatusOr if the filter
//                        can be full, or needs memory: ResourceExhausted,
//                        nothing changed.
//   MayContain(digest)   False: certainly not added, or removed since.
//   both for a Span      A batch of keys.
//   Remove(digest)       CountingFilter only.
//   Union(other)         Adds the other's keys; all but ScalableFilter.
//   fill()               The share of bits that are set, 0 to 1.
//   expected_fpr()       The rate at which absent keys look present now.
//   approximate_count()  The number of its keys.
//   memory_usage_bytes()
//   Save(), Load(bytes)  A versioned, checksummed byte string. Load: DataLoss
//                        for damage, Unimplemented for a newer version,
//                        InvalidArgument for another kind of filter.
//
// Threads: as with a std::vector, many may look up or one may change it;
// ConcurrentFilter allows both at once. A filter that was moved from may only
// be destroyed or assigned to. Copies, Union() and Save() end the program if
// there is no memory, as containers do.
//
// A digest is that of FilterKey, which filters of SSTs also take: a key is
// hashed once. docs/memfilters.md says when to use which filter.

#ifndef ROWBLOOM_MEMFILTER_MEM_FILTER_H_
#define ROWBLOOM_MEMFILTER_MEM_FILTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/concurrent.h"
#include "rowbloom/memfilter/counting.h"
#include "rowbloom/memfilter/layers.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/scalable.h"
#include "rowbloom/memfilter/standard.h"

namespace ROWBLOOM_EXPORT rowbloom {

class MemFilter {
 public:
  virtual ~MemFilter() = default;

  virtual MemFilterKind kind() const = 0;
  // For people, for example "4096 bits, 8 probes".
  virtual std::string OptionsText() const = 0;
  virtual absl::StatusOr<bool> Add(KeyDigest digest) = 0;
  // Stops at the first key that finds no room.
  virtual absl::Status Add(absl::Span<const KeyDigest> digests) = 0;
  virtual bool MayContain(KeyDigest digest) const = 0;
  virtual void MayContain(absl::Span<const KeyDigest> digests,
                          bool* may_contain) const = 0;
  // Unimplemented if the filter has no such operation.
  virtual absl::StatusOr<bool> Remove(KeyDigest digest) = 0;
  virtual absl::Status Union(const MemFilter& other) = 0;
  virtual double fill() const = 0;
  virtual double expected_fpr() const = 0;
  virtual uint64_t approximate_count() const = 0;
  virtual uint64_t memory_usage_bytes() const = 0;
  virtual std::string Save() const = 0;

 protected:
  // The wrapped filter if `tag` is that of its type; else nullptr.
  virtual const void* FilterOf(const void* tag) const = 0;
  static const void* FilterOf(const MemFilter& other, const void* tag) {
    return other.FilterOf(tag);
  }
};

// Takes ownership of the filter, one of those above. Threads as the filter.
template <typename Filter, MemFilterKind = Filter::kKind>
ROWBLOOM_EXPORT std::unique_ptr<MemFilter> AnyFilter(Filter filter);

// Loads a saved filter of any kind but RedissonFilter's. A ConcurrentFilter
// comes back as a StandardFilter, which is not for several threads;
// ConcurrentFilter::Load() returns one that is.
absl::StatusOr<std::unique_ptr<MemFilter>> LoadMemFilter(
    std::string_view saved);

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_MEM_FILTER_H_
