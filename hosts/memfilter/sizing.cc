// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/sizing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rowbloom {

namespace {

constexpr double kLn2 = 0.69314718055994530942;

// -ln(1 - p^(1/k)), which is k n / m for whole probes. Two formulas keep the
// precision, for small powers and for those next to 1.
double LoadFor(double fpr, uint32_t probe_count) {
  const double log_fill = std::log(fpr) / probe_count;
  return log_fill < -kLn2 ? -std::log1p(-std::exp(log_fill))
                          : -std::log(-std::expm1(log_fill));
}

absl::Status CheckRange(const BloomSizeRequest& request) {
  const std::pair<const char*, std::optional<uint64_t>> counts[] = {
      {"keys", request.key_count}, {"bits", request.bit_count}};
  for (const auto& [name, count] : counts) {
    if (!count || (*count > 0 && *count <= kMaxSolvedCount)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " ", *count, ": must be 1 to 2^62"));
  }
  if (request.probe_count &&
      (*request.probe_count == 0 || *request.probe_count > kMaxProbeCount)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "probes ", *request.probe_count, ": must be 1 to ", kMaxProbeCount));
  }
  // Written so that NaN fails, too.
  if (request.target_fpr &&
      !(*request.target_fpr > 0 && *request.target_fpr < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("false positive rate ", *request.target_fpr,
                     ": must be above 0 and below 1"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Whole(const char* what, double value) {
  if (!(value <= static_cast<double>(kMaxSolvedCount))) {
    return absl::InvalidArgumentError(
        absl::StrCat(value, " ", what, " are needed: more than 2^62"));
  }
  if (value < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("less than one of the ", what, " (", value, ")"));
  }
  return static_cast<uint64_t>(value);
}

absl::StatusOr<uint32_t> WholeProbes(double value) {
  const double probes = std::max(1.0, std::round(value));
  if (!(probes <= kMaxProbeCount)) {
    return absl::InvalidArgumentError(
        absl::StrCat(probes, " probes are best: more than ", kMaxProbeCount,
                     "; give fewer, a higher rate, fewer bits or more keys"));
  }
  return static_cast<uint32_t>(probes);
}

// The fewest probes that reach the rate with these bits and keys.
absl::StatusOr<uint32_t> ProbesFor(double key_count, double bit_count,
                                   double fpr) {
  // The rate falls until the best number and rises beyond it.
  const double best = BestProbeCount(key_count, bit_count);
  const uint32_t last =
      static_cast<uint32_t>(std::min<double>(kMaxProbeCount, std::ceil(best)));
  double least = 1;
  for (uint32_t probes = 1; probes <= std::max(1u, last); ++probes) {
    const double rate = BloomFpr(key_count, bit_count, probes);
    if (rate <= fpr) return probes;
    least = std::min(least, rate);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(bit_count, " bits for ", key_count,
                   " keys have a false positive rate of ", least,
                   " at best, more than ", fpr));
}

absl::StatusOr<uint64_t> BitsFor(const BloomSizeRequest& request) {
  const double keys = static_cast<double>(*request.key_count);
  if (!request.target_fpr) {  // The given probes are to be the best.
    return Whole("bits", std::ceil(*request.probe_count * keys / kLn2));
  }
  return Whole("bits",
               request.probe_count
                   ? std::ceil(BloomBits(keys, *request.target_fpr,
                                         *request.probe_count))
                   : std::max(1.0, BloomBits(keys, *request.target_fpr)));
}

absl::StatusOr<uint64_t> KeysFor(const BloomSizeRequest& request) {
  const double bits = static_cast<double>(*request.bit_count);
  if (!request.target_fpr) {
    return Whole("keys", bits * kLn2 / *request.probe_count);
  }
  return Whole("keys",
               request.probe_count
                   ? BloomKeys(bits, *request.target_fpr, *request.probe_count)
                   : BloomKeys(bits, *request.target_fpr));
}

}  // namespace

double BloomFpr(double key_count, double bit_count, uint32_t probe_count) {
  return std::pow(-std::expm1(-key_count * probe_count / bit_count),
                  probe_count);
}

double BloomBits(double key_count, double fpr, uint32_t probe_count) {
  return probe_count * key_count / LoadFor(fpr, probe_count);
}

double BloomKeys(double bit_count, double fpr, uint32_t probe_count) {
  return bit_count * LoadFor(fpr, probe_count) / probe_count;
}

double BloomBits(double key_count, double fpr) {
  return key_count * -std::log(fpr) / (kLn2 * kLn2);
}

double BloomKeys(double bit_count, double fpr) {
  return bit_count * (kLn2 * kLn2) / -std::log(fpr);
}

double BestProbeCount(double key_count, double bit_count) {
  return bit_count / key_count * kLn2;
}

absl::StatusOr<BloomSize> SolveBloomSize(const BloomSizeRequest& asked) {
  BloomSizeRequest request = asked;
  if (absl::Status status = CheckRange(request); !status.ok()) return status;
  const int given =
      request.key_count.has_value() + request.bit_count.has_value() +
      request.target_fpr.has_value() + request.probe_count.has_value();
  if (given < 2 || given > 3 || (!request.key_count && !request.bit_count)) {
    return absl::InvalidArgumentError(
        "two or three of keys, bits, false positive rate and probes must be "
        "given, keys or bits among them");
  }
  // The best number of probes would be less than one.
  if (given == 2 && request.target_fpr && *request.target_fpr > 0.5) {
    request.probe_count = 1;
  }
  BloomSize size;
  if (!request.bit_count) {
    const auto bits = BitsFor(request);
    if (!bits.ok()) return bits.status();
    size.bit_count = *bits;
  } else {
    size.bit_count = *request.bit_count;
  }
  if (!request.key_count) {
    const auto keys = KeysFor(request);
    if (!keys.ok()) return keys.status();
    size.key_count = *keys;
  } else {
    size.key_count = *request.key_count;
  }
  const double keys = static_cast<double>(size.key_count);
  const double bits = static_cast<double>(size.bit_count);
  absl::StatusOr<uint32_t> probes =
      request.probe_count ? absl::StatusOr<uint32_t>(*request.probe_count)
      : given == 3        ? ProbesFor(keys, bits, *request.target_fpr)
                          : WholeProbes(BestProbeCount(keys, bits));
  if (!probes.ok()) return probes.status();
  size.probe_count = *probes;
  size.fpr = BloomFpr(keys, bits, size.probe_count);
  return size;
}

absl::Status ValidateShape(const BloomShape& shape) {
  if (shape.bit_count == 0 || shape.bit_count > kMaxFilterBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("bits ", shape.bit_count, ": must be 1 to 2^46"));
  }
  if (shape.probe_count == 0 || shape.probe_count > kMaxProbeCount) {
    return absl::InvalidArgumentError(absl::StrCat(
        "probes ", shape.probe_count, ": must be 1 to ", kMaxProbeCount));
  }
  return absl::OkStatus();
}

absl::StatusOr<BloomShape> ShapeFor(uint64_t key_count, double target_fpr) {
  BloomSizeRequest request;
  request.key_count = key_count;
  request.target_fpr = target_fpr;
  if (absl::Status status = CheckRange(request); !status.ok()) return status;
  const uint32_t below = static_cast<uint32_t>(std::clamp(
      std::floor(-std::log2(target_fpr)), 1.0, kMaxProbeCount - 1.0));
  const double keys = static_cast<double>(key_count);
  request.probe_count = BloomBits(keys, target_fpr, below) <=
                                BloomBits(keys, target_fpr, below + 1)
                            ? below
                            : below + 1;
  const auto size = SolveBloomSize(request);
  if (!size.ok()) return size.status();
  const BloomShape shape = {size->bit_count, size->probe_count};
  if (absl::Status status = ValidateShape(shape); !status.ok()) return status;
  return shape;
}

}  // namespace rowbloom
