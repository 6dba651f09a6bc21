// SPDX-License-Identifier: Apache-2.0
//
// Lookups of one key: a chunk in memory answers; another chunk is loaded if
// that pays.

#include <algorithm>
#include <utility>

#include "key/row_prefixes.h"
#include "reader/filter_reader_impl.h"
#include "rowbloom/filter.h"

namespace rowbloom {

using reader::LoadPolicy;

bool FilterReader::Impl::WantsLoad(size_t chunk, uint64_t planned_bytes,
                                   FilterLoad* load) const {
  uint32_t steps = FilterSteps(DescriptorOf(chunk));
  if (!always_loads()) {
    steps = policy_->StepsToLoad(CandidateOf(chunk), planned_bytes);
    if (steps == 0) {
      slots_.PauseUnlessPaused(chunk, reader::load_rules.declined_pause);
      return false;
    }
  }
  *load = loader_.LoadOf(chunk, steps);
  return true;
}

bool FilterReader::Impl::WantsGrowth(size_t chunk, uint32_t steps,
                                     FilterLoad* load) const {
  // A chunk that another reader's slot has would be taken from that one.
  if (!slots_.Has(chunk) || !slots_.PauseEnds(chunk)) return false;
  const uint32_t wanted = policy_->StepsToGrow(CandidateOf(chunk), steps);
  if (wanted <= steps) return false;
  *load = loader_.LoadOf(chunk, wanted);
  return true;
}

void FilterReader::Impl::CountFailure(size_t chunk, bool is_claimed) const {
  counters_.Add(FilterCounter::kLoadErrors);
  // Lookups that waited for one read may all offer its failure.
  if (!is_claimed && slots_.IsPaused(chunk)) return;
  const uint32_t failures =
      std::min(slots_.failures(chunk).load(std::memory_order_relaxed) + 1,
               reader::kMaxFailures);
  slots_.failures(chunk).store(failures, std::memory_order_relaxed);
  // The next lookup tries again at once: the fault may have passed.
  slots_.Pause(chunk, (1u << failures) - 2);
}

// The fewer instructions a lookup has, and the fewer of them wait for memory,
// the more lookups overlap in the processor. Other functions handle rare cases;
// they are called last, so that this one need not save registers for them.
bool FilterReader::Impl::MayContain(const FilterKey& key) const {
  util::ThreadRecord* const thread = util::KnownThread();
  if (thread == nullptr || static_cast<uint8_t>(key.kind()) >= plain_kinds_) {
    return AskAndLoad(key, /*is_counted=*/false);
  }
  reader::FileCounters::Own counters = counters_.OwnOf(*thread);
  if (!counters) return AskAndLoad(key, /*is_counted=*/false);
  const int64_t chunk = locator_.FindByMark(key.row());
  if (chunk < 0) return AskAndLoad(key, /*is_counted=*/false);
  bool is_sample = false;
  {
    // Nothing that runs under a guard asks a reader.
    const util::EpochGuard guard(*thread, /*is_outermost=*/true);
    const Resident* const resident = FindInSlot(static_cast<size_t>(chunk));
    if (resident != nullptr) {
      is_sample = counters.CountLookup();
      if (!is_sample) {
        const bool may_contain = resident->view.MayContain(Stored(
            bloom_type_ == BloomType::kRow ? key.row_digest() : key.digest()));
        counters.CountAnswer(!may_contain);
        return may_contain;
      }
    }
  }
  return AskAndLoad(key, is_sample);
}

int64_t FilterReader::Impl::LocatePrefix(const FilterKey& key,
                                         Asked* asked) const {
  static_assert(FilterStatsSnapshot::kPrefixLevels == KeyCodec::kMaxSegments);
  const std::string_view bytes = key.row();
  size_t level = 0;
  size_t size = 0;
  if (bloom_type_ == BloomType::kRowPrefixFixedLength) {
    if (bytes.size() >= prefix_length_bytes_) {
      level = 1;
      size = prefix_length_bytes_;
    }
  } else if (parsed_->key_codec.has_value()) {
    const key::RowPrefixes prefixes =
        key::RowPrefixesOf(*parsed_->key_codec, bytes);
    level = prefixes.count;
    if (level > 0) size = prefixes.sizes[level - 1];
  }
  asked->prefix_level = static_cast<int>(level);
  if (level == 0) return kMaybe;
  // All rows that begin with what is asked have this prefix.
  const std::string_view prefix = bytes.substr(0, size);
  asked->digest =
      Stored(size == bytes.size() ? key.digest() : DigestBytes(prefix));
  return locator_.FindRow(prefix);
}

FilterAnswer FilterReader::Impl::Ask(const FilterKey& key, bool is_counted,
                                     bool will_read, FilterLoad* load) const {
  Asked asked;
  const int64_t located = Locate(key, &asked);
  util::ThreadRecord& thread = util::ThisThread();
  const bool is_sample = is_counted || counters_.CountLookup(thread);
  if (located < 0 || NeedsNoLoad(static_cast<size_t>(located))) {
    CountAnswer(thread, asked, located == kNo);
    return located == kNo ? FilterAnswer::kNo : FilterAnswer::kMaybe;
  }
  // A filter may cost a read. It must never lose a row: without the chunk the
  // answer is "maybe".
  const auto chunk = static_cast<size_t>(located);
  bool may_contain = true;
  bool is_paused = false;
  uint32_t steps_to_grow_from = 0;  // 0 if the chunk is whole.
  const bool was_asked = VisitUnlessPaused(
      chunk,
      [&](const Resident& resident) {
        may_contain = resident.view.MayContain(asked.digest);
        if (!resident.is_whole) steps_to_grow_from = resident.steps;
      },
      &is_paused);
  if (is_sample) {
    policy_->CountSample(chunk, !was_asked    ? LoadPolicy::Answer::kUnloaded
                                : may_contain ? LoadPolicy::Answer::kMaybe
                                              : LoadPolicy::Answer::kNo);
  }
  if (was_asked) {
    // An engine that calls Ask() needs no more precision after a "no".
    if (is_sample && steps_to_grow_from > 0 && (may_contain || will_read) &&
        !always_loads() && WantsGrowth(chunk, steps_to_grow_from, load)) {
      return FilterAnswer::kNotInMemory;
    }
  } else {
    if (!is_paused && WantsLoad(chunk, 0, load)) {
      return FilterAnswer::kNotInMemory;
    }
    counters_.Add(FilterCounter::kUnloaded);
  }
  CountAnswer(thread, asked, !may_contain);
  return may_contain ? FilterAnswer::kMaybe : FilterAnswer::kNo;
}

bool FilterReader::Impl::AskAndLoad(const FilterKey& key,
                                    bool is_counted) const {
  FilterLoad load;
  const FilterAnswer answer = Ask(key, is_counted, /*will_read=*/true, &load);
  if (answer != FilterAnswer::kNotInMemory) {
    return answer == FilterAnswer::kMaybe;
  }
  const auto chunk = static_cast<size_t>(load.chunk);
  bool is_mine = ClaimLoad(chunk);
  if (is_mine && !always_loads() && HasSteps(load)) {
    // Another thread has loaded it since this one asked.
    slots_.Pause(chunk, 0);
    is_mine = false;
  }
  if (!is_mine) {  // Memory answers as far as it can.
    return AnswerAfter(nullptr, std::string_view(), key, /*is_claimed=*/false);
  }
  reader::PendingLoad pending;
  pending.loader = &loader_;
  pending.load = load;
  reader::ReadAll(absl::MakeSpan(&pending, 1));
  return AnswerAfter(&load, pending.bytes, key, /*is_claimed=*/true);
}

FilterAnswer FilterReader::Impl::Offer(
    const FilterLoad& load, const absl::StatusOr<std::string_view>& bytes,
    const FilterKey& key) const {
  const bool is_load = IsLoad(load);
  if (!is_load) counters_.Add(FilterCounter::kLoadErrors);
  const bool is_new = is_load && !HasSteps(load);
  return AnswerAfter(is_new ? &load : nullptr, bytes, key, /*is_claimed=*/false)
             ? FilterAnswer::kMaybe
             : FilterAnswer::kNo;
}

bool FilterReader::Impl::AnswerAfter(
    const FilterLoad* load, const absl::StatusOr<std::string_view>& bytes,
    const FilterKey& key, bool is_claimed) const {
  Asked asked;
  const int64_t located = Locate(key, &asked);
  bool may_contain = located != kNo;
  bool was_asked = false;
  const auto ask = [&](const Resident& resident) {
    may_contain = resident.view.MayContain(asked.digest);
    was_asked = true;
  };
  if (load != nullptr) {
    FinishLoad(*load, bytes, is_claimed, [&](const Resident& resident) {
      if (located == static_cast<int64_t>(load->chunk)) ask(resident);
    });
  }
  if (!was_asked && located >= 0 &&
      !VisitInMemory(static_cast<size_t>(located), ask)) {
    counters_.Add(FilterCounter::kUnloaded);
  }
  CountAnswer(util::ThisThread(), asked, !may_contain);
  return may_contain;
}

bool FilterReader::Impl::IsLoad(const FilterLoad& load) const {
  if (load.chunk >= slots_.size()) return false;
  const auto chunk = static_cast<size_t>(load.chunk);
  if (load.steps == 0 || load.steps > FilterSteps(DescriptorOf(chunk))) {
    return false;
  }
  const FilterLoad expected = loader_.LoadOf(chunk, load.steps);
  return load.offset == expected.offset &&
         load.size_bytes == expected.size_bytes;
}

bool FilterReader::Impl::HasSteps(const FilterLoad& load) const {
  bool has_steps = false;
  VisitInMemory(static_cast<size_t>(load.chunk),
                [&](const Resident& r) { has_steps = r.steps >= load.steps; });
  return has_steps;
}

void FilterReader::Impl::TellOutcome(bool key_was_there,
                                     uint64_t read_bytes) const {
  counters_.Add(key_was_there ? FilterCounter::kTruePositives
                              : FilterCounter::kFalsePositives);
  policy_->ReportOutcome(key_was_there);
  if (!key_was_there && read_bytes != kUnknownBytes) {
    policy_->ReportCost(read_bytes);
  }
}

}  // namespace rowbloom
