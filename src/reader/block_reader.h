// SPDX-License-Identifier: Apache-2.0
//
// The reader of one filter block: its index, its chunks in the cache, and the
// judge of loads. filter_lookup.cc answers keys whose chunk is in memory,
// filter_load.cc the others, filter_batch.cc many at once; filter_reader.cc
// opens and describes.

#ifndef ROWBLOOM_READER_BLOCK_READER_H_
#define ROWBLOOM_READER_BLOCK_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "block/chunk_index.h"
#include "cache/cached_chunks.h"
#include "reader/file_counters.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter_reader.h"
#include "rowbloom/key_codec.h"
#include "util/check.h"
#include "util/epoch.h"

namespace rowbloom::internal::reader {

struct BlockTail;
class CountedFiles;
class LoadJudge;

// A key, and where the index says that it may be.
struct LocatedKey {
  block::Location location;
  KeyDigest digest;  // The one under which the block's filters hold the key.
  static constexpr int kNoPrefix = -1;
  // The key level of the key codec that answers a prefix, 0 if none does.
  int prefix_level = kNoPrefix;
};

// A lookup of a key, on the way to its answer.
struct Lookup : LocatedKey {
  bool is_sample = false;
  bool is_answered = false;  // By the index or by a filter.
  // A filter may cost a read. It must never lose a row: without an answer it is
  // "maybe".
  bool may_contain = true;

  void Ask(const FilterView& view) {
    may_contain = view.MayContain(digest);
    is_answered = true;
  }
  // The index says that the key is in no chunk, or not in which one.
  void TakeAnswerOfIndex() {
    may_contain = !location.is_nowhere();
    is_answered = true;
  }
};

class BlockReader final : public FilterReader {
 public:
  BlockReader(const RandomAccessSource* source,
              const FilterReaderOptions& options,
              std::unique_ptr<FilterCache> own_cache, BlockTail tail);
  ~BlockReader() override;
  static const BlockReader& Of(const FilterReader& reader) {
    return static_cast<const BlockReader&>(reader);
  }

  // These are FilterReader's.
  bool MayContain(const FilterKey& key) const;
  // Ask() beside planned loads of `planned_bytes`.
  FilterAnswer Ask(const FilterKey& key, FilterLoad* load,
                   uint64_t planned_bytes = 0) const;
  FilterAnswer Offer(const FilterLoad& load,
                     const absl::StatusOr<std::string_view>& bytes,
                     const FilterKey& key) const;
  // Offer() for located keys, which Ask() has counted. The load counts once.
  void Offer(const FilterLoad& load,
             const absl::StatusOr<std::string_view>& bytes,
             absl::Span<Lookup> lookups) const;
  void TellOutcome(bool key_was_there, uint64_t read_bytes) const;
  void Prefetch() const;
  absl::Status Verify() const;
  std::vector<FilterChunkInfo> Chunks() const;
  FilterBlockProperties properties() const;
  uint64_t file_id() const { return chunks_.file_id(); }
  bool is_within_capacity() const {
    return chunks_.cache().GetUsage().index_bytes_outside == 0;
  }
  FilterStatsSnapshot stats() const { return counters_.Snapshot(); }

  // For tests: for each chunk the steps of precision in memory (FilterSteps());
  // 0 if there are none, or if another reader loaded it. Always 0 for an
  // engine's own cache.
  std::vector<uint32_t> LoadedSteps() const;

  // The steps of a lookup: Locate() asks the index, Begin() counts the lookup,
  // CountIfSample() tells the judge what memory said, End() counts the answer.
  // `thread` is the calling one.
  void Locate(const FilterKey& key, LocatedKey* located) const;
  // Locate(), by the marks of the index if these tell.
  void LocateQuickly(const FilterKey& key, LocatedKey* located) const {
    if (static_cast<uint8_t>(key.kind()) < plain_kinds_) {
      located->location = index().FindByMark(key.row());
      if (!located->location.is_anywhere()) {
        located->digest = DigestOf(key);
        return;
      }
    }
    Locate(key, located);
  }
  static void CheckQuestion(const FilterQuestion& asked) {
    RB_CHECK(
        asked.reader != nullptr && asked.key != nullptr,
        "FilterReader::MayContain(): a question without a reader or a key");
  }
  static void CheckAnswers(size_t count, const bool* may_contain) {
    RB_CHECK(count == 0 || may_contain != nullptr,
             "FilterReader::MayContain(): may_contain is null");
  }
  // These answer up to kFewQuestions, and any number of them. `first_is_quick`
  // is false if the first one has no quick answer. AskFew() is not inlined, as
  // it saves registers that its caller need not save for a single question.
  ABSL_ATTRIBUTE_NOINLINE static void AskFew(
      absl::Span<const FilterQuestion> questions, bool* may_contain);
  static void AskMany(absl::Span<const FilterQuestion> questions,
                      bool first_is_quick, bool* may_contain);
  // Lookups of so many questions overlap in the processor by themselves.
  static constexpr size_t kFewQuestions = 4;
  // Answers questions as MayContain() does, up to the first whose lookup loads
  // something or is a sample. Returns how many it has answered.
  static size_t AskWhileQuick(absl::Span<const FilterQuestion> questions,
                              bool* may_contain);
  // AskWhileQuick() for keys of this reader.
  size_t AskWhileQuick(absl::Span<const FilterKey> keys,
                       bool* may_contain) const;
  // The size of all filters, rounded down to a power of two.
  uint64_t approximate_size_bytes() const {
    return uint64_t{1} << filter_size_log2_;
  }
  // Answers, and counts, a lookup whose key is in no chunk, or in one that is
  // not in memory and paused. Otherwise, or for a prefix or a sample, it
  // returns false and counts nothing.
  bool AnswerWithoutFilter(const util::ThreadRecord& thread,
                           const LocatedKey& key, bool* may_contain) const {
    std::atomic<uint64_t>* const counters = counters_.OwnOf(thread);
    if (counters == nullptr || key.prefix_level != LocatedKey::kNoPrefix) {
      return false;
    }
    *may_contain = key.location.is_in_chunk();
    if (*may_contain) return AnswersByPause(counters, key.location.chunk());
    if (key.location.is_nowhere()) FileCounters::CountNo(counters);
    return key.location.is_nowhere();
  }
  std::atomic<uint64_t>* OwnCounters(const util::ThreadRecord& thread) const {
    return counters_.OwnOf(thread);
  }
  void CountPrefix(int prefix_level, bool may_contain) const {
    counters_.CountPrefix(static_cast<size_t>(prefix_level), !may_contain);
  }
  void Begin(util::ThreadRecord& thread, Lookup* lookup) const {
    lookup->is_sample = counters_.CountLookup(thread);
  }
  void CountIfSample(const Lookup& lookup) const {
    if (!lookup.is_sample) return;
    CountSample(lookup.location.chunk(),
                !lookup.is_answered  ? FilterAnswer::kNotInMemory
                : lookup.may_contain ? FilterAnswer::kMaybe
                                     : FilterAnswer::kNo);
  }
  void End(util::ThreadRecord& thread, const Lookup& lookup) const;
  // Not inlined: a fiber may continue in another thread after a read, so
  // nothing thread-local may be kept from before.
  ABSL_ATTRIBUTE_NOINLINE bool End(const Lookup& lookup) const {
    End(util::ThisThread(), lookup);
    return lookup.may_contain;
  }

  void CountAnswer(util::ThreadRecord& thread, int prefix_level,
                   bool may_contain) const {
    counters_.CountAnswer(thread, !may_contain);
    if (prefix_level == LocatedKey::kNoPrefix) return;
    CountPrefix(prefix_level, may_contain);
  }

  // The chunk in memory if its shortcut leads to it, else nullptr. Call it
  // under a guard.
  const ResidentChunk* Find(size_t chunk) const {
    return static_cast<const ResidentChunk*>(chunks_.Find(chunk));
  }
  // Calls visit(const ResidentChunk&) with the chunk in memory, which it finds
  // by shortcut or in the cache's table, even if another reader or a warmer put
  // it there. Returns false if the chunk is in neither.
  template <typename Visitor>
  bool Visit(size_t chunk, const Visitor& visit) const {
    return VisitByShortcut(chunk, visit) || VisitInTable(chunk, visit);
  }
  // Asks the chunk, if it is in memory, for each Lookup of it that
  // for_each(visitor) calls visitor(Lookup*) with. Sets *load and returns true
  // if a load would answer, or more precision would pay, beside planned loads
  // of `planned_bytes`.
  template <typename ForEach>
  bool PlanLoad(size_t chunk, const ForEach& for_each, uint64_t planned_bytes,
                FilterLoad* load) const {
    uint32_t steps_to_grow_from = 0;  // 0 if the chunk is whole.
    const auto ask = [&](const ResidentChunk& resident) {
      for_each([&](Lookup* lookup) { lookup->Ask(resident.view()); });
      if (!resident.is_whole()) steps_to_grow_from = resident.steps();
    };
    // The table is not searched if the chunk was missed a moment ago.
    const bool has_shortcut = VisitByShortcut(chunk, ask);
    const bool is_paused = !has_shortcut && chunks_.IsPausedCountingDown(chunk);
    const bool is_in_memory =
        has_shortcut || (!is_paused && VisitInTable(chunk, ask));
    bool any_sample = false;
    for_each([&](Lookup* lookup) {
      CountIfSample(*lookup);
      any_sample |= lookup->is_sample;
    });
    return is_in_memory
               ? any_sample && steps_to_grow_from > 0 &&
                     WantsGrowth(chunk, steps_to_grow_from, planned_bytes, load)
               : !is_paused && WantsLoad(chunk, planned_bytes, load);
  }
  // Makes the calling thread the one that loads; false if another one does.
  bool ClaimLoad(size_t chunk) const {
    return always_loads_ || chunks_.Claim(chunk);
  }
  // Counts a load, calls visit(const ResidentChunk&) and gives the chunk to the
  // cache, which ends the calling thread's claim. Returns false if there is no
  // chunk: PauseAfterFailure() then follows.
  template <typename Visitor>
  bool FinishLoad(const FilterLoad& load,
                  const absl::StatusOr<std::string_view>& bytes,
                  const Visitor& visit) const {
    std::unique_ptr<ResidentChunk> chunk = Build(load, bytes);
    if (chunk == nullptr) return false;
    visit(*chunk);
    KeepLoaded(load, std::move(chunk));
    return true;
  }
  void PauseAfterFailure(size_t chunk) const {
    chunks_.PauseAfterFailure(chunk);
  }
  // A filter that always answers "maybe" has no bytes, and the index holds that
  // of a tiny block.
  bool NeedsNoLoad(size_t chunk) const {
    return has_held_filters_ && (!index().filter().empty() ||
                                 index().DescriptorOf(chunk).unit_count == 0);
  }
  // Asks the filter of a chunk that needs no load, unless its family refuses
  // it. A sample puts it into the cache, where lookups are faster, if that
  // evicts nothing.
  void AskHeld(Lookup* lookup) const;
  // A load for ReadAll().
  PendingLoad Pending(const FilterLoad& load) const {
    PendingLoad pending;
    pending.loader = &loader_;
    pending.load = load;
    pending.memory = memory();
    return pending;
  }

 private:
  // Where its chunks lie; nullptr for the heap.
  cache::ChunkMemory* memory() const { return chunks_.cache().memory(); }
  // Answers what the index denies and, unless the lookup is a sample, what a
  // chunk with a shortcut or a pause answers. Otherwise it returns false and
  // counts nothing, and one of the next two functions handles all cases.
  bool AskQuickly(const FilterKey& key, bool* may_contain) const;
  bool MayContainOrLoad(const FilterKey& key) const;
  // Counts a lookup, and its answer "maybe", of a chunk that is not in memory
  // and paused. Otherwise, or for a sample, it returns false and counts
  // nothing.
  bool AnswersByPause(std::atomic<uint64_t>* counters, size_t chunk) const {
    if (has_held_filters_ || !chunks_.IsPaused(chunk) ||
        !FileCounters::CountUnlessSample(counters)) {
      return false;
    }
    chunks_.IsPausedCountingDown(chunk);
    counters_.Add(FilterCounter::kUnloaded);
    return true;
  }
  FilterAnswer AskOrPlanLoad(const FilterKey& key, FilterLoad* load,
                             uint64_t planned_bytes) const;
  // PlanLoad() for a lookup that may be in no chunk, or in one that needs no
  // load.
  bool AskMemory(Lookup* lookup, FilterLoad* load,
                 uint64_t planned_bytes = 0) const;
  // Decides whether to load a chunk that is not in memory, beside planned loads
  // of `planned_bytes`. Sets *load if the load pays.
  bool WantsLoad(size_t chunk, uint64_t planned_bytes, FilterLoad* load) const;
  // Decides whether a chunk with `steps` in memory should have more.
  bool WantsGrowth(size_t chunk, uint32_t steps, uint64_t planned_bytes,
                   FilterLoad* load) const;
  // Makes the load, whose claim the calling thread has, and asks the chunk.
  ABSL_ATTRIBUTE_NOINLINE void Load(const FilterLoad& load,
                                    Lookup* lookup) const;
  // Counts a load and makes the chunk; nullptr if that fails.
  std::unique_ptr<ResidentChunk> Build(
      const FilterLoad& load,
      const absl::StatusOr<std::string_view>& bytes) const;
  void KeepLoaded(const FilterLoad& load,
                  std::unique_ptr<ResidentChunk> chunk) const;
  void CountSample(size_t chunk, FilterAnswer answer) const;
  void CacheHeld(size_t chunk) const;
  // True if the chunk is in memory already: another lookup has loaded it, or
  // has offered the bytes that this one waited for.
  bool HasSteps(const FilterLoad& load) const;
  block::Location LocatePrefix(const FilterKey& key, LocatedKey* located) const;

  template <typename Visitor>
  bool VisitByShortcut(size_t chunk, const Visitor& visit) const {
    const util::EpochGuard guard;
    const ResidentChunk* const resident = Find(chunk);
    if (resident == nullptr) return false;
    visit(*resident);
    return true;
  }
  template <typename Visitor>
  bool VisitInTable(size_t chunk, const Visitor& visit) const {
    FilterCache::Handle* const handle = HoldInTable(chunk);
    if (handle == nullptr) return false;
    visit(static_cast<const ResidentChunk&>(chunks_.FilterOf(handle)));
    chunks_.Release(handle);
    return true;
  }
  // A handle to the chunk in the cache's table; nullptr if the table has no
  // such chunk of this block. A chunk without a shortcut gets this reader's.
  FilterCache::Handle* HoldInTable(size_t chunk) const;

  // The digest under which the block's filters hold a key of a plain kind.
  KeyDigest DigestOf(const FilterKey& key) const {
    return Stored(bloom_type_ == BloomType::kRow ? key.row_digest()
                                                 : key.digest());
  }
  // The digest under which they hold a key of this digest.
  KeyDigest Stored(KeyDigest digest) const {
    return has_secret_ ? rare_->mixer.Mix(digest) : digest;
  }

  const block::ChunkIndex& index() const { return loader_.index(); }
  // The judge that the file's chunks share with the reader.
  std::shared_ptr<LoadJudge> JudgeOfChunks() const {
    return always_loads_ ? nullptr : judge_;
  }
  size_t MemoryBytes() const;

  // Few readers have any of these.
  struct Rare {
    std::unique_ptr<FilterCache> own_cache;
    uint32_t prefix_length_bytes = 0;
    std::optional<KeyCodec> key_codec;
    block::DigestMixer mixer;
  };
  static std::unique_ptr<const Rare> MakeRare(
      std::unique_ptr<FilterCache> own_cache,
      const block::BlockProperties& properties, const DigestSecret& secret);
  // There may be a million readers: their size is part of the contract
  // (docs/embedding.md, "One cache for all").

  // Every lookup reads these, so they are adjacent.
  const BloomType bloom_type_;
  // Keys of kinds below this number are looked up by their own digest or their
  // row's. Above 0 if rows have keys.
  const uint8_t plain_kinds_;
  const bool has_secret_;
  const bool always_loads_;
  const bool has_held_filters_;  // Some chunks need no load.
  const Kernel kernel_;
  const uint8_t filter_size_log2_;
  const ChunkLoader loader_;
  const std::unique_ptr<const Rare> rare_;  // nullptr for most.
  mutable cache::CachedChunks chunks_;
  mutable FileCounters counters_;
  const std::shared_ptr<LoadJudge> judge_;
  CountedFiles* const files_;  // nullptr without statistics.
};

inline void BlockReader::Locate(const FilterKey& key,
                                LocatedKey* located) const {
  if (key.is_prefix()) {
    located->location = LocatePrefix(key, located);
    return;
  }
  // Keys were added in order, from the first chunk's first to the last key.
  switch (bloom_type_) {
    case BloomType::kRow:
      located->digest = Stored(key.row_digest());
      located->location = index().FindRow(key.row());
      return;
    case BloomType::kRowCol:
      located->digest = Stored(key.digest());
      if (key.has_qualifier() || plain_kinds_ > 0) {
        located->location = index().Find(block::StoredKeyOf(key));
      }
      return;
    case BloomType::kRowPrefixFixedLength: {
      const std::string_view prefix =
          key.row().substr(0, rare_->prefix_length_bytes);
      located->digest =
          Stored(prefix.size() == key.row().size() ? key.row_digest()
                                                   : DigestBytes(prefix));
      located->location = index().FindRow(prefix);
      return;
    }
    case BloomType::kNone:
      return;
  }
}

inline void BlockReader::End(util::ThreadRecord& thread,
                             const Lookup& lookup) const {
  if (!lookup.is_answered) counters_.Add(FilterCounter::kUnloaded);
  CountAnswer(thread, lookup.prefix_level, lookup.may_contain);
}

}  // namespace rowbloom::internal::reader

#endif  // ROWBLOOM_READER_BLOCK_READER_H_
