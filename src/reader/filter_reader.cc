// SPDX-License-Identifier: Apache-2.0
//
// Opens a filter block and describes it.

#include "rowbloom/filter_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "cache/cached_chunks.h"
#include "cache/file_id.h"
#include "key/row_prefixes.h"
#include "reader/block_reader.h"
#include "reader/counted_files.h"
#include "reader/load_judge.h"
#include "reader/resident_chunk.h"
#include "util/absl_view.h"
#include "util/engine_call.h"
#include "util/source_read.h"

namespace rowbloom {

using internal::cache::ChunkCache;
using util::ReadExactly;

namespace internal::reader {

// The parsed tail of a block.
struct BlockTail {
  uint64_t offset = 0;  // The block's, in its source.
  block::ParsedFilterBlock block;
  block::BlockProperties properties;  // Views into the block's index.
};

namespace {

// An allocation's own bytes, rounding included.
constexpr size_t kAllocationBytes = 16;

uint8_t PlainKinds(const block::BlockProperties& properties) {
  const bool is_plain =
      properties.bloom_type == BloomType::kRow ||
      (properties.bloom_type == BloomType::kRowCol && properties.has_row_keys);
  return is_plain ? static_cast<uint8_t>(FilterKey::Kind::kPrefix) : 0;
}

uint8_t Log2(uint64_t value) {
  uint8_t log2 = 0;
  while (value >>= 1) ++log2;
  return log2;
}

bool AnswersPrefixes(const block::BlockProperties& properties) {
  return properties.key_codec.has_value() ||
         properties.bloom_type == BloomType::kRowPrefixFixedLength;
}

// Where the block lies, or why it cannot lie there.
absl::StatusOr<block::BlockPlace> PlaceOf(const RandomAccessSource* source,
                                          const FilterBlockRange& range) {
  const std::string_view name =
      util::EngineCall([&] { return source->name(); });
  if (range.size_bytes == 0) {
    return absl::NotFoundError(absl::StrCat(
        util::AbslView(name),
        ": a filter block of 0 bytes: the file has no filter; read it without "
        "one"));
  }
  const uint64_t source_size =
      util::EngineCall([&] { return source->size_bytes(); });
  block::BlockPlace place = {name, range.offset, range.size_bytes};
  if (place.size_bytes == FilterBlockRange::kToEnd &&
      place.offset <= source_size) {
    place.size_bytes = source_size - place.offset;
  }
  if (place.offset > source_size ||
      place.size_bytes > source_size - place.offset ||
      place.size_bytes < block::Footer::kSize) {
    return block::DataLossAt(
        place, 0,
        absl::StrCat("a filter block of ", place.size_bytes,
                     " bytes cannot be here: the source has ", source_size,
                     " bytes, the smallest block ", block::Footer::kSize));
  }
  return place;
}

absl::StatusOr<block::ParsedFooter> FooterOf(const block::BlockPlace& place,
                                             std::string_view tail) {
  return block::ParseFooter(place,
                            tail.substr(tail.size() - block::Footer::kSize));
}

// `tail` ends with the block and holds at least all of its tail.
// `secret_check` is DigestMixer::check() of the reader's secret.
absl::StatusOr<BlockTail> ParseTail(const block::BlockPlace& place,
                                    const block::ParsedFooter& footer,
                                    std::string_view tail,
                                    uint64_t secret_check) {
  const std::string_view before = tail.substr(
      0, static_cast<size_t>(tail.size() - footer.tail_size(place)));
  tail.remove_prefix(before.size());
  absl::StatusOr<block::ParsedFilterBlock> parsed = block::ParseTail(
      place, footer, tail,
      before.size() == footer.index_offset ? before : std::string_view());
  if (!parsed.ok()) return parsed.status();
  BlockTail read;
  read.offset = place.offset;
  read.block = *std::move(parsed);
  read.properties = block::PropertiesOf(read.block.index);
  const uint64_t written_check = read.properties.secret_check;
  if (written_check != 0 && written_check != secret_check) {
    return block::Annotate(
        place, footer.index_offset + footer.index_size,
        absl::FailedPreconditionError(
            "the filter block was written with a secret that is not "
            "FilterReaderOptions::secret; open it with that of the writer"));
  }
  return read;
}

absl::StatusOr<BlockTail> ReadTail(const RandomAccessSource* source,
                                   const FilterBlockRange& range,
                                   uint64_t tail_size_bytes,
                                   uint64_t secret_check) {
  const absl::StatusOr<block::BlockPlace> place = PlaceOf(source, range);
  if (!place.ok()) return place.status();
  // The sizes are the caller's, and may be wrong: no memory for more is asked
  // for before the footer confirms it.
  constexpr uint64_t kMaxGuessBytes = 64 << 20;
  // A block of one small filter and not too large keys is read as a whole.
  constexpr uint64_t kTinyBlockBytes = block::kMaxHeldFilterBytes + 512;
  uint64_t tail_size =
      std::clamp<uint64_t>(tail_size_bytes, block::Footer::kSize,
                           std::min(place->size_bytes, kMaxGuessBytes));
  if (place->size_bytes <= kTinyBlockBytes) tail_size = place->size_bytes;
  const uint64_t end = place->offset + place->size_bytes;
  std::string scratch(static_cast<size_t>(tail_size), '\0');
  std::string_view tail;
  absl::Status status = ReadExactly(*source, end - tail_size, scratch.size(),
                                    scratch.data(), &tail);
  if (!status.ok()) return status;
  const absl::StatusOr<block::ParsedFooter> footer = FooterOf(*place, tail);
  if (!footer.ok()) return footer.status();
  std::string rest;
  if (footer->tail_size(*place) > tail_size) {
    // The index is longer than guessed, so the whole tail is read.
    tail_size = footer->tail_size(*place);
    rest.resize(static_cast<size_t>(tail_size));
    status =
        ReadExactly(*source, end - tail_size, rest.size(), rest.data(), &tail);
    if (!status.ok()) return status;
  }
  return ParseTail(*place, *footer, tail, secret_check);
}

// The tail from bytes in memory.
absl::StatusOr<BlockTail> TakeTail(const RandomAccessSource* source,
                                   const FilterBlockRange& range,
                                   std::string_view tail,
                                   uint64_t secret_check) {
  const absl::StatusOr<block::BlockPlace> place = PlaceOf(source, range);
  if (!place.ok()) return place.status();
  if (tail.size() > place->size_bytes) {
    tail.remove_prefix(tail.size() - static_cast<size_t>(place->size_bytes));
  }
  const auto too_short = [&](absl::string_view at_least, uint64_t size) {
    return absl::OutOfRangeError(absl::StrCat(
        util::AbslView(place->source_name), ": FilterReader::OpenFromTail(): ",
        tail.size(), " bytes, but the block's tail has ", at_least, size,
        "; give the last FilterBlockInfo::tail_size_bytes of the block"));
  };
  if (tail.size() < block::Footer::kSize) {
    return too_short("more than ", block::Footer::kSize);
  }
  const absl::StatusOr<block::ParsedFooter> footer = FooterOf(*place, tail);
  if (!footer.ok()) return footer.status();
  const uint64_t size = footer->tail_size(*place);
  if (tail.size() < size) return too_short("", size);
  return ParseTail(*place, *footer, tail, secret_check);
}

}  // namespace

std::unique_ptr<const BlockReader::Rare> BlockReader::MakeRare(
    std::unique_ptr<FilterCache> own_cache,
    const block::BlockProperties& properties, const DigestSecret& secret) {
  if (own_cache == nullptr && properties.prefix_length_bytes == 0 &&
      !properties.key_codec.has_value() && properties.secret_check == 0) {
    return nullptr;
  }
  return std::make_unique<const Rare>(
      Rare{std::move(own_cache), properties.prefix_length_bytes,
           properties.key_codec, block::DigestMixer(secret)});
}

BlockReader::BlockReader(const RandomAccessSource* source,
                         const FilterReaderOptions& options,
                         std::unique_ptr<FilterCache> own_cache, BlockTail tail)
    : bloom_type_(tail.properties.bloom_type),
      plain_kinds_(PlainKinds(tail.properties)),
      has_secret_(tail.properties.secret_check != 0),
      always_loads_(options.loading == FilterLoading::kAlways),
      has_held_filters_(tail.block.has_empty_filters ||
                        !tail.block.index.filter().empty()),
      kernel_(options.kernel),
      filter_size_log2_(
          Log2(tail.block.index.OffsetOf(tail.block.index.size()))),
      loader_(source, tail.offset, std::move(tail.block)),
      rare_(MakeRare(std::move(own_cache), tail.properties, options.secret)),
      chunks_(
          {options.cache,
           options.file_id != 0 ? options.file_id : FilterCache::NewFileId(),
           options.file_id == 0, 0, options.priority},
          index().size()),
      counters_(AnswersPrefixes(tail.properties)),
      judge_(std::make_shared<LoadJudge>(chunks_.cache().shared_ledger(),
                                         index().size(),
                                         options.data_block_size_bytes)),
      files_(options.stats == nullptr ? nullptr
                                      : CountedFiles::Of(options.stats)) {
  if (files_ != nullptr) files_->Open(&counters_, options.level);
  chunks_.cache().ChargeReader(this, MemoryBytes());
}

BlockReader::~BlockReader() {
  if (files_ != nullptr) files_->Close(&counters_);
  chunks_.cache().DropReader(this, MemoryBytes());
}

size_t BlockReader::MemoryBytes() const {
  size_t bytes = sizeof(*this) + kAllocationBytes +
                 LoadJudge::MemoryBytes(index().size()) + kAllocationBytes +
                 index().memory_bytes() + kAllocationBytes +
                 chunks_.memory_bytes() + counters_.memory_bytes();
  if (rare_ != nullptr) bytes += sizeof(Rare) + kAllocationBytes;
  return bytes;
}

block::Location BlockReader::LocatePrefix(const FilterKey& key,
                                          LocatedKey* located) const {
  static_assert(FilterStatsSnapshot::kPrefixLevels == KeyCodec::kMaxSegments);
  const std::string_view bytes = key.row();
  size_t level = 0;
  size_t size = 0;
  if (bloom_type_ == BloomType::kRowPrefixFixedLength) {
    if (bytes.size() >= rare_->prefix_length_bytes) {
      level = 1;
      size = rare_->prefix_length_bytes;
    }
  } else if (rare_ != nullptr && rare_->key_codec.has_value()) {
    const key::RowPrefixes prefixes =
        key::RowPrefixesOf(*rare_->key_codec, bytes);
    level = prefixes.count;
    if (level > 0) size = prefixes.sizes[level - 1];
  }
  located->prefix_level = static_cast<int>(level);
  if (level == 0) return block::Location();
  // All rows that begin with what is asked have this prefix.
  const std::string_view prefix = bytes.substr(0, size);
  located->digest =
      Stored(size == bytes.size() ? key.digest() : DigestBytes(prefix));
  return index().FindRow(prefix);
}

absl::Status BlockReader::Verify() const {
  // The tail is read again: it may have been damaged since Open().
  const block::BlockPlace place = loader_.Place();
  const uint64_t chunks_size = index().OffsetOf(index().size());
  const absl::StatusOr<BlockTail> tail = ReadTail(
      &loader_.source(), {place.offset, place.size_bytes},
      place.size_bytes - chunks_size, has_secret_ ? rare_->mixer.check() : 0);
  if (!tail.ok()) return tail.status();
  if (tail->block.identity != loader_.identity()) {
    return block::DataLossAt(place, chunks_size,
                             "another filter block since it was opened");
  }
  for (size_t i = 0; i < index().size(); ++i) {
    absl::Status status = loader_.Verify(i, memory(), kernel_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

FilterBlockProperties BlockReader::properties() const {
  const block::BlockProperties stored = block::PropertiesOf(index());
  FilterBlockProperties p;
  p.bloom_type = stored.bloom_type;
  p.prefix_length_bytes = stored.prefix_length_bytes;
  p.has_row_keys = stored.has_row_keys;
  if (stored.key_codec.has_value()) p.key_codec = stored.key_codec->ToString();
  p.cell_count = stored.cell_count;
  p.key_count = stored.key_count;
  p.chunk_count = stored.chunk_count;
  p.filter_size_bytes = index().OffsetOf(index().size());
  p.filter_spec = stored.filter_spec;
  p.writer = stored.writer;
  if (index().size() == 0) return p;
  const block::StoredKey first = index().FirstKeyOf(0);
  const block::StoredKey last = index().LastKey();
  p.first_row = first.row;
  p.first_qualifier = first.qualifier;
  p.last_row = last.row;
  p.last_qualifier = last.qualifier;
  return p;
}

std::vector<FilterChunkInfo> BlockReader::Chunks() const {
  std::vector<FilterChunkInfo> chunks(index().size());
  uint64_t offset = loader_.Place().offset;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const block::StoredKey first = index().FirstKeyOf(i);
    chunks[i].first_row = first.row;
    chunks[i].first_qualifier = first.qualifier;
    chunks[i].first_has_qualifier = first.has_qualifier;
    chunks[i].offset = offset;
    chunks[i].descriptor = index().DescriptorOf(i);
    offset += chunks[i].descriptor.total_size_bytes();
  }
  return chunks;
}

std::vector<uint32_t> BlockReader::LoadedSteps() const {
  std::vector<uint32_t> steps(index().size());
  const util::EpochGuard guard;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ResidentChunk* const chunk = Find(i);
    if (chunk != nullptr) steps[i] = chunk->steps();
    if (!index().filter().empty()) {
      steps[i] = FilterSteps(index().DescriptorOf(i));
    }
  }
  return steps;
}

}  // namespace internal::reader

FilterReader::~FilterReader() = default;

namespace {

absl::Status CheckOptions(const RandomAccessSource* source,
                          const FilterReaderOptions& options) {
  if (source == nullptr) {
    return absl::InvalidArgumentError("FilterReader::Open(): source is null");
  }
  if (!KernelAvailable(options.kernel)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", util::AbslView(KernelName(options.kernel)),
                     " is not available here"));
  }
  absl::Status status = internal::cache::CheckFileId(options.file_id);
  if (!status.ok()) return status;
  return internal::cache::CheckPriority(options.priority);
}

std::unique_ptr<internal::reader::BlockReader> NewReader(
    const RandomAccessSource* source, FilterReaderOptions options,
    internal::reader::BlockTail tail) {
  std::unique_ptr<FilterCache> own_cache;
  if (options.cache == nullptr) {
    own_cache = NewShardedLruCache({});
    options.cache = own_cache.get();
  }
  return std::make_unique<internal::reader::BlockReader>(
      source, options, std::move(own_cache), std::move(tail));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FilterReader>> FilterReader::Open(
    const RandomAccessSource* source, const FilterBlockRange& range,
    const FilterReaderOptions& options) {
  absl::Status status = CheckOptions(source, options);
  if (!status.ok()) return status;
  auto tail =
      internal::reader::ReadTail(source, range, options.tail_size_bytes,
                                 block::DigestMixer(options.secret).check());
  if (!tail.ok()) return tail.status();
  auto opened = NewReader(source, options, *std::move(tail));
  if (options.prefetch) opened->Prefetch();
  return opened;
}

absl::StatusOr<std::unique_ptr<FilterReader>> FilterReader::OpenFromTail(
    const RandomAccessSource* source, const FilterBlockRange& range,
    std::string_view tail, const FilterReaderOptions& options) {
  absl::Status status = CheckOptions(source, options);
  if (!status.ok()) return status;
  if (options.prefetch) {
    return absl::InvalidArgumentError(
        "FilterReader::OpenFromTail(): options.prefetch is true, and this "
        "never reads; load chunks while they are written (filter_warmer.h)");
  }
  auto parsed = internal::reader::TakeTail(
      source, range, tail, block::DigestMixer(options.secret).check());
  if (!parsed.ok()) return parsed.status();
  return NewReader(source, options, *std::move(parsed));
}

absl::Status FilterReader::Verify() const {
  return internal::reader::BlockReader::Of(*this).Verify();
}

FilterBlockProperties FilterReader::properties() const {
  return internal::reader::BlockReader::Of(*this).properties();
}

std::vector<FilterChunkInfo> FilterReader::Chunks() const {
  return internal::reader::BlockReader::Of(*this).Chunks();
}

int64_t FilterReader::ChunkOf(const FilterKey& key) const {
  internal::reader::Lookup lookup;
  internal::reader::BlockReader::Of(*this).Locate(key, &lookup);
  return lookup.location.is_in_chunk()
             ? static_cast<int64_t>(lookup.location.chunk())
             : -1;
}

bool FilterReader::is_within_capacity() const {
  return internal::reader::BlockReader::Of(*this).is_within_capacity();
}

uint64_t FilterReader::file_id() const {
  return internal::reader::BlockReader::Of(*this).file_id();
}

FilterStatsSnapshot FilterReader::stats() const {
  return internal::reader::BlockReader::Of(*this).stats();
}

}  // namespace rowbloom
