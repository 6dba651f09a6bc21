// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_chunk.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "hfile/errors.h"

namespace rowbloom::hfile {

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
