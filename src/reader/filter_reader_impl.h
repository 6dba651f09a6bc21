// SPDX-License-Identifier: Apache-2.0
//
// The parts of a FilterReader: the parsed tail of its block, a slot for each
// chunk, and the policy that decides about loads. filter_reader.cc opens and
// describes, filter_lookup.cc answers one key, filter_batch.cc many.

#ifndef ROWBLOOM_READER_FILTER_READER_IMPL_H_
#define ROWBLOOM_READER_FILTER_READER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/attributes.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "cache/chunk_slots.h"
#include "key/keyed_digest.h"
#include "reader/chunk_loader.h"
#include "reader/file_counters.h"
#include "reader/load_policy.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter_reader.h"
#include "util/epoch.h"

namespace rowbloom {

class FilterReader::Impl {
 public:
  // Answers that the index gives without a filter. Locate() also gives what to
  // look up in the chunk's filter.
  static constexpr int64_t kNo = -1;
  static constexpr int64_t kMaybe = -2;

  // The parsed tail of a block.
  struct Tail {
    FilterBlockRange range;
    block::ParsedFooter footer;
    std::unique_ptr<block::ParsedFilterBlock> parsed;
  };

  Impl(const RandomAccessSource* source, const FilterReaderOptions& options,
       std::unique_ptr<FilterCache> own_cache, Tail tail);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static absl::StatusOr<Tail> ReadTail(const RandomAccessSource* source,
                                       const FilterBlockRange& range,
                                       uint64_t tail_size_bytes,
                                       const DigestSecret& secret);

  bool MayContain(const FilterKey& key) const;
  static void MayContain(absl::Span<const FilterQuestion> questions,
                         bool* may_contain);
  // `is_counted`: the lookup is already counted, as a sample. `will_read`: the
  // caller makes the read at once, even for more precision after memory denied
  // the key.
  FilterAnswer Ask(const FilterKey& key, bool is_counted, bool will_read,
                   FilterLoad* load) const;
  // Not inlined: a fiber may continue in another thread after the read before
  // it, so nothing thread-local may be kept from before.
  ABSL_ATTRIBUTE_NOINLINE FilterAnswer
  Offer(const FilterLoad& load, const absl::StatusOr<std::string_view>& bytes,
        const FilterKey& key) const;
  void TellOutcome(bool key_was_there, uint64_t read_bytes) const;
  void Prefetch() const;
  absl::Status Verify() const;
  struct Asked {
    KeyDigest digest;
    // The key level of the key codec that answers a prefix, 0 if none does.
    static constexpr int kNoPrefix = -1;
    int prefix_level = kNoPrefix;
  };
  int64_t Locate(const FilterKey& key, Asked* asked) const;
  int64_t LocatePrefix(const FilterKey& key, Asked* asked) const;
  std::vector<uint32_t> LoadedSteps() const;

  const FilterBlockProperties& properties() const { return properties_; }
  const block::ParsedFilterBlock& parsed() const { return *parsed_; }
  uint64_t block_offset() const { return range_.offset; }
  uint64_t file_id() const { return file_id_; }
  FilterStatsSnapshot stats() const { return counters_.Snapshot(); }

 private:
  using Resident = reader::ResidentChunk::Version;

  static FilterBlockProperties MakeProperties(
      const block::ParsedFilterBlock& parsed);
  size_t IndexSizeBytes() const;
  block::BlockPlace Place() const {
    return {source_->name(), range_.offset, range_.size_bytes};
  }
  const FilterDescriptor& DescriptorOf(size_t chunk) const {
    return parsed_->chunks[chunk].descriptor;
  }
  // A filter that always answers "maybe" has no bytes.
  bool NeedsNoLoad(size_t chunk) const {
    return DescriptorOf(chunk).unit_count == 0;
  }
  bool always_loads() const {
    return options_.loading == FilterLoading::kAlways;
  }

  // Counts an answer; that to a prefix, which is never in MayContain()'s fast
  // path, is counted among these, too.
  void CountAnswer(util::ThreadRecord& thread, const Asked& asked,
                   bool is_negative) const {
    counters_.CountAnswer(thread, is_negative);
    if (asked.prefix_level == Asked::kNoPrefix) return;
    counters_.CountPrefix(static_cast<size_t>(asked.prefix_level), is_negative);
  }

  // Handles all cases of MayContain().
  bool AskAndLoad(const FilterKey& key, bool is_counted) const;

  // The chunk in memory if its slot has it, else nullptr. Call it under a
  // guard.
  const Resident* FindInSlot(size_t chunk) const {
    return static_cast<const Resident*>(slots_.Find(chunk));
  }
  // These call visit(const Resident&) with the chunk in memory; they return
  // false if it is not there.
  template <typename Visit>
  bool VisitInSlot(size_t chunk, const Visit& visit) const;
  // Finds the chunk in the cache's table, even if another reader or a warmer
  // put it there. This reader takes over a chunk without an open reader.
  template <typename Visit>
  bool VisitInCache(size_t chunk, const Visit& visit) const;
  // Finds the chunk by slot or by table.
  template <typename Visit>
  bool VisitInMemory(size_t chunk, const Visit& visit) const {
    return VisitInSlot(chunk, visit) || VisitInCache(chunk, visit);
  }
  // Finds it so, too. Sets *is_paused, and skips the table, if the chunk was
  // missed a moment ago.
  template <typename Visit>
  bool VisitUnlessPaused(size_t chunk, const Visit& visit,
                         bool* is_paused) const;

  // Decides whether to load a chunk that is not in memory, beside planned loads
  // of `planned_bytes`. Sets *load if the load pays.
  bool WantsLoad(size_t chunk, uint64_t planned_bytes, FilterLoad* load) const;
  // Decides whether a chunk with `steps` in memory should have more.
  bool WantsGrowth(size_t chunk, uint32_t steps, FilterLoad* load) const;
  // Makes the calling thread the one that loads; false if another one does.
  bool ClaimLoad(size_t chunk) const {
    return always_loads() || slots_.Claim(chunk);
  }
  // True if Ask() of this reader could have returned this load.
  bool IsLoad(const FilterLoad& load) const;
  // True if the chunk is in memory already: another lookup has loaded it, or
  // has offered the bytes that this one waited for.
  bool HasSteps(const FilterLoad& load) const;
  // Ends a load, if there is one, and answers the key.
  bool AnswerAfter(const FilterLoad* load,
                   const absl::StatusOr<std::string_view>& bytes,
                   const FilterKey& key, bool is_claimed) const;
  // Ends a load, and the caller's claim: counts it, calls
  // visit(const Resident&), and gives the chunk to the cache. False if
  // there is no chunk.
  template <typename Visit>
  bool FinishLoad(const FilterLoad& load,
                  const absl::StatusOr<std::string_view>& bytes,
                  bool is_claimed, const Visit& visit) const;
  void CountFailure(size_t chunk, bool is_claimed) const;
  reader::LoadPolicy::Candidate CandidateOf(size_t chunk) const {
    return {chunk, &DescriptorOf(chunk), slots_.chunk_cache(),
            slots_.KeyOf(chunk)};
  }

  // A question whose chunk is known.
  struct Located {
    const Impl* reader = nullptr;
    int64_t chunk = kMaybe;
    size_t question = 0;
    Asked asked;
  };
  // Answers questions whose chunk is in a slot; the others go to *missing.
  static void AskBlock(absl::Span<const FilterQuestion> questions, size_t begin,
                       bool* may_contain, std::vector<Located>* missing);
  static void AskMissing(std::vector<Located>* missing, bool* may_contain);
  enum class Known { kInMemory, kLoaded, kNever };
  void CountLocated(util::ThreadRecord& thread, const Located& q, Known known,
                    bool may_contain) const {
    using Answer = reader::LoadPolicy::Answer;
    const bool is_sample = counters_.CountLookup(thread);
    CountAnswer(thread, q.asked, !may_contain);
    if (!is_sample) return;
    policy_->CountSample(static_cast<size_t>(q.chunk),
                         known != Known::kInMemory ? Answer::kUnloaded
                         : may_contain             ? Answer::kMaybe
                                                   : Answer::kNo);
  }
  // Counts the answers of questions with the same chunk. Not inlined, as
  // Offer() is not.
  ABSL_ATTRIBUTE_NOINLINE void CountGroup(absl::Span<const Located> group,
                                          Known known,
                                          const bool* may_contain) const;

  // The digest under which the block's filters hold a key of this digest.
  KeyDigest Stored(KeyDigest digest) const {
    return has_secret_ ? mixer_.Mix(digest) : digest;
  }

  // Every lookup reads these, so they are adjacent.
  const std::unique_ptr<const block::ParsedFilterBlock> parsed_;
  const BloomType bloom_type_;
  const bool has_row_keys_;
  // Keys of kinds below this number are looked up by their own digest or their
  // row's.
  const uint8_t plain_kinds_;
  const bool has_secret_;
  const uint32_t prefix_length_bytes_;
  const block::ChunkLocator locator_;
  const std::unique_ptr<FilterCache> own_cache_;
  const uint64_t file_id_;
  mutable cache::ChunkSlots slots_;
  const std::shared_ptr<reader::LoadPolicy> policy_;
  mutable reader::FileCounters counters_;
  const key::DigestMixer mixer_;

  const FilterReaderOptions options_;  // Its cache is never nullptr.
  const RandomAccessSource* const source_;
  const FilterBlockRange range_;
  const block::ParsedFooter footer_;
  const FilterBlockProperties properties_;
  const reader::ChunkLoader loader_;
  // The charge for the index: its key, and its bytes if the cache refused.
  const uint64_t index_id_;
  int64_t index_bytes_outside_ = 0;
};

inline int64_t FilterReader::Impl::Locate(const FilterKey& key,
                                          Asked* asked) const {
  if (key.is_prefix()) return LocatePrefix(key, asked);
  KeyDigest* const digest = &asked->digest;
  // Keys were added in order, from the first chunk's first to the last key.
  switch (bloom_type_) {
    case BloomType::kRow:
      *digest = Stored(key.row_digest());
      return locator_.FindRow(key.row());
    case BloomType::kRowCol:
      *digest = Stored(key.digest());
      if (!key.has_qualifier() && !has_row_keys_) return kMaybe;
      return locator_.Find(block::StoredKeyOf(key));
    case BloomType::kRowPrefixFixedLength: {
      const std::string_view prefix = key.row().substr(0, prefix_length_bytes_);
      *digest = Stored(prefix.size() == key.row().size() ? key.row_digest()
                                                         : DigestBytes(prefix));
      return locator_.FindRow(prefix);
    }
    case BloomType::kNone:
      break;
  }
  *digest = key.digest();
  return kMaybe;
}

template <typename Visit>
bool FilterReader::Impl::VisitInSlot(size_t chunk, const Visit& visit) const {
  const util::EpochGuard guard;
  const Resident* const resident = FindInSlot(chunk);
  if (resident == nullptr) return false;
  visit(*resident);
  return true;
}

template <typename Visit>
bool FilterReader::Impl::VisitInCache(size_t chunk, const Visit& visit) const {
  FilterCache::Handle* handle = slots_.Lookup(chunk);
  if (handle == nullptr) return false;
  const auto& resident =
      static_cast<const reader::ResidentChunk&>(slots_.ValueOf(handle));
  const bool is_own = resident.origin() == loader_.OriginOf(chunk);
  if (is_own) {
    visit(resident.version());
    slots_.Adopt(chunk, handle, [this](cache::ChunkValue* value) {
      static_cast<reader::ResidentChunk*>(value)->set_policy(
          always_loads() ? nullptr : policy_);
    });
  }
  slots_.Release(handle);
  return is_own;
}

template <typename Visit>
bool FilterReader::Impl::VisitUnlessPaused(size_t chunk, const Visit& visit,
                                           bool* is_paused) const {
  if (VisitInSlot(chunk, visit)) return true;
  *is_paused = !slots_.PauseEnds(chunk);
  return !*is_paused && VisitInCache(chunk, visit);
}

template <typename Visit>
bool FilterReader::Impl::FinishLoad(
    const FilterLoad& load, const absl::StatusOr<std::string_view>& bytes,
    bool is_claimed, const Visit& visit) const {
  const auto chunk = static_cast<size_t>(load.chunk);
  std::unique_ptr<reader::ResidentChunk> built;
  if (bytes.ok()) {
    policy_->ledger().CountLoad(bytes->size());
    counters_.Add(FilterCounter::kChunkLoadBytes, bytes->size());
    built = loader_.Build(load, *bytes).value_or(nullptr);
  }
  if (built == nullptr) {
    CountFailure(chunk, is_claimed);
    return false;
  }
  counters_.Add(FilterCounter::kChunkLoads);
  visit(built->version());
  slots_.failures(chunk).store(0, std::memory_order_relaxed);
  slots_.Put(
      chunk, std::move(built),
      reader::ResidentChunk::ChargeBytes(DescriptorOf(chunk), load.steps));
  slots_.Pause(chunk, 0);
  return true;
}

}  // namespace rowbloom

#endif  // ROWBLOOM_READER_FILTER_READER_IMPL_H_
