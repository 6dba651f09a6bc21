// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/memfilter/scalable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memfilter/batch.h"
#include "memfilter/saved_form.h"

namespace rowbloom {

namespace {

// More layers would cost lookups more than they are worth.
constexpr size_t kMaxLayers = 1024;

// The smallest number of keys for which a layer is sized, even if it takes
// fewer. The rates of full layers vary around their planned rates, about
// log-normally with a deviation of 0.46 sqrt(probes / keys). A layer planned
// for 1 - tightening of the remaining target stays within it up to 3.7
// deviations. A tightening below 0.25 would need many keys, and counts as 0.25.
uint64_t LeastKeys(const ScalableOptions& options) {
  const double tightening = std::clamp(options.tightening, 0.25, 0.5);
  const double probes = std::min<double>(
      -std::log2(options.target_fpr * (1 - options.tightening)),
      kMaxProbeCount);
  const double ratio = 3.7 * 0.46 / std::log1p(-tightening);
  return static_cast<uint64_t>(std::ceil(probes * ratio * ratio));
}

}  // namespace

absl::Status ValidateOptions(const ScalableOptions& options) {
  const auto is_share = [](double x) { return x > 0 && x < 1; };  // No NaN.
  if (!is_share(options.target_fpr)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "target_fpr ", options.target_fpr, ": must be above 0 and below 1"));
  }
  if (!is_share(options.tightening)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tightening ", options.tightening, ": must be above 0 and below 1"));
  }
  if (options.capacity == 0) {
    return absl::InvalidArgumentError("capacity 0: must be at least 1");
  }
  if (options.expansion == 0 || options.expansion > 1 << 15) {
    return absl::InvalidArgumentError(
        absl::StrCat("expansion ", options.expansion, ": must be 1 to 2^15"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ScalableFilter> ScalableFilter::New(
    const ScalableOptions& options) {
  if (absl::Status status = ValidateOptions(options); !status.ok()) {
    return status;
  }
  ScalableFilter filter(options);
  if (absl::Status status = filter.AppendLayer(); !status.ok()) return status;
  return filter;
}

// A fixed share of the target that earlier layers left. On average that is the
// geometric series of the paper; but rates of full layers vary around their
// planned rates, and this keeps the sum below the target all the same. If
// almost nothing is left, the layer gets a small part of its term of the
// series.
double ScalableFilter::NextLayerFpr() const {
  if (options_.non_scaling) return options_.target_fpr;
  double left = options_.target_fpr;
  for (const Layer& layer : layers_) left -= layer.filter.expected_fpr();
  const double planned =
      options_.target_fpr *
      std::pow(options_.tightening, static_cast<double>(layers_.size()));
  return std::max(std::max(left, planned / 64) * (1 - options_.tightening),
                  std::numeric_limits<double>::min());
}

// InvalidArgument if the next layer's size or rate is impossible,
// ResourceExhausted if there is no memory for it.
absl::Status ScalableFilter::AppendLayer() {
  if (layers_.size() >= kMaxLayers) {
    return absl::InvalidArgumentError("it has the most layers that it may");
  }
  uint64_t capacity = options_.capacity;
  if (!layers_.empty() &&
      internal::MultiplyOverflows(layers_.back().capacity, options_.expansion,
                                  &capacity)) {
    return absl::InvalidArgumentError("its next layer is too large");
  }
  const auto shape =
      ShapeFor(std::max(capacity, LeastKeys(options_)), NextLayerFpr());
  if (!shape.ok()) return shape.status();
  const uint64_t bytes =
      BitArray::WordCount(shape->bit_count) * sizeof(uint64_t);
  if (memory_usage_bytes() + bytes > options_.max_memory_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "layer of ", bytes, " bytes, beside ", memory_usage_bytes(),
        ": max_memory_bytes is ", options_.max_memory_bytes));
  }
  auto filter = StandardFilter::New(*shape);
  if (!filter.ok()) return filter.status();
  layers_.push_back({*std::move(filter), capacity, 0});
  return absl::OkStatus();
}

absl::StatusOr<bool> ScalableFilter::Add(KeyDigest digest) {
  if (MayContain(digest)) return false;
  if (layers_.back().key_count >= layers_.back().capacity) {
    if (options_.non_scaling) {
      return absl::ResourceExhaustedError(
          absl::StrCat("non-scaling filter is full: it has its ",
                       options_.capacity, " keys"));
    }
    if (absl::Status status = AppendLayer(); !status.ok()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("filter cannot grow beyond ", layers_.size(),
                       " layers: ", status.message()));
    }
  }
  layers_.back().filter.Add(digest);
  ++layers_.back().key_count;
  return true;
}

absl::Status ScalableFilter::Add(absl::Span<const KeyDigest> digests) {
  return internal::memfilter::AddUntilFull(digests, this);
}

void ScalableFilter::MayContain(absl::Span<const KeyDigest> digests,
                                bool* may_contain) const {
  // Each layer looks up a batch of the keys that no newer layer has.
  for (size_t begin = 0; begin < digests.size();
       begin += internal::memfilter::kBatchGroup) {
    const auto group = digests.subspan(begin, internal::memfilter::kBatchGroup);
    KeyDigest open[internal::memfilter::kBatchGroup];
    size_t place[internal::memfilter::kBatchGroup] = {};
    bool answers[internal::memfilter::kBatchGroup] = {};
    for (size_t i = 0; i < group.size(); ++i) {
      open[i] = group[i];
      place[i] = begin + i;
      may_contain[begin + i] = false;
    }
    size_t open_count = group.size();
    for (size_t layer = layers_.size(); layer-- > 0 && open_count > 0;) {
      layers_[layer].filter.MayContain(absl::MakeConstSpan(open, open_count),
                                       answers);
      size_t still_open = 0;
      for (size_t i = 0; i < open_count; ++i) {
        may_contain[place[i]] = answers[i];
        open[still_open] = open[i];
        place[still_open] = place[i];
        still_open += !answers[i];
      }
      open_count = still_open;
    }
  }
}

double ScalableFilter::fill() const {
  double set = 0;
  double bits = 0;
  for (const Layer& layer : layers_) {
    const double layer_bits =
        static_cast<double>(layer.filter.shape().bit_count);
    set += layer.filter.fill() * layer_bits;
    bits += layer_bits;
  }
  return set / bits;
}

double ScalableFilter::expected_fpr() const {
  double none = 1;
  for (const Layer& layer : layers_) none *= 1 - layer.filter.expected_fpr();
  return 1 - none;
}

uint64_t ScalableFilter::approximate_count() const {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.key_count;
  return sum;
}

uint64_t ScalableFilter::capacity() const {
  uint64_t sum = 0;
  for (const Layer& layer : layers_) sum += layer.capacity;
  return sum;
}

uint64_t ScalableFilter::memory_usage_bytes() const {
  uint64_t sum = sizeof(*this) + layers_.capacity() * sizeof(Layer);
  for (const Layer& layer : layers_) {
    sum += layer.filter.memory_usage_bytes() - sizeof(layer.filter);
  }
  return sum;
}

std::string ScalableFilter::Save() const {
  internal::memfilter::SavedFormWriter writer(kKind);
  writer.AddDouble(options_.target_fpr);
  writer.AddDouble(options_.tightening);
  writer.AddVarint(options_.capacity);
  writer.AddVarint(options_.expansion);
  writer.AddVarint(options_.non_scaling);
  writer.AddVarint(layers_.size());
  for (const Layer& layer : layers_) {
    writer.AddVarint(layer.filter.shape().bit_count);
    writer.AddVarint(layer.filter.shape().probe_count);
    writer.AddVarint(layer.capacity);
    writer.AddVarint(layer.key_count);
    writer.AddWords(layer.filter.bits_.words());
  }
  return writer.Finish();
}

absl::StatusOr<ScalableFilter> ScalableFilter::Load(std::string_view saved,
                                                    uint64_t max_memory_bytes) {
  auto reader = internal::memfilter::SavedFormReader::Open(saved, kKind);
  if (!reader.ok()) return reader.status();
  ScalableOptions options;
  options.target_fpr = reader->Double();
  options.tightening = reader->Double();
  options.capacity = reader->Varint();
  options.expansion =
      static_cast<uint32_t>(std::min<uint64_t>(reader->Varint(), 1 << 16));
  const uint64_t non_scaling = reader->Varint();
  options.non_scaling = non_scaling == 1;
  const uint64_t layer_count = reader->Varint();
  if (const absl::Status status = ValidateOptions(options); !status.ok()) {
    reader->Refuse(status.message());
  } else if (non_scaling > 1 || layer_count == 0 || layer_count > kMaxLayers ||
             (options.non_scaling && layer_count > 1)) {
    reader->Refuse(absl::StrCat("non-scaling ", non_scaling, ", ", layer_count,
                                " layers"));
  }
  options.max_memory_bytes = max_memory_bytes;
  ScalableFilter filter(options);
  uint64_t planned = options.capacity;
  for (uint64_t i = 0; i < layer_count; ++i) {
    const BloomShape shape = reader->Shape();
    const uint64_t capacity = reader->Varint();
    const uint64_t key_count = reader->Varint();
    BitArray bits;
    if (!reader->Bits(shape.bit_count, &bits)) break;
    // Each counted key has set a bit.
    const uint64_t bits_set = bits.CountSet();
    if (capacity == 0 || capacity != planned || key_count > capacity ||
        key_count > bits_set) {
      reader->Refuse(absl::StrCat("layer ", i, " of ", key_count, " keys has ",
                                  bits_set, " bits set and room for ", capacity,
                                  ", planned for ", planned));
      break;
    }
    filter.layers_.push_back(
        {StandardFilter(shape, std::move(bits)), capacity, key_count});
    if (internal::MultiplyOverflows(planned, options.expansion, &planned)) {
      planned = 0;  // Refuses further layers.
    }
  }
  if (absl::Status status = reader->Finish(); !status.ok()) return status;
  return filter;
}

}  // namespace rowbloom
