// SPDX-License-Identifier: Apache-2.0
//
// The filter of RedisBloom, the module behind BF.ADD, with its own hash and
// bytes: its dumps (BF.SCANDUMP) are read and written.
//
//   auto filter = RedisBloomFilter::New({0.001, 100'000});
//   absl::StatusOr<bool> added = filter->Add("user17");
//   for (const BfChunk& chunk : filter->Dump()) send(chunk);  // BF.LOADCHUNK
//   auto restored = RedisBloomFilter::Load(chunks_of_scandump);
//
// It has layers as ScalableFilter has; layers are full by their number of keys.
// A dump has no checksum: only damage to its header is found, so store it with
// one. Items are bytes. Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_REDIS_BLOOM_H_
#define ROWBLOOM_MEMFILTER_REDIS_BLOOM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The hash of an item, MurmurHash64A twice.
struct RedisBloomDigest {
  uint64_t a = 0;
  uint64_t b = 0;

  static RedisBloomDigest Bytes(std::string_view item);
};

// The shape of a layer with a rate above 0 and below 1, up to 2^62 bits. The
// first layer of a scaling filter has half of the filter's rate.
BloomShape RedisBloomLayerShape(uint64_t capacity, double fpr);

// BF.RESERVE's. The defaults are those of a filter that was never reserved.
struct BfReserveOptions {
  double error_rate = 0.01;
  uint64_t capacity = 100;
  std::optional<uint32_t> expansion = std::nullopt;  // 2 if not given.
  bool non_scaling = false;  // Not together with an expansion.
};

// A part of a dump, as BF.SCANDUMP returns it and BF.LOADCHUNK takes it.
struct BfChunk {
  uint64_t iterator = 0;  // 0: the end; `data` is empty.
  std::string data;
};

class RedisBloomFilter {
 public:
  static constexpr uint64_t kDefaultMaxBytes = uint64_t{1} << 30;

  struct Layer {
    BitArray bits;
    uint64_t key_count;
    uint64_t capacity;
    double fpr;
    uint32_t probe_count;
  };

  // BF.RESERVE, with its limits and its default of an expansion of 2. The
  // filter grows up to `max_bytes`, which is not saved. InvalidArgument, also
  // for an error rate above 0.25, whose filter depends on the module's release;
  // ResourceExhausted if the first layer is larger.
  static absl::StatusOr<RedisBloomFilter> New(
      const BfReserveOptions& options, uint64_t max_bytes = kDefaultMaxBytes);

  // True if the item was new. ResourceExhausted, and nothing is changed, if the
  // filter is full and may not or cannot grow.
  absl::StatusOr<bool> Add(std::string_view item);
  bool MayContain(std::string_view item) const {
    return MayContain(RedisBloomDigest::Bytes(item));
  }
  bool MayContain(const RedisBloomDigest& digest) const;

  double expected_fpr() const;
  uint64_t key_count() const;
  uint64_t capacity() const;
  uint64_t memory_usage_bytes() const;
  bool non_scaling() const { return non_scaling_; }
  uint32_t expansion() const { return expansion_; }
  const std::vector<Layer>& layers() const { return layers_; }

  // The bytes of all chunks behind this first one; 0 if that is no header.
  static uint64_t BytesBehind(std::string_view header);
  // The chunks of BF.SCANDUMP, without the empty last one.
  std::vector<BfChunk> Dump(size_t max_chunk_bytes = 16 << 20) const;
  // All chunks in order. InvalidArgument if one is missing or out of order,
  // DataLoss for a header that a server would refuse, Unimplemented for filters
  // of very old modules, ResourceExhausted for more than `max_bytes`. Nothing
  // is allocated before the header is checked.
  static absl::StatusOr<RedisBloomFilter> Load(
      absl::Span<const BfChunk> chunks, uint64_t max_bytes = kDefaultMaxBytes);

  // The data of all chunks one after another, as a file.
  std::string Save() const;
  static absl::StatusOr<RedisBloomFilter> Load(
      std::string_view saved, uint64_t max_bytes = kDefaultMaxBytes);

 private:
  RedisBloomFilter() = default;
  absl::Status AppendLayer(uint64_t capacity, double fpr);
  std::string Header() const;

  std::vector<Layer> layers_;
  uint32_t options_ = 0;  // As in the header.
  uint32_t expansion_ = 2;
  bool non_scaling_ = false;
  uint64_t max_bytes_ = kDefaultMaxBytes;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_REDIS_BLOOM_H_
