// SPDX-License-Identifier: Apache-2.0
//
// The stream that BloomFilter.writeTo() writes, big-endian:
//   strategy ordinal (1) | probes (1, unsigned) | words (4) | each word (8)

#include "rowbloom/memfilter/guava.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/murmur3.h"
#include "memfilter/options_text.h"
#include "util/coding.h"

namespace rowbloom {

namespace {

struct Stream {
  static constexpr size_t kStrategy = 0;    // 1 byte.
  static constexpr size_t kProbeCount = 1;  // 1 byte.
  static constexpr size_t kWordCount = 2;   // 4 bytes.
  static constexpr size_t kWords = 6;
};
// The limit of a Java array.
constexpr uint64_t kMaxWords = std::numeric_limits<int32_t>::max();

}  // namespace

GuavaDigest GuavaDigest::Bytes(std::string_view bytes) {
  const internal::memfilter::Hash128 hash =
      internal::memfilter::Murmur3X64_128(bytes);
  return {hash.low, hash.high};
}

GuavaDigest GuavaDigest::UnencodedChars(std::u16string_view chars) {
  std::string bytes;
  bytes.reserve(2 * chars.size());
  for (const char16_t c : chars) util::AppendFixed<uint16_t>(c, &bytes);
  return Bytes(bytes);
}

GuavaDigest GuavaDigest::Integer(int32_t value) {
  char bytes[sizeof(value)];
  util::StoreFixed<uint32_t>(static_cast<uint32_t>(value), bytes);
  return Bytes({bytes, sizeof(bytes)});
}

GuavaDigest GuavaDigest::Long(int64_t value) {
  char bytes[sizeof(value)];
  util::StoreFixed<uint64_t>(static_cast<uint64_t>(value), bytes);
  return Bytes({bytes, sizeof(bytes)});
}

absl::StatusOr<GuavaFilter> GuavaFilter::New(uint64_t expected_insertions,
                                             double fpp, GuavaStrategy strategy,
                                             GuavaProbes probes) {
  if (!(fpp > 0 && fpp < 1)) {
    return absl::InvalidArgumentError(
        absl::StrCat("fpp ", fpp, ": must be above 0 and below 1"));
  }
  const double keys =
      static_cast<double>(std::max<uint64_t>(expected_insertions, 1));
  const double bits = std::floor(BloomBits(keys, fpp));
  if (!(bits < 64.0 * static_cast<double>(kMaxWords))) {
    return absl::InvalidArgumentError(absl::StrCat(
        bits, " bits are more than Guava's ", kMaxWords, " words"));
  }
  const double best = probes == GuavaProbes::kByBits
                          ? BestProbeCount(keys, bits)
                          : -std::log2(fpp);
  const double probe_count = std::max(1.0, std::floor(best + 0.5));
  if (!(probe_count <= kMaxProbeCount)) {
    return absl::InvalidArgumentError(
        absl::StrCat(probe_count, " probes for fpp ", fpp,
                     ": Guava's stream has up to 255"));
  }
  const uint64_t words = BitArray::WordCount(static_cast<uint64_t>(bits));
  if (words == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("fpp ", fpp, " needs less than one bit"));
  }
  auto filter =
      StandardFilter::New({64 * words, static_cast<uint32_t>(probe_count)});
  if (!filter.ok()) return filter.status();
  return GuavaFilter(strategy, *std::move(filter));
}

template <typename Visit>
void GuavaFilter::VisitPositions(const GuavaDigest& digest,
                                 const Visit& visit) const {
  const auto [bit_count, probe_count] = shape();
  if (strategy_ == GuavaStrategy::kMurmur128Mitz64) {
    constexpr uint64_t kNotNegative = std::numeric_limits<int64_t>::max();
    uint64_t hash = digest.low;
    for (uint32_t i = 0; i < probe_count; ++i, hash += digest.high) {
      if (!visit((hash & kNotNegative) % bit_count)) return;
    }
    return;
  }
  const uint32_t first = static_cast<uint32_t>(digest.low);
  const uint32_t second = static_cast<uint32_t>(digest.low >> 32);
  for (uint32_t i = 1; i <= probe_count; ++i) {
    uint32_t hash = first + i * second;
    if (hash >> 31 != 0) hash = ~hash;  // It would be negative in Java.
    if (!visit(hash % bit_count)) return;
  }
}

bool GuavaFilter::Add(const GuavaDigest& digest) {
  uint32_t changed = 0;
  VisitPositions(digest, [&](uint64_t position) {
    changed += filter_.bits_.Set(position);
    return true;
  });
  filter_.bits_set_ += changed;
  return changed != 0;
}

void GuavaFilter::Add(absl::Span<const GuavaDigest> digests) {
  for (const GuavaDigest& digest : digests) Add(digest);
}

bool GuavaFilter::MayContain(const GuavaDigest& digest) const {
  bool all_set = true;
  VisitPositions(digest, [&](uint64_t position) {
    all_set = filter_.bits_.Test(position);
    return all_set;
  });
  return all_set;
}

void GuavaFilter::MayContain(absl::Span<const GuavaDigest> digests,
                             bool* may_contain) const {
  for (size_t i = 0; i < digests.size(); ++i) {
    may_contain[i] = MayContain(digests[i]);
  }
}

absl::Status GuavaFilter::Union(const GuavaFilter& other) {
  if (absl::Status status = internal::memfilter::CheckSameOptions(
          std::pair(shape(), strategy_),
          std::pair(other.shape(), other.strategy_));
      !status.ok()) {
    return status;
  }
  return filter_.Union(other.filter_);
}

std::string GuavaFilter::WriteTo() const {
  const absl::Span<const uint64_t> words = filter_.bits_.words();
  std::string stream;
  stream.reserve(Stream::kWords + words.size() * sizeof(uint64_t));
  stream.push_back(static_cast<char>(strategy_));
  stream.push_back(static_cast<char>(shape().probe_count));
  util::AppendBigEndian<uint32_t>(static_cast<uint32_t>(words.size()), &stream);
  for (const uint64_t word : words) {
    util::AppendBigEndian<uint64_t>(word, &stream);
  }
  return stream;
}

absl::StatusOr<GuavaFilter> GuavaFilter::ReadFrom(std::string_view stream) {
  if (stream.size() < Stream::kWords) {
    return absl::DataLossError(
        absl::StrCat("Guava filter of ", stream.size(),
                     " bytes is shorter than its header"));
  }
  const uint8_t strategy = static_cast<uint8_t>(stream[Stream::kStrategy]);
  const uint8_t probes = static_cast<uint8_t>(stream[Stream::kProbeCount]);
  const uint64_t words =
      util::LoadBigEndian<uint32_t>(stream.data() + Stream::kWordCount);
  if (strategy > static_cast<uint8_t>(GuavaStrategy::kMurmur128Mitz64)) {
    return absl::UnimplementedError(absl::StrCat("Guava filter has strategy ",
                                                 static_cast<int>(strategy),
                                                 " at 0; 0 and 1 are known"));
  }
  if (probes == 0 || words == 0 || words > kMaxWords ||
      stream.size() - Stream::kWords != words * sizeof(uint64_t)) {
    return absl::DataLossError(absl::StrCat(
        "Guava filter of ", stream.size(), " bytes: its header says ",
        static_cast<int>(probes), " probes and ", words, " words"));
  }
  const BloomShape shape = {64 * words, probes};
  auto bits = BitArray::New(shape.bit_count);
  if (!bits.ok()) return bits.status();
  const absl::Span<uint64_t> read = bits->mutable_words();
  for (size_t i = 0; i < read.size(); ++i) {
    read[i] = util::LoadBigEndian<uint64_t>(stream.data() + Stream::kWords +
                                            i * sizeof(uint64_t));
  }
  return GuavaFilter(static_cast<GuavaStrategy>(strategy),
                     StandardFilter(shape, *std::move(bits)));
}

}  // namespace rowbloom
