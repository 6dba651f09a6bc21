// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/layers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/estimates.h"
#include "memfilter/options_text.h"
#include "memfilter/saved_form.h"
#include "util/check.h"

namespace rowbloom {

absl::Status FilterLayers::Append(size_t count) {
  const size_t size_before = size();
  for (size_t i = 0; i < count; ++i) {
    auto bits = BitArray::New(shape_.bit_count);
    if (!bits.ok()) {
      layers_.resize(size_before);
      return bits.status();
    }
    layers_.emplace_back().bits = *std::move(bits);
  }
  return absl::OkStatus();
}

void FilterLayers::AnyCovers(absl::Span<const KeyDigest> digests,
                             bool* answers) const {
  internal::memfilter::AskLayers(
      digests,
      [this](KeyDigest digest) {
        for (size_t layer = 0; layer < size(); ++layer) {
          PrefetchFirst(layer, digest);
        }
      },
      [this](KeyDigest digest) { return AnyCovers(Key(digest, shape_)); },
      answers);
}

void FilterLayers::SetAll(const FilterLayers& other) {
  RB_CHECK(shape_ == other.shape_ && size() == other.size(),
           "FilterLayers::SetAll(): the shapes or numbers of layers differ");
  for (size_t layer = 0; layer < size(); ++layer) {
    layers_[layer].bits.SetAll(other.layers_[layer].bits);
    layers_[layer].bits_set = layers_[layer].bits.CountSet();
    // Each counted key has set a bit, which caps the sum. Keys that both have
    // count twice below the cap.
    layers_[layer].key_count =
        std::min(layers_[layer].key_count + other.layers_[layer].key_count,
                 layers_[layer].bits_set);
  }
}

void FilterLayers::Prepend(const FilterLayers& other, size_t group_size) {
  RB_CHECK(shape_ == other.shape_ && other.size() % group_size == 0,
           "FilterLayers::Prepend(): the shapes differ, or the layers are no "
           "whole groups");
  std::vector<Layer> taken;  // A copy: `other` may be *this.
  const auto has_bits = [](const Layer& layer) { return layer.bits_set > 0; };
  for (auto group = other.layers_.begin(); group != other.layers_.end();) {
    const auto end = group + static_cast<ptrdiff_t>(group_size);
    if (std::any_of(group, end, has_bits)) {
      taken.insert(taken.end(), group, end);
    }
    group = end;
  }
  layers_.insert(layers_.begin(), std::make_move_iterator(taken.begin()),
                 std::make_move_iterator(taken.end()));
}

double FilterLayers::fill() const {
  if (layers_.empty()) return 0;
  double sum = 0;
  for (const Layer& layer : layers_) {
    sum += internal::memfilter::Fill(shape_, layer.bits_set);
  }
  return sum / static_cast<double>(size());
}

double FilterLayers::LayerFpr(size_t layer) const {
  return internal::memfilter::RateAt(shape_, layers_[layer].bits_set);
}

double FilterLayers::AnyFpr() const {
  double none = 1;
  for (size_t layer = 0; layer < size(); ++layer) none *= 1 - LayerFpr(layer);
  return 1 - none;
}

uint64_t FilterLayers::total_key_count() const {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.key_count;
  return sum;
}

uint64_t FilterLayers::memory_usage_bytes() const {
  uint64_t sum = layers_.capacity() * sizeof(Layer);
  for (const Layer& layer : layers_) sum += layer.bits.memory_usage_bytes();
  return sum;
}

void FilterLayers::Save(internal::memfilter::SavedFormWriter* writer) const {
  writer->AddVarint(shape_.bit_count);
  writer->AddVarint(shape_.probe_count);
  writer->AddVarint(size());
  for (const Layer& layer : layers_) {
    writer->AddVarint(layer.key_count);
    writer->AddWords(layer.bits.words());
  }
}

FilterLayers FilterLayers::Load(internal::memfilter::SavedFormReader* reader) {
  FilterLayers layers(reader->Shape());
  const uint64_t layer_count = reader->Varint();
  if (layer_count == 0) reader->Refuse("0 layers");
  for (uint64_t i = 0; i < layer_count; ++i) {
    Layer layer;
    layer.key_count = reader->Varint();
    if (!reader->Bits(layers.shape_.bit_count, &layer.bits)) break;
    layer.bits_set = layer.bits.CountSet();
    if (layer.key_count > layer.bits_set) {
      reader->Refuse(absl::StrCat("layer ", i, " of ", layer.key_count,
                                  " keys has ", layer.bits_set, " bits set"));
    }
    layers.layers_.push_back(std::move(layer));
  }
  return layers;
}

namespace {

using internal::memfilter::SavedFormReader;
using internal::memfilter::SavedFormWriter;

// Each filter has these functions: CheckOptions() beside the shape's own check,
// FirstLayers() for the layers of a new filter, Put() for a key,
// SaveOptions() and LoadOptions() for what the layers do not tell.

absl::Status CheckKeysPerLayer(uint64_t keys_per_layer) {
  if (keys_per_layer > 0) return absl::OkStatus();
  return absl::InvalidArgumentError("keys_per_layer 0: must be at least 1");
}

absl::Status CheckLayerCount(uint32_t layer_count) {
  if (layer_count >= 1 && layer_count <= kMaxLayerCount) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "layer_count ", layer_count, ": must be 1 to ", kMaxLayerCount));
}

uint32_t BoundedLayerCount(const FilterLayers& layers) {
  return static_cast<uint32_t>(
      std::min<size_t>(layers.size(), kMaxLayerCount + 1));
}

// For filters whose options and state do not follow from their layers.
template <typename Options>
void SetLayers(const FilterLayers&, Options*, typename Options::State*) {}

// DynamicFilter

absl::Status CheckOptions(const DynamicOptions& options) {
  return CheckKeysPerLayer(options.keys_per_layer);
}

size_t FirstLayers(const DynamicOptions&) { return 1; }

absl::StatusOr<bool> Put(const DynamicOptions& options, KeyDigest digest,
                         FilterLayers* layers, DynamicOptions::State*) {
  const FilterLayers::Key key(digest, layers->shape());
  const size_t newest = layers->size() - 1;
  if (layers->key_count(newest) < options.keys_per_layer) {
    return layers->Put(newest, key);
  }
  if (layers->Covers(newest, key)) return false;
  if (absl::Status status = layers->Append(1); !status.ok()) return status;
  return layers->Put(newest + 1, key);
}

void SaveOptions(const DynamicOptions& options, const DynamicOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.keys_per_layer);
}

void LoadOptions(SavedFormReader* reader, DynamicOptions* options,
                 DynamicOptions::State*) {
  options->keys_per_layer = reader->Varint();
}

// SplitFilter

absl::Status CheckOptions(const SplitOptions& options) {
  if (absl::Status status = CheckKeysPerLayer(options.keys_per_layer);
      !status.ok()) {
    return status;
  }
  return CheckLayerCount(options.layer_count);
}

size_t FirstLayers(const SplitOptions& options) { return options.layer_count; }

absl::StatusOr<bool> Put(const SplitOptions& options, KeyDigest digest,
                         FilterLayers* layers, SplitOptions::State* state) {
  if (state->open_layers.empty()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("split filter is full: each of its ", options.layer_count,
                     " layers has ", options.keys_per_layer, " keys"));
  }
  // A linear congruential generator (Knuth's MMIX), of which the high bits are
  // used.
  state->random = state->random * 6364136223846793005u + 1442695040888963407u;
  const uint64_t choice =
      (state->random >> 32) * state->open_layers.size() >> 32;
  const uint32_t layer = state->open_layers[static_cast<size_t>(choice)];
  const bool changed = layers->Put(layer, {digest, layers->shape()});
  if (layers->key_count(layer) >= options.keys_per_layer) {
    // The order stays that of a filter that is loaded.
    state->open_layers.erase(state->open_layers.begin() +
                             static_cast<ptrdiff_t>(choice));
  }
  return changed;
}

void SaveOptions(const SplitOptions& options, const SplitOptions::State& state,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.keys_per_layer);
  writer->AddVarint(state.random);
}

void LoadOptions(SavedFormReader* reader, SplitOptions* options,
                 SplitOptions::State* state) {
  options->keys_per_layer = reader->Varint();
  state->random = reader->Varint();
}

void SetLayers(const FilterLayers& layers, SplitOptions* options,
               SplitOptions::State* state) {
  options->layer_count = BoundedLayerCount(layers);
  state->open_layers.clear();
  for (uint32_t layer = 0;
       layer < options->layer_count && layer < layers.size(); ++layer) {
    if (layers.key_count(layer) < options->keys_per_layer) {
      state->open_layers.push_back(layer);
    }
  }
}

// BalancedFilter

absl::Status CheckOptions(const BalancedOptions& options) {
  if (options.group_size >= 1 && options.group_size <= 64) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("group_size ", options.group_size, ": must be 1 to 64"));
}

size_t FirstLayers(const BalancedOptions& options) {
  return options.group_size;
}

size_t LeastFilledOfNewestGroup(const BalancedOptions& options,
                                const FilterLayers& layers) {
  size_t least = layers.size() - options.group_size;
  for (size_t layer = least + 1; layer < layers.size(); ++layer) {
    if (layers.bits_set(layer) < layers.bits_set(least)) least = layer;
  }
  return least;
}

absl::StatusOr<bool> Put(const BalancedOptions& options, KeyDigest digest,
                         FilterLayers* layers, BalancedOptions::State*) {
  const FilterLayers::Key key(digest, layers->shape());
  size_t layer = LeastFilledOfNewestGroup(options, *layers);
  if (layers->IsSaturated(layer)) {
    if (layers->Covers(layer, key)) return false;
    if (absl::Status status = layers->Append(options.group_size);
        !status.ok()) {
      return status;
    }
    layer = LeastFilledOfNewestGroup(options, *layers);
  }
  return layers->Put(layer, key);
}

void SaveOptions(const BalancedOptions& options, const BalancedOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.group_size);
}

void LoadOptions(SavedFormReader* reader, BalancedOptions* options,
                 BalancedOptions::State*) {
  options->group_size =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
}

// MatrixFilter

absl::Status CheckOptions(const MatrixOptions& options) {
  if (options.group_count == 0 || options.group_count > 64 ||
      options.layer_count % options.group_count != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "group_count ", options.group_count,
        ": must be 1 to 64 and divide layer_count ", options.layer_count));
  }
  if (options.tie > MatrixTie::kLessFilled) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tie ", static_cast<int>(options.tie), ": must be 0 or 1"));
  }
  return CheckLayerCount(options.layer_count);
}

size_t FirstLayers(const MatrixOptions& options) { return options.layer_count; }

absl::StatusOr<bool> Put(const MatrixOptions& options, KeyDigest digest,
                         FilterLayers* layers, MatrixOptions::State*) {
  const FilterLayers::Key key(digest, layers->shape());
  size_t chosen = layers->size();
  uint32_t most_matches = 0;
  for (uint32_t group = 0; group < options.group_count; ++group) {
    const size_t layer = options.Candidate(digest, group);
    const uint32_t matches = layers->Matches(layer, key);
    if (matches == layers->shape().probe_count) return false;
    if (layers->IsSaturated(layer)) continue;
    if (chosen == layers->size() || matches > most_matches ||
        (matches == most_matches && options.tie == MatrixTie::kLessFilled &&
         layers->bits_set(layer) < layers->bits_set(chosen))) {
      chosen = layer;
      most_matches = matches;
    }
  }
  if (chosen == layers->size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "matrix filter: in each of the key's ", options.group_count,
        " layers of ", options.layer.bit_count, " bits half are set"));
  }
  return layers->Put(chosen, key);
}

void SaveOptions(const MatrixOptions& options, const MatrixOptions::State&,
                 SavedFormWriter* writer) {
  writer->AddVarint(options.group_count);
  writer->AddVarint(static_cast<uint64_t>(options.tie));
}

void LoadOptions(SavedFormReader* reader, MatrixOptions* options,
                 MatrixOptions::State*) {
  options->group_count =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 65));
  options->tie =
      static_cast<MatrixTie>(std::min<uint64_t>(reader->Varint(), 255));
}

void SetLayers(const FilterLayers& layers, MatrixOptions* options,
               MatrixOptions::State*) {
  options->layer_count = BoundedLayerCount(layers);
}

// All filters

template <typename Options>
absl::Status Validate(const Options& options) {
  if (absl::Status status = ValidateShape(options.layer); !status.ok()) {
    return status;
  }
  return CheckOptions(options);
}

// A filter that grows does so by groups of this many layers; 0 if it has all
// layers from the start.
size_t GrowthOf(const DynamicOptions&) { return 1; }
size_t GrowthOf(const BalancedOptions& options) { return options.group_size; }
size_t GrowthOf(const SplitOptions&) { return 0; }
size_t GrowthOf(const MatrixOptions&) { return 0; }

}  // namespace

template <typename Options>
absl::StatusOr<LayersFilter<Options>> LayersFilter<Options>::New(
    const Options& options) {
  if (absl::Status status = Validate(options); !status.ok()) return status;
  LayersFilter filter(options);
  if (absl::Status status = filter.layers_.Append(FirstLayers(options));
      !status.ok()) {
    return status;
  }
  SetLayers(filter.layers_, &filter.options_, filter.state());
  return filter;
}

template <typename Options>
absl::StatusOr<bool> LayersFilter<Options>::Add(KeyDigest digest) {
  return Put(options_, digest, &layers_, state());
}

template <typename Options>
absl::Status LayersFilter<Options>::Add(absl::Span<const KeyDigest> digests) {
  return internal::memfilter::AddUntilFull(digests, this);
}

template <typename Options>
void LayersFilter<Options>::MayContain(absl::Span<const KeyDigest> digests,
                                       bool* may_contain) const {
  if constexpr (std::is_same_v<Options, MatrixOptions>) {
    internal::memfilter::AskLayers(
        digests,
        [this](KeyDigest digest) {
          for (uint32_t group = 0; group < options_.group_count; ++group) {
            layers_.PrefetchFirst(options_.Candidate(digest, group), digest);
          }
        },
        [this](KeyDigest digest) { return MayContain(digest); }, may_contain);
  } else {
    layers_.AnyCovers(digests, may_contain);
  }
}

template <typename Options>
absl::Status LayersFilter<Options>::Union(const LayersFilter& other) {
  if (absl::Status status =
          internal::memfilter::CheckSameOptions(options_, other.options_);
      !status.ok()) {
    return status;
  }
  if (const size_t group_size = GrowthOf(options_); group_size > 0) {
    layers_.Prepend(other.layers_, group_size);
  } else {
    layers_.SetAll(other.layers_);
    SetLayers(layers_, &options_, state());
  }
  return absl::OkStatus();
}

template <typename Options>
double LayersFilter<Options>::expected_fpr() const {
  if constexpr (std::is_same_v<Options, MatrixOptions>) {
    // In each group an absent key meets one layer, any of them alike.
    double none = 1;
    const uint32_t layers_per_group = options_.layers_per_group();
    for (uint32_t group = 0; group < options_.group_count; ++group) {
      double sum = 0;
      for (uint32_t layer = 0; layer < layers_per_group; ++layer) {
        sum += layers_.LayerFpr(size_t{group} * layers_per_group + layer);
      }
      none *= 1 - sum / layers_per_group;
    }
    return 1 - none;
  } else {
    return layers_.AnyFpr();
  }
}

template <typename Options>
uint64_t LayersFilter<Options>::memory_usage_bytes() const {
  uint64_t sum = sizeof(*this) + layers_.memory_usage_bytes();
  if constexpr (std::is_same_v<Options, SplitOptions>) {
    sum += state().open_layers.capacity() * sizeof(state().open_layers[0]);
  }
  return sum;
}

template <typename Options>
std::string LayersFilter<Options>::Save() const {
  SavedFormWriter writer(kKind);
  SaveOptions(options_, state(), &writer);
  layers_.Save(&writer);
  return writer.Finish();
}

template <typename Options>
absl::StatusOr<LayersFilter<Options>> LayersFilter<Options>::Load(
    std::string_view saved) {
  auto reader = SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  Options options;
  State state;
  LoadOptions(&*reader, &options, &state);
  FilterLayers layers = FilterLayers::Load(&*reader);
  options.layer = layers.shape();
  SetLayers(layers, &options, &state);
  if (const absl::Status status = Validate(options); !status.ok()) {
    reader->Refuse(status.message());
  } else if (const size_t group_size = GrowthOf(options);
             group_size > 0 && layers.size() % group_size != 0) {
    reader->Refuse(
        absl::StrCat(layers.size(), " layers in groups of ", group_size));
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  LayersFilter filter(options);
  filter.layers_ = std::move(layers);
  *filter.state() = std::move(state);
  return filter;
}

template class LayersFilter<DynamicOptions>;
template class LayersFilter<SplitOptions>;
template class LayersFilter<BalancedOptions>;
template class LayersFilter<MatrixOptions>;

}  // namespace rowbloom
