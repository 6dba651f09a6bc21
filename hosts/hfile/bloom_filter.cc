// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_filter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hfile/bloom_chunk.h"
#include "hfile/errors.h"
#include "util/epoch.h"

namespace rowbloom::hfile {

class BloomFilter::CachedBits final : public internal::cache::CachedFilter {
 public:
  CachedBits(std::string bits, uint64_t file_digest)
      : bits_(std::move(bits)), file_digest_(file_digest) {}

  const std::string& bits() const { return bits_; }
  uint64_t file_digest() const { return file_digest_; }

 private:
  const void* internal_kind() const override { return KindOf<CachedBits>(); }

  const std::string bits_;
  const uint64_t file_digest_;
};

BloomFilter::BloomFilter(const BlockFormat& format, BloomMeta meta,
                         bool is_rowcol, RowOrder row_order,
                         const internal::cache::CachedChunksOptions& cached,
                         uint64_t file_digest,
                         const HFileReaderOptions& options)
    : format_(format),
      meta_(std::move(meta)),
      is_rowcol_(is_rowcol),
      row_order_(row_order),
      file_digest_(file_digest),
      options_(options),
      previous_offsets_(meta_.chunks.size(), -1),
      chunks_(cached, meta_.chunks.size()) {}

absl::StatusOr<std::unique_ptr<BloomFilter>> BloomFilter::Make(
    const BlockFormat& format, BloomMeta meta, bool is_rowcol,
    RowOrder row_order, const internal::cache::CachedChunksOptions& cached,
    uint64_t file_digest, const HFileReaderOptions& options) {
  std::unique_ptr<BloomFilter> filter(
      new BloomFilter(format, std::move(meta), is_rowcol, row_order, cached,
                      file_digest, options));
  for (const BloomChunkEntry& chunk : filter->meta_.chunks) {
    CellKey key;
    if (!filter->ParseKey(chunk.first_key, &key)) {
      return DataLoss("the first key of chunk ", filter->first_keys_.size(),
                      " is no ROWCOL key");
    }
    if (!filter->first_keys_.empty() &&
        filter->Compare(filter->first_keys_.back(), key) >= 0) {
      return DataLoss("the first key of chunk ", filter->first_keys_.size(),
                      " does not follow that of the chunk before");
    }
    filter->first_keys_.push_back(key);
  }
  return filter;
}

bool BloomFilter::ParseKey(std::string_view bytes, CellKey* key) const {
  if (!is_rowcol_) {
    *key = CellKey();
    key->row = bytes;
    return true;
  }
  // The writer adds only such keys: nothing else is a ROWCOL key.
  return ParseCellKey(bytes, key) && key->family.empty() &&
         key->timestamp == kLatestTimestamp && key->type == kTypeMaximum;
}

int64_t BloomFilter::FindChunk(const CellKey& key) const {
  const auto behind = std::upper_bound(
      first_keys_.begin(), first_keys_.end(), key,
      [this](const CellKey& a, const CellKey& b) { return Compare(a, b) < 0; });
  return behind - first_keys_.begin() - 1;
}

bool BloomFilter::MayContain(const Question& question) const {
  const int64_t found = FindChunk(question.key);
  if (found < 0) return false;
  const auto chunk = static_cast<size_t>(found);
  // A filter may cost a read. It must never lose a row.
  bool may_contain = true;
  const auto ask = [&](const std::string& bits) {
    may_contain =
        ChunkMayContain(meta_.hash, meta_.hash_count, bits, question.hashed);
  };
  {
    const util::EpochGuard guard;
    const internal::cache::CachedFilter* cached = chunks_.Find(chunk);
    if (cached != nullptr) {
      ask(static_cast<const CachedBits*>(cached)->bits());
      return may_contain;
    }
  }
  if (!AskMissing(chunk, ask)) Count(FilterCounter::kUnloaded);
  return may_contain;
}

bool BloomFilter::Explain(const Question& question, HFileProbe* probe,
                          absl::Status* status) const {
  probe->key = question.hashed;
  probe->chunk = FindChunk(question.key);
  probe->may_contain = probe->chunk >= 0;
  if (probe->chunk < 0) return false;
  const absl::StatusOr<std::string> bits =
      ReadChunk(static_cast<size_t>(probe->chunk));
  if (!bits.ok()) {
    status->Update(bits.status());
    return true;
  }
  const Probes probes(meta_.hash, question.hashed);
  for (int32_t i = 0; i < meta_.hash_count; ++i) {
    const int32_t bit = probes.Bit(i, static_cast<int32_t>(bits->size() * 8));
    probe->bits.push_back(bit);
    probe->bits_set.push_back(BitIsSet(*bits, bit));
    probe->may_contain = probe->may_contain && probe->bits_set.back();
  }
  return probe->may_contain;
}

absl::StatusOr<std::string> BloomFilter::ReadChunk(size_t chunk) const {
  const BloomChunkEntry& entry = meta_.chunks[chunk];
  absl::StatusOr<Block> block =
      ReadBlock(format_, entry.offset, kBloomChunkMagic, entry.size);
  if (!block.ok()) return block.status();
  // If the other filter's meta cannot be read, its chunks may lie between.
  const int64_t previous = block->header.previous_offset;
  if ((previous < previous_offsets_[chunk] ||
       previous >= static_cast<int64_t>(entry.offset)) &&
      (previous != -1 || format_.states_previous)) {
    return DataLossAt(*format_.source, entry.offset,
                      "the Bloom chunk before has offset ",
                      previous_offsets_[chunk], ", and the header says ",
                      previous, ": a chunk in another's place");
  }
  const size_t size = block->payload.size();
  if (size < 1 || size > static_cast<size_t>(kMaxChunkSizeBytes) ||
      size > meta_.size_bytes) {
    return DataLossAt(*format_.source, entry.offset, "a Bloom chunk of ", size,
                      " bytes, of a filter of ", meta_.size_bytes);
  }
  return std::move(block->payload);
}

template <typename AskFilter>
bool BloomFilter::AskMissing(size_t chunk, const AskFilter& ask) const {
  // Damage, and loads by other threads, cause pauses.
  if (chunks_.IsPausedCountingDown(chunk)) return false;
  if (FilterCache::Handle* handle = chunks_.Lookup<CachedBits>(chunk);
      handle != nullptr) {
    const auto& cached =
        static_cast<const CachedBits&>(chunks_.FilterOf(handle));
    const bool is_ours = cached.file_digest() == file_digest_;
    if (is_ours) ask(cached.bits());
    chunks_.Release(handle);
    if (is_ours) return true;
  }
  if (!chunks_.Claim(chunk)) return false;
  absl::StatusOr<std::string> read = ReadChunk(chunk);
  if (!read.ok()) {
    Count(FilterCounter::kLoadErrors);
    // A damaged chunk is not read again; a failed read is repeated.
    chunks_.Pause(chunk, absl::IsDataLoss(read.status())
                             ? internal::cache::CachedChunks::kForever
                             : 0);
    return false;
  }
  Count(FilterCounter::kChunkLoads);
  Count(FilterCounter::kChunkLoadBytes, meta_.chunks[chunk].size);
  auto value = std::make_unique<CachedBits>(*std::move(read), file_digest_);
  ask(value->bits());
  const size_t charge = value->bits().capacity() + sizeof(CachedBits);
  chunks_.Put(chunk, std::move(value), charge);
  chunks_.EndLoad(chunk);
  return true;
}

void BloomFilter::TakeChunkOrder(const std::vector<uint64_t>& offsets) {
  for (size_t i = 0; i < meta_.chunks.size(); ++i) {
    const auto at = std::lower_bound(offsets.begin(), offsets.end(),
                                     meta_.chunks[i].offset);
    previous_offsets_[i] =
        at == offsets.begin() ? -1 : static_cast<int64_t>(*std::prev(at));
  }
}

void BloomFilter::Prefetch() const {
  for (size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
    AskMissing(chunk, [](const std::string&) {});
  }
}

}  // namespace rowbloom::hfile
