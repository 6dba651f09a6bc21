// SPDX-License-Identifier: Apache-2.0
//
// The counting filter (Fan, Cao, Almeida, Broder 2000): a counter in place of
// each bit, so that keys can be removed.
//
//   CountingOptions options;
//   options.shape = *ShapeFor(1'000'000, 0.01);
//   absl::StatusOr<CountingFilter> filter = CountingFilter::New(options);
//   filter->Add(digest);
//   if (!filter->Remove(digest)) ...               // It was never added.
//
// A key added twice must be removed twice. Remove only keys that were added: a
// refused removal does no harm, but an absent key that looks present (a share
// of expected_fpr() of them) would take counts away from other keys.
//
// A counter that reaches its maximum is stuck: the number of keys that share it
// is lost, so it is never decremented. That costs false positives, and never
// loses a key. With 4 bits and k n <= m ln 2 (half of the counters are 0), the
// counts have a Poisson distribution of mean ln 2, so that a counter is stuck
// with a probability of the sum over j >= 15 of (ln 2)^j / (2 j!), 1.64e-15.
// (The known 1.37e-15, (e ln 2 / 16)^16, is a bound for a count of 16.)
//
// Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_COUNTING_H_
#define ROWBLOOM_MEMFILTER_COUNTING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/compiler.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct CountingOptions {
  BloomShape shape;           // Counters in place of bits.
  uint32_t counter_bits = 4;  // 2, 4, 8 or 16.
};
inline bool operator==(const CountingOptions& a, const CountingOptions& b) {
  return a.shape == b.shape && a.counter_bits == b.counter_bits;
}

class CountingFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kCounting;

  static absl::StatusOr<CountingFilter> New(const CountingOptions& options);

  // Always counts the key; returns false if it may have been there before.
  bool Add(KeyDigest digest);
  void Add(absl::Span<const KeyDigest> digests);

  // False, and nothing is changed, if the key was certainly not there.
  [[nodiscard]] bool Remove(KeyDigest digest);

  bool MayContain(KeyDigest digest) const {
    BloomProbes probes(digest, options_.shape.bit_count);
    for (uint32_t i = 0; i < options_.shape.probe_count; ++i) {
      if (Counter(probes.Next()) == 0) return false;
    }
    return true;
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Adds the counters of both, as if all keys had been added to one filter.
  // InvalidArgument unless both have the same options.
  absl::Status Union(const CountingFilter& other);

  double fill() const;  // The share of counters above 0.
  double expected_fpr() const;
  uint64_t approximate_count() const;  // Counts distinct keys.
  uint64_t memory_usage_bytes() const;

  // Counters at their maximum, and the additions that found a counter there,
  // those of Union() included.
  uint64_t stuck_counters() const { return stuck_counters_; }
  uint64_t overflows() const { return overflows_; }
  // Calls of Remove() that returned false, with those of Union()'s other
  // filter.
  uint64_t refused_removals() const { return refused_removals_; }

  std::string Save() const;
  static absl::StatusOr<CountingFilter> Load(std::string_view saved);

  const CountingOptions& options() const { return options_; }

 private:
  CountingFilter(const CountingOptions& options, BitArray counters);

  uint64_t max_counter() const {
    return (uint64_t{1} << options_.counter_bits) - 1;
  }
  uint64_t Counter(uint64_t i) const {
    return counters_.data()[WordOf(i)] >> Shift(i) & max_counter();
  }
  size_t WordOf(uint64_t i) const {
    return static_cast<size_t>(i >> per_word_log2_);
  }
  // The bit of its word where counter i begins.
  uint32_t Shift(uint64_t i) const {
    return static_cast<uint32_t>(i & ((1u << per_word_log2_) - 1)) *
           options_.counter_bits;
  }
  void Prefetch(uint64_t i) const {
    internal::PrefetchToRead(counters_.data() + WordOf(i));
  }
  void Increment(uint64_t i);
  bool Decrement(uint64_t i);
  void Recount();

  CountingOptions options_;
  uint32_t per_word_log2_;
  BitArray counters_;          // The words that hold the counters.
  uint64_t counters_set_ = 0;  // Counters above 0.
  uint64_t stuck_counters_ = 0;
  uint64_t overflows_ = 0;
  uint64_t refused_removals_ = 0;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_COUNTING_H_
