// SPDX-License-Identifier: Apache-2.0

#include "filter/compact/compact.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "filter/collecting_builder.h"
#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_layout.h"
#include "filter/digest_order.h"
#include "rowbloom/compiler.h"
#include "util/check.h"
#include "util/coding.h"

namespace rowbloom::filter {

namespace {

constexpr uint8_t kCode = 4;
// Groups of this many keys are solved within the processor's cache.
constexpr size_t kGroupKeys = 65536;
// The number of sizes tried for the last layer before some keys are given up.
constexpr int kLastLayerTries = 6;
constexpr uint64_t kSeedMultiplier = 0xa54ff53a5f1d36f1u;

// Lookups expect units of this size, or smaller, in the processor's own caches:
// testing two of them costs less than a mispredicted branch.
constexpr uint64_t kNearUnitSize = uint64_t{1} << 20;

uint64_t SeedOfEquations(uint32_t seed) {
  return kSeedMultiplier * (2 * uint64_t{seed} + 1);
}

// Memory for the solver.
class WorkSpace {
 public:
  char* Get(size_t size) {
    if (size > size_) {
      memory_.reset();
      memory_.reset(static_cast<char*>(::operator new(size, kAlignment)));
      size_ = size;
    }
    return memory_.get();
  }
  size_t size() const { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Delete {
    void operator()(char* memory) const {
      ::operator delete(memory, kAlignment);
    }
  };
  std::unique_ptr<char, Delete> memory_;
  size_t size_ = 0;
};

// Units and codes of a filter, growing layer by layer.
//
// The solver's memory, some 3 MiB at most, is kept for the next filter: a
// builder makes one filter after another, and each leaves a small block on the
// heap, behind which memory that is taken and returned each time could not be
// taken again.
class CompactEncoder {
 public:
  EncodedFilter Encode(DigestList digests, double bits_per_key, Kernel kernel);
  size_t memory_usage_bytes() const {
    return work_.size() + solution_.capacity() * sizeof(solution_[0]) +
           bumped_.capacity() * sizeof(bumped_[0]) +
           stretch_.memory_usage_bytes();
  }

 private:
  void Build(DigestList digests);
  EncodedFilter TakeFilter();
  // Solves the keys over homes of a new layer; returns those that it bumped.
  DigestList AddLayer(DigestList digests, uint64_t homes, bool last);
  void RemoveLayer();
  void ResizeToLayout();
  void AddLastLayer(DigestList digests);
  void StoreSolution(uint64_t first_stripe, size_t stripe_count);

  // The filter that is being built.
  CompactKernel kernel_{};
  CompactLayout layout_;
  uint32_t layer_count_ = 0;
  std::string units_[FilterDescriptor::kMaxUnits];  // Stripes only.
  std::vector<uint8_t> codes_;                      // One per stripe.
  uint64_t saturated_keys_ = 0;

  // These hold one group of keys, and are kept.
  WorkSpace work_;
  StretchMemory stretch_;
  std::vector<uint32_t> solution_;
  std::vector<uint64_t> bumped_;
};

void CompactEncoder::StoreSolution(uint64_t first_stripe, size_t stripe_count) {
  const uint32_t planes = layout_.planes.most();
  for (uint32_t u = 0; u < layout_.planes.unit_count(); ++u) {
    char* out = units_[u].data() + layout_.StripeOffset(u, first_stripe);
    for (size_t i = 0; i < stripe_count; ++i) {
      const uint64_t s = first_stripe + i;
      const uint32_t count = static_cast<uint32_t>(
          (layout_.StripeOffset(u, s + 1) - layout_.StripeOffset(u, s)) /
          kPlaneSize);
      const uint32_t* in = &solution_[i * planes + u * kUnitPlanes];
      for (uint32_t c = 0; c < count; ++c, out += kPlaneSize) {
        util::StoreFixed<uint32_t>(in[c], out);
      }
    }
  }
}

DigestList CompactEncoder::AddLayer(DigestList digests, uint64_t homes,
                                    bool last) {
  const uint64_t first_stripe = layout_.stripe_count();
  layout_.homes[layer_count_++] = homes;
  ResizeToLayout();

  DigestList next_layer;
  uint32_t edge[kMaxPlanes] = {};
  DigestOrder order(std::move(digests), homes, kGroupKeys);
  for (size_t i = order.stretch_count(); i > 0; --i) {
    const DigestStretch stretch = order.Stretch(i - 1, &stretch_);
    CompactGroup group = {};
    group.digests = stretch.digests;
    group.starts = stretch.starts;
    group.home_count = static_cast<uint32_t>(stretch.bucket_count);
    group.ends_layer = i == order.stretch_count();
    group.last_layer = last;
    group.planes = layout_.planes.most();
    group.layer_homes = homes;
    group.seed = SeedOfEquations(layout_.seed);
    group.edge = edge;
    const size_t stripes = group.home_count + group.ends_layer;
    solution_.resize(stripes * group.planes);
    group.solution = solution_.data();
    group.codes = codes_.data() + first_stripe + stretch.first_bucket;
    if (bumped_.size() < stretch.size()) bumped_.resize(stretch.size());
    group.bumped = bumped_.data();
    kernel_.solve(&group,
                  work_.Get(kernel_.work_size(group.home_count, group.planes)));
    StoreSolution(first_stripe + stretch.first_bucket, stripes);
    for (size_t b = 0; b < group.bumped_count; ++b) {
      next_layer.Add(DigestInNextLayer(bumped_[b]));
    }
  }
  return next_layer;
}

void CompactEncoder::RemoveLayer() {
  layout_.homes[--layer_count_] = 0;
  ResizeToLayout();
}

void CompactEncoder::ResizeToLayout() {
  for (uint32_t u = 0; u < layout_.planes.unit_count(); ++u) {
    units_[u].resize(layout_.StripesSize(u));
  }
  codes_.resize(layout_.stripe_count());
}

void CompactEncoder::AddLastLayer(DigestList digests) {
  uint64_t homes = LastLayerHomes(digests.size());
  for (int tries = 1;; ++tries) {
    if (layer_count_ > 0) homes = RepresentableHomes(homes);
    DigestList copy;
    digests.ForEach([&](uint64_t digest) { copy.Add(digest); });
    saturated_keys_ = AddLayer(std::move(copy), homes, true).size();
    if (saturated_keys_ == 0 || tries == kLastLayerTries) return;
    RemoveLayer();
    ++homes;
  }
}

void CompactEncoder::Build(DigestList digests) {
  while (digests.size() > kLastLayerKeys && layer_count_ + 1 < kMaxLayers) {
    uint64_t homes = CompactHomes(digests.size());
    if (layer_count_ > 0) homes = RepresentableHomes(homes);
    digests = AddLayer(std::move(digests), homes, false);
  }
  if (!digests.empty()) AddLastLayer(std::move(digests));
}

EncodedFilter CompactEncoder::TakeFilter() {
  EncodedFilter filter;
  FilterDescriptor& descriptor = filter.descriptor;
  descriptor.family_code = kCode;
  descriptor.unit_count = static_cast<uint8_t>(layout_.planes.unit_count());
  descriptor.parameters = layout_.Encode();
  filter.units.reserve(layout_.TotalSize());
  filter.saturated_keys = saturated_keys_;
  for (uint32_t u = 0; u < descriptor.unit_count; ++u) {
    const size_t begin = filter.units.size();
    filter.units += units_[u];
    std::string().swap(units_[u]);
    if (u == 0) {
      filter.units.resize(begin + layout_.CodesOffset());
      for (size_t s = 0; s < codes_.size(); s += 4) {
        uint32_t packed = 0;
        for (size_t i = 0; i < 4 && s + i < codes_.size(); ++i) {
          packed |= static_cast<uint32_t>(codes_[s + i]) << (2 * i);
        }
        filter.units.push_back(static_cast<char>(packed));
      }
    }
    filter.units.resize(begin + layout_.UnitSize(u));
    descriptor.unit_size_bytes[u] = filter.units.size() - begin;
  }
  std::vector<uint8_t>().swap(codes_);
  return filter;
}

EncodedFilter CompactEncoder::Encode(DigestList digests, double bits_per_key,
                                     Kernel kernel) {
  // The seed comes from some of the keys: the same keys give the same bytes,
  // and nobody who knows only one key can aim at equations.
  uint64_t sum = digests.size();
  digests.ForEachBlock(
      [&sum](const uint64_t* block, size_t) { sum = Mix64(sum, block[0]); });
  kernel_ = CompactKernelFor(kernel);
  layout_ = {};
  layout_.planes = CompactPlanesFor(bits_per_key);
  layout_.seed = sum & 0xff;
  layer_count_ = 0;
  saturated_keys_ = 0;
  Build(std::move(digests));
  return TakeFilter();
}

uint64_t SizeBytes(double bits_per_key, uint64_t key_count) {
  if (key_count == 0) return 0;
  return ExpectedCompactLayout(CompactPlanesFor(bits_per_key), key_count)
      .TotalSize();
}

uint64_t MaxKeys(double bits_per_key, uint64_t size_bytes) {
  // A key takes more than half of bits_per_key, and no size grows in steps that
  // the search would miss.
  uint64_t low = 0;
  uint64_t high = static_cast<uint64_t>(16 * static_cast<double>(size_bytes) /
                                        bits_per_key);
  while (low < high) {
    const uint64_t middle = high - (high - low) / 2;
    if (SizeBytes(bits_per_key, middle) > size_bytes) {
      high = middle - 1;
    } else {
      low = middle;
    }
  }
  return low;
}

double ExpectedFpr(const FilterState& state, uint64_t key_count) {
  if (key_count == 0) return 0;
  double rate = 1;
  for (uint64_t u = 0; u < state.detail[kFullUnits]; ++u) {
    rate /= 1 << kUnitPlanes;
  }
  if (state.detail[kFullUnits] < state.unit_count) {
    // Only layer 0 has rich homes.
    const double rich_homes =
        std::max(1.0, static_cast<double>(state.detail[kRichStripes])) - 1;
    const double stay =
        state.detail[kLayer1Homes] == 0 ? 1.0 : 1 - CompactAbsentBumpedShare();
    const double rich =
        stay * rich_homes / static_cast<double>(state.slot_count);
    for (uint64_t c = 0; c < state.detail[kLeanPlanes]; ++c) rate /= 2;
    rate *= 1 - rich / 2;
  }
  return rate;
}

// Checks the bytes after a partial unit, and the codes after the last stripe.
bool ReservedBitsAreZero(const CompactLayout& layout,
                         const FilterState& state) {
  const auto is_zero = [](char byte) { return byte == 0; };
  for (uint32_t u = 0; u < state.unit_count; ++u) {
    if (layout.planes.IsFullUnit(u)) continue;
    const char* padding = state.unit[u] + layout.StripesSize(u);
    if (!std::all_of(padding, padding + kPartialUnitPadding, is_zero)) {
      return false;
    }
  }
  const uint64_t stripes = layout.stripe_count();
  const uint8_t last_codes =
      static_cast<uint8_t>(state.unit[0][layout.UnitSize(0) - 1]);
  return stripes % 4 == 0 || last_codes >> (2 * (stripes % 4)) == 0;
}

absl::Status DecodeLayout(const FilterDescriptor& descriptor,
                          CompactLayout* layout) {
  if (!CompactLayout::Decode(descriptor.parameters,
                             descriptor.unit_size_bytes[0], layout)) {
    return absl::DataLossError(absl::StrCat(
        "compact filter with parameters ", absl::Hex(descriptor.parameters),
        " and a first unit of ", descriptor.unit_size_bytes[0], " bytes"));
  }
  const uint32_t unit_count = layout->planes.unit_count();
  if (descriptor.unit_count != unit_count) {
    return absl::DataLossError(absl::StrCat(
        "compact filter of ", static_cast<int>(descriptor.unit_count),
        " units, by its parameters of ", unit_count));
  }
  for (uint32_t u = 0; u < unit_count; ++u) {
    if (descriptor.unit_size_bytes[u] != layout->UnitSize(u)) {
      return absl::DataLossError(
          absl::StrCat("unit ", u, " of a compact filter has ",
                       descriptor.unit_size_bytes[u], " bytes instead of ",
                       layout->UnitSize(u)));
    }
  }
  return absl::OkStatus();
}

absl::Status Parse(const FilterDescriptor& descriptor, Kernel kernel,
                   FilterState* state, FilterLookup* lookup) {
  CompactLayout layout;
  absl::Status status = DecodeLayout(descriptor, &layout);
  if (!status.ok()) return status;
  if (!ReservedBitsAreZero(layout, *state)) {
    return absl::DataLossError(
        "compact filter with reserved bits that are not 0");
  }
  state->slot_count = layout.homes[0];
  state->parameter = SeedOfEquations(layout.seed);
  state->metadata = state->unit[0] + layout.CodesOffset();
  const uint32_t unit_count = layout.planes.unit_count();
  const bool partial = !layout.planes.IsFullUnit(unit_count - 1) &&
                       state->unit_count == unit_count;
  state->detail[kFullUnits] = state->unit_count - (partial ? 1 : 0);
  if (partial) {
    state->detail[kLeanPlanes] = layout.planes.LeanPlanesOfUnit(unit_count - 1);
    state->detail[kRichStripes] = layout.rich_stripes();
  }
  for (uint32_t layer = 1; layer < kMaxLayers; ++layer) {
    const uint32_t at = kLayer1Stripe + 2 * (layer - 1);
    state->detail[at] = layout.FirstStripe(layer);
    state->detail[at + 1] = layout.homes[layer];
  }
  const CompactLookup functions = CompactKernelFor(kernel).lookup(
      *state, descriptor.unit_size_bytes[0] <= kNearUnitSize);
  *lookup = {functions.may_contain, functions.may_contain_batch, ExpectedFpr,
             functions.prefetch};
  return absl::OkStatus();
}

uint32_t StepCount(const FilterDescriptor& descriptor) {
  CompactLayout layout;
  return DecodeLayout(descriptor, &layout).ok() ? layout.planes.most() : 1;
}

// The layout of fewer planes than the filter has, the same in every stripe.
// The last unit keeps 4 (planes mod 4) bytes a stripe, the 12 zero bytes and,
// if it is unit 0, the codes. With n stripes in all layers the filter then has
// 4 n planes + ceil(n / 4) bytes, and 12 more if planes mod 4 > 0.
CompactLayout WithPlanes(CompactLayout layout, uint32_t planes) {
  layout.planes = {planes, 0};
  return layout;
}

// The layout of a descriptor that DecodeLayout() accepts.
CompactLayout LayoutOf(const FilterDescriptor& descriptor) {
  CompactLayout layout;
  CompactLayout::Decode(descriptor.parameters, descriptor.unit_size_bytes[0],
                        &layout);
  return layout;
}

FilterDescriptor Cut(const FilterDescriptor& descriptor, uint32_t planes) {
  const CompactLayout layout = WithPlanes(LayoutOf(descriptor), planes);
  FilterDescriptor cut;
  cut.family_code = descriptor.family_code;
  cut.unit_count = static_cast<uint8_t>(layout.planes.unit_count());
  cut.parameters = layout.Encode();
  cut.key_count = descriptor.key_count;
  for (uint32_t u = 0; u < cut.unit_count; ++u) {
    cut.unit_size_bytes[u] = layout.UnitSize(u);
    if (layout.planes.IsFullUnit(u)) {
      cut.unit_checksum[u] = descriptor.unit_checksum[u];
    }
  }
  return cut;
}

// Copies the first kPlanes planes of stripes that have `planes`.
template <uint32_t kPlanes>
char* CopyPlanes(const char* in, uint64_t planes, uint64_t stripes, char* out) {
  for (uint64_t s = 0; s < stripes; ++s) {
    std::memcpy(out, in, kPlanes * kPlaneSize);
    in += planes * kPlaneSize;
    out += kPlanes * kPlaneSize;
  }
  return out;
}

void CopyUnit(const FilterDescriptor& descriptor, uint32_t planes, uint32_t u,
              std::string_view bytes, char* out) {
  const CompactLayout from = LayoutOf(descriptor);
  const CompactLayout to = WithPlanes(from, planes);
  RB_CHECK(u < to.planes.unit_count(),
           "CopyUnitAtStep(): the cut filter does not have the unit");
  if (to.planes.IsFullUnit(u)) {
    std::memcpy(out, bytes.data(), bytes.size());
    return;
  }
  constexpr decltype(&CopyPlanes<1>) kCopyPlanes[] = {
      CopyPlanes<1>, CopyPlanes<2>, CopyPlanes<3>};
  const uint32_t kept = to.planes.LeanPlanesOfUnit(u);
  // The planes of most stripes; the first rich_stripes have one more.
  const uint64_t lean = from.planes.LeanPlanesOfUnit(u);
  const uint64_t rich_stripes =
      from.planes.IsFullUnit(u) ? 0 : from.rich_stripes();
  const char* in = bytes.data();
  out = kCopyPlanes[kept - 1](in, lean + 1, rich_stripes, out);
  in += from.StripeOffset(u, rich_stripes);
  out =
      kCopyPlanes[kept - 1](in, lean, from.stripe_count() - rich_stripes, out);
  std::memset(out, 0, kPartialUnitPadding);
  if (u == 0) {
    const std::string_view codes = bytes.substr(from.CodesOffset());
    std::memcpy(out + kPartialUnitPadding, codes.data(), codes.size());
  }
}

constexpr FilterCutter kCutter = {StepCount, Cut, CopyUnit};

}  // namespace

CompactKernel CompactKernelFor(Kernel kernel) {
  switch (ConcreteKernel(kernel)) {
#if ROWBLOOM_X86_KERNELS
    case Kernel::kSse42:
      return Sse42CompactKernel();
    case Kernel::kAvx2:
      return Avx2CompactKernel();
    case Kernel::kAvx512:
      return Avx512CompactKernel();
#elif ROWBLOOM_ARM_KERNELS
    case Kernel::kNeon:
      return NeonCompactKernel();
#endif
    default:
      return PortableCompactKernel();
  }
}

const FilterFamily kCompactFamily = {
    kCode,
    "compact",
    [](double bits_per_key) { return CompactPlanesFor(bits_per_key).rate(); },
    MaxKeys,
    SizeBytes,
    [](double bits_per_key, Kernel kernel) -> std::unique_ptr<FilterBuilder> {
      return std::make_unique<CollectingBuilder<CompactEncoder>>(bits_per_key,
                                                                 kernel);
    },
    Parse,
    &kCutter};

}  // namespace rowbloom::filter
