// SPDX-License-Identifier: Apache-2.0

#include "reader/resident_chunk.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/chunk_memory.h"
#include "filter/units.h"
#include "reader/load_judge.h"
#include "util/engine_call.h"
#include "util/source_read.h"

namespace rowbloom::internal::reader {

namespace {

// The overhead of an allocation and of a shared_ptr's control block.
constexpr size_t kUnitOverheadBytes = sizeof(cache::ChunkBytes) + 64;

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

// One read takes two ranges if reading the gap between them costs less than a
// second read.
constexpr uint64_t kMaxGapBytes = 4096;
constexpr uint64_t kMaxReadBytes = 4 << 20;

}  // namespace

ResidentChunk::ResidentChunk(const FilterDescriptor& descriptor, uint32_t steps,
                             const UnitPtrs& units, const BlockOfChunk& block,
                             Kernel kernel,
                             std::shared_ptr<const LoadJudge> judge,
                             size_t chunk)
    : steps_(steps),
      is_whole_(steps >= FilterSteps(descriptor)),
      kernel_(kernel),
      family_code_(descriptor.family_code),
      chunk_(chunk),
      judge_(std::move(judge)),
      rest_steps_(StepsWithoutLastUnit(descriptor, steps)),
      last_unit_bytes_(
          ChargeBytes(descriptor, steps) -
          (rest_steps_ == 0 ? 0 : ChargeBytes(descriptor, rest_steps_))),
      last_unit_saves_(SavedBySteps(descriptor, rest_steps_, steps)),
      parameters_(FilterAtStep(descriptor, steps).parameters),
      block_(block),
      units_(units) {}

absl::StatusOr<std::unique_ptr<ResidentChunk>> ResidentChunk::Make(
    const FilterDescriptor& descriptor, uint32_t steps, const UnitPtrs& units,
    const BlockOfChunk& block, Kernel kernel,
    std::shared_ptr<const LoadJudge> judge, size_t chunk) {
  const FilterDescriptor cut = FilterAtStep(descriptor, steps);
  UnitPtrs kept;
  std::array<std::string_view, FilterDescriptor::kMaxUnits> views;
  for (size_t i = 0; i < cut.unit_count; ++i) {
    kept[i] = units[i];
    views[i] = units[i]->view();
  }
  absl::StatusOr<FilterView> view = FilterView::Parse(
      cut, absl::MakeConstSpan(views.data(), cut.unit_count), kernel);
  if (!view.ok()) return view.status();
  std::unique_ptr<ResidentChunk> resident(new ResidentChunk(
      descriptor, steps, kept, block, kernel, std::move(judge), chunk));
  resident->view_ = *view;
  return resident;
}

FilterDescriptor ResidentChunk::Descriptor() const {
  FilterDescriptor descriptor;
  descriptor.family_code = family_code_;
  descriptor.parameters = parameters_;
  descriptor.key_count = view_.key_count();
  for (size_t i = 0; i < units_.size() && units_[i] != nullptr; ++i) {
    ++descriptor.unit_count;
    descriptor.unit_size_bytes[i] = units_[i]->view().size();
  }
  return descriptor;
}

size_t ResidentChunk::ChargeBytes(const FilterDescriptor& descriptor,
                                  uint32_t steps) {
  return ChargeBytes(FilterAtStep(descriptor, steps));
}

size_t ResidentChunk::ChargeBytes(const FilterDescriptor& descriptor) {
  return static_cast<size_t>(descriptor.total_size_bytes()) +
         sizeof(ResidentChunk) + util::kCacheLineBytes +
         descriptor.unit_count * kUnitOverheadBytes;
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
      Make(Descriptor(), rest_steps_, units_, block_, kernel_, judge_, chunk_);
  if (!smaller.ok()) return nullptr;
  *freed_bytes = last_unit_bytes_;
  return *std::move(smaller);
}

block::BlockPlace ChunkLoader::Place() const {
  return {util::EngineCall([&] { return source_->name(); }), offset_,
          block::BlockSizeOf(index_)};
}

FilterLoad ChunkLoader::LoadOf(size_t chunk, uint32_t steps) const {
  const FilterDescriptor descriptor = index_.DescriptorOf(chunk);
  FilterLoad load;
  load.chunk = chunk;
  load.steps = steps;
  load.offset = offset_ + index_.OffsetOf(chunk);
  const size_t units = FilterAtStep(descriptor, steps).unit_count;
  for (size_t i = 0; i < units; ++i) {
    load.size_bytes += descriptor.unit_size_bytes[i];
  }
  return load;
}

bool ChunkLoader::IsLoad(const FilterLoad& load) const {
  if (load.chunk >= index_.size() || load.steps == 0 ||
      load.steps > FilterSteps(index_.DescriptorOf(load.chunk))) {
    return false;
  }
  const FilterLoad expected = LoadOf(load.chunk, load.steps);
  return load.offset == expected.offset &&
         load.size_bytes == expected.size_bytes;
}

absl::StatusOr<std::unique_ptr<ResidentChunk>> ChunkLoader::Build(
    const FilterLoad& load, std::string_view bytes, cache::ChunkMemory* memory,
    Kernel kernel, std::shared_ptr<const LoadJudge> judge) const {
  const FilterDescriptor stored = index_.DescriptorOf(load.chunk);
  const uint64_t offset = load.offset - offset_;
  if (bytes.size() != load.size_bytes) {
    return block::DataLossAt(
        Place(), offset,
        absl::StrCat("read ", bytes.size(), " of ", load.size_bytes,
                     " bytes of a filter chunk"));
  }
  const FilterDescriptor cut = FilterAtStep(stored, load.steps);
  UnitPtrs units;
  for (size_t i = 0; i < cut.unit_count; ++i) {
    const std::string_view unit =
        bytes.substr(0, static_cast<size_t>(stored.unit_size_bytes[i]));
    bytes.remove_prefix(unit.size());
    const absl::Status status = filter::VerifyUnit(stored, i, unit);
    if (!status.ok()) return block::Annotate(Place(), offset, status);
    auto buffer = std::make_shared<cache::ChunkBytes>(
        static_cast<size_t>(cut.unit_size_bytes[i]), memory);
    CopyUnitAtStep(stored, load.steps, static_cast<uint32_t>(i), unit,
                   buffer->bytes());
    units[i] = std::move(buffer);
  }
  absl::StatusOr<std::unique_ptr<ResidentChunk>> chunk =
      ResidentChunk::Make(stored, load.steps, units, {identity_}, kernel,
                          std::move(judge), static_cast<size_t>(load.chunk));
  if (!chunk.ok()) return block::Annotate(Place(), offset, chunk.status());
  return chunk;
}

absl::Status ChunkLoader::Verify(size_t chunk, cache::ChunkMemory* memory,
                                 Kernel kernel) const {
  PendingLoad pending;
  pending.loader = this;
  pending.load = LoadOf(chunk, FilterSteps(index_.DescriptorOf(chunk)));
  pending.memory = memory;
  ReadAll(absl::MakeSpan(&pending, 1));
  if (!pending.bytes.ok()) return pending.bytes.status();
  return Build(pending.load, *pending.bytes, pending.memory, kernel, nullptr)
      .status();
}

bool JoinsRead(uint64_t begin, uint64_t end, const FilterLoad& next) {
  return next.offset >= end && next.offset <= end + kMaxGapBytes &&
         next.offset + next.size_bytes - begin <= kMaxReadBytes;
}

void ReadAll(absl::Span<PendingLoad> loads) {
  // One ReadMany() for each group of sources, or for a source without a group.
  std::map<const void*, std::vector<SourceRead>> batches;
  struct ReadOfLoad {
    std::vector<SourceRead>* batch;
    size_t number;
  };
  std::vector<ReadOfLoad> reads;  // Indexed by load.
  for (size_t first = 0; first < loads.size();) {
    const RandomAccessSource& source = loads[first].loader->source();
    const uint64_t begin = loads[first].load.offset;
    uint64_t end = begin + loads[first].load.size_bytes;
    size_t next = first + 1;
    for (; next < loads.size() && &loads[next].loader->source() == &source;
         ++next) {
      const FilterLoad& load = loads[next].load;
      if (!JoinsRead(begin, end, load)) break;
      end = load.offset + load.size_bytes;
    }
    SourceRead read;
    read.source = &source;
    read.offset = begin;
    read.size_bytes = static_cast<size_t>(end - begin);
    // Not zeroed: the source fills it or returns an error.
    const auto buffer = std::make_shared<cache::ChunkBytes>(
        read.size_bytes, loads[first].memory);
    read.scratch = buffer->bytes();
    const void* group = util::EngineCall([&] { return source.read_group(); });
    std::vector<SourceRead>& batch =
        batches[group == nullptr ? static_cast<const void*>(&source) : group];
    for (; first < next; ++first) {
      loads[first].buffer = buffer;
      reads.push_back({&batch, batch.size()});
    }
    batch.push_back(std::move(read));
  }
  for (auto& entry : batches) {
    std::vector<SourceRead>& batch = entry.second;
    util::EngineCall(
        [&] { batch.front().source->ReadMany(absl::MakeSpan(batch)); });
  }
  for (size_t i = 0; i < loads.size(); ++i) {
    const SourceRead& read = (*reads[i].batch)[reads[i].number];
    const absl::Status status = util::StatusOf(read);
    if (!status.ok()) {
      loads[i].bytes = status;
      continue;
    }
    loads[i].bytes = read.result.substr(
        static_cast<size_t>(loads[i].load.offset - read.offset),
        static_cast<size_t>(loads[i].load.size_bytes));
  }
}

}  // namespace rowbloom::internal::reader
