// SPDX-License-Identifier: Apache-2.0
//
// The family classic_bloom: HBase's Bloom filter of one chunk. Its bytes are
// bare bits, low bits first; everything else about it is in the meta block.
//
//   auto geometry = SizeChunk(131072, EffectiveErrorRate(0.01F, false), 7);
//   ChunkBuilder builder(*geometry, HFileHash::kMurmur);
//   builder.Add("row1");
//   const std::string bits = builder.Finish();      // Folded.
//   ChunkMayContain(HFileHash::kMurmur, 7, bits, "row1");
//
// Sizes are HBase's, exact to the last bit: rates are float32, one division is
// of integers, and results are truncated.
//
// It is not one of the families of src/filter/: they take 64-bit digests, and
// this one hashes the key itself, twice, with one of three functions.

#ifndef ROWBLOOM_HFILE_BLOOM_CHUNK_H_
#define ROWBLOOM_HFILE_BLOOM_CHUNK_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hfile/hbase_hash.h"
#include "rowbloom/hfile_types.h"

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

// The probes of a key: bits h1 + i * h2 in wrapping int32, by the magnitude
// of the truncated remainder. Needs bit_count in [1, 2^31).
class Probes {
 public:
  Probes(HFileHash type, std::string_view key)
      : h1_(HBaseHash(type, key, 0)), h2_(HBaseHash(type, key, h1_)) {}

  int32_t Bit(int32_t i, int32_t bit_count) const {
    const auto sum = static_cast<uint32_t>(h1_) +
                     static_cast<uint32_t>(i) * static_cast<uint32_t>(h2_);
    return std::abs(static_cast<int32_t>(sum) % bit_count);
  }

 private:
  int32_t h1_;
  int32_t h2_;
};

inline bool BitIsSet(std::string_view bits, int32_t bit) {
  return (static_cast<unsigned char>(bits[bit >> 3]) >> (bit & 7) & 1) != 0;
}

// `bits` are 1 to kMaxChunkSizeBytes bytes.
inline bool ChunkMayContain(HFileHash type, int32_t hash_count,
                            std::string_view bits, std::string_view key) {
  const Probes probes(type, key);
  const auto bit_count = static_cast<int32_t>(bits.size() * 8);
  for (int32_t i = 0; i < hash_count; ++i) {
    if (!BitIsSet(bits, probes.Bit(i, bit_count))) return false;
  }
  return true;
}

// The share of absent keys to which a chunk with these bits says "maybe". In a
// chunk of a few hundred bits the probes of a key often coincide, and the usual
// power of the fill would be far too low: there, random keys are counted.
double ChunkFpr(HFileHash type, int32_t hash_count, std::string_view bits);
// The share to expect of a chunk of this geometry with `key_count` keys, by the
// usual formula for Bloom filters or, in a small chunk, by trying it.
double ExpectedChunkFpr(const ChunkGeometry& geometry, uint64_t key_count);

class ChunkBuilder {
 public:
  ChunkBuilder(const ChunkGeometry& geometry, HFileHash type)
      : geometry_(geometry),
        type_(type),
        bits_(static_cast<size_t>(geometry.size_bytes), '\0') {}

  void Add(std::string_view key);
  int64_t key_count() const { return key_count_; }
  bool IsFull() const { return key_count_ >= geometry_.max_keys; }
  // The geometry of the folded chunk after Finish().
  const ChunkGeometry& geometry() const { return geometry_; }
  // Folds the chunk. Only the getters may be called after it.
  std::string Finish();

 private:
  ChunkGeometry geometry_;
  HFileHash type_;
  int64_t key_count_ = 0;
  std::string bits_;
};

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_BLOOM_CHUNK_H_
