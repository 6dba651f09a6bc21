// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_reader.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "cache/file_id.h"
#include "key/keyed_digest.h"
#include "reader/filter_reader_impl.h"
#include "reader/filter_stats_impl.h"
#include "util/absl_view.h"
#include "util/check.h"
#include "util/source_read.h"

namespace rowbloom {

using block::ChunkEntry;
using util::ReadExactly;

namespace {

// The chunk number under which the index is charged.
constexpr uint64_t kIndexChunk = ~uint64_t{0};

uint8_t PlainKinds(const block::ParsedFilterBlock& parsed) {
  const bool is_plain =
      parsed.bloom_type == BloomType::kRow ||
      (parsed.bloom_type == BloomType::kRowCol && parsed.has_row_keys);
  return is_plain ? static_cast<uint8_t>(FilterKey::Kind::kPrefix) : 0;
}

}  // namespace

FilterReader::Impl::Impl(const RandomAccessSource* source,
                         const FilterReaderOptions& options,
                         std::unique_ptr<FilterCache> own_cache, Tail tail)
    : parsed_(std::move(tail.parsed)),
      bloom_type_(parsed_->bloom_type),
      has_row_keys_(parsed_->has_row_keys),
      plain_kinds_(PlainKinds(*parsed_)),
      has_secret_(parsed_->secret_check != 0),
      prefix_length_bytes_(parsed_->prefix_length_bytes),
      locator_(&parsed_->chunks, &parsed_->last_key),
      own_cache_(std::move(own_cache)),
      file_id_(options.file_id != 0 ? options.file_id
                                    : FilterCache::NewFileId()),
      slots_(
          {options.cache, file_id_, options.file_id == 0, 0, options.priority},
          parsed_->chunks.size()),
      policy_(std::make_shared<reader::LoadPolicy>(
          cache::Access::LedgerOf(*options.cache), parsed_->chunks.size(),
          options.data_block_size_bytes)),
      mixer_(options.secret),
      options_(options),
      source_(source),
      range_(tail.range),
      footer_(tail.footer),
      properties_(MakeProperties(*parsed_)),
      loader_(source, Place(), parsed_->identity, &parsed_->chunks,
              options.kernel, always_loads() ? nullptr : policy_),
      index_id_(FilterCache::NewFileId()) {
  if (options_.stats != nullptr) {
    options_.stats->impl_->Open(&counters_, file_id_, options_.level,
                                source_->name());
  }
  if (slots_.chunk_cache() == nullptr) {
    policy_->ledger().GrantUpTo(options_.cache->GetUsage().capacity_bytes);
  }
  FilterCache::EntryOptions entry;
  entry.charge_bytes = IndexSizeBytes();
  entry.priority = FilterCachePriority::kPinned;
  entry.role = FilterCacheRole::kIndex;
  std::unique_ptr<FilterCache::Value> nothing =
      std::make_unique<FilterCache::Value>();
  FilterCache::Handle* handle =
      options_.cache->Insert({index_id_, kIndexChunk}, &nothing, entry);
  if (handle != nullptr) {
    options_.cache->Release(handle);
  } else if (slots_.chunk_cache() != nullptr) {
    index_bytes_outside_ = static_cast<int64_t>(entry.charge_bytes);
    slots_.chunk_cache()->AddIndexBytesOutside(index_bytes_outside_);
  }
}

FilterReader::Impl::~Impl() {
  if (options_.stats != nullptr) options_.stats->impl_->Close(&counters_);
  options_.cache->Erase({index_id_, kIndexChunk});
  if (slots_.chunk_cache() != nullptr) {
    slots_.chunk_cache()->AddIndexBytesOutside(-index_bytes_outside_);
  }
}

size_t FilterReader::Impl::IndexSizeBytes() const {
  return sizeof(Impl) + sizeof(*parsed_) + parsed_->index_bytes.size() +
         slots_.size() * (cache::ChunkSlots::BytesPerChunk() +
                          sizeof(ChunkEntry) + sizeof(uint64_t));
}

absl::StatusOr<FilterReader::Impl::Tail> FilterReader::Impl::ReadTail(
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
  if (secret_check != 0 && secret_check != key::DigestMixer(secret).check()) {
    return block::Annotate(
        place, footer->index_offset + footer->index_size,
        absl::FailedPreconditionError(
            "the filter block was written with a secret that is not "
            "FilterReaderOptions::secret; open it with that of the writer"));
  }
  return Tail{actual, *footer, *std::move(parsed)};
}

FilterBlockProperties FilterReader::Impl::MakeProperties(
    const block::ParsedFilterBlock& parsed) {
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

absl::Status FilterReader::Impl::Verify() const {
  // The tail is read again: it may have been damaged since Open().
  absl::StatusOr<Tail> tail =
      ReadTail(source_, range_, footer_.tail_size(Place()), options_.secret);
  if (!tail.ok()) return tail.status();
  if (!(tail->footer == footer_)) {
    return block::DataLossAt(Place(), footer_.index_offset,
                             "another filter block since it was opened");
  }
  for (size_t i = 0; i < parsed_->chunks.size(); ++i) {
    absl::Status status = loader_.Verify(i);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<uint32_t> FilterReader::Impl::LoadedSteps() const {
  std::vector<uint32_t> steps(slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    VisitInSlot(i, [&](const auto& resident) { steps[i] = resident.steps; });
  }
  return steps;
}

FilterReader::FilterReader(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
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
      Impl::ReadTail(source, range, options.tail_size_bytes, options.secret);
  if (!tail.ok()) return tail.status();
  FilterReaderOptions actual = options;
  std::unique_ptr<FilterCache> own_cache;
  if (options.cache == nullptr) {
    own_cache = NewShardedLruCache({});
    actual.cache = own_cache.get();
  }
  auto impl = std::make_unique<Impl>(source, actual, std::move(own_cache),
                                     *std::move(tail));
  if (options.prefetch) impl->Prefetch();
  return std::unique_ptr<FilterReader>(new FilterReader(std::move(impl)));
}

bool FilterReader::MayContain(std::string_view row) const {
  return impl_->MayContain(FilterKey::Row(row));
}

bool FilterReader::MayContain(std::string_view row,
                              std::string_view qualifier) const {
  return impl_->MayContain(FilterKey::RowCol(row, qualifier));
}

bool FilterReader::MayContain(const FilterKey& key) const {
  return impl_->MayContain(key);
}

void FilterReader::MayContain(absl::Span<const FilterKey> keys,
                              bool* may_contain) const {
  absl::InlinedVector<FilterQuestion, 32> questions;
  questions.reserve(keys.size());
  for (const FilterKey& key : keys) questions.push_back({this, &key});
  MayContain(questions, may_contain);
}

void FilterReader::MayContain(absl::Span<const FilterQuestion> questions,
                              bool* may_contain) {
  for (const FilterQuestion& question : questions) {
    RB_CHECK_MSG(question.reader != nullptr && question.key != nullptr,
                 "FilterReader::MayContain(): a question without a reader or "
                 "a key");
  }
  Impl::MayContain(questions, may_contain);
}

FilterAnswer FilterReader::Ask(const FilterKey& key, FilterLoad* load) const {
  return impl_->Ask(key, /*is_counted=*/false, /*will_read=*/false, load);
}

FilterAnswer FilterReader::Offer(const FilterLoad& load,
                                 const absl::StatusOr<std::string_view>& bytes,
                                 const FilterKey& key) const {
  return impl_->Offer(load, bytes, key);
}

void FilterReader::TellOutcome(const FilterKey& /*key*/, bool key_was_there,
                               uint64_t read_bytes) const {
  impl_->TellOutcome(key_was_there, read_bytes);
}

absl::Status FilterReader::Verify() const { return impl_->Verify(); }

const FilterBlockProperties& FilterReader::properties() const {
  return impl_->properties();
}

std::vector<FilterChunkInfo> FilterReader::Chunks() const {
  std::vector<FilterChunkInfo> chunks;
  for (const ChunkEntry& entry : impl_->parsed().chunks) {
    FilterChunkInfo info;
    info.first_row = entry.first_key.row;
    info.first_qualifier = entry.first_key.qualifier;
    info.first_has_qualifier = entry.first_key.has_qualifier;
    info.offset = impl_->block_offset() + entry.offset;
    info.descriptor = entry.descriptor;
    chunks.push_back(std::move(info));
  }
  return chunks;
}

int64_t FilterReader::ChunkOf(const FilterKey& key) const {
  Impl::Asked asked;
  return std::max<int64_t>(-1, impl_->Locate(key, &asked));
}

uint64_t FilterReader::file_id() const { return impl_->file_id(); }

FilterStatsSnapshot FilterReader::stats() const { return impl_->stats(); }

std::vector<uint32_t> FilterReader::LoadedSteps() const {
  return impl_->LoadedSteps();
}

}  // namespace rowbloom
