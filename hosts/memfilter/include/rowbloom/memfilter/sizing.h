// SPDX-License-Identifier: Apache-2.0
//
// A calculator for Bloom filters: finds the missing ones of keys, bits, probes
// and false positive rate.
//
//   BloomSizeRequest request;
//   request.key_count = 1'000'000;
//   request.target_fpr = 1e-4;
//   absl::StatusOr<BloomSize> size = SolveBloomSize(request);
//   // 19,170,116 bits, 13 probes.
//
// Formulas (Bloom 1970; Broder and Mitzenmacher 2004), with n keys, m bits,
// k probes and the rate p:
//
//   p = (1 - e^(-k n / m))^k      k = (m / n) ln 2      m = -n ln p / (ln 2)^2
//
// Values without state: any thread. An InvalidArgument names the value.

#ifndef ROWBLOOM_MEMFILTER_SIZING_H_
#define ROWBLOOM_MEMFILTER_SIZING_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

inline constexpr uint32_t kMaxProbeCount = 255;
// The limit of results; filters in memory have at most kMaxFilterBits.
inline constexpr uint64_t kMaxSolvedCount = uint64_t{1} << 62;
inline constexpr uint64_t kMaxFilterBits = uint64_t{1} << 46;

// The rate of `bit_count` bits in which each of `key_count` keys has set
// `probe_count` bits. All are above 0.
double BloomFpr(double key_count, double bit_count, uint32_t probe_count);
// The inverse functions for a whole number of probes: the bits that the keys
// need, and the keys that the bits hold.
double BloomBits(double key_count, double fpr, uint32_t probe_count);
double BloomKeys(double bit_count, double fpr, uint32_t probe_count);
// These use the best number of probes, which need not be whole.
double BloomBits(double key_count, double fpr);
double BloomKeys(double bit_count, double fpr);
double BestProbeCount(double key_count, double bit_count);

// Two or three of the four. A missing probe_count is the best number of probes.
// If the rate is missing, another missing value is the one for which
// probe_count is the best.
struct BloomSizeRequest {
  std::optional<uint64_t> key_count = std::nullopt;
  std::optional<double> target_fpr = std::nullopt;  // Above 0, below 1.
  std::optional<uint64_t> bit_count = std::nullopt;
  std::optional<uint32_t> probe_count = std::nullopt;  // 1 to kMaxProbeCount.
};

struct BloomSize {
  uint64_t key_count = 0;
  uint64_t bit_count = 0;
  uint32_t probe_count = 0;
  // The rate of these whole numbers. It is at most the requested rate, except
  // for the last digits of a double, if that is above 0.5, or if the probes
  // were given or found from keys, bits and rate. Otherwise it is within 5% of
  // it, unless rounding to whole bits or keys changes it more.
  double fpr = 0;
};

// If the probes are not given, bits and keys are rounded down, as the usual
// tables do, except that bits are rounded up for a rate above 0.5: use
// ShapeFor() for bits that hold a rate. InvalidArgument for a value outside its
// range, for too few or too many values, and for values that contradict each
// other.
absl::StatusOr<BloomSize> SolveBloomSize(const BloomSizeRequest& asked);

// The shape of one array of bits, from which filters are made.
struct BloomShape {
  uint64_t bit_count = 0;    // 1 to kMaxFilterBits.
  uint32_t probe_count = 0;  // 1 to kMaxProbeCount.
};
inline bool operator==(const BloomShape& a, const BloomShape& b) {
  return a.bit_count == b.bit_count && a.probe_count == b.probe_count;
}
inline bool operator!=(const BloomShape& a, const BloomShape& b) {
  return !(a == b);
}

absl::Status ValidateShape(const BloomShape& shape);
// The fewest bits in which this number of keys has at most the rate. (Rates are
// those of many bits; below a hundred bits they are higher and vary.)
absl::StatusOr<BloomShape> ShapeFor(uint64_t key_count, double target_fpr);

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_SIZING_H_
