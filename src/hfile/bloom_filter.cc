// SPDX-License-Identifier: Apache-2.0

#include "hfile/bloom_filter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/epoch.h"
#include "hfile/bloom_chunk.h"
#include "hfile/errors.h"

namespace rowbloom::hfile {

class BloomFilter::CachedBits final : public FilterCache::Value {
 public:
  CachedBits(Bits bits, uint64_t file_digest)
      : bits_(std::move(bits)), file_digest_(file_digest) {}

  const Bits& bits() const { return bits_; }
  uint64_t file_digest() const { return file_digest_; }

 private:
  const Bits bits_;
  const uint64_t file_digest_;
};

BloomFilter::BloomFilter(const BlockFormat& format, BloomMeta meta,
                         bool is_rowcol, RowOrder row_order,
                         const CachePlace& place,
                         const HFileReaderOptions& options)
    : format_(format),
      meta_(std::move(meta)),
      is_rowcol_(is_rowcol),
      row_order_(row_order),
      place_(place),
      options_(options),
      slots_(meta_.chunks.size()) {}

BloomFilter::~BloomFilter() {
  if (options_.cache == nullptr) return;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (place_.is_private) {
      options_.cache->Erase(CacheKey(i));
    } else {
      options_.cache->DropHint(CacheKey(i), &slots_[i].hint);
    }
  }
}

absl::StatusOr<std::unique_ptr<BloomFilter>> BloomFilter::Make(
    const BlockFormat& format, BloomMeta meta, bool is_rowcol,
    RowOrder row_order, const CachePlace& place,
    const HFileReaderOptions& options) {
  std::unique_ptr<BloomFilter> filter(new BloomFilter(
      format, std::move(meta), is_rowcol, row_order, place, options));
  for (const ChunkPlace& chunk : filter->meta_.chunks) {
    CellKey key;
    if (!filter->ParseKey(chunk.first_key, &key)) {
      return absl::DataLossError(absl::StrCat("the first key of chunk ",
                                              filter->first_keys_.size(),
                                              " is no ROWCOL key"));
    }
    if (!filter->first_keys_.empty() &&
        filter->Compare(filter->first_keys_.back(), key) >= 0) {
      return absl::DataLossError(
          absl::StrCat("the first key of chunk ", filter->first_keys_.size(),
                       " is not behind that of the chunk before"));
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
  // As they are all added: nothing else is a ROWCOL key.
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
  {
    const base::EpochGuard guard;
    Slot& slot = slots_[chunk];
    const FilterCache::Value* value =
        slot.hint.value.load(std::memory_order_seq_cst);
    if (value != nullptr) {
      // Read first: the line stays shared among the threads that look.
      if (!slot.hint.used.load(std::memory_order_relaxed)) {
        slot.hint.used.store(true, std::memory_order_relaxed);
      }
      return ChunkMayContain(meta_.hash, meta_.hash_count,
                             *static_cast<const CachedBits*>(value)->bits(),
                             question.hashed);
    }
  }
  const Bits bits = GetBits(chunk);
  if (bits == nullptr) {
    Count(FilterCounter::kUnloaded);
    return true;  // A filter may cost a read. It must never lose a row.
  }
  return ChunkMayContain(meta_.hash, meta_.hash_count, *bits, question.hashed);
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
  const ChunkPlace& place = meta_.chunks[chunk];
  absl::StatusOr<Block> block =
      ReadBlock(format_, place.offset, kBloomChunkMagic, place.size);
  if (!block.ok()) return block.status();
  const size_t size = block->payload.size();
  if (size < 1 || size > static_cast<size_t>(kMaxChunkSizeBytes) ||
      size > meta_.size_bytes) {
    return DataLossAt(
        *format_.source, place.offset,
        absl::StrCat("a Bloom chunk of ", size, " bytes, of a filter of ",
                     meta_.size_bytes));
  }
  return std::move(block->payload);
}

BloomFilter::Bits BloomFilter::GetBits(size_t chunk) const {
  if (slots_[chunk].is_damaged.load(std::memory_order_relaxed)) return nullptr;
  if (options_.cache == nullptr) return Load(chunk);
  Bits bits = LookUp(chunk);
  if (bits != nullptr) return bits;
  return flights_.Do(chunk, [&] {
    // Another thread may have landed since this one missed.
    Bits landed = LookUp(chunk);
    return landed != nullptr ? landed : Load(chunk);
  });
}

BloomFilter::Bits BloomFilter::LookUp(size_t chunk) const {
  // What has to be looked at first must not be had through a hint.
  FilterCache::Handle* handle = options_.cache->Lookup(CacheKey(chunk));
  if (handle == nullptr) return nullptr;
  const auto* cached =
      static_cast<const CachedBits*>(options_.cache->ValueOf(handle));
  Bits bits;
  if (cached->file_digest() == place_.file_digest) bits = cached->bits();
  options_.cache->Release(handle);
  return bits;
}

BloomFilter::Bits BloomFilter::Load(size_t chunk) const {
  absl::StatusOr<std::string> read = ReadChunk(chunk);
  if (!read.ok()) {
    Count(FilterCounter::kLoadErrors);
    // What could only not be read is tried again.
    if (absl::IsDataLoss(read.status())) {
      slots_[chunk].is_damaged.store(true, std::memory_order_relaxed);
    }
    return nullptr;
  }
  Count(FilterCounter::kChunkLoads);
  Count(FilterCounter::kChunkLoadBytes, meta_.chunks[chunk].size);
  Bits bits = std::make_shared<const std::string>(*std::move(read));
  if (options_.cache == nullptr) return bits;
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<CachedBits>(bits, place_.file_digest);
  FilterCache::EntryOptions entry;
  entry.charge_bytes = bits->capacity() + sizeof(CachedBits);
  entry.priority = options_.priority;
  entry.role = FilterCacheRole::kChunk;
  entry.hint = &slots_[chunk].hint;
  FilterCache::Handle* handle =
      options_.cache->Insert(CacheKey(chunk), &value, entry);
  if (handle != nullptr) options_.cache->Release(handle);
  return bits;
}

void BloomFilter::Prefetch() const {
  for (size_t chunk = 0; chunk < slots_.size(); ++chunk) GetBits(chunk);
}

}  // namespace rowbloom::hfile
