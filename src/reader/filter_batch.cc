// SPDX-License-Identifier: Apache-2.0
//
// Batches: chunks in memory answer first, then all missing chunks that pay are
// read at once, or in rounds if they are large. Prefetches read in rounds, too.

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "cache/load_rules.h"
#include "reader/block_reader.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"

namespace rowbloom {
namespace internal::reader {
namespace {

// The number of questions whose reads of memory overlap.
constexpr size_t kBlock = 64;
// Lookups overlap in the processor by themselves as long as the filters are in
// a cache of its own.
constexpr uint64_t kNearBytes = 6 << 20;

// A question on the way to its answer.
struct Question {
  const BlockReader* reader = nullptr;
  bool* may_contain = nullptr;
  Lookup lookup;
};
using Questions = absl::Span<Question>;

// A question whose chunk has a shortcut. It has no initializers: a block has
// room for many, of which few may be used.
struct FoundQuestion {
  const BlockReader* reader;
  std::atomic<uint64_t>* counters;  // The thread's, of this file.
  const FilterView* view;
  uint64_t digest;
  uint8_t number;  // In the block.
  int prefix_level;
};

// Answers a question unless its chunk has to be looked for in the cache's table
// or to be loaded, or might get more precision: that question goes to *missing.
void AskOne(const FilterQuestion& asked, bool* may_contain,
            std::vector<Question>* missing) {
  const BlockReader& reader = BlockReader::Of(*asked.reader);
  util::ThreadRecord& thread = util::ThisThread();
  Lookup lookup;
  reader.Locate(*asked.key, &lookup);
  reader.Begin(thread, &lookup);
  if (!lookup.location.is_in_chunk()) {
    lookup.TakeAnswerOfIndex();
  } else {
    const util::EpochGuard guard(thread);
    const ResidentChunk* const chunk = reader.Find(lookup.location.chunk());
    if (chunk != nullptr && (!lookup.is_sample || chunk->is_whole())) {
      lookup.Ask(chunk->view());
      reader.CountIfSample(lookup);
    }
  }
  if (!lookup.is_answered && reader.NeedsNoLoad(lookup.location.chunk())) {
    reader.AskHeld(&lookup);
  }
  if (!lookup.is_answered) {
    missing->push_back({&reader, may_contain, lookup});
    return;
  }
  *may_contain = lookup.may_contain;
  reader.End(thread, lookup);
}

// Answers up to kBlock questions; asked(i) is one of them.
template <typename Asked>
void AskBlock(size_t size, const Asked& asked, bool* may_contain,
              std::vector<Question>* missing) {
  std::array<FoundQuestion, kBlock> found;
  std::array<uint8_t, kBlock> others;
  size_t found_count = 0;
  size_t other_count = 0;
  {
    util::ThreadRecord& thread = util::ThisThread();
    const util::EpochGuard guard(thread);
    // The memory that one question waits for arrives while others are prepared.
    for (size_t i = 0; i < size; ++i) {
      const FilterQuestion& question = asked(i);
      BlockReader::CheckQuestion(question);
      const BlockReader& reader = BlockReader::Of(*question.reader);
      std::atomic<uint64_t>* const counters = reader.OwnCounters(thread);
      LocatedKey key;
      reader.LocateQuickly(*question.key, &key);
      const ResidentChunk* const chunk =
          counters != nullptr && key.location.is_in_chunk()
              ? reader.Find(key.location.chunk())
              : nullptr;
      if (chunk != nullptr) {
        chunk->view().Prefetch(key.digest);
        found[found_count++] = {&reader,
                                counters,
                                &chunk->view(),
                                key.digest.value,
                                static_cast<uint8_t>(i),
                                key.prefix_level};
      } else if (!reader.AnswerWithoutFilter(thread, key, &may_contain[i])) {
        others[other_count++] = static_cast<uint8_t>(i);
      }
    }
    for (size_t i = 0; i < found_count; ++i) {
      const FoundQuestion& q = found[i];
      if (!FileCounters::CountUnlessSample(q.counters)) {
        others[other_count++] = q.number;
        continue;
      }
      const bool answer = q.view->MayContain(KeyDigest{q.digest});
      may_contain[q.number] = answer;
      FileCounters::CountAnswer(q.counters, !answer);
      if (q.prefix_level != LocatedKey::kNoPrefix) {
        q.reader->CountPrefix(q.prefix_level, answer);
      }
    }
  }
  for (size_t i = 0; i < other_count; ++i) {
    AskOne(asked(others[i]), &may_contain[others[i]], missing);
  }
}

// Loads of chunks, which it reads at once as soon as they are `most_bytes`.
class LoadRound {
 public:
  explicit LoadRound(uint64_t most_bytes) : most_bytes_(most_bytes) {}

  // The sizes of the loads that are not read yet.
  uint64_t planned_bytes() const { return planned_bytes_; }
  // The questions of the group are about the chunk and outlive the round.
  void Add(const BlockReader& reader, const FilterLoad& load, Questions group) {
    PendingLoad pending = reader.Pending(load);
    planned_bytes_ += load.size_bytes;
    read_bytes_ += load.size_bytes;
    if (!loads_.empty() &&
        &loads_.back().loader->source() == &pending.loader->source()) {
      const FilterLoad& last = loads_.back().load;
      const uint64_t end = last.offset + last.size_bytes;
      // The gap is read, too.
      if (JoinsRead(last.offset, end, load)) read_bytes_ += load.offset - end;
    }
    loads_.push_back(std::move(pending));
    groups_.push_back({&reader, group});
    if (read_bytes_ >= most_bytes_) Finish();
  }
  void Finish() {
    ReadAll(absl::MakeSpan(loads_));
    for (size_t i = 0; i < loads_.size(); ++i) {
      const auto& [reader, group] = groups_[i];
      const FilterLoad& load = loads_[i].load;
      const auto ask = [questions = group](const ResidentChunk& chunk) {
        for (Question& q : questions) q.lookup.Ask(chunk.view());
      };
      if (!reader->FinishLoad(load, loads_[i].bytes, ask)) {
        reader->PauseAfterFailure(load.chunk);
      }
      loads_[i].buffer.reset();
    }
    loads_.clear();
    groups_.clear();
    planned_bytes_ = read_bytes_ = 0;
  }

 private:
  const uint64_t most_bytes_;
  std::vector<PendingLoad> loads_;
  std::vector<std::pair<const BlockReader*, Questions>> groups_;  // By load.
  uint64_t planned_bytes_ = 0;
  uint64_t read_bytes_ = 0;
};

// Asks the chunk, if it is in memory, for all questions about it. Returns true
// if the calling thread is to make *load. It is not inlined, as End() of a
// reader is not: a round of reads may come before it.
ABSL_ATTRIBUTE_NOINLINE bool AskOrClaimLoad(Questions group,
                                            uint64_t planned_bytes,
                                            FilterLoad* load) {
  const BlockReader& reader = *group.front().reader;
  const size_t chunk = group.front().lookup.location.chunk();
  const auto for_each = [group](const auto& visit) {
    for (Question& q : group) visit(&q.lookup);
  };
  return reader.PlanLoad(chunk, for_each, planned_bytes, load) &&
         reader.ClaimLoad(chunk);
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
  LoadRound round(cache::LoadRules::kBatchAtOnceBytes);
  for (size_t begin = 0, end = 0; begin < missing->size(); begin = end) {
    const Question& first = (*missing)[begin];
    while (end < missing->size() && (*missing)[end].reader == first.reader &&
           (*missing)[end].lookup.location.chunk() ==
               first.lookup.location.chunk()) {
      ++end;
    }
    const Questions group =
        absl::MakeSpan(*missing).subspan(begin, end - begin);
    FilterLoad load;
    if (AskOrClaimLoad(group, round.planned_bytes(), &load)) {
      round.Add(*first.reader, load, group);
    }
  }
  round.Finish();
  for (const Question& q : *missing) *q.may_contain = q.reader->End(q.lookup);
}

// True if blocks are faster than one question after the other. Adjacent
// questions may have the same reader.
bool PaysInBlocks(absl::Span<const FilterQuestion> questions) {
  const FilterReader* last = nullptr;
  uint64_t bytes = 0;
  for (const FilterQuestion& asked : questions) {
    if (asked.reader == last) continue;
    BlockReader::CheckQuestion(asked);
    last = asked.reader;
    bytes += BlockReader::Of(*last).approximate_size_bytes();
    if (bytes > kNearBytes) return true;
  }
  return false;
}

enum class Order { kBlocks, kOneByOne, kOneByOneFirstIsSlow };

// asked(i) is a question, ask_quickly(i) is AskWhileQuick() from there on.
template <typename Asked, typename AskQuickly>
void AskAll(size_t size, Order order, const Asked& asked,
            const AskQuickly& ask_quickly, bool* may_contain) {
  std::vector<Question> missing;
  if (order == Order::kBlocks) {
    for (size_t begin = 0; begin < size; begin += kBlock) {
      AskBlock(
          std::min(kBlock, size - begin),
          [&](size_t i) -> decltype(auto) { return asked(begin + i); },
          may_contain + begin, &missing);
    }
  } else {
    size_t i = order == Order::kOneByOne ? ask_quickly(0) : 0;
    while (i < size) {
      AskOne(asked(i), &may_contain[i], &missing);
      ++i;
      i += ask_quickly(i);
    }
  }
  if (!missing.empty()) AskMissing(&missing);
}

}  // namespace

void BlockReader::AskMany(absl::Span<const FilterQuestion> questions,
                          bool first_is_quick, bool* may_contain) {
  Order order = Order::kOneByOneFirstIsSlow;
  if (first_is_quick) {
    order = PaysInBlocks(questions) ? Order::kBlocks : Order::kOneByOne;
  }
  AskAll(
      questions.size(), order,
      [&](size_t i) -> const FilterQuestion& { return questions[i]; },
      [&](size_t i) {
        return AskWhileQuick(questions.subspan(i), may_contain + i);
      },
      may_contain);
}

void BlockReader::Prefetch() const {
  const FilterCache::Usage usage = chunks_.cache().GetUsage();
  size_t room =
      usage.capacity_bytes - std::min(usage.capacity_bytes, usage.usage_bytes);
  LoadRound round(cache::LoadRules::kPrefetchedAtOnceBytes);
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    const FilterDescriptor descriptor = index().DescriptorOf(chunk);
    const uint32_t steps = FilterSteps(descriptor);
    const size_t charge = ResidentChunk::ChargeBytes(descriptor, steps);
    if (NeedsNoLoad(chunk) || VisitInTable(chunk, [](const auto&) {})) continue;
    if (charge > room) break;
    room -= charge;
    round.Add(*this, loader_.LoadOf(chunk, steps), {});
  }
  round.Finish();
}

}  // namespace internal::reader

void FilterReader::MayContain(absl::Span<const FilterKey> keys,
                              bool* may_contain) const {
  const auto& reader = internal::reader::BlockReader::Of(*this);
  using internal::reader::Order;
  internal::reader::BlockReader::CheckAnswers(keys.size(), may_contain);
  internal::reader::AskAll(
      keys.size(),
      keys.size() > internal::reader::BlockReader::kFewQuestions &&
              reader.approximate_size_bytes() > internal::reader::kNearBytes
          ? Order::kBlocks
          : Order::kOneByOne,
      [&](size_t i) {
        return FilterQuestion{this, &keys[i]};
      },
      [&](size_t i) {
        return reader.AskWhileQuick(keys.subspan(i), may_contain + i);
      },
      may_contain);
}

}  // namespace rowbloom
