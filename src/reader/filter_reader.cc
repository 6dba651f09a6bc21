// SPDX-License-Identifier: Apache-2.0
//
// Opens a filter block and describes it.

#include "rowbloom/filter_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "cache/cached_chunks.h"
#include "cache/file_id.h"
#include "cache/load_ledger.h"
#include "key/row_prefixes.h"
#include "reader/block_reader.h"
#include "reader/counted_files.h"
#include "reader/load_judge.h"
#include "reader/resident_chunk.h"
#include "util/absl_view.h"
#include "util/source_read.h"

namespace rowbloom {

using block::ChunkEntry;
using cache::ChunkCache;
using util::ReadExactly;

namespace reader {

// The parsed tail of a block.
struct BlockTail {
  block::BlockPlace place;
  block::ParsedFooter footer;
  std::unique_ptr<const block::ParsedFilterBlock> parsed;
};

namespace {

// The chunk number under which the index is charged.
constexpr uint64_t kIndexChunk = ~uint64_t{0};

uint8_t PlainKinds(const block::ParsedFilterBlock& parsed) {
  const bool is_plain =
      parsed.bloom_type == BloomType::kRow ||
      (parsed.bloom_type == BloomType::kRowCol && parsed.has_row_keys);
  return is_plain ? static_cast<uint8_t>(FilterKey::Kind::kPrefix) : 0;
}

absl::StatusOr<std::unique_ptr<const BlockTail>> ReadTail(
    const RandomAccessSource* source, const FilterBlockRange& range,
    uint64_t tail_size_bytes, const DigestSecret& secret) {
  if (range.size_bytes == 0) {
    return absl::NotFoundError(absl::StrCat(
        util::AbslView(source->name()),
        ": a filter block of 0 bytes: the file has no filter; read it without "
        "one"));
  }
  FilterBlockRange actual = range;
  const uint64_t source_size = source->size_bytes();
  if (actual.size_bytes == FilterBlockRange::kToEnd &&
      actual.offset <= source_size) {
    actual.size_bytes = source_size - actual.offset;
  }
  const block::BlockPlace place = {source->name(), actual.offset,
                                   actual.size_bytes};
  if (actual.offset > source_size ||
      actual.size_bytes > source_size - actual.offset ||
      actual.size_bytes < block::Footer::kSize) {
    return block::DataLossAt(
        place, 0,
        absl::StrCat("a filter block of ", actual.size_bytes,
                     " bytes cannot be here: the source has ", source_size,
                     " bytes, the smallest block ", block::Footer::kSize));
  }
  // The sizes are the caller's, and may be wrong: no memory for more is asked
  // for before the footer confirms it.
  constexpr uint64_t kMaxGuessBytes = 64 << 20;
  uint64_t tail_size =
      std::clamp<uint64_t>(tail_size_bytes, block::Footer::kSize,
                           std::min(actual.size_bytes, kMaxGuessBytes));
  const uint64_t end = actual.offset + actual.size_bytes;
  std::string scratch(static_cast<size_t>(tail_size), '\0');
  std::string_view tail;
  absl::Status status = ReadExactly(*source, end - tail_size, scratch.size(),
                                    scratch.data(), &tail);
  if (!status.ok()) return status;
  absl::StatusOr<block::ParsedFooter> footer = block::ParseFooter(
      place, tail.substr(tail.size() - block::Footer::kSize));
  if (!footer.ok()) return footer.status();
  std::string rest;
  if (footer->tail_size(place) > tail_size) {
    // The index is longer than guessed, so the whole tail is read.
    tail_size = footer->tail_size(place);
    rest.resize(static_cast<size_t>(tail_size));
    status =
        ReadExactly(*source, end - tail_size, rest.size(), rest.data(), &tail);
    if (!status.ok()) return status;
  }
  tail.remove_prefix(
      static_cast<size_t>(tail.size() - footer->tail_size(place)));
  absl::StatusOr<std::unique_ptr<block::ParsedFilterBlock>> parsed =
      block::ParseTail(place, *footer, tail);
  if (!parsed.ok()) return parsed.status();
  const uint64_t secret_check = (*parsed)->secret_check;
  if (secret_check != 0 && secret_check != block::DigestMixer(secret).check()) {
    return block::Annotate(
        place, footer->index_offset + footer->index_size,
        absl::FailedPreconditionError(
            "the filter block was written with a secret that is not "
            "FilterReaderOptions::secret; open it with that of the writer"));
  }
  return std::make_unique<const BlockTail>(
      BlockTail{place, *footer, *std::move(parsed)});
}

FilterBlockProperties MakeProperties(const block::ParsedFilterBlock& parsed) {
  FilterBlockProperties p;
  p.bloom_type = parsed.bloom_type;
  p.prefix_length_bytes = parsed.prefix_length_bytes;
  p.has_row_keys = parsed.has_row_keys;
  if (parsed.key_codec.has_value()) {
    p.key_codec = parsed.key_codec->ToString();
  }
  p.cell_count = parsed.cell_count;
  p.key_count = parsed.key_count;
  p.chunk_count = parsed.chunks.size();
  p.filter_spec = parsed.filter_spec;
  p.writer = parsed.writer;
  p.last_row = parsed.last_key.row;
  p.last_qualifier = parsed.last_key.qualifier;
  for (const ChunkEntry& chunk : parsed.chunks) {
    p.filter_size_bytes += chunk.descriptor.total_size_bytes();
  }
  if (!parsed.chunks.empty()) {
    p.first_row = parsed.chunks.front().first_key.row;
    p.first_qualifier = parsed.chunks.front().first_key.qualifier;
  }
  return p;
}

}  // namespace

BlockReader::BlockReader(const RandomAccessSource* source,
                         const FilterReaderOptions& options,
                         std::unique_ptr<FilterCache> own_cache,
                         std::unique_ptr<const BlockTail> tail)
    : tail_(std::move(tail)),
      entries_(tail_->parsed->chunks),
      bloom_type_(tail_->parsed->bloom_type),
      has_row_keys_(tail_->parsed->has_row_keys),
      plain_kinds_(PlainKinds(*tail_->parsed)),
      has_secret_(tail_->parsed->secret_check != 0),
      always_loads_(options.loading == FilterLoading::kAlways),
      prefix_length_bytes_(tail_->parsed->prefix_length_bytes),
      key_codec_(tail_->parsed->key_codec.has_value()
                     ? &*tail_->parsed->key_codec
                     : nullptr),
      locator_(&entries_, &tail_->parsed->last_key),
      own_cache_(std::move(own_cache)),
      file_id_(options.file_id != 0 ? options.file_id
                                    : FilterCache::NewFileId()),
      chunks_(
          {options.cache, file_id_, options.file_id == 0, 0, options.priority},
          entries_.size()),
      judge_(std::make_shared<LoadJudge>(
          ChunkCache::Of(*options.cache).shared_ledger(), entries_.size(),
          options.data_block_size_bytes)),
      mixer_(options.secret),
      options_(options),
      source_(source),
      properties_(MakeProperties(*tail_->parsed)),
      loader_(std::make_unique<ChunkLoader>(
          source, tail_->place, tail_->parsed->identity, &entries_,
          options.kernel, always_loads_ ? nullptr : judge_,
          ChunkCache::Of(*options.cache).memory())),
      index_id_(FilterCache::NewFileId()) {
  if (options_.stats != nullptr) {
    options_.stats->files_->Open(&counters_, file_id_, options_.level,
                                 source_->name());
  }
  FilterCache::EntryOptions entry;
  entry.charge_bytes = sizeof(*this) + sizeof(*tail_) + sizeof(*tail_->parsed) +
                       tail_->parsed->index_bytes.size() +
                       chunks_.size() * (cache::CachedChunks::BytesPerChunk() +
                                         sizeof(ChunkEntry) + sizeof(uint64_t));
  entry.priority = FilterCachePriority::kPinned;
  entry.role = FilterCacheRole::kIndex;
  std::unique_ptr<FilterCache::Value> nothing =
      std::make_unique<FilterCache::Value>();
  FilterCache::Handle* handle =
      options_.cache->Insert({index_id_, kIndexChunk}, &nothing, entry);
  if (handle != nullptr) {
    options_.cache->Release(handle);
  } else {
    index_bytes_outside_ = static_cast<int64_t>(entry.charge_bytes);
    ChunkCache::Of(*options_.cache).AddIndexBytesOutside(index_bytes_outside_);
  }
}

BlockReader::~BlockReader() {
  if (options_.stats != nullptr) options_.stats->files_->Close(&counters_);
  options_.cache->Erase({index_id_, kIndexChunk});
  ChunkCache::Of(*options_.cache).AddIndexBytesOutside(-index_bytes_outside_);
}

block::Location BlockReader::LocatePrefix(const FilterKey& key,
                                          LocatedKey* located) const {
  static_assert(FilterStatsSnapshot::kPrefixLevels == KeyCodec::kMaxSegments);
  const std::string_view bytes = key.row();
  size_t level = 0;
  size_t size = 0;
  if (bloom_type_ == BloomType::kRowPrefixFixedLength) {
    if (bytes.size() >= prefix_length_bytes_) {
      level = 1;
      size = prefix_length_bytes_;
    }
  } else if (key_codec_ != nullptr) {
    const key::RowPrefixes prefixes = key::RowPrefixesOf(*key_codec_, bytes);
    level = prefixes.count;
    if (level > 0) size = prefixes.sizes[level - 1];
  }
  located->prefix_level = static_cast<int>(level);
  if (level == 0) return block::Location();
  // All rows that begin with what is asked have this prefix.
  const std::string_view prefix = bytes.substr(0, size);
  located->digest =
      Stored(size == bytes.size() ? key.digest() : DigestBytes(prefix));
  return locator_.FindRow(prefix);
}

absl::Status BlockReader::Verify() const {
  // The tail is read again: it may have been damaged since Open().
  const block::BlockPlace& place = tail_->place;
  const absl::StatusOr<std::unique_ptr<const BlockTail>> tail =
      ReadTail(source_, {place.offset, place.size_bytes},
               tail_->footer.tail_size(place), options_.secret);
  if (!tail.ok()) return tail.status();
  if (!((*tail)->footer == tail_->footer)) {
    return block::DataLossAt(place, tail_->footer.index_offset,
                             "another filter block since it was opened");
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    absl::Status status = loader_->Verify(i);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<FilterChunkInfo> BlockReader::Chunks() const {
  std::vector<FilterChunkInfo> chunks;
  for (const ChunkEntry& entry : entries_) {
    FilterChunkInfo info;
    info.first_row = entry.first_key.row;
    info.first_qualifier = entry.first_key.qualifier;
    info.first_has_qualifier = entry.first_key.has_qualifier;
    info.offset = tail_->place.offset + entry.offset;
    info.descriptor = entry.descriptor;
    chunks.push_back(std::move(info));
  }
  return chunks;
}

std::vector<uint32_t> BlockReader::LoadedSteps() const {
  std::vector<uint32_t> steps(entries_.size());
  const util::EpochGuard guard;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ResidentChunk* const chunk = Find(i);
    if (chunk != nullptr) steps[i] = chunk->steps();
  }
  return steps;
}

}  // namespace reader

FilterReader::FilterReader(std::unique_ptr<reader::BlockReader> reader)
    : reader_(std::move(reader)) {}
FilterReader::~FilterReader() = default;

absl::StatusOr<std::unique_ptr<FilterReader>> FilterReader::Open(
    const RandomAccessSource* source, const FilterBlockRange& range,
    const FilterReaderOptions& options) {
  if (source == nullptr) {
    return absl::InvalidArgumentError("FilterReader::Open(): source is null");
  }
  if (!KernelAvailable(options.kernel)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", util::AbslView(KernelName(options.kernel)),
                     " is not available here"));
  }
  absl::Status status = cache::CheckFileId(options.file_id);
  if (status.ok()) status = cache::CheckPriority(options.priority);
  if (!status.ok()) return status;
  auto tail =
      reader::ReadTail(source, range, options.tail_size_bytes, options.secret);
  if (!tail.ok()) return tail.status();
  FilterReaderOptions actual = options;
  std::unique_ptr<FilterCache> own_cache;
  if (options.cache == nullptr) {
    own_cache = NewShardedLruCache({});
    actual.cache = own_cache.get();
  }
  auto opened = std::make_unique<reader::BlockReader>(
      source, actual, std::move(own_cache), *std::move(tail));
  if (options.prefetch) opened->Prefetch();
  return std::unique_ptr<FilterReader>(new FilterReader(std::move(opened)));
}

absl::Status FilterReader::Verify() const { return reader_->Verify(); }

const FilterBlockProperties& FilterReader::properties() const {
  return reader_->properties();
}

std::vector<FilterChunkInfo> FilterReader::Chunks() const {
  return reader_->Chunks();
}

int64_t FilterReader::ChunkOf(const FilterKey& key) const {
  reader::Lookup lookup;
  reader_->Locate(key, &lookup);
  return lookup.location.is_in_chunk()
             ? static_cast<int64_t>(lookup.location.chunk())
             : -1;
}

uint64_t FilterReader::file_id() const { return reader_->file_id(); }

FilterStatsSnapshot FilterReader::stats() const { return reader_->stats(); }

std::vector<uint32_t> FilterReader::LoadedSteps() const {
  return reader_->LoadedSteps();
}

}  // namespace rowbloom
