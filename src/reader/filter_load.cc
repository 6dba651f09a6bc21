// SPDX-License-Identifier: Apache-2.0
//
// Lookups of one key that filter_lookup.cc does not answer: the cache's table
// has the chunk, or it is loaded if that pays.

#include <utility>

#include "absl/types/span.h"
#include "filter/units.h"
#include "reader/block_reader.h"
#include "reader/load_judge.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"

namespace rowbloom {

FilterAnswer FilterReader::Offer(const FilterLoad& load,
                                 const absl::StatusOr<std::string_view>& bytes,
                                 const FilterKey& key) const {
  return internal::reader::BlockReader::Of(*this).Offer(load, bytes, key);
}

void FilterReader::TellOutcome(bool key_was_there, uint64_t read_bytes) const {
  internal::reader::BlockReader::Of(*this).TellOutcome(key_was_there,
                                                       read_bytes);
}

namespace internal::reader {

void BlockReader::CountSample(size_t chunk, FilterAnswer answer) const {
  judge_->CountSample(chunk, answer);
}

FilterCache::Handle* BlockReader::HoldInTable(size_t chunk) const {
  FilterCache::Handle* const handle = chunks_.Lookup<ResidentChunk>(chunk);
  if (handle == nullptr) return nullptr;
  const auto& resident =
      static_cast<const ResidentChunk&>(chunks_.FilterOf(handle));
  if (!resident.block().Is(loader_.identity())) {
    chunks_.Release(handle);
    return nullptr;
  }
  chunks_.Adopt(chunk, handle, [this](cache::CachedFilter* filter) {
    static_cast<ResidentChunk*>(filter)->set_judge(JudgeOfChunks());
  });
  return handle;
}

bool BlockReader::WantsLoad(size_t chunk, uint64_t planned_bytes,
                            FilterLoad* load) const {
  const FilterDescriptor descriptor = index().DescriptorOf(chunk);
  const uint32_t steps =
      always_loads_
          ? FilterSteps(descriptor)
          : judge_->StepsToLoad({chunk, &descriptor, chunks_.RoomFor(chunk)},
                                planned_bytes);
  if (steps == 0) {
    // There is nothing to load of a filter without bytes that its family
    // refuses.
    if (descriptor.unit_count == 0) counters_.Add(FilterCounter::kLoadErrors);
    chunks_.PauseUnlessPaused(chunk, judge_->rules().declined_pause);
    return false;
  }
  *load = loader_.LoadOf(chunk, steps);
  return true;
}

bool BlockReader::WantsGrowth(size_t chunk, uint32_t steps,
                              uint64_t planned_bytes, FilterLoad* load) const {
  // A chunk that has another reader's shortcut would be taken from that one.
  if (always_loads_ || !chunks_.Has(chunk) ||
      chunks_.IsPausedCountingDown(chunk)) {
    return false;
  }
  const FilterDescriptor descriptor = index().DescriptorOf(chunk);
  const uint32_t wanted = judge_->StepsToGrow(
      {chunk, &descriptor, chunks_.RoomFor(chunk)}, steps, planned_bytes);
  if (wanted <= steps) return false;
  *load = loader_.LoadOf(chunk, wanted);
  return true;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool BlockReader::AskMemory(
    Lookup* lookup, FilterLoad* load, uint64_t planned_bytes) const {
  const size_t chunk = lookup->location.chunk();
  if (!lookup->location.is_in_chunk()) {
    lookup->TakeAnswerOfIndex();
    return false;
  }
  if (NeedsNoLoad(chunk) && !chunks_.Has(chunk)) {
    AskHeld(lookup);
    if (lookup->is_answered) return false;
  }
  return PlanLoad(
      chunk, [&](const auto& visit) { visit(lookup); }, planned_bytes, load);
}

void BlockReader::AskHeld(Lookup* lookup) const {
  const FilterDescriptor descriptor =
      index().DescriptorOf(lookup->location.chunk());
  filter::UnitArray units;
  const absl::StatusOr<FilterView> view = FilterView::Parse(
      descriptor, filter::SplitUnits(descriptor, index().filter(), &units),
      kernel_);
  if (!view.ok()) return;
  lookup->Ask(*view);
  if (lookup->is_sample && !index().filter().empty()) {
    CountIfSample(*lookup);
    CacheHeld(lookup->location.chunk());
  }
}

void BlockReader::CacheHeld(size_t chunk) const {
  if (memory() == nullptr) return;  // An engine's cache has no shortcuts.
  // Another reader or a warmer may have put it there.
  if (VisitInTable(chunk, [](const ResidentChunk&) {})) return;
  const FilterDescriptor descriptor = index().DescriptorOf(chunk);
  const uint32_t steps = FilterSteps(descriptor);
  if (chunks_.RoomFor(chunk).free_bytes <
      ResidentChunk::ChargeBytes(descriptor, steps)) {
    return;
  }
  const FilterLoad load = loader_.LoadOf(chunk, steps);
  auto resident =
      loader_.Build(load, index().filter(), memory(), kernel_, JudgeOfChunks());
  if (resident.ok()) KeepLoaded(load, *std::move(resident));
}

FilterAnswer BlockReader::AskOrPlanLoad(const FilterKey& key, FilterLoad* load,
                                        uint64_t planned_bytes) const {
  util::ThreadRecord& thread = util::ThisThread();
  Lookup lookup;
  Locate(key, &lookup);
  Begin(thread, &lookup);
  // An engine that calls Ask() needs no more precision after a "no".
  if (AskMemory(&lookup, load, planned_bytes) && lookup.may_contain) {
    return FilterAnswer::kNotInMemory;
  }
  End(thread, lookup);
  return lookup.may_contain ? FilterAnswer::kMaybe : FilterAnswer::kNo;
}

bool BlockReader::MayContainOrLoad(const FilterKey& key) const {
  util::ThreadRecord& thread = util::ThisThread();
  Lookup lookup;
  Locate(key, &lookup);
  Begin(thread, &lookup);
  FilterLoad load;
  if (AskMemory(&lookup, &load) && ClaimLoad(load.chunk)) {
    Load(load, &lookup);
    return End(lookup);
  }
  End(thread, lookup);
  return lookup.may_contain;
}

void BlockReader::Load(const FilterLoad& load, Lookup* lookup) const {
  const auto ask = [&](const ResidentChunk& chunk) {
    lookup->Ask(chunk.view());
  };
  if (!always_loads_ && HasSteps(load)) {
    // Another thread has loaded it since this one asked.
    chunks_.Pause(load.chunk, 0);
    Visit(load.chunk, ask);
    return;
  }
  PendingLoad pending = Pending(load);
  ReadAll(absl::MakeSpan(&pending, 1));
  if (!FinishLoad(load, pending.bytes, ask)) PauseAfterFailure(load.chunk);
}

FilterAnswer BlockReader::Offer(const FilterLoad& load,
                                const absl::StatusOr<std::string_view>& bytes,
                                const FilterKey& key) const {
  Lookup lookup;
  Locate(key, &lookup);
  Offer(load, bytes, absl::MakeSpan(&lookup, 1));
  return lookup.may_contain ? FilterAnswer::kMaybe : FilterAnswer::kNo;
}

void BlockReader::Offer(const FilterLoad& load,
                        const absl::StatusOr<std::string_view>& bytes,
                        absl::Span<Lookup> lookups) const {
  if (!loader_.IsLoad(load)) {
    counters_.Add(FilterCounter::kLoadErrors);
  } else if (!HasSteps(load)) {
    const auto ask_its = [&](const ResidentChunk& chunk) {
      for (Lookup& lookup : lookups) {
        if (lookup.location.is_in_chunk() &&
            lookup.location.chunk() == load.chunk) {
          lookup.Ask(chunk.view());
        }
      }
    };
    // Lookups that waited for one read may all offer its failure.
    if (!FinishLoad(load, bytes, ask_its) && !chunks_.IsPaused(load.chunk)) {
      PauseAfterFailure(load.chunk);
    }
  }
  for (Lookup& lookup : lookups) {
    if (!lookup.location.is_in_chunk()) {
      lookup.TakeAnswerOfIndex();
    } else if (!lookup.is_answered) {
      Visit(lookup.location.chunk(),
            [&](const ResidentChunk& chunk) { lookup.Ask(chunk.view()); });
    }
    End(lookup);
  }
}

std::unique_ptr<ResidentChunk> BlockReader::Build(
    const FilterLoad& load,
    const absl::StatusOr<std::string_view>& bytes) const {
  std::unique_ptr<ResidentChunk> chunk;
  if (bytes.ok()) {
    judge_->CountLoad(bytes->size());
    counters_.Add(FilterCounter::kChunkLoadBytes, bytes->size());
    chunk = loader_.Build(load, *bytes, memory(), kernel_, JudgeOfChunks())
                .value_or(nullptr);
  }
  counters_.Add(chunk != nullptr ? FilterCounter::kChunkLoads
                                 : FilterCounter::kLoadErrors);
  return chunk;
}

void BlockReader::KeepLoaded(const FilterLoad& load,
                             std::unique_ptr<ResidentChunk> chunk) const {
  chunks_.Put(
      load.chunk, std::move(chunk),
      ResidentChunk::ChargeBytes(index().DescriptorOf(load.chunk), load.steps));
  chunks_.EndLoad(load.chunk);
}

bool BlockReader::HasSteps(const FilterLoad& load) const {
  bool has_steps = false;
  Visit(load.chunk, [&](const ResidentChunk& chunk) {
    has_steps = chunk.steps() >= load.steps;
  });
  return has_steps;
}

void BlockReader::TellOutcome(bool key_was_there, uint64_t read_bytes) const {
  counters_.Add(key_was_there ? FilterCounter::kTruePositives
                              : FilterCounter::kFalsePositives);
  judge_->ReportOutcome(key_was_there);
  if (!key_was_there && read_bytes != FilterReader::kUnknownBytes) {
    judge_->ReportCost(read_bytes);
  }
}

}  // namespace internal::reader
}  // namespace rowbloom
