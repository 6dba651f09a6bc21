// SPDX-License-Identifier: Apache-2.0

#include "reader/resident_chunk.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "absl/types/span.h"
#include "reader/load_judge.h"

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

ResidentChunk::ResidentChunk(const ChunkOrigin& origin, uint32_t steps,
                             const UnitPtrs& units, Kernel kernel,
                             std::shared_ptr<const LoadJudge> judge,
                             size_t chunk)
    : steps_(steps),
      is_whole_(steps >= FilterSteps(origin.descriptor)),
      kernel_(kernel),
      chunk_(chunk),
      judge_(std::move(judge)),
      rest_steps_(StepsWithoutLastUnit(origin.descriptor, steps)),
      last_unit_bytes_(
          ChargeBytes(origin.descriptor, steps) -
          (rest_steps_ == 0 ? 0 : ChargeBytes(origin.descriptor, rest_steps_))),
      last_unit_saves_(SavedBySteps(origin.descriptor, rest_steps_, steps)),
      origin_(origin),
      units_(units) {}

absl::StatusOr<std::unique_ptr<ResidentChunk>> ResidentChunk::Make(
    const ChunkOrigin& origin, uint32_t steps, const UnitPtrs& units,
    Kernel kernel, std::shared_ptr<const LoadJudge> judge, size_t chunk) {
  const FilterDescriptor cut = FilterAtStep(origin.descriptor, steps);
  UnitPtrs kept;
  std::array<std::string_view, FilterDescriptor::kMaxUnits> views;
  for (size_t i = 0; i < cut.unit_count; ++i) {
    kept[i] = units[i];
    views[i] = units[i]->view();
  }
  absl::StatusOr<FilterView> view = FilterView::Parse(
      cut, absl::MakeConstSpan(views.data(), cut.unit_count), kernel);
  if (!view.ok()) return view.status();
  std::unique_ptr<ResidentChunk> resident(
      new ResidentChunk(origin, steps, kept, kernel, std::move(judge), chunk));
  resident->view_ = *view;
  return resident;
}

size_t ResidentChunk::ChargeBytes(const FilterDescriptor& descriptor,
                                  uint32_t steps) {
  const FilterDescriptor cut = FilterAtStep(descriptor, steps);
  return static_cast<size_t>(cut.total_size_bytes()) + sizeof(ResidentChunk) +
         cut.unit_count * kUnitOverheadBytes;
}

double ResidentChunk::Worth() const {
  if (judge_ == nullptr) return kUnknownWorth;
  return judge_->AbsentRate(chunk_) * judge_->cost_bytes() * last_unit_saves_ /
         static_cast<double>(last_unit_bytes_);
}

std::unique_ptr<cache::CachedFilter> ResidentChunk::Shrunk(
    size_t* freed_bytes) const {
  if (judge_ == nullptr || rest_steps_ == 0) return nullptr;
  absl::StatusOr<std::unique_ptr<ResidentChunk>> smaller =
      Make(origin_, rest_steps_, units_, kernel_, judge_, chunk_);
  if (!smaller.ok()) return nullptr;
  *freed_bytes = last_unit_bytes_;
  return *std::move(smaller);
}

}  // namespace rowbloom::reader
