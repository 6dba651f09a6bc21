// SPDX-License-Identifier: Apache-2.0
//
// What a FilterReader is made of: the parsed tail of its block, a slot for each
// chunk, and how chunks come into memory. filter_reader.cc opens and describes,
// filter_lookup.cc answers.

#ifndef ROWBLOOM_READER_FILTER_READER_IMPL_H_
#define ROWBLOOM_READER_FILTER_READER_IMPL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/epoch.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "key/keyed_digest.h"
#include "reader/chunk_loader.h"
#include "reader/file_demand.h"
#include "reader/resident_chunk.h"
#include "reader/single_flight.h"
#include "rowbloom/filter_reader.h"
#include "stats/file_counters.h"

namespace rowbloom {

class FilterReader::Impl {
 public:
  // Answers that the index gives without a filter. Locate() also gives the
  // digest to ask the chunk's filter for.
  static constexpr int64_t kNo = -1;
  static constexpr int64_t kMaybe = -2;

  Impl(const RandomAccessSource* source, const FilterBlockRange& range,
       const FilterReaderOptions& options,
       std::unique_ptr<block::ParsedFilterBlock> parsed,
       const block::ParsedFooter& footer);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static absl::StatusOr<std::unique_ptr<Impl>> Open(
      const RandomAccessSource* source, const FilterBlockRange& range,
      const FilterReaderOptions& options);

  bool MayContain(const FilterKey& key) const;
  static void MayContain(absl::Span<const FilterQuestion> questions,
                         bool* may_contain);
  void TellOutcome(const FilterKey& key, bool key_was_there,
                   uint64_t read_bytes) const;
  void Prefetch() const;
  absl::Status Verify() const;
  int64_t Locate(const FilterKey& key, KeyDigest* digest) const;
  std::vector<uint32_t> LoadedSteps() const;

  const FilterBlockProperties& properties() const { return properties_; }
  const block::ParsedFilterBlock& parsed() const { return *parsed_; }
  uint64_t block_offset() const { return range_.offset; }
  uint64_t file_id() const { return file_id_; }
  FilterStatsSnapshot stats() const { return counters_.Snapshot(); }

 private:
  // Aligned so that lookups of one chunk do not disturb those of another.
  struct alignas(64) Slot {
    FilterCache::Hint hint;
    // Lookups, or of a chunk in memory samples, that are to pass before the
    // next try to load, and tries that failed one after the other.
    std::atomic<uint32_t> skip{0};
    std::atomic<uint32_t> failures{0};
  };
  // What a load leaves for those who waited for it, whatever the cache did with
  // it; null if it failed.
  using Loaded = std::shared_ptr<const reader::ResidentChunk>;

  static FilterBlockProperties MakeProperties(
      const block::ParsedFilterBlock& parsed);
  size_t IndexSizeBytes() const;
  block::BlockPlace Place() const {
    return {source_->name(), range_.offset, range_.size_bytes};
  }

  // A lookup in all its cases. `is_counted`: as a sample, already.
  bool MayContainInAnyCase(const FilterKey& key, bool is_counted) const;
  // The chunk in memory if the cache's hint tells, else null. Under a guard.
  const reader::ResidentChunk* Hinted(size_t chunk) const;
  // Calls ask(const FilterView&) with what is in memory; false if nothing is.
  template <typename Ask>
  bool AskHinted(size_t chunk, const Ask& ask) const;
  template <typename Ask>
  bool AskCached(size_t chunk, const Ask& ask) const;
  // Loads if it may; false if the chunk cannot be had.
  template <typename Ask>
  bool AskMissing(size_t chunk, const Ask& ask) const;

  // One lookup of stats::kSampleInterval. What the filter answered.
  void CountSample(size_t chunk, bool asked, bool may_contain) const;
  // Steps that the chunk should have in memory at the cache's price; 0: none.
  // It is charged for so many bytes already.
  uint32_t DesiredSteps(size_t chunk, size_t charged_bytes) const;
  // Steps to load now of a chunk that is not in memory, beside so many bytes
  // that are about to be loaded; 0: do not.
  uint32_t StepsToLoad(size_t chunk, uint64_t planned_bytes = 0) const;
  // Loads more steps of a chunk in memory, if that pays.
  void MaybeGrow(size_t chunk) const;
  // True once the slot's pause is over.
  bool PauseEnds(Slot* slot) const;
  void Pause(Slot* slot, uint32_t lookups) const;

  Loaded Load(const reader::ChunkLoad& load) const;
  // Counts the result and gives it to the cache.
  Loaded Keep(size_t chunk, reader::LoadResult result) const;
  void InsertChunk(size_t chunk,
                   std::unique_ptr<FilterCache::Value>* value) const;
  // The cache's chunk if it is this block's; to be released.
  FilterCache::Handle* LookUp(size_t chunk) const;
  const reader::ResidentChunk& ChunkOf(FilterCache::Handle* handle) const {
    return *static_cast<const reader::ResidentChunk*>(
        options_.cache->ValueOf(handle));
  }

  // A question whose chunk is known.
  struct Located {
    const Impl* reader = nullptr;
    int64_t chunk = kMaybe;
    const FilterKey* key = nullptr;
    size_t question = 0;
    KeyDigest digest;
  };
  // Answers what is in memory; the rest goes to *missing.
  static void AskBlock(absl::Span<const FilterQuestion> questions, size_t begin,
                       bool* may_contain, std::vector<Located>* missing);
  static void AskMissing(std::vector<Located>* missing, bool* may_contain);
  // Loads what it may; `questions` are in order of reader and chunk. What was
  // loaded, whatever the cache did with it: loaded[i] is the chunk of
  // questions[i], the first that asks for it. Empty if nothing was.
  static std::vector<Loaded> LoadMissing(absl::Span<const Located> questions);
  // All of one chunk, which was `loaded` if it is not null.
  void AskGroup(absl::Span<const Located> group,
                const reader::ResidentChunk* loaded, bool* may_contain) const;

  // Counts an answer that came from a chunk, or for want of one; "no" after all
  // if the key is remembered.
  void Count(const Located& question, bool asked, bool* may_contain) const;

  // The digest under which the block's filters hold a key of this digest.
  KeyDigest Stored(KeyDigest digest) const {
    return has_secret_ ? mixer_.Mix(digest) : digest;
  }

  // Counts it, if so.
  bool IsRemembered(const FilterKey& key) const;
  void Remember(const FilterKey& key) const;

  // What every lookup reads, side by side.
  const std::unique_ptr<const block::ParsedFilterBlock> parsed_;
  const BloomType bloom_type_;
  const bool has_row_keys_;
  // Whether every key is asked by itself or its row, without a memo.
  const bool is_plain_;
  const bool has_secret_;
  const uint32_t prefix_length_bytes_;
  const block::ChunkLocator locator_;
  mutable std::vector<Slot> slots_;
  const std::shared_ptr<reader::FileDemand> demand_;  // Null without a cache.
  mutable stats::FileCounters counters_;
  const key::DigestMixer mixer_;

  const RandomAccessSource* const source_;
  const FilterBlockRange range_;
  const FilterReaderOptions options_;
  const uint64_t file_id_;
  // This reader's alone: of its memo and of the charge for its index.
  const uint64_t private_id_;
  const block::ParsedFooter footer_;
  const FilterBlockProperties properties_;
  const reader::ChunkLoader loader_;
  mutable reader::SingleFlight<Loaded> flights_;
  // True once the memo may hold keys of this reader.
  mutable std::atomic<bool> has_remembered_{false};
};

inline int64_t FilterReader::Impl::Locate(const FilterKey& key,
                                          KeyDigest* digest) const {
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

}  // namespace rowbloom

#endif  // ROWBLOOM_READER_FILTER_READER_IMPL_H_
