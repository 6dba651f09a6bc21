// SPDX-License-Identifier: Apache-2.0

#include "reader/resident_chunk.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace rowbloom::reader {

namespace {

constexpr std::align_val_t kAlignment{64};
// The overhead of an allocation and of a shared_ptr's control block.
constexpr size_t kUnitOverheadBytes = sizeof(UnitBuffer) + 64;

// The most steps that fit into fewer units; 0 if there is only one unit.
uint32_t StepsWithoutLastUnit(const FilterDescriptor& descriptor,
                              uint32_t steps) {
  const uint32_t units = FilterAtStep(descriptor, steps).unit_count;
  if (units <= 1) return 0;
  while (steps > 0 && FilterAtStep(descriptor, steps).unit_count == units) {
    --steps;
  }
  return steps;
}

}  // namespace

UnitBuffer::UnitBuffer(size_t size)
    : bytes_(static_cast<char*>(
          ::operator new(std::max<size_t>(size, 1), kAlignment))),
      size_(size) {}

UnitBuffer::~UnitBuffer() { ::operator delete(bytes_, kAlignment); }

ResidentChunk::ResidentChunk(const ChunkOrigin& origin, Kernel kernel,
                             std::shared_ptr<const LoadPolicy> policy,
                             size_t chunk)
    : origin_(origin),
      kernel_(kernel),
      policy_(std::move(policy)),
      chunk_(chunk) {}

absl::StatusOr<std::unique_ptr<ResidentChunk::Version>>
ResidentChunk::MakeVersion(const FilterDescriptor& descriptor, uint32_t steps,
                           const UnitPtrs& units, Kernel kernel) {
  const FilterDescriptor cut = FilterAtStep(descriptor, steps);
  std::array<std::string_view, FilterDescriptor::kMaxUnits> views;
  auto version = std::make_unique<Version>();
  for (size_t i = 0; i < cut.unit_count; ++i) {
    views[i] = units[i]->view();
    version->units[i] = units[i];
  }
  absl::StatusOr<FilterView> view = FilterView::Parse(
      cut, absl::MakeConstSpan(views.data(), cut.unit_count), kernel);
  if (!view.ok()) return view.status();
  version->view = *view;
  version->steps = steps;
  version->is_whole = steps >= FilterSteps(descriptor);
  const uint32_t rest = StepsWithoutLastUnit(descriptor, steps);
  version->rest_steps = rest;
  version->last_unit_bytes = ChargeBytes(descriptor, steps) -
                             (rest == 0 ? 0 : ChargeBytes(descriptor, rest));
  version->last_unit_saves = SavedBySteps(descriptor, rest, steps);
  return version;
}

absl::StatusOr<std::unique_ptr<ResidentChunk>> ResidentChunk::Make(
    const ChunkOrigin& origin, uint32_t steps, const UnitPtrs& units,
    Kernel kernel, std::shared_ptr<const LoadPolicy> policy, size_t chunk) {
  absl::StatusOr<std::unique_ptr<Version>> version =
      MakeVersion(origin.descriptor, steps, units, kernel);
  if (!version.ok()) return version.status();
  std::unique_ptr<ResidentChunk> resident(
      new ResidentChunk(origin, kernel, std::move(policy), chunk));
  resident->version_ = *std::move(version);
  return resident;
}

size_t ResidentChunk::ChargeBytes(const FilterDescriptor& descriptor,
                                  uint32_t steps) {
  const FilterDescriptor cut = FilterAtStep(descriptor, steps);
  return static_cast<size_t>(cut.total_size_bytes()) + sizeof(ResidentChunk) +
         sizeof(Version) + cut.unit_count * kUnitOverheadBytes;
}

double ResidentChunk::Worth() const {
  if (policy_ == nullptr) return kUnknownWorth;
  return policy_->AbsentRate(chunk_) * policy_->cost_bytes() *
         version_->last_unit_saves /
         static_cast<double>(version_->last_unit_bytes);
}

// The version that is given up, with its last unit. Units that the new version
// shares stay.
struct ResidentChunk::Retired final : FilterCache::Value {
  explicit Retired(std::unique_ptr<const Version> given_up)
      : version(std::move(given_up)) {}
  const std::unique_ptr<const Version> version;
};

std::unique_ptr<FilterCache::Value> ResidentChunk::Shrink(size_t* freed_bytes) {
  *freed_bytes = 0;
  if (policy_ == nullptr) return nullptr;
  if (version_->rest_steps == 0) return nullptr;
  absl::StatusOr<std::unique_ptr<Version>> version = MakeVersion(
      origin_.descriptor, version_->rest_steps, version_->units, kernel_);
  if (!version.ok()) return nullptr;
  *freed_bytes = version_->last_unit_bytes;
  return std::make_unique<Retired>(
      std::exchange(version_, *std::move(version)));
}

}  // namespace rowbloom::reader
