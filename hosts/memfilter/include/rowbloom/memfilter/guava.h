// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes filters of com.google.common.hash.BloomFilter: a filter made
// in Java gives the same answers here, and the reverse.
//
//   auto filter = GuavaFilter::New(1'000'000, 0.03);
//   filter->Add(GuavaDigest::Bytes("user17"));      // stringFunnel(UTF_8)
//   std::string stream = filter->WriteTo();         // For readFrom() in Java.
//   auto from_java = GuavaFilter::ReadFrom(bytes_of_writeTo);
//
// The hash is Guava's, Murmur3 x64 128 with seed 0 over the funnel's output.
// Its digests are not those of FilterKey; a key is hashed once for all filters
// of this kind. Guava's stream has no checksum: only damage to its structure is
// found. Store it with a checksum. Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_GUAVA_H_
#define ROWBLOOM_MEMFILTER_GUAVA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/sizing.h"
#include "rowbloom/memfilter/standard.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The hash of a key by its funnel.
struct GuavaDigest {
  uint64_t low = 0;
  uint64_t high = 0;

  // byteArrayFunnel; stringFunnel(UTF_8) of these UTF-8 bytes.
  static GuavaDigest Bytes(std::string_view bytes);
  static GuavaDigest UnencodedChars(std::u16string_view chars);
  static GuavaDigest Integer(int32_t value);
  static GuavaDigest Long(int64_t value);
};

// The ordinals that Guava persists.
enum class GuavaStrategy : uint8_t {
  kMurmur128Mitz32 = 0,
  kMurmur128Mitz64 = 1
};

// The formula by which a Guava release chooses the number of probes. Only New()
// uses it: the stream holds the number.
enum class GuavaProbes : uint8_t {
  kByBits,  // round(m / n ln 2), as 31.1 does.
  kByRate,  // round(-log2 p), as 33.4.8 to 33.8.0 do.
};

class GuavaFilter {
 public:
  // Guava's own default rate is 0.03. As in Guava, 0 keys mean one.
  // InvalidArgument unless the rate is above 0 and below 1.
  static absl::StatusOr<GuavaFilter> New(
      uint64_t expected_insertions, double fpp = 0.03,
      GuavaStrategy strategy = GuavaStrategy::kMurmur128Mitz64,
      GuavaProbes probes = GuavaProbes::kByRate);

  // put(): returns true if a bit changed.
  bool Add(const GuavaDigest& digest);
  void Add(absl::Span<const GuavaDigest> digests);
  // mightContain().
  bool MayContain(const GuavaDigest& digest) const;
  void MayContain(absl::Span<const GuavaDigest> digests,
                  bool* may_contain) const;
  // putAll(). InvalidArgument unless both have the same shape and strategy.
  absl::Status Union(const GuavaFilter& other);

  double fill() const { return filter_.fill(); }
  // expectedFpp()
  double expected_fpr() const { return filter_.expected_fpr(); }
  // approximateElementCount()
  uint64_t approximate_count() const { return filter_.approximate_count(); }
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) - sizeof(filter_) + filter_.memory_usage_bytes();
  }

  // WriteTo() returns the bytes of writeTo(); ReadFrom() parses them. DataLoss
  // for bytes that are not such a filter, or go on after it; Unimplemented for
  // another strategy, which a newer Guava may have.
  std::string WriteTo() const;
  static absl::StatusOr<GuavaFilter> ReadFrom(std::string_view stream);

  GuavaStrategy strategy() const { return strategy_; }
  // Guava rounds the bits up to whole words.
  const BloomShape& shape() const { return filter_.shape(); }

 private:
  GuavaFilter(GuavaStrategy strategy, StandardFilter filter)
      : strategy_(strategy), filter_(std::move(filter)) {}

  // Calls visit(position) until it returns false.
  template <typename Visit>
  void VisitPositions(const GuavaDigest& digest, const Visit& visit) const;

  GuavaStrategy strategy_;
  StandardFilter filter_;  // Its keys are added at Guava's positions.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_GUAVA_H_
