// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/redisson.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "memfilter/saved_form.h"
#include "rowbloom/memfilter/mem_filter_kind.h"

namespace rowbloom {

namespace {

constexpr MemFilterKind kKind = MemFilterKind::kRedisson;

// Redis counts a byte's bits from the top, BitArray from the bottom.
unsigned char Reversed(unsigned char byte) {
  byte = static_cast<unsigned char>((byte & 0x0f) << 4 | byte >> 4);
  byte = static_cast<unsigned char>((byte & 0x33) << 2 | (byte >> 2 & 0x33));
  return static_cast<unsigned char>((byte & 0x55) << 1 | (byte >> 1 & 0x55));
}

uint64_t ByteCount(const BloomShape& shape) {
  return shape.bit_count / 8 + (shape.bit_count % 8 != 0);
}

// SplitMix64's mixer (Steele, Lea, Flood 2014) over a counter.
uint64_t PseudoRandom(uint64_t* state) {
  uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace

absl::Status ValidateRedissonShape(const BloomShape& shape) {
  if (shape.bit_count == 0 || shape.bit_count > kMaxRedissonBits) {
    return absl::InvalidArgumentError(
        absl::StrCat("Redisson filter of ", shape.bit_count,
                     " bits: it has 1 to ", kMaxRedissonBits));
  }
  if (shape.probe_count == 0 || shape.probe_count > kMaxRedissonProbes) {
    return absl::InvalidArgumentError(
        absl::StrCat("Redisson filter of ", shape.probe_count,
                     " probes: it has 1 to ", kMaxRedissonProbes));
  }
  return absl::OkStatus();
}

absl::StatusOr<BloomShape> RedissonShape(uint64_t expected_insertions,
                                         double fpp) {
  if (!(fpp >= 0 && fpp <= 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("rate ", fpp, ": must be from 0 to 1"));
  }
  const double keys = static_cast<double>(expected_insertions);
  const double ln2 = std::log(2.0);
  const double rate =
      fpp == 0 ? std::numeric_limits<double>::denorm_min() : fpp;
  const double bits = std::floor(-keys * std::log(rate) / (ln2 * ln2));
  if (!(bits >= 1 && bits <= static_cast<double>(kMaxRedissonBits))) {
    return absl::InvalidArgumentError(
        absl::StrCat(expected_insertions, " elements at rate ", fpp, " need ",
                     std::max(bits, 0.0), " bits; a Redisson filter has 1 to ",
                     kMaxRedissonBits));
  }
  const double probes = std::max(1.0, std::floor(bits / keys * ln2 + 0.5));
  return BloomShape{static_cast<uint64_t>(bits), static_cast<uint32_t>(probes)};
}

absl::StatusOr<RedissonFilter> RedissonFilter::New(uint64_t expected_insertions,
                                                   double fpp) {
  const auto shape = RedissonShape(expected_insertions, fpp);
  if (!shape.ok()) return shape.status();
  return New(*shape);
}

absl::StatusOr<RedissonFilter> RedissonFilter::New(const BloomShape& shape) {
  if (absl::Status status = ValidateRedissonShape(shape); !status.ok()) {
    return status;
  }
  auto bits = BitArray::New(shape.bit_count);
  if (!bits.ok()) return bits.status();
  return RedissonFilter(shape, *std::move(bits));
}

bool RedissonFilter::Add(const RedissonDigest& digest) {
  RedissonProbes probes(digest, shape().bit_count);
  uint32_t changed = 0;
  for (uint32_t i = 0; i < shape().probe_count; ++i) {
    changed += filter_.bits_.Set(probes.Next());
  }
  filter_.bits_set_ += changed;
  return changed != 0;
}

bool RedissonFilter::MayContain(const RedissonDigest& digest) const {
  RedissonProbes probes(digest, shape().bit_count);
  for (uint32_t i = 0; i < shape().probe_count; ++i) {
    if (!filter_.bits_.Test(probes.Next())) return false;
  }
  return true;
}

absl::Status RedissonFilter::Union(const RedissonFilter& other) {
  return filter_.Union(other.filter_);
}

// Two progressions share their step s = h1 + h2: the odd probes are s, 2s, 3s
// and so on, the even ones h1, h1 + s, h1 + 2s and so on. The odd ones depend
// on s alone. So the rate is the share of steps whose odd probes are all set,
// times the share of h1 that with such a step find their even probes set. Low
// rates are thus measured with few digests.
double RedissonFilter::expected_fpr() const {
  constexpr uint64_t kSamples = 1 << 20;
  constexpr size_t kMaxSteps = 4096;
  const double formula = filter_.expected_fpr();
  if (fill() == 0 || fill() == 1) return formula;

  // The digest (h1, s - h1) has the step s.
  const auto all_set = [this](uint64_t h1, uint64_t step, uint32_t first) {
    RedissonProbes probes({h1, step - h1}, shape().bit_count);
    for (uint32_t i = 0; i < shape().probe_count; ++i) {
      const uint64_t position = probes.Next();
      if (i % 2 == first && !filter_.bits_.Test(position)) return false;
    }
    return true;
  };
  uint64_t state = 0;
  std::vector<uint64_t> steps;
  uint64_t sampled = 0;
  for (; sampled < kSamples && steps.size() < kMaxSteps; ++sampled) {
    const uint64_t step = PseudoRandom(&state);
    if (all_set(0, step, 1)) steps.push_back(step);
  }
  if (steps.empty()) return formula;
  const uint64_t tries = kSamples / steps.size() + 1;
  uint64_t positives = 0;
  for (const uint64_t step : steps) {
    for (uint64_t i = 0; i < tries; ++i) {
      positives += all_set(PseudoRandom(&state), step, 0);
    }
  }
  return std::max(formula, static_cast<double>(positives) /
                               static_cast<double>(tries) /
                               static_cast<double>(sampled));
}

std::string RedissonFilter::ToRedis() const {
  std::string value(static_cast<size_t>(ByteCount(shape())), '\0');
  const absl::Span<const uint64_t> words = filter_.bits_.words();
  for (size_t i = 0; i < value.size(); ++i) {
    value[i] = static_cast<char>(
        Reversed(static_cast<unsigned char>(words[i / 8] >> (i % 8 * 8))));
  }
  return value;
}

absl::StatusOr<RedissonFilter> RedissonFilter::FromRedis(
    const BloomShape& shape, std::string_view value) {
  if (absl::Status status = ValidateRedissonShape(shape); !status.ok()) {
    return status;
  }
  if (value.size() > ByteCount(shape)) {
    return absl::DataLossError(
        absl::StrCat("Redisson filter of ", shape.bit_count,
                     " bits has a value of ", value.size(), " bytes, beyond ",
                     ByteCount(shape), ": its configuration is another's"));
  }
  auto bits = BitArray::New(shape.bit_count);
  if (!bits.ok()) return bits.status();
  const absl::Span<uint64_t> words = bits->mutable_words();
  for (size_t i = 0; i < value.size(); ++i) {
    words[i / 8] |= uint64_t{Reversed(static_cast<unsigned char>(value[i]))}
                    << (i % 8 * 8);
  }
  if (!bits->HasCleanTail()) {
    return absl::DataLossError(
        absl::StrCat("Redisson filter of ", shape.bit_count,
                     " bits has bits set beyond them in the last byte of its "
                     "value, at ",
                     value.size() - 1));
  }
  return RedissonFilter(shape, *std::move(bits));
}

std::string RedissonFilter::Save() const {
  return StandardFilter::SaveBits(kKind, shape(), filter_.bits_.words());
}

absl::StatusOr<RedissonFilter> RedissonFilter::Load(std::string_view saved) {
  auto reader = internal::memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  BloomShape shape;
  shape.bit_count = reader->Varint();
  shape.probe_count = static_cast<uint32_t>(
      std::min<uint64_t>(reader->Varint(), kMaxRedissonProbes + 1));
  if (absl::Status status = ValidateRedissonShape(shape); !status.ok()) {
    reader->Refuse(status.message());
  }
  BitArray bits;
  reader->Bits(shape.bit_count, &bits);
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  return RedissonFilter(shape, std::move(bits));
}

}  // namespace rowbloom
