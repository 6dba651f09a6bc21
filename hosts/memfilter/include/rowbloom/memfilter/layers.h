// SPDX-License-Identifier: Apache-2.0
//
// Four filters of layers: arrays of bits of one shape. They differ in the layer
// that takes a key and in the layers that a lookup asks.
//
//   DynamicOptions options;
//   options.layer = *ShapeFor(100'000, 0.001);
//   options.keys_per_layer = 100'000;
//   absl::StatusOr<DynamicFilter> filter = DynamicFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// With a rate of f in each of n layers, and k probes:
//
//   filter           a key goes to                  rate           a lookup
//   DynamicFilter    the newest layer               1 - (1 - f)^n  O(k n)
//   BalancedFilter   the less filled layer of the   1 - (1 - f)^n  O(k n)
//                    newest group
//   SplitFilter      a random layer that is open    1 - (1 - f)^n  O(k n)
//   MatrixFilter     one of s candidate layers      1 - (1 - f)^s  O(k s)
//
// The first two grow without a bound, the others have all layers from the
// start. ScalableFilter also grows, and keeps its rate. Threads and moves:
// mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_LAYERS_H_
#define ROWBLOOM_MEMFILTER_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

// Not exported, so not below.
namespace rowbloom::internal::memfilter {
class SavedFormReader;
class SavedFormWriter;
}  // namespace rowbloom::internal::memfilter

namespace ROWBLOOM_EXPORT rowbloom {

// The limit for filters whose layers are all allocated at the start.
inline constexpr uint32_t kMaxLayerCount = 1 << 16;

// The layers of a filter:
//
//   FilterLayers::Key key(digest, layers.shape());   // Its positions, once.
//   layers.Put(i, key);
//   if (layers.Covers(i, key)) ...
class FilterLayers {
 public:
  // The positions of a key, the same in each layer. They are computed when a
  // layer is first probed for them, since most layers are probed for one or
  // two.
  class Key {
   public:
    Key(KeyDigest digest, const BloomShape& shape)
        : probes_(digest, shape.bit_count) {}
    // i is at most one more than the largest position computed so far.
    uint64_t Position(uint32_t i) const {
      if (i == made_) positions_[made_++] = probes_.Next();
      return positions_[i];
    }

   private:
    mutable BloomProbes probes_;
    mutable uint32_t made_ = 0;
    mutable uint64_t positions_[kMaxProbeCount];
  };

  explicit FilterLayers(const BloomShape& shape) : shape_(shape) {}

  const BloomShape& shape() const { return shape_; }
  size_t size() const { return layers_.size(); }
  // ResourceExhausted, and nothing is changed, if there is no memory for the
  // layers.
  absl::Status Append(size_t count);

  // True if all bits of the key are set in the layer.
  bool Covers(size_t layer, const Key& key) const {
    const BitArray& bits = layers_[layer].bits;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      if (!bits.Test(key.Position(i))) return false;
    }
    return true;
  }
  bool AnyCovers(const Key& key) const {
    for (size_t layer = 0; layer < layers_.size(); ++layer) {
      if (Covers(layer, key)) return true;
    }
    return false;
  }
  // answers[i] is AnyCovers() of digests[i].
  void AnyCovers(absl::Span<const KeyDigest> digests, bool* answers) const;
  // The number of the key's bits that are set in the layer.
  uint32_t Matches(size_t layer, const Key& key) const {
    uint32_t count = 0;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      count += layers_[layer].bits.Test(key.Position(i));
    }
    return count;
  }
  // Sets the key's bits. If that changes the layer, counts the key and returns
  // true.
  bool Put(size_t layer, const Key& key) {
    uint64_t changed = 0;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      changed += layers_[layer].bits.Set(key.Position(i));
    }
    layers_[layer].bits_set += changed;
    layers_[layer].key_count += changed != 0;
    return changed != 0;
  }
  // Prefetches the word that Covers() reads first.
  void PrefetchFirst(size_t layer, KeyDigest digest) const {
    layers_[layer].bits.Prefetch(BloomProbes(digest, shape_.bit_count).Next());
  }

  uint64_t bits_set(size_t layer) const { return layers_[layer].bits_set; }
  uint64_t key_count(size_t layer) const { return layers_[layer].key_count; }
  // True if half of the layer's bits are set: the fill at which a layer holds
  // the most keys for its rate.
  bool IsSaturated(size_t layer) const {
    return layers_[layer].bits_set >= shape_.bit_count - shape_.bit_count / 2;
  }

  // Merges layer by layer; both have the same number of layers of the same
  // shape.
  void SetAll(const FilterLayers& other);
  // Copies the other's layers, of the same shape, to the front; skips groups of
  // group_size layers in which no bit is set.
  void Prepend(const FilterLayers& other, size_t group_size);

  double fill() const;  // Over all layers; 0 if there are none.
  // LayerFpr() is the rate of one layer, AnyFpr() that of a lookup in all
  // layers.
  double LayerFpr(size_t layer) const;
  double AnyFpr() const;
  uint64_t total_key_count() const;
  uint64_t memory_usage_bytes() const;

  // The layers in a saved filter: their shape and number, each layer's key
  // count, then all bits. Load() returns at least one layer, unless *reader has
  // refused, and allocates no more bytes than the saved filter has.
  void Save(internal::memfilter::SavedFormWriter* writer) const;
  static FilterLayers Load(internal::memfilter::SavedFormReader* reader);

 private:
  struct Layer {
    BitArray bits;
    uint64_t bits_set = 0;
    uint64_t key_count = 0;
  };

  BloomShape shape_;
  std::vector<Layer> layers_;
};

// The dynamic filter (Guo, Wu, Chen, Luo 2006). A layer that has its number of
// keys is followed by a new one. Add() asks the newest layer only, so a key of
// an older layer is added once more.
struct DynamicOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kDynamic;
  struct State {};

  BloomShape layer;
  uint64_t keys_per_layer = 0;  // At least 1.
};
inline bool operator==(const DynamicOptions& a, const DynamicOptions& b) {
  return a.layer == b.layer && a.keys_per_layer == b.keys_per_layer;
}

// The split filter (Xiao, Dai, Li 2004): all layers exist from the start, for
// the largest expected set. A layer is open until it has its number of keys.
// Add() asks no layer, so a key that is added again goes to some layer again
// and may fill it as a new key does. Where keys repeat, ask first.
struct SplitOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kSplit;
  struct State {
    std::vector<uint32_t> open_layers;  // In ascending order.
    uint64_t random = 0;                // The generator that chooses layers.
  };

  BloomShape layer;
  uint64_t keys_per_layer = 0;  // At least 1.
  uint32_t layer_count = 0;     // 1 to kMaxLayerCount.
};
inline bool operator==(const SplitOptions& a, const SplitOptions& b) {
  return a.layer == b.layer && a.keys_per_layer == b.keys_per_layer &&
         a.layer_count == b.layer_count;
}

// The two-way balanced dynamic filter, 2BDBF (Sun and Xu 2014). A layer is full
// when half of its bits are set, whatever the number of keys, so that repeated
// keys fill no layer. A new group follows when all layers of the newest are
// full.
struct BalancedOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kBalanced;
  struct State {};

  BloomShape layer;
  uint32_t group_size = 2;  // Layers in a group: 1 to 64.
};
inline bool operator==(const BalancedOptions& a, const BalancedOptions& b) {
  return a.layer == b.layer && a.group_size == b.group_size;
}

// Chooses among candidate layers that match a key equally. Persisted.
enum class MatrixTie : uint8_t {
  // The first candidate: the paper's rule. A fuller layer matches better, so
  // that layers fill one after the other, and s groups hold no more keys than
  // one.
  kFirst = 0,
  // The candidate with fewer set bits. That keeps the layers even, and only
  // among even layers does the choice save bits.
  kLessFilled = 1,
};

// The matrix filter and the multi-way balanced matrix filter, M-BMBF (Yang and
// Huang 2018): layers in s groups. A key has one candidate layer in each group,
// named by a hash, so that a lookup asks s layers however many there are. One
// group makes the plain matrix filter.
//
// A key that a candidate covers counts as present. Otherwise it goes to the
// candidate that already has most of its bits, among those with less than half
// of their bits set. If no candidate has, Add() returns ResourceExhausted;
// other keys may still find room.
struct MatrixOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kMatrix;
  struct State {};

  BloomShape layer;
  uint32_t layer_count = 0;  // 1 to kMaxLayerCount.
  uint32_t group_count = 2;  // Divides layer_count; at most 64.
  MatrixTie tie = MatrixTie::kLessFilled;

  uint32_t layers_per_group() const { return layer_count / group_count; }
  // The layer of a group where a key may be: independent of those of the other
  // groups, by the mixer of SplitMix64 (Steele, Lea, Flood 2014). Persisted, as
  // BloomProbes is.
  size_t Candidate(KeyDigest digest, uint32_t group) const {
    uint64_t mixed = digest.value + (group + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    const uint64_t chosen = (mixed >> 32) * layers_per_group() >> 32;
    return size_t{group} * layers_per_group() + static_cast<size_t>(chosen);
  }
};
inline bool operator==(const MatrixOptions& a, const MatrixOptions& b) {
  return a.layer == b.layer && a.layer_count == b.layer_count &&
         a.group_count == b.group_count && a.tie == b.tie;
}

template <typename Options>
class LayersFilter : private Options::State {
 public:
  static constexpr MemFilterKind kKind = Options::kKind;

  static absl::StatusOr<LayersFilter> New(const Options& options);

  // ResourceExhausted, and nothing is changed, if the filter is full or there
  // is no memory for a new layer. With many keys, it stops at the first that
  // finds no room.
  absl::StatusOr<bool> Add(KeyDigest digest);
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    const FilterLayers::Key key(digest, layers_.shape());
    if constexpr (std::is_same_v<Options, MatrixOptions>) {
      for (uint32_t group = 0; group < options_.group_count; ++group) {
        if (layers_.Covers(options_.Candidate(digest, group), key)) return true;
      }
      return false;
    } else {
      return layers_.AnyCovers(key);
    }
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Dynamic and balanced filters take over the other's layers, without groups
  // of no bits. The others are joined layer by layer; a layer that then has
  // more keys than its number is full. InvalidArgument unless both have the
  // same options.
  absl::Status Union(const LayersFilter& other);

  double fill() const { return layers_.fill(); }
  double expected_fpr() const;
  // Number of keys that changed the filter when they were added.
  uint64_t approximate_count() const { return layers_.total_key_count(); }
  uint64_t memory_usage_bytes() const;

  std::string Save() const;
  static absl::StatusOr<LayersFilter> Load(std::string_view saved);

  const Options& options() const { return options_; }
  size_t layer_count() const { return layers_.size(); }

 private:
  using State = typename Options::State;  // A base: most are empty.

  explicit LayersFilter(const Options& options)
      : options_(options), layers_(options.layer) {}
  State* state() { return this; }
  const State& state() const { return *this; }

  Options options_;
  FilterLayers layers_;  // The newest group is the last.
};

extern template class LayersFilter<DynamicOptions>;
extern template class LayersFilter<SplitOptions>;
extern template class LayersFilter<BalancedOptions>;
extern template class LayersFilter<MatrixOptions>;

using DynamicFilter = LayersFilter<DynamicOptions>;
using SplitFilter = LayersFilter<SplitOptions>;
using BalancedFilter = LayersFilter<BalancedOptions>;
using MatrixFilter = LayersFilter<MatrixOptions>;

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_LAYERS_H_
