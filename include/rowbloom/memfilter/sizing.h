// SPDX-License-Identifier: Apache-2.0
//
// The calculator of Bloom filters: keys, bits, probes and false positive rate,
// from some of them the others.
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
// Values, no state: any thread. Errors: InvalidArgument, which names the value.

#ifndef ROWBLOOM_MEMFILTER_SIZING_H_
#define ROWBLOOM_MEMFILTER_SIZING_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

inline constexpr uint32_t kMaxProbeCount = 255;
// Of what is solved for; filters in memory end at kMaxFilterBits.
inline constexpr uint64_t kMaxSolvedCount = uint64_t{1} << 62;
inline constexpr uint64_t kMaxFilterBits = uint64_t{1} << 46;

// The rate of `bit_count` bits in which `key_count` keys have set
// `probe_count` bits each. All above 0.
double BloomFpr(double key_count, double bit_count, uint32_t probe_count);
// Its inverse functions, for whole probes: the bits that so many keys need, and
// the keys that so many bits hold.
double BloomBits(double key_count, double fpr, uint32_t probe_count);
double BloomKeys(double bit_count, double fpr, uint32_t probe_count);
// The same for the best number of probes, which need not be whole.
double BloomBits(double key_count, double fpr);
double BloomKeys(double bit_count, double fpr);
double BestProbeCount(double key_count, double bit_count);

// Two or three of the four. The best number of probes is taken if it is not
// given, and for the other missing value if the rate is not.
struct BloomSizeRequest {
  std::optional<uint64_t> key_count;
  std::optional<double> target_fpr;  // Above 0, below 1.
  std::optional<uint64_t> bit_count;
  std::optional<uint32_t> probe_count;  // 1 to kMaxProbeCount.
};

struct BloomSize {
  uint64_t key_count = 0;
  uint64_t bit_count = 0;
  uint32_t probe_count = 0;
  // Of these whole numbers. It is the rate that was asked for or less, but for
  // the last digits of a double, if that is above 0.5, if the probes were
  // given, or found for keys, bits and rate; else within 5% of it, unless
  // rounding to whole bits or keys is more than that.
  double fpr = 0;
};

// Bits and keys are rounded down if the probes are not given, as the usual
// tables do, but bits up for a rate above 0.5: ShapeFor() has the bits that
// hold a rate. InvalidArgument for a value outside its range, for too few
// values or too many, and for values that contradict each other.
absl::StatusOr<BloomSize> SolveBloomSize(const BloomSizeRequest& asked);

// One array of bits: what filters are made of.
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
// The fewest bits in which so many keys have the rate, or less. (Rates are
// those of many bits: of less than a hundred they are higher and vary.)
absl::StatusOr<BloomShape> ShapeFor(uint64_t key_count, double target_fpr);

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_SIZING_H_
