// SPDX-License-Identifier: Apache-2.0
//
// Batches: chunks in memory answer first, then all missing chunks that pay are
// read at once.

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "reader/block_reader.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"
#include "util/check.h"

namespace rowbloom {
namespace internal::reader {
namespace {

// The number of questions whose first reads of memory overlap.
constexpr size_t kBlock = 32;

struct LocatedQuestion {
  const BlockReader* reader = nullptr;
  LocatedKey key;
};
// A question on the way to its answer.
struct Question {
  const BlockReader* reader = nullptr;
  bool* may_contain = nullptr;
  Lookup lookup;
};
using Questions = absl::Span<Question>;

// Answers up to kBlock questions whose chunk has a shortcut; the others go to
// *missing. reader_of() knows what is behind a FilterReader.
template <typename ReaderOf>
void AskBlock(absl::Span<const FilterQuestion> asked, ReaderOf reader_of,
              bool* may_contain, std::vector<Question>* missing) {
  const size_t size = asked.size();
  std::array<LocatedQuestion, kBlock> questions;
  std::array<const FilterView*, kBlock> views;
  util::ThreadRecord& thread = util::ThisThread();
  {
    const util::EpochGuard guard(thread);
    // The memory that one question waits for arrives while others are prepared.
    for (size_t i = 0; i < size; ++i) {
      LocatedQuestion& q = questions[i];
      q.reader = reader_of(*asked[i].reader);
      q.reader->Locate(*asked[i].key, &q.key);
      views[i] = nullptr;
      if (!q.key.location.is_in_chunk()) continue;
      const ResidentChunk* const chunk = q.reader->Find(q.key.location.chunk());
      if (chunk == nullptr) continue;
      views[i] = &chunk->view();
      views[i]->Prefetch(q.key.digest);
    }
    for (size_t i = 0; i < size; ++i) {
      if (views[i] == nullptr) continue;
      const LocatedQuestion& q = questions[i];
      Lookup lookup{q.key};
      lookup.Ask(*views[i]);
      may_contain[i] = lookup.may_contain;
      q.reader->Begin(thread, &lookup);
      q.reader->CountIfSample(lookup);
      q.reader->End(thread, lookup);
    }
  }
  for (size_t i = 0; i < size; ++i) {
    if (views[i] != nullptr) continue;
    const LocatedQuestion& q = questions[i];
    Lookup lookup{q.key};
    q.reader->Begin(thread, &lookup);
    if (lookup.location.is_in_chunk()) {
      missing->push_back({q.reader, &may_contain[i], lookup});
      continue;
    }
    lookup.TakeAnswerOfIndex();
    may_contain[i] = lookup.may_contain;
    q.reader->End(thread, lookup);
  }
}

// Asks the chunk for all questions about it.
void Ask(Questions group, const ResidentChunk& chunk) {
  for (Question& q : group) q.lookup.Ask(chunk.view());
}

// Answers questions about one chunk from memory. Returns false if a load would
// answer, and pays: the calling thread has its claim.
bool AskMemory(Questions group, uint64_t planned_bytes, FilterLoad* load) {
  const BlockReader& reader = *group.front().reader;
  const size_t chunk = group.front().lookup.location.chunk();
  if (reader.NeedsNoLoad(chunk)) {
    for (Question& q : group) reader.AskHeld(&q.lookup);
    return true;
  }
  bool is_paused = false;
  const bool is_in_memory = reader.VisitUnlessPaused(
      chunk, [&](const ResidentChunk& resident) { Ask(group, resident); },
      &is_paused);
  for (const Question& q : group) reader.CountIfSample(q.lookup);
  return is_in_memory || is_paused ||
         !reader.WantsLoad(chunk, planned_bytes, load) ||
         !reader.ClaimLoad(chunk);
}

void AskMissing(std::vector<Question>* missing) {
  // Sorts by reader and chunk, and thus by offset within a source.
  std::sort(missing->begin(), missing->end(),
            [](const Question& a, const Question& b) {
              if (a.reader != b.reader) {
                return std::less<const BlockReader*>()(a.reader, b.reader);
              }
              return a.lookup.location.chunk() < b.lookup.location.chunk();
            });
  std::vector<PendingLoad> loads;
  std::vector<Questions> groups;  // One for each load.
  uint64_t planned_bytes = 0;
  for (size_t begin = 0, end = 0; begin < missing->size(); begin = end) {
    const Question& first = (*missing)[begin];
    while (end < missing->size() && (*missing)[end].reader == first.reader &&
           (*missing)[end].lookup.location.chunk() ==
               first.lookup.location.chunk()) {
      ++end;
    }
    const Questions group =
        absl::MakeSpan(*missing).subspan(begin, end - begin);
    PendingLoad pending;
    if (AskMemory(group, planned_bytes, &pending.load)) continue;
    pending.loader = &first.reader->loader();
    planned_bytes += pending.load.size_bytes;
    loads.push_back(std::move(pending));
    groups.push_back(group);
  }
  ReadAll(absl::MakeSpan(loads));
  for (size_t i = 0; i < loads.size(); ++i) {
    const BlockReader& reader = *groups[i].front().reader;
    const FilterLoad& load = loads[i].load;
    const auto ask = [&](const ResidentChunk& chunk) { Ask(groups[i], chunk); };
    if (!reader.FinishLoad(load, loads[i].bytes, ask)) {
      reader.PauseAfterFailure(load.chunk);
    }
    loads[i].buffer.reset();
  }
  for (const Question& q : *missing) *q.may_contain = q.reader->End(q.lookup);
}

}  // namespace

void BlockReader::Prefetch() const {
  const FilterCache::Usage usage = chunks_.cache().GetUsage();
  size_t room =
      usage.capacity_bytes - std::min(usage.capacity_bytes, usage.usage_bytes);
  std::vector<PendingLoad> loads;
  uint64_t planned_bytes = 0;
  const auto load_all = [&] {
    ReadAll(absl::MakeSpan(loads));
    for (const PendingLoad& pending : loads) {
      if (!FinishLoad(pending.load, pending.bytes, [](const auto&) {})) {
        PauseAfterFailure(pending.load.chunk);
      }
    }
    loads.clear();
    planned_bytes = 0;
  };
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const FilterDescriptor descriptor = index().DescriptorOf(chunk);
    const uint32_t steps = FilterSteps(descriptor);
    const size_t charge = ResidentChunk::ChargeBytes(descriptor, steps);
    if (charge > room) break;
    room -= charge;
    if (NeedsNoLoad(chunk) || VisitInTable(chunk, [](const auto&) {})) continue;
    PendingLoad pending;
    pending.loader = &loader_;
    pending.load = loader_.LoadOf(chunk, steps);
    planned_bytes += pending.load.size_bytes;
    loads.push_back(std::move(pending));
    if (planned_bytes >= LoadRules::kPrefetchedAtOnceBytes) load_all();
  }
  load_all();
}

}  // namespace internal::reader

void FilterReader::MayContain(absl::Span<const FilterKey> keys,
                              bool* may_contain) const {
  absl::InlinedVector<FilterQuestion, 32> questions;
  questions.reserve(keys.size());
  for (const FilterKey& key : keys) questions.push_back({this, &key});
  MayContain(questions, may_contain);
}

void FilterReader::MayContain(absl::Span<const FilterQuestion> questions,
                              bool* may_contain) {
  for (const FilterQuestion& question : questions) {
    RB_CHECK(question.reader != nullptr && question.key != nullptr,
             "FilterReader::MayContain(): a question without a reader or "
             "a key");
  }
  std::vector<internal::reader::Question> missing;
  for (size_t begin = 0; begin < questions.size();
       begin += internal::reader::kBlock) {
    internal::reader::AskBlock(
        questions.subspan(begin, internal::reader::kBlock),
        [](const FilterReader& asked) {
          return &internal::reader::BlockReader::Of(asked);
        },
        may_contain + begin, &missing);
  }
  if (!missing.empty()) internal::reader::AskMissing(&missing);
}

}  // namespace rowbloom
