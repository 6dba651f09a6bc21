// SPDX-License-Identifier: Apache-2.0
//
// Lookups of one key whose chunk is in memory; filter_load.cc has all others.

#include "absl/base/attributes.h"
#include "reader/block_reader.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_reader.h"
#include "util/check.h"

namespace rowbloom {

bool FilterReader::MayContain(std::string_view row) const {
  return internal::reader::BlockReader::Of(*this).MayContain(
      FilterKey::Row(row));
}

bool FilterReader::MayContain(std::string_view row,
                              std::string_view qualifier) const {
  return internal::reader::BlockReader::Of(*this).MayContain(
      FilterKey::RowCol(row, qualifier));
}

ABSL_ATTRIBUTE_NOINLINE bool FilterReader::MayContain(
    const FilterKey& key) const {
  return internal::reader::BlockReader::Of(*this).MayContain(key);
}

FilterAnswer FilterReader::Ask(const FilterKey& key, FilterLoad* load) const {
  RB_CHECK(load != nullptr, "FilterReader::Ask(): load is null");
  return internal::reader::BlockReader::Of(*this).Ask(key, load);
}

namespace internal::reader {

// The fewer instructions a lookup has, and the fewer of them wait for memory,
// the more lookups overlap in the processor. Other functions handle rare cases;
// they are called last, so that the callers need not save registers for them.
inline bool BlockReader::AskQuickly(const FilterKey& key,
                                    bool* may_contain) const {
  util::ThreadRecord* const thread = util::KnownThread();
  if (thread == nullptr || static_cast<uint8_t>(key.kind()) >= plain_kinds_) {
    return false;
  }
  std::atomic<uint64_t>* const counters = counters_.OwnOf(*thread);
  if (counters == nullptr) return false;
  const block::Location location = loader_.index().FindByMark(key.row());
  if (!location.is_in_chunk()) {
    if (!location.is_nowhere()) return false;
    FileCounters::CountNo(counters);
    *may_contain = false;
    return true;
  }
  // Nothing that runs under a guard asks a reader.
  const util::EpochGuard guard(*thread, /*is_outermost=*/true);
  const ResidentChunk* const chunk = Find(location.chunk());
  if (chunk == nullptr) {
    // Most lookups of a chunk whose load does not pay.
    *may_contain = true;
    return AnswersByPause(counters, location.chunk());
  }
  if (!FileCounters::CountUnlessSample(counters)) return false;
  *may_contain = chunk->view().MayContain(DigestOf(key));
  FileCounters::CountAnswer(counters, !*may_contain);
  return true;
}

size_t BlockReader::AskWhileQuick(absl::Span<const FilterQuestion> questions,
                                  bool* may_contain) {
  size_t i = 0;
  for (; i < questions.size(); ++i) {
    const FilterQuestion& asked = questions[i];
    CheckQuestion(asked);
    if (!Of(*asked.reader).AskQuickly(*asked.key, &may_contain[i])) break;
  }
  return i;
}

size_t BlockReader::AskWhileQuick(absl::Span<const FilterKey> keys,
                                  bool* may_contain) const {
  size_t i = 0;
  while (i < keys.size() && AskQuickly(keys[i], &may_contain[i])) ++i;
  return i;
}

void BlockReader::AskFew(absl::Span<const FilterQuestion> questions,
                         bool* may_contain) {
  const size_t done = AskWhileQuick(questions, may_contain);
  if (done == questions.size()) return;
  AskMany(questions.subspan(done), /*first_is_quick=*/false,
          may_contain + done);
}

bool BlockReader::MayContain(const FilterKey& key) const {
  bool may_contain;
  return AskQuickly(key, &may_contain) ? may_contain : MayContainOrLoad(key);
}

FilterAnswer BlockReader::Ask(const FilterKey& key, FilterLoad* load,
                              uint64_t planned_bytes) const {
  bool may_contain;
  if (!AskQuickly(key, &may_contain)) {
    return AskOrPlanLoad(key, load, planned_bytes);
  }
  return may_contain ? FilterAnswer::kMaybe : FilterAnswer::kNo;
}

}  // namespace internal::reader

void FilterReader::AskTogether(absl::Span<const FilterQuestion> questions,
                               bool* may_contain) {
  using internal::reader::BlockReader;
  BlockReader::CheckAnswers(questions.size(), may_contain);
  if (questions.size() <= BlockReader::kFewQuestions) {
    BlockReader::AskFew(questions, may_contain);
  } else {
    BlockReader::AskMany(questions, /*first_is_quick=*/true, may_contain);
  }
}

}  // namespace rowbloom
