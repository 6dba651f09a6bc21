// SPDX-License-Identifier: Apache-2.0
//
// Batches: chunks in memory answer first, then all missing chunks that pay are
// read at once.

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "reader/filter_reader_impl.h"
#include "rowbloom/filter.h"

namespace rowbloom {

namespace {

// The number of questions whose first reads of memory overlap.
constexpr size_t kBlock = 32;

}  // namespace

void FilterReader::Impl::MayContain(absl::Span<const FilterQuestion> questions,
                                    bool* may_contain) {
  std::vector<Located> missing;
  for (size_t begin = 0; begin < questions.size(); begin += kBlock) {
    AskBlock(questions, begin, may_contain, &missing);
  }
  if (!missing.empty()) AskMissing(&missing, may_contain);
}

void FilterReader::Impl::AskBlock(absl::Span<const FilterQuestion> questions,
                                  size_t begin, bool* may_contain,
                                  std::vector<Located>* missing) {
  std::array<Located, kBlock> located;
  std::array<const FilterView*, kBlock> views;
  const size_t size = std::min(kBlock, questions.size() - begin);
  util::ThreadRecord& thread = util::ThisThread();
  {
    const util::EpochGuard guard(thread);
    // The memory that one question waits for arrives while others are prepared.
    for (size_t i = 0; i < size; ++i) {
      Located& q = located[i];
      q.reader = questions[begin + i].reader->impl_.get();
      q.question = begin + i;
      q.chunk = q.reader->Locate(*questions[begin + i].key, &q.asked);
      views[i] = nullptr;
      if (q.chunk < 0) continue;
      const Resident* const resident =
          q.reader->FindInSlot(static_cast<size_t>(q.chunk));
      if (resident == nullptr) continue;
      views[i] = &resident->view;
      views[i]->Prefetch(q.asked.digest);
    }
    for (size_t i = 0; i < size; ++i) {
      if (views[i] == nullptr) continue;
      const Located& q = located[i];
      const bool answer = views[i]->MayContain(q.asked.digest);
      may_contain[q.question] = answer;
      q.reader->CountLocated(thread, q, Known::kInMemory, answer);
    }
  }
  for (size_t i = 0; i < size; ++i) {
    if (views[i] != nullptr) continue;
    const Located& q = located[i];
    may_contain[q.question] = q.chunk != kNo;
    if (q.chunk >= 0) {
      missing->push_back(q);
      continue;
    }
    q.reader->counters_.CountLookup(thread);
    q.reader->CountAnswer(thread, q.asked, q.chunk == kNo);
  }
}

void FilterReader::Impl::AskMissing(std::vector<Located>* missing,
                                    bool* may_contain) {
  // Sorts by reader and chunk, and thus by offset within a source.
  std::sort(
      missing->begin(), missing->end(), [](const Located& a, const Located& b) {
        if (a.reader != b.reader) {
          return std::less<const Impl*>()(a.reader, b.reader);
        }
        return a.chunk != b.chunk ? a.chunk < b.chunk : a.question < b.question;
      });
  using Group = absl::Span<const Located>;
  const auto ask_group = [&](Group group) {
    return [group, may_contain](const Resident& resident) {
      for (const Located& q : group) {
        may_contain[q.question] = resident.view.MayContain(q.asked.digest);
      }
    };
  };
  std::vector<reader::PendingLoad> loads;
  std::vector<Group> groups;  // One for each load.
  uint64_t planned_bytes = 0;
  for (size_t begin = 0; begin < missing->size();) {
    const Impl& r = *(*missing)[begin].reader;
    const auto chunk = static_cast<size_t>((*missing)[begin].chunk);
    size_t end = begin + 1;
    while (end < missing->size() && (*missing)[end].reader == &r &&
           (*missing)[end].chunk == (*missing)[begin].chunk) {
      ++end;
    }
    const Group group =
        absl::MakeConstSpan(*missing).subspan(begin, end - begin);
    begin = end;
    bool is_paused = false;
    reader::PendingLoad pending;
    pending.loader = &r.loader_;
    if (r.NeedsNoLoad(chunk) ||
        r.VisitUnlessPaused(chunk, ask_group(group), &is_paused)) {
      r.CountGroup(group, Known::kInMemory, may_contain);
    } else if (!is_paused && r.WantsLoad(chunk, planned_bytes, &pending.load) &&
               r.ClaimLoad(chunk)) {
      planned_bytes += pending.load.size_bytes;
      loads.push_back(std::move(pending));
      groups.push_back(group);
    } else {
      r.CountGroup(group, Known::kNever, may_contain);
    }
  }
  reader::ReadAll(absl::MakeSpan(loads));
  for (size_t i = 0; i < loads.size(); ++i) {
    const Impl& r = *groups[i].front().reader;
    const bool is_loaded =
        r.FinishLoad(loads[i].load, loads[i].bytes, /*is_claimed=*/true,
                     ask_group(groups[i]));
    loads[i].buffer.reset();
    r.CountGroup(groups[i], is_loaded ? Known::kLoaded : Known::kNever,
                 may_contain);
  }
}

void FilterReader::Impl::CountGroup(absl::Span<const Located> group,
                                    Known known,
                                    const bool* may_contain) const {
  if (known == Known::kNever) {
    counters_.Add(FilterCounter::kUnloaded, group.size());
  }
  util::ThreadRecord& thread = util::ThisThread();
  for (const Located& q : group) {
    CountLocated(thread, q, known, may_contain[q.question]);
  }
}

void FilterReader::Impl::Prefetch() const {
  const FilterCache::Usage usage = options_.cache->GetUsage();
  size_t room =
      usage.capacity_bytes - std::min(usage.capacity_bytes, usage.usage_bytes);
  std::vector<reader::PendingLoad> loads;
  uint64_t planned_bytes = 0;
  const auto ignore = [](const Resident&) {};
  const auto load_all = [&] {
    reader::ReadAll(absl::MakeSpan(loads));
    for (const reader::PendingLoad& pending : loads) {
      FinishLoad(pending.load, pending.bytes, /*is_claimed=*/true, ignore);
    }
    loads.clear();
    planned_bytes = 0;
  };
  for (size_t chunk = 0; chunk < slots_.size(); ++chunk) {
    const FilterDescriptor& descriptor = DescriptorOf(chunk);
    const uint32_t steps = FilterSteps(descriptor);
    const size_t charge = reader::ResidentChunk::ChargeBytes(descriptor, steps);
    if (charge > room) break;
    room -= charge;
    if (NeedsNoLoad(chunk) || VisitInCache(chunk, ignore)) continue;
    reader::PendingLoad pending;
    pending.loader = &loader_;
    pending.load = loader_.LoadOf(chunk, steps);
    planned_bytes += pending.load.size_bytes;
    loads.push_back(std::move(pending));
    if (planned_bytes >= reader::kPrefetchedAtOnceBytes) load_all();
  }
  load_all();
}

}  // namespace rowbloom
