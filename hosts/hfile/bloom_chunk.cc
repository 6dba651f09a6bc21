// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_chunk.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "hfile/errors.h"
#include "rowbloom/compiler.h"
#include "util/coding.h"

namespace rowbloom::hfile {

namespace {

constexpr size_t kSmallChunkBytes = 512;

// Calls ask(key) for numbers from `first` on, as keys of 8 bytes, until it has
// returned true `enough` times; returns the share of true.
template <typename AskKey>
double ShareOfKeys(uint64_t first, uint64_t max_count, uint64_t enough,
                   const AskKey& ask) {
  uint64_t count = 0;
  uint64_t positives = 0;
  char key[sizeof(uint64_t)];
  for (; count < max_count && positives < enough; ++count) {
    util::StoreFixed(first + count, key);
    if (ask(std::string_view(key, sizeof(key)))) ++positives;
  }
  return static_cast<double>(positives) / static_cast<double>(count);
}

}  // namespace

double EffectiveErrorRate(float error_rate, bool is_rowcol) {
  if (!is_rowcol) return error_rate;
  const float complement = 1.0F - error_rate;
  return static_cast<float>(1.0 - std::sqrt(static_cast<double>(complement)));
}

absl::StatusOr<ChunkGeometry> SizeChunk(int64_t size_bytes, double error_rate,
                                        int max_fold) {
  if (size_bytes < 1 || size_bytes > kMaxChunkSizeBytes || max_fold < 0 ||
      max_fold > 28 || !(error_rate > 0 && error_rate < 1)) {
    return InvalidArgument("no chunk has ", size_bytes, " bytes, error rate ",
                           error_rate, " and max_fold ", max_fold,
                           ": bytes are 1 to ", kMaxChunkSizeBytes,
                           ", the rate is in (0, 1), max_fold 0 to 28");
  }
  ChunkGeometry geometry;
  const int64_t multiple = int64_t{1} << max_fold;
  geometry.size_bytes = (size_bytes + multiple - 1) / multiple * multiple;
  if (geometry.size_bytes > kMaxChunkSizeBytes) {
    return InvalidArgument("a chunk of ", size_bytes, " bytes becomes one of ",
                           geometry.size_bytes, " bytes with max_fold ",
                           max_fold, "; the largest has ", kMaxChunkSizeBytes);
  }
  const double ln2 = std::log(2.0);
  const int64_t bits = geometry.size_bytes * 8;
  const auto ideal = static_cast<int64_t>(static_cast<double>(bits) *
                                          (ln2 * ln2 / -std::log(error_rate)));
  if (ideal < 1 || ideal > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("a chunk of ", geometry.size_bytes,
                           " bytes holds no key at error rate ", error_rate);
  }
  const int64_t bits_per_key = bits / ideal;  // HBase divides integers.
  geometry.hash_count =
      static_cast<int32_t>(std::ceil(ln2 * static_cast<double>(bits_per_key)));
  if (geometry.hash_count < 1) {
    return InvalidArgument("error rate ", error_rate,
                           " is too high for any hash");
  }
  const double hashes = geometry.hash_count;
  geometry.max_keys = static_cast<int64_t>(
      static_cast<double>(-bits) / hashes *
      std::log(1.0 - std::exp(std::log(error_rate) / hashes)));
  return geometry;
}

void FoldGeometry(int64_t key_count, ChunkGeometry* geometry) {
  while (geometry->size_bytes % 2 == 0 && geometry->max_keys > 2 * key_count) {
    geometry->size_bytes /= 2;
    geometry->max_keys /= 2;
  }
}

double ChunkFpr(HFileHash type, int32_t hash_count, std::string_view bits) {
  if (bits.size() > kSmallChunkBytes) {
    uint64_t set = 0;
    for (const char byte : bits) {
      set += internal::CountOnes(static_cast<unsigned char>(byte));
    }
    return std::pow(
        static_cast<double>(set) / (8 * static_cast<double>(bits.size())),
        hash_count);
  }
  constexpr uint64_t kMaxKeys = 1 << 17;
  constexpr uint64_t kEnough = 1000;  // A standard deviation of 3%.
  return ShareOfKeys(0, kMaxKeys, kEnough, [&](std::string_view key) {
    return ChunkMayContain(type, hash_count, bits, key);
  });
}

double ExpectedChunkFpr(const ChunkGeometry& geometry, uint64_t key_count) {
  const double hashes = geometry.hash_count;
  const double bits = 8 * static_cast<double>(geometry.size_bytes);
  if (geometry.size_bytes > static_cast<int64_t>(kSmallChunkBytes)) {
    return std::pow(
        1 - std::exp(-hashes * static_cast<double>(key_count) / bits), hashes);
  }
  constexpr uint64_t kChunks = 64;
  constexpr uint64_t kKeys = 1 << 12;
  ChunkGeometry unfolded = geometry;
  unfolded.max_keys = 0;
  double sum = 0;
  for (uint64_t i = 0; i < kChunks; ++i) {
    ChunkBuilder chunk(unfolded, HFileHash::kMurmur);
    const uint64_t first = i << 32;
    ShareOfKeys(first, key_count, key_count, [&](std::string_view key) {
      chunk.Add(key);
      return false;
    });
    const std::string filter = chunk.Finish();
    sum +=
        ShareOfKeys(first + key_count, kKeys, kKeys, [&](std::string_view key) {
          return ChunkMayContain(HFileHash::kMurmur, geometry.hash_count,
                                 filter, key);
        });
  }
  return sum / static_cast<double>(kChunks);
}

void ChunkBuilder::Add(std::string_view key) {
  const Probes probes(type_, key);
  const auto bit_count = static_cast<int32_t>(geometry_.size_bytes * 8);
  for (int32_t i = 0; i < geometry_.hash_count; ++i) {
    const int32_t bit = probes.Bit(i, bit_count);
    char& byte = bits_[static_cast<size_t>(bit >> 3)];
    byte = static_cast<char>(byte | 1 << (bit & 7));
  }
  ++key_count_;
}

std::string ChunkBuilder::Finish() {
  FoldGeometry(key_count_, &geometry_);
  const auto folded = static_cast<size_t>(geometry_.size_bytes);
  // Probes are remainders, and the folded size divides the first one.
  for (size_t i = folded; i < bits_.size(); ++i) {
    bits_[i % folded] = static_cast<char>(bits_[i % folded] | bits_[i]);
  }
  bits_.resize(folded);
  return std::move(bits_);
}

}  // namespace rowbloom::hfile
