// SPDX-License-Identifier: Apache-2.0
//
// Computes the size of HBase's Bloom chunks, exact to the last bit: rates are
// float32, one division is of integers, and results are truncated.

#ifndef ROWBLOOM_HFILE_BLOOM_SIZING_H_
#define ROWBLOOM_HFILE_BLOOM_SIZING_H_

#include <cstdint>

#include "absl/status/statusor.h"

namespace rowbloom::hfile {

// Bits are numbered by int32.
inline constexpr int64_t kMaxChunkSizeBytes = (int64_t{1} << 28) - 1;

// The rate that the formulas take. A lookup in a ROWCOL filter tests two keys,
// so each test gets a smaller rate: 1 - sqrt(1 - rate).
double EffectiveErrorRate(float error_rate, bool is_rowcol);

struct ChunkGeometry {
  int64_t size_bytes = 0;
  int32_t hash_count = 0;
  int64_t max_keys = 0;
};

// `size_bytes` is rounded up to a multiple of 2^max_fold. InvalidArgument if
// the chunk is larger than kMaxChunkSizeBytes, or too small to hold one key at
// this rate.
absl::StatusOr<ChunkGeometry> SizeChunk(int64_t size_bytes, double error_rate,
                                        int max_fold);

// Halves a chunk as often as `key_count` allows, as HBase compacts a filter.
void FoldGeometry(int64_t key_count, ChunkGeometry* geometry);

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_SIZING_H_
