// SPDX-License-Identifier: Apache-2.0

#include "reader/chunk_loader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "filter/units.h"
#include "rowbloom/filter.h"

namespace rowbloom::reader {

namespace {

// Between two ranges that one read takes: less than a second read costs.
constexpr uint64_t kMaxGapBytes = 4096;
constexpr uint64_t kMaxReadBytes = 4 << 20;

// Units that are as stored in a filter of so many steps. Its last unit is not
// if the next step adds to it; its size does not tell.
size_t WholeUnits(const FilterDescriptor& stored, uint32_t steps) {
  if (steps == FilterSteps(stored)) return stored.unit_count;
  return FilterAtStep(stored, steps + 1).unit_count - 1u;
}

}  // namespace

absl::Status ReadExactly(const RandomAccessSource& source, uint64_t offset,
                         size_t size_bytes, char* scratch,
                         std::string_view* result) {
  absl::Status status = source.Read(offset, size_bytes, scratch, result);
  if (status.ok() && result->size() != size_bytes) {
    return absl::DataLossError(
        absl::StrCat(base::AbslView(source.name()), ": offset ", offset,
                     ": read ", result->size(), " of ", size_bytes, " bytes"));
  }
  return status;
}

ChunkLoader::Range ChunkLoader::RangeOf(const ChunkLoad& load) const {
  const ChunkOrigin origin = OriginOf(load.chunk);
  const FilterDescriptor& stored = origin.descriptor;
  Range range;
  range.unit_count = FilterAtStep(stored, load.steps).unit_count;
  range.begin = range.end = origin.offset;
  const size_t whole_units =
      load.base == nullptr ? 0 : WholeUnits(stored, load.base->steps());
  for (size_t i = 0; i < range.unit_count; ++i) {
    if (i < whole_units) {
      range.first_unit = i + 1;
      range.begin += stored.unit_size_bytes[i];
    }
    range.end += stored.unit_size_bytes[i];
  }
  return range;
}

uint64_t ChunkLoader::SizeOf(const ChunkLoad& load) const {
  const Range range = RangeOf(load);
  return range.end - range.begin;
}

absl::StatusOr<std::unique_ptr<ResidentChunk>> ChunkLoader::Build(
    const ChunkLoad& load, const Range& range, std::string_view bytes) const {
  const ChunkOrigin origin = OriginOf(load.chunk);
  const FilterDescriptor& stored = origin.descriptor;
  const FilterDescriptor cut = FilterAtStep(stored, load.steps);
  UnitPtrs units;
  for (size_t i = 0; i < range.first_unit; ++i) {
    units[i] = load.base->units()[i];
  }
  for (size_t i = range.first_unit; i < range.unit_count; ++i) {
    const std::string_view unit =
        bytes.substr(0, static_cast<size_t>(stored.unit_size_bytes[i]));
    bytes.remove_prefix(unit.size());
    const absl::Status status = filter::VerifyUnit(stored, i, unit);
    if (!status.ok()) {
      return block::Annotate(place_, (*chunks_)[load.chunk].offset, status);
    }
    auto buffer = std::make_shared<UnitBuffer>(
        static_cast<size_t>(cut.unit_size_bytes[i]));
    CopyUnitAtStep(stored, load.steps, static_cast<uint32_t>(i), unit,
                   buffer->bytes());
    units[i] = std::move(buffer);
  }
  absl::StatusOr<std::unique_ptr<ResidentChunk>> chunk = ResidentChunk::Make(
      origin, load.steps, units, kernel_, demand_, load.chunk);
  if (!chunk.ok()) {
    return block::Annotate(place_, (*chunks_)[load.chunk].offset,
                           chunk.status());
  }
  return chunk;
}

LoadResult ChunkLoader::Load(const ChunkLoad& load) const {
  return std::move(LoadAll(absl::MakeConstSpan(&load, 1)).front());
}

std::vector<LoadResult> ChunkLoader::LoadAll(
    absl::Span<const ChunkLoad> loads) const {
  std::vector<LoadResult> results(loads.size());
  std::vector<Range> ranges;
  ranges.reserve(loads.size());
  for (const ChunkLoad& load : loads) ranges.push_back(RangeOf(load));
  for (size_t first = 0; first < loads.size();) {
    const uint64_t begin = ranges[first].begin;
    uint64_t end = ranges[first].end;
    size_t next = first + 1;
    while (next < loads.size() && ranges[next].begin <= end + kMaxGapBytes &&
           ranges[next].end - begin <= kMaxReadBytes) {
      end = ranges[next++].end;
    }
    // Not zeroed: the source fills it or is not believed.
    const std::unique_ptr<char[]> scratch(
        new char[static_cast<size_t>(end - begin)]);
    std::string_view bytes;
    const absl::Status status =
        ReadExactly(*source_, begin, static_cast<size_t>(end - begin),
                    scratch.get(), &bytes);
    for (size_t i = first; i < next; ++i) {
      if (!status.ok()) {
        results[i].chunk = status;
        continue;
      }
      const Range& range = ranges[i];
      results[i].read_bytes = range.end - range.begin;
      results[i].chunk =
          Build(loads[i], range,
                bytes.substr(static_cast<size_t>(range.begin - begin),
                             static_cast<size_t>(range.end - range.begin)));
    }
    first = next;
  }
  return results;
}

absl::Status ChunkLoader::Verify(size_t chunk) const {
  const FilterDescriptor& stored = (*chunks_)[chunk].descriptor;
  return Load({chunk, FilterSteps(stored)}).chunk.status();
}

}  // namespace rowbloom::reader
