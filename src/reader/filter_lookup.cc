// SPDX-License-Identifier: Apache-2.0
//
// Lookups: what is in memory answers; what is not is loaded, if that pays.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "base/epoch.h"
#include "reader/filter_reader_impl.h"
#include "rowbloom/filter.h"

namespace rowbloom {

using reader::ChunkLoad;
using reader::FileDemand;
using reader::LoadResult;
using reader::ResidentChunk;

namespace {

// Lookups of a chunk between two looks at whether loading it pays.
constexpr uint32_t kDeclinedPause = 16;
// The same after the cache had no room for what was loaded.
constexpr uint32_t kRefusedPause = 1024;
// Questions whose first reads are asked of memory together.
constexpr size_t kBlock = 32;
constexpr uint32_t kMaxFailures = 8;  // 2^8 lookups between two tries.
// More steps must have paid for their load after so much of the weight that
// counts keep: some four eras of lookups.
constexpr double kPaybackEras = 4;
// By how much a chunk must be worth more than what has to go for it. Estimates
// vary: chunks of the same worth would displace each other for ever.
constexpr double kHysteresis = 1.4;
// What a prefetch has in memory beside the cache, and one chunk more.
constexpr uint64_t kPrefetchedAtOnceBytes = 4 << 20;

// A key that was not where the filter said "maybe".
class RememberedKey final : public FilterCache::Value {
 public:
  explicit RememberedKey(const FilterKey& key)
      : row_(key.row()),
        qualifier_(key.qualifier()),
        has_qualifier_(key.has_qualifier()) {}

  bool Is(const FilterKey& key) const {
    return row_ == key.row() && qualifier_ == key.qualifier() &&
           has_qualifier_ == key.has_qualifier();
  }
  static size_t ChargeBytes(const FilterKey& key) {
    // The strings' own places, if they do not fit into the objects.
    const auto heap = [](std::string_view s) {
      return s.size() > 15 ? s.size() + 17 : 0;
    };
    return sizeof(RememberedKey) + heap(key.row()) + heap(key.qualifier());
  }

 private:
  const std::string row_;
  const std::string qualifier_;
  const bool has_qualifier_;
};

}  // namespace

inline const ResidentChunk* FilterReader::Impl::Hinted(size_t chunk) const {
  Slot& slot = slots_[chunk];
  const FilterCache::Value* value =
      slot.hint.value.load(std::memory_order_seq_cst);
  if (value == nullptr) return nullptr;
  // Read first: the line stays shared among the threads that look.
  if (!slot.hint.used.load(std::memory_order_relaxed)) {
    slot.hint.used.store(true, std::memory_order_relaxed);
  }
  return static_cast<const ResidentChunk*>(value);
}

template <typename Ask>
bool FilterReader::Impl::AskHinted(size_t chunk, const Ask& ask) const {
  const ResidentChunk* const resident = Hinted(chunk);
  if (resident == nullptr) return false;
  ask(resident->view());
  return true;
}

FilterCache::Handle* FilterReader::Impl::LookUp(size_t chunk) const {
  FilterCache::Handle* handle = options_.cache->Lookup({file_id_, chunk});
  if (handle == nullptr ||
      ChunkOf(handle).origin() == loader_.OriginOf(chunk)) {
    return handle;
  }
  options_.cache->Release(handle);
  return nullptr;
}

template <typename Ask>
bool FilterReader::Impl::AskCached(size_t chunk, const Ask& ask) const {
  FilterCache::Handle* handle = LookUp(chunk);
  if (handle == nullptr) return false;
  const ResidentChunk& found = ChunkOf(handle);
  ask(found.view());
  std::unique_ptr<FilterCache::Value> ours;
  if (options_.loading == FilterLoading::kWhenItPays && found.IsOrphan()) {
    ours = found.CloneFor(demand_, chunk);
  }
  options_.cache->Release(handle);
  // Written at the flush, or left by a closed reader: from now on ours.
  if (ours != nullptr) InsertChunk(chunk, &ours);
  return true;
}

template <typename Ask>
bool FilterReader::Impl::AskMissing(size_t chunk, const Ask& ask) const {
  const ChunkLoad whole = {chunk,
                           FilterSteps(parsed_->chunks[chunk].descriptor)};
  if (options_.cache == nullptr) {
    const Loaded loaded = Load(whole);
    if (loaded != nullptr) ask(loaded->view());
    return loaded != nullptr;
  }
  Slot& slot = slots_[chunk];
  if (options_.cache->KeepsHints() && !PauseEnds(&slot)) return false;
  if (AskCached(chunk, ask)) return true;
  if (!options_.cache->KeepsHints() && !PauseEnds(&slot)) return false;
  ChunkLoad load = whole;
  if (options_.loading == FilterLoading::kWhenItPays) {
    load.steps = StepsToLoad(chunk);
    if (load.steps == 0 && whole.steps > 0) {
      Pause(&slot, kDeclinedPause);
      return false;
    }
  }
  const Loaded loaded = flights_.Do(chunk, [&] {
    // Another thread may have landed since this one missed.
    if (FilterCache::Handle* handle = LookUp(chunk); handle != nullptr) {
      Loaded found = ChunkOf(handle).CloneFor(nullptr, chunk);
      options_.cache->Release(handle);
      return found;
    }
    return Load(load);
  });
  if (loaded != nullptr) ask(loaded->view());
  return loaded != nullptr;
}

bool FilterReader::Impl::PauseEnds(Slot* slot) const {
  const uint32_t skip = slot->skip.load(std::memory_order_relaxed);
  if (skip == 0) return true;
  slot->skip.store(skip - 1, std::memory_order_relaxed);
  return false;
}

void FilterReader::Impl::Pause(Slot* slot, uint32_t lookups) const {
  slot->skip.store(lookups, std::memory_order_relaxed);
}

uint32_t FilterReader::Impl::DesiredSteps(size_t chunk,
                                          size_t charged_bytes) const {
  const FilterDescriptor& descriptor = parsed_->chunks[chunk].descriptor;
  const auto charge = [&](uint32_t steps) {
    return ResidentChunk::ChargeBytes(descriptor, steps);
  };
  const uint32_t all = FilterSteps(descriptor);
  uint32_t steps = all;
  const size_t most = options_.cache->MaxChargeBytes({file_id_, chunk});
  while (steps > 0 && charge(steps) > most) --steps;
  if (steps == 0) return 0;
  const size_t bytes = charge(steps);
  const double price =
      kHysteresis *
      options_.cache->Price({file_id_, chunk},
                            bytes - std::min(bytes, charged_bytes));
  if (price <= 0) return steps;
  const double saved_bytes = demand_->AbsentRate(chunk) * demand_->cost_bytes();
  // Of families without finer steps all or nothing. Else step s saves 2^-s of
  // the reads.
  if (all <= 1) {
    return saved_bytes >= price * static_cast<double>(bytes) ? steps : 0;
  }
  const double worthy =
      std::log2(saved_bytes * all / (price * static_cast<double>(charge(all))));
  return worthy < 1 ? 0
                    : static_cast<uint32_t>(std::min<double>(worthy, steps));
}

uint32_t FilterReader::Impl::StepsToLoad(size_t chunk,
                                         uint64_t planned_bytes) const {
  FilterLedger& ledger = demand_->ledger();
  const uint32_t steps = DesiredSteps(chunk, 0);
  if (steps == 0 || !ledger.MayLoad(planned_bytes)) return 0;
  if (ledger.WithinGrants()) return steps;
  const auto bytes = static_cast<double>(loader_.SizeOf({chunk, steps}));
  const double wasted = demand_->AbsentLookups(chunk) * demand_->cost_bytes();
  return 2 * wasted >= bytes ? steps : 0;
}

void FilterReader::Impl::MaybeGrow(size_t chunk) const {
  const FilterDescriptor& descriptor = parsed_->chunks[chunk].descriptor;
  uint32_t now = 0;
  {
    const base::EpochGuard guard;
    const FilterCache::Value* value = slots_[chunk].hint.value.load();
    if (value == nullptr) return;
    const auto* resident = static_cast<const ResidentChunk*>(value);
    if (resident->is_whole()) return;
    now = resident->steps();
  }
  if (!PauseEnds(&slots_[chunk])) return;
  const uint32_t steps =
      DesiredSteps(chunk, ResidentChunk::ChargeBytes(descriptor, now));
  if (steps <= now) return;
  FilterCache::Handle* handle = LookUp(chunk);
  if (handle == nullptr) return;
  const ResidentChunk& base = ChunkOf(handle);
  const ChunkLoad load = {chunk, steps, &base};
  const double saved_bytes =
      demand_->AbsentLookups(chunk) * kPaybackEras *
      reader::SavedBySteps(descriptor, base.steps(), steps) *
      demand_->cost_bytes();
  LoadResult result;
  const bool pays = base.steps() < steps &&
                    saved_bytes >= static_cast<double>(loader_.SizeOf(load)) &&
                    demand_->ledger().MayLoad();
  if (pays) result = loader_.Load(load);
  options_.cache->Release(handle);
  if (pays) Keep(chunk, std::move(result));
}

FilterReader::Impl::Loaded FilterReader::Impl::Load(
    const ChunkLoad& load) const {
  return Keep(load.chunk, loader_.Load(load));
}

FilterReader::Impl::Loaded FilterReader::Impl::Keep(size_t chunk,
                                                    LoadResult result) const {
  Slot& slot = slots_[chunk];
  if (result.read_bytes > 0 && demand_ != nullptr) {
    demand_->ledger().CountLoad(result.read_bytes);
  }
  if (!result.chunk.ok()) {
    counters_.Add(FilterCounter::kLoadErrors);
    // The first try again is at once: it may have been a passing fault.
    const uint32_t failures = std::min(
        slot.failures.load(std::memory_order_relaxed) + 1, kMaxFailures);
    slot.failures.store(failures, std::memory_order_relaxed);
    Pause(&slot, (1u << failures) - 2);
    return nullptr;
  }
  slot.failures.store(0, std::memory_order_relaxed);
  counters_.Add(FilterCounter::kChunkLoads);
  counters_.Add(FilterCounter::kChunkLoadBytes, result.read_bytes);
  if (options_.cache == nullptr) return *std::move(result.chunk);
  Loaded loaded = (*result.chunk)->CloneFor(nullptr, chunk);
  std::unique_ptr<FilterCache::Value> value = *std::move(result.chunk);
  InsertChunk(chunk, &value);
  if (value != nullptr && options_.loading == FilterLoading::kWhenItPays) {
    Pause(&slot, kRefusedPause);
  }
  return loaded;
}

void FilterReader::Impl::InsertChunk(
    size_t chunk, std::unique_ptr<FilterCache::Value>* value) const {
  const auto& resident = static_cast<const ResidentChunk&>(**value);
  FilterCache::EntryOptions entry;
  entry.charge_bytes = ResidentChunk::ChargeBytes(
      parsed_->chunks[chunk].descriptor, resident.steps());
  entry.priority = options_.priority;
  entry.role = FilterCacheRole::kChunk;
  entry.hint = &slots_[chunk].hint;
  FilterCache::Handle* handle =
      options_.cache->Insert({file_id_, chunk}, value, entry);
  if (handle != nullptr) options_.cache->Release(handle);
}

// The fewer instructions a lookup has, and the less of them wait for memory,
// the more lookups overlap in the processor. Whatever is rare is elsewhere.
bool FilterReader::Impl::MayContain(const FilterKey& key) const {
  base::ThreadRecord& thread = base::ThisThread();
  stats::FileCounters::Own counters = counters_.OwnOf(thread);
  if (!is_plain_ || !counters || base::EpochGuard::IsWithin(thread)) {
    return MayContainInAnyCase(key, /*is_counted=*/false);
  }
  const int64_t chunk = locator_.FindByMark(key.row());
  if (chunk < 0) return MayContainInAnyCase(key, /*is_counted=*/false);
  bool is_sample = false;
  {
    const base::EpochGuard guard(thread, /*is_outermost=*/true);
    const ResidentChunk* const resident = Hinted(static_cast<size_t>(chunk));
    if (resident != nullptr) {
      is_sample = counters.CountLookup();
      if (!is_sample) {
        const bool may_contain = resident->view().MayContain(Stored(
            bloom_type_ == BloomType::kRow ? key.row_digest() : key.digest()));
        counters.CountAnswer(!may_contain);
        return may_contain;
      }
    }
  }
  return MayContainInAnyCase(key, is_sample);
}

bool FilterReader::Impl::MayContainInAnyCase(const FilterKey& key,
                                             bool is_counted) const {
  KeyDigest digest;
  const int64_t located = Locate(key, &digest);
  base::ThreadRecord& thread = base::ThisThread();
  const bool is_sample = is_counted || counters_.CountLookup(thread);
  if (located < 0) {
    counters_.CountAnswer(thread, located == kNo);
    return located != kNo;
  }
  // A filter may cost a read. It must never lose a row: if the chunk cannot be
  // had, the answer stays "maybe".
  const auto chunk = static_cast<size_t>(located);
  bool may_contain = true;
  const auto ask = [&](const FilterView& view) {
    may_contain = view.MayContain(digest);
  };
  bool asked;
  {
    const base::EpochGuard guard(thread);
    asked = AskHinted(chunk, ask);
  }
  if (!asked) {
    asked = AskMissing(chunk, ask);
    if (!asked) counters_.Add(FilterCounter::kUnloaded);
  }
  const bool is_remembered = may_contain && IsRemembered(key);
  counters_.CountAnswer(thread, !may_contain || is_remembered);
  if (is_sample) CountSample(chunk, asked, may_contain);
  return may_contain && !is_remembered;
}

void FilterReader::Impl::CountSample(size_t chunk, bool asked,
                                     bool may_contain) const {
  if (demand_ == nullptr) return;
  demand_->CountSample(chunk, !may_contain ? FileDemand::Answer::kNo
                              : asked      ? FileDemand::Answer::kMaybe
                                           : FileDemand::Answer::kUnloaded);
  if (asked && options_.loading == FilterLoading::kWhenItPays) {
    MaybeGrow(chunk);
  }
}

void FilterReader::Impl::Prefetch() const {
  const FilterCache::Usage usage = options_.cache->GetUsage();
  size_t room =
      usage.capacity_bytes - std::min(usage.capacity_bytes, usage.usage_bytes);
  std::vector<ChunkLoad> loads;
  uint64_t planned_bytes = 0;
  const auto load = [&] {
    std::vector<LoadResult> results = loader_.LoadAll(loads);
    for (size_t i = 0; i < loads.size(); ++i) {
      Keep(loads[i].chunk, std::move(results[i]));
    }
    loads.clear();
    planned_bytes = 0;
  };
  for (size_t chunk = 0; chunk < slots_.size(); ++chunk) {
    const FilterDescriptor& descriptor = parsed_->chunks[chunk].descriptor;
    const uint32_t steps = FilterSteps(descriptor);
    const size_t charge = ResidentChunk::ChargeBytes(descriptor, steps);
    if (charge > room) break;
    room -= charge;
    if (AskCached(chunk, [](const FilterView&) {})) continue;
    loads.push_back({chunk, steps});
    planned_bytes += loader_.SizeOf(loads.back());
    if (planned_bytes >= kPrefetchedAtOnceBytes) load();
  }
  load();
}

std::vector<FilterReader::Impl::Loaded> FilterReader::Impl::LoadMissing(
    absl::Span<const Located> questions) {
  std::vector<Loaded> loaded;
  // Runs of one reader, of which each chunk is wanted once.
  for (size_t begin = 0; begin < questions.size();) {
    const Impl& r = *questions[begin].reader;
    std::vector<ChunkLoad> loads;
    std::vector<size_t> askers;
    uint64_t planned_bytes = 0;
    size_t end = begin;
    for (; end < questions.size() && questions[end].reader == &r; ++end) {
      if (r.options_.cache == nullptr) continue;
      const auto chunk = static_cast<size_t>(questions[end].chunk);
      Slot& slot = r.slots_[chunk];
      if ((!loads.empty() && loads.back().chunk == chunk) ||
          slot.hint.value.load() != nullptr ||
          slot.skip.load(std::memory_order_relaxed) > 0) {
        continue;
      }
      if (FilterCache::Handle* handle = r.LookUp(chunk); handle != nullptr) {
        r.options_.cache->Release(handle);
        continue;
      }
      const uint32_t steps =
          r.options_.loading == FilterLoading::kAlways
              ? FilterSteps(r.parsed_->chunks[chunk].descriptor)
              : r.StepsToLoad(chunk, planned_bytes);
      if (steps == 0) continue;
      loads.push_back({chunk, steps});
      planned_bytes += r.loader_.SizeOf(loads.back());
      askers.push_back(end);
    }
    if (loads.size() > 1) {
      loaded.resize(questions.size());
      std::vector<LoadResult> results = r.loader_.LoadAll(loads);
      for (size_t i = 0; i < loads.size(); ++i) {
        loaded[askers[i]] = r.Keep(loads[i].chunk, std::move(results[i]));
      }
    }
    begin = end;
  }
  return loaded;
}

void FilterReader::Impl::AskGroup(absl::Span<const Located> group,
                                  const ResidentChunk* loaded,
                                  bool* may_contain) const {
  const auto chunk = static_cast<size_t>(group.front().chunk);
  const auto ask = [&](const FilterView& view) {
    for (const Located& q : group) {
      may_contain[q.question] = view.MayContain(q.digest);
    }
  };
  bool asked;
  {
    const base::EpochGuard guard;
    asked = AskHinted(chunk, ask);
  }
  if (!asked && loaded != nullptr) {
    ask(loaded->view());
    asked = true;
  }
  if (!asked) asked = AskMissing(chunk, ask);
  if (!asked) counters_.Add(FilterCounter::kUnloaded, group.size());
  for (const Located& q : group) Count(q, asked, &may_contain[q.question]);
}

void FilterReader::Impl::AskMissing(std::vector<Located>* missing,
                                    bool* may_contain) {
  // By reader and chunk, and so by offset within a source.
  std::sort(
      missing->begin(), missing->end(), [](const Located& a, const Located& b) {
        if (a.reader != b.reader) {
          return std::less<const Impl*>()(a.reader, b.reader);
        }
        return a.chunk != b.chunk ? a.chunk < b.chunk : a.question < b.question;
      });
  const std::vector<Loaded> loaded = LoadMissing(*missing);
  for (size_t begin = 0; begin < missing->size();) {
    const Located& first = (*missing)[begin];
    size_t end = begin + 1;
    while (end < missing->size() && (*missing)[end].reader == first.reader &&
           (*missing)[end].chunk == first.chunk) {
      ++end;
    }
    first.reader->AskGroup(
        absl::MakeConstSpan(*missing).subspan(begin, end - begin),
        loaded.empty() ? nullptr : loaded[begin].get(), may_contain);
    begin = end;
  }
}

void FilterReader::Impl::AskBlock(absl::Span<const FilterQuestion> questions,
                                  size_t begin, bool* may_contain,
                                  std::vector<Located>* missing) {
  std::array<Located, kBlock> located;
  std::array<const FilterView*, kBlock> views;
  const size_t size = std::min(kBlock, questions.size() - begin);
  base::ThreadRecord& thread = base::ThisThread();
  {
    const base::EpochGuard guard(thread);
    // What one question waits for is on its way while others are prepared.
    for (size_t i = 0; i < size; ++i) {
      Located& q = located[i];
      q.reader = questions[begin + i].reader->impl_.get();
      q.key = questions[begin + i].key;
      q.question = begin + i;
      q.chunk = q.reader->Locate(*questions[begin + i].key, &q.digest);
      may_contain[begin + i] = q.chunk != kNo;
      views[i] = nullptr;
      if (q.chunk < 0) continue;
      q.reader->AskHinted(static_cast<size_t>(q.chunk),
                          [&](const FilterView& view) {
                            view.Prefetch(q.digest);
                            views[i] = &view;
                          });
    }
    for (size_t i = 0; i < size; ++i) {
      if (views[i] == nullptr) continue;
      may_contain[begin + i] = views[i]->MayContain(located[i].digest);
    }
  }
  for (size_t i = 0; i < size; ++i) {
    const Located& q = located[i];
    if (q.chunk < 0) {
      q.reader->counters_.CountLookup(thread);
      q.reader->counters_.CountAnswer(thread, q.chunk == kNo);
      continue;
    }
    if (views[i] == nullptr) {
      missing->push_back(q);
    } else {
      q.reader->Count(q, true, &may_contain[begin + i]);
    }
  }
}

void FilterReader::Impl::MayContain(absl::Span<const FilterQuestion> questions,
                                    bool* may_contain) {
  std::vector<Located> missing;
  for (size_t begin = 0; begin < questions.size(); begin += kBlock) {
    AskBlock(questions, begin, may_contain, &missing);
  }
  if (!missing.empty()) AskMissing(&missing, may_contain);
}

void FilterReader::Impl::Count(const Located& question, bool asked,
                               bool* may_contain) const {
  const bool filter_answer = *may_contain;
  if (filter_answer && IsRemembered(*question.key)) *may_contain = false;
  base::ThreadRecord& thread = base::ThisThread();
  const bool is_sample = counters_.CountLookup(thread);
  counters_.CountAnswer(thread, !*may_contain);
  if (is_sample) {
    CountSample(static_cast<size_t>(question.chunk), asked, filter_answer);
  }
}

void FilterReader::Impl::TellOutcome(const FilterKey& key, bool key_was_there,
                                     uint64_t read_bytes) const {
  counters_.Add(key_was_there ? FilterCounter::kTruePositives
                              : FilterCounter::kFalsePositives);
  if (demand_ != nullptr) {
    demand_->TellOutcome(key_was_there);
    if (!key_was_there && read_bytes != kUnknownBytes) {
      demand_->TellCost(read_bytes);
    }
  }
  if (!key_was_there) Remember(key);
}

bool FilterReader::Impl::IsRemembered(const FilterKey& key) const {
  FilterCache* memo = options_.false_positive_memo;
  if (memo == nullptr) return false;
  FilterCache::Handle* handle = memo->Lookup({private_id_, key.digest().value});
  if (handle == nullptr) return false;
  // The whole key, for other keys may have this digest.
  const bool is =
      static_cast<const RememberedKey*>(memo->ValueOf(handle))->Is(key);
  memo->Release(handle);
  if (is) counters_.Add(FilterCounter::kMemoNegatives);
  return is;
}

void FilterReader::Impl::Remember(const FilterKey& key) const {
  FilterCache* memo = options_.false_positive_memo;
  if (memo == nullptr) return;
  has_remembered_.store(true, std::memory_order_relaxed);
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<RememberedKey>(key);
  FilterCache::EntryOptions entry;
  entry.charge_bytes = RememberedKey::ChargeBytes(key);
  entry.role = FilterCacheRole::kMemo;
  FilterCache::Handle* handle =
      memo->Insert({private_id_, key.digest().value}, &value, entry);
  if (handle != nullptr) memo->Release(handle);
}

}  // namespace rowbloom
