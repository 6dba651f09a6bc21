// SPDX-License-Identifier: Apache-2.0
//
// The bits of Redisson's RBloomFilter in memory: the value of the filter's key
// in Redis, read and written.
//
//   auto filter = RedissonFilter::New(100'000, 0.03);
//   filter->Add(digest);                    // By RedissonDigestOf().
//   std::string value = filter->ToRedis();  // For SET.
//   auto read = RedissonFilter::FromRedis(filter->shape(), value_of_get);
//
// RemoteRedissonFilter (redis/redisson.h) works on the server and makes these
// as snapshots. Digests are HighwayHash-128 of encoded elements
// (redis/codec.h); they are not those of FilterKey. Threads and moves:
// mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_REDISSON_H_
#define ROWBLOOM_MEMFILTER_REDISSON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/sizing.h"
#include "rowbloom/memfilter/standard.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct RedissonDigest {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
};

// The positions of a digest, in the order in which Redisson computes them.
class RedissonProbes {
 public:
  RedissonProbes(const RedissonDigest& digest, uint64_t bit_count)
      : hash_(digest.h1), digest_(digest), bit_count_(bit_count) {}

  uint64_t Next() {
    const uint64_t position = (hash_ & kNotNegative) % bit_count_;
    hash_ += is_even_ ? digest_.h2 : digest_.h1;
    is_even_ = !is_even_;
    return position;
  }

 private:
  static constexpr uint64_t kNotNegative = ~uint64_t{0} >> 1;

  uint64_t hash_;
  const RedissonDigest digest_;
  const uint64_t bit_count_;
  bool is_even_ = true;
};

// The limits of Redisson: 2 (2^31 - 1) bits, and the probes of rate 0 with some
// room.
inline constexpr uint64_t kMaxRedissonBits = 4'294'967'294;
inline constexpr uint32_t kMaxRedissonProbes = 1'100;
// InvalidArgument if the shape is outside these limits.
absl::Status ValidateRedissonShape(const BloomShape& shape);
// The shape that Redisson's tryInit() chooses. InvalidArgument for what it
// refuses: a rate outside 0 to 1, or 0 bits, or too many.
absl::StatusOr<BloomShape> RedissonShape(uint64_t expected_insertions,
                                         double fpp);

class RedissonFilter {
 public:
  static absl::StatusOr<RedissonFilter> New(uint64_t expected_insertions,
                                            double fpp);
  static absl::StatusOr<RedissonFilter> New(const BloomShape& shape);

  // Returns true if a bit changed.
  bool Add(const RedissonDigest& digest);
  bool MayContain(const RedissonDigest& digest) const;
  // InvalidArgument unless both have the same shape.
  absl::Status Union(const RedissonFilter& other);

  double fill() const { return filter_.fill(); }
  // Measures the rate of the present bits with some two million pseudo-random
  // digests, always the same ones. Never below the formula, fill^probes, which
  // is too low for these probes, because they are multiples of two numbers:
  // hosts/redis/README.md has measured factors.
  double expected_fpr() const;
  // count()
  uint64_t approximate_count() const { return filter_.approximate_count(); }
  uint64_t memory_usage_bytes() const { return filter_.memory_usage_bytes(); }

  // The value of the filter's key. FromRedis() takes a shorter one, too, as
  // Redis has it until a high bit is set; DataLoss for a longer one, or for
  // bits beyond the shape.
  std::string ToRedis() const;
  static absl::StatusOr<RedissonFilter> FromRedis(const BloomShape& shape,
                                                  std::string_view value);

  // Versioned and checksummed bytes: docs/memfilters.md, "Saved form".
  std::string Save() const;
  static absl::StatusOr<RedissonFilter> Load(std::string_view saved);

  const BloomShape& shape() const { return filter_.shape(); }

 private:
  RedissonFilter(const BloomShape& shape, BitArray bits)
      : filter_(shape, std::move(bits)) {}

  StandardFilter filter_;  // Its keys are added at Redisson's positions.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_REDISSON_H_
