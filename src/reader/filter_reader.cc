// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/check.h"
#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "filter/units.h"
#include "reader/single_flight.h"

namespace rowbloom {

namespace {

using block::ChunkEntry;
using block::StoredKey;

// A chunk in memory: its bytes, on a cache-line boundary, and the view that
// answers from them.
class LoadedChunk {
 public:
  explicit LoadedChunk(size_t size)
      : bytes_(static_cast<char*>(
            ::operator new(std::max<size_t>(size, 1), kAlignment))) {}
  ~LoadedChunk() { ::operator delete(bytes_, kAlignment); }
  LoadedChunk(const LoadedChunk&) = delete;
  LoadedChunk& operator=(const LoadedChunk&) = delete;

  char* bytes() { return bytes_; }

  FilterView view;

 private:
  static constexpr std::align_val_t kAlignment{64};

  char* const bytes_;
};

using ChunkPtr = std::shared_ptr<const LoadedChunk>;

// Remembers what it was read from: under a file id that was used for two
// files, another file's chunk would deny this file's keys.
class CachedChunk final : public FilterCache::Value {
 public:
  CachedChunk(ChunkPtr chunk, uint64_t offset,
              const FilterDescriptor& descriptor)
      : chunk_(std::move(chunk)), offset_(offset), descriptor_(descriptor) {}

  const ChunkPtr& chunk() const { return chunk_; }
  bool IsOf(uint64_t offset, const FilterDescriptor& descriptor) const {
    return offset_ == offset && descriptor_ == descriptor;
  }

 private:
  const ChunkPtr chunk_;
  const uint64_t offset_;  // In the source.
  const FilterDescriptor descriptor_;
};

constexpr size_t kChunkOverheadBytes = sizeof(CachedChunk) +
                                       sizeof(LoadedChunk) +
                                       64;  // 64: control block, slack.

// What the index alone says about a key.
constexpr int64_t kNo = -1;
constexpr int64_t kMaybe = -2;

// Reads exactly size_bytes or fails.
absl::Status ReadExactly(const RandomAccessSource& source, uint64_t offset,
                         size_t size_bytes, char* scratch,
                         std::string_view* result) {
  absl::Status status = source.Read(offset, size_bytes, scratch, result);
  if (status.ok() && result->size() != size_bytes) {
    return absl::DataLossError(
        absl::StrCat(base::AbslView(source.name()), ": offset ", offset,
                     ": read ", result->size(), " of ", size_bytes, " bytes"));
  }
  return status;
}

}  // namespace

class FilterReader::Impl {
 public:
  Impl(const RandomAccessSource* source, const FilterBlockRange& range,
       const FilterReaderOptions& options,
       std::unique_ptr<block::ParsedFilterBlock> parsed,
       const block::ParsedFooter& footer)
      : source_(source),
        range_(range),
        options_(options),
        file_id_(options.file_id != 0 ? options.file_id
                                      : FilterCache::NewFileId()),
        footer_(footer),
        parsed_(std::move(parsed)),
        properties_(MakeProperties(*parsed_)) {}

  ~Impl() {
    // Nobody else can ask for an id that was this reader's alone.
    if (options_.cache == nullptr || options_.file_id != 0) return;
    for (size_t i = 0; i < parsed_->chunks.size(); ++i) {
      options_.cache->Erase({file_id_, i});
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static absl::StatusOr<std::unique_ptr<Impl>> Open(
      const RandomAccessSource* source, const FilterBlockRange& range,
      const FilterReaderOptions& options);

  bool MayContain(const FilterKey& key) const;
  void MayContain(absl::Span<const FilterKey> keys, bool* may_contain) const;
  absl::Status Verify() const;
  int64_t Locate(const FilterKey& key, KeyDigest* digest) const;

  const FilterBlockProperties& properties() const { return properties_; }
  const block::ParsedFilterBlock& parsed() const { return *parsed_; }
  uint64_t block_offset() const { return range_.offset; }
  uint64_t file_id() const { return file_id_; }

 private:
  static FilterBlockProperties MakeProperties(
      const block::ParsedFilterBlock& parsed);

  block::BlockPlace Place() const {
    return {source_->name(), range_.offset, range_.size_bytes};
  }
  absl::StatusOr<ChunkPtr> ReadChunk(size_t index) const;
  // Reads and caches, or waits for the thread that does; null on error.
  ChunkPtr LoadChunk(size_t index) const;
  // Calls found(const ChunkPtr&) if the cache has the chunk.
  template <typename Found>
  bool WithCached(size_t index, const Found& found) const;
  // Calls `ask` with the chunk's view; false if it cannot be had.
  template <typename Ask>
  bool WithChunk(size_t index, const Ask& ask) const;
  void Count(FilterCounter counter, uint64_t delta = 1) const {
    if (options_.stats != nullptr && delta > 0) {
      options_.stats->Add(counter, delta);
    }
  }

  const RandomAccessSource* const source_;
  const FilterBlockRange range_;
  const FilterReaderOptions options_;
  const uint64_t file_id_;
  const block::ParsedFooter footer_;
  const std::unique_ptr<const block::ParsedFilterBlock> parsed_;
  const FilterBlockProperties properties_;
  mutable reader::SingleFlight<ChunkPtr> flights_;
};

absl::StatusOr<std::unique_ptr<FilterReader::Impl>> FilterReader::Impl::Open(
    const RandomAccessSource* source, const FilterBlockRange& range,
    const FilterReaderOptions& options) {
  FilterBlockRange actual = range;
  const uint64_t source_size = source->size_bytes();
  if (actual.size_bytes == 0 && actual.offset <= source_size) {
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
  uint64_t tail_size = std::clamp<uint64_t>(
      options.tail_size_bytes, block::Footer::kSize, actual.size_bytes);
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
    // The index is longer than guessed: one more read, of the whole tail.
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
  return std::make_unique<Impl>(source, actual, options, *std::move(parsed),
                                *footer);
}

FilterBlockProperties FilterReader::Impl::MakeProperties(
    const block::ParsedFilterBlock& parsed) {
  FilterBlockProperties p;
  p.bloom_type = parsed.bloom_type;
  p.prefix_length_bytes = parsed.prefix_length_bytes;
  p.has_row_keys = parsed.has_row_keys;
  p.cell_count = parsed.cell_count;
  p.key_count = parsed.key_count;
  p.chunk_count = parsed.chunks.size();
  p.policy = parsed.policy;
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

int64_t FilterReader::Impl::Locate(const FilterKey& key,
                                   KeyDigest* digest) const {
  StoredKey asked = block::StoredKeyOf(key);
  *digest = key.digest();
  switch (parsed_->bloom_type) {
    case BloomType::kNone:
      return kMaybe;
    case BloomType::kRow:
      asked = {key.row(), {}, false};
      *digest = key.row_digest();
      break;
    case BloomType::kRowCol:
      if (!key.has_qualifier() && !parsed_->has_row_keys) return kMaybe;
      break;
    case BloomType::kRowPrefixFixedLength:
      asked = {key.row().substr(0, parsed_->prefix_length_bytes), {}, false};
      *digest = asked.row.size() == key.row().size() ? key.row_digest()
                                                     : DigestBytes(asked.row);
      break;
  }
  // Keys were added in order, from the first chunk's first to the last key.
  if (parsed_->chunks.empty() || block::Compare(asked, parsed_->last_key) > 0) {
    return kNo;
  }
  return block::FindChunk(parsed_->chunks, asked);
}

absl::StatusOr<ChunkPtr> FilterReader::Impl::ReadChunk(size_t index) const {
  const ChunkEntry& entry = parsed_->chunks[index];
  const FilterDescriptor& descriptor = entry.descriptor;
  const size_t size = static_cast<size_t>(descriptor.total_size_bytes());
  auto chunk = std::make_shared<LoadedChunk>(size);
  std::string_view bytes;
  absl::Status status = ReadExactly(*source_, range_.offset + entry.offset,
                                    size, chunk->bytes(), &bytes);
  if (!status.ok()) return status;
  // A source may answer in place (mmap): the chunk keeps a copy of its own.
  if (bytes.data() != chunk->bytes()) {
    std::copy(bytes.begin(), bytes.end(), chunk->bytes());
    bytes = std::string_view(chunk->bytes(), size);
  }
  filter::UnitArray array;
  const absl::Span<const std::string_view> units =
      filter::SplitUnits(descriptor, bytes, &array);
  status = VerifyUnits(descriptor, units);
  if (!status.ok()) return block::Annotate(Place(), entry.offset, status);
  absl::StatusOr<FilterView> view =
      FilterView::Parse(descriptor, units, options_.kernel);
  if (!view.ok()) {
    return block::Annotate(Place(), entry.offset, view.status());
  }
  chunk->view = *view;
  return ChunkPtr(std::move(chunk));
}

ChunkPtr FilterReader::Impl::LoadChunk(size_t index) const {
  return flights_.Do(index, [&]() -> ChunkPtr {
    // Another thread may have landed since this one's cache miss.
    ChunkPtr cached;
    if (WithCached(index, [&](const ChunkPtr& found) { cached = found; })) {
      return cached;
    }
    absl::StatusOr<ChunkPtr> chunk = ReadChunk(index);
    if (!chunk.ok()) {
      Count(FilterCounter::kLoadErrors);
      return nullptr;
    }
    const ChunkEntry& entry = parsed_->chunks[index];
    const size_t size =
        static_cast<size_t>(entry.descriptor.total_size_bytes());
    Count(FilterCounter::kChunkLoads);
    Count(FilterCounter::kChunkLoadBytes, size);
    if (options_.cache != nullptr) {
      std::unique_ptr<FilterCache::Value> value = std::make_unique<CachedChunk>(
          *chunk, range_.offset + entry.offset, entry.descriptor);
      FilterCache::EntryOptions entry_options;
      entry_options.charge_bytes = size + kChunkOverheadBytes;
      entry_options.role = FilterCacheRole::kChunk;
      FilterCache::Handle* handle =
          options_.cache->Insert({file_id_, index}, &value, entry_options);
      // Refused for want of room: this lookup still has its answer.
      if (handle != nullptr) options_.cache->Release(handle);
    }
    return *std::move(chunk);
  });
}

template <typename Found>
bool FilterReader::Impl::WithCached(size_t index, const Found& found) const {
  if (options_.cache == nullptr) return false;
  FilterCache::Handle* handle = options_.cache->Lookup({file_id_, index});
  if (handle == nullptr) return false;
  const auto* cached =
      static_cast<const CachedChunk*>(options_.cache->ValueOf(handle));
  const ChunkEntry& entry = parsed_->chunks[index];
  const bool is_ours =
      cached->IsOf(range_.offset + entry.offset, entry.descriptor);
  if (is_ours) found(cached->chunk());
  options_.cache->Release(handle);
  return is_ours;
}

template <typename Ask>
bool FilterReader::Impl::WithChunk(size_t index, const Ask& ask) const {
  if (WithCached(index, [&](const ChunkPtr& chunk) { ask(chunk->view); })) {
    return true;
  }
  const ChunkPtr chunk = LoadChunk(index);
  if (chunk == nullptr) return false;
  ask(chunk->view);
  return true;
}

bool FilterReader::Impl::MayContain(const FilterKey& key) const {
  Count(FilterCounter::kLookups);
  KeyDigest digest;
  const int64_t chunk = Locate(key, &digest);
  bool may_contain = chunk != kNo;
  if (chunk >= 0) {
    // A filter may cost a read. It must never lose a row: if the chunk cannot
    // be had, the answer stays "maybe".
    WithChunk(static_cast<size_t>(chunk), [&](const FilterView& view) {
      may_contain = view.MayContain(digest);
    });
  }
  if (!may_contain) Count(FilterCounter::kNegatives);
  return may_contain;
}

void FilterReader::Impl::MayContain(absl::Span<const FilterKey> keys,
                                    bool* may_contain) const {
  struct Question {
    int64_t chunk;
    size_t key;
    KeyDigest digest;
  };
  std::vector<Question> questions(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    questions[i].key = i;
    questions[i].chunk = Locate(keys[i], &questions[i].digest);
    may_contain[i] = questions[i].chunk != kNo;
  }
  std::sort(questions.begin(), questions.end(),
            [](const Question& a, const Question& b) {
              return a.chunk != b.chunk ? a.chunk < b.chunk : a.key < b.key;
            });
  constexpr size_t kGroup = 64;
  for (size_t begin = 0; begin < questions.size();) {
    const int64_t chunk = questions[begin].chunk;
    size_t end = begin;
    while (end < questions.size() && questions[end].chunk == chunk) ++end;
    if (chunk >= 0) {
      WithChunk(static_cast<size_t>(chunk), [&](const FilterView& view) {
        std::array<KeyDigest, kGroup> digests;
        std::array<bool, kGroup> answers;
        for (size_t at = begin; at < end; at += kGroup) {
          const size_t size = std::min(kGroup, end - at);
          for (size_t i = 0; i < size; ++i)
            digests[i] = questions[at + i].digest;
          view.MayContain(absl::MakeConstSpan(digests.data(), size),
                          answers.data());
          for (size_t i = 0; i < size; ++i) {
            may_contain[questions[at + i].key] = answers[i];
          }
        }
      });
    }
    begin = end;
  }
  Count(FilterCounter::kLookups, keys.size());
  Count(FilterCounter::kNegatives,
        static_cast<uint64_t>(
            std::count(may_contain, may_contain + keys.size(), false)));
}

absl::Status FilterReader::Impl::Verify() const {
  // The tail once more, from the source: it may have been damaged since.
  FilterReaderOptions options = options_;
  options.tail_size_bytes = footer_.tail_size(Place());
  options.cache = nullptr;  // Reads chunks itself, and has none to take out.
  absl::StatusOr<std::unique_ptr<Impl>> reopened =
      Open(source_, range_, options);
  if (!reopened.ok()) return reopened.status();
  if (!((*reopened)->footer_ == footer_)) {
    return block::DataLossAt(Place(), footer_.index_offset,
                             "another filter block since it was opened");
  }
  for (size_t i = 0; i < parsed_->chunks.size(); ++i) {
    absl::StatusOr<ChunkPtr> chunk = (*reopened)->ReadChunk(i);
    if (!chunk.ok()) return chunk.status();
  }
  return absl::OkStatus();
}

FilterReader::FilterReader(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
FilterReader::~FilterReader() = default;

absl::StatusOr<std::unique_ptr<FilterReader>> FilterReader::Open(
    const RandomAccessSource* source, const FilterBlockRange& range,
    const FilterReaderOptions& options) {
  if (!KernelAvailable(options.kernel)) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", base::AbslView(KernelName(options.kernel)),
                     " is not available here"));
  }
  absl::StatusOr<std::unique_ptr<Impl>> impl =
      Impl::Open(source, range, options);
  if (!impl.ok()) return impl.status();
  return std::unique_ptr<FilterReader>(new FilterReader(*std::move(impl)));
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
  impl_->MayContain(keys, may_contain);
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
  KeyDigest digest;
  return std::max<int64_t>(-1, impl_->Locate(key, &digest));
}

uint64_t FilterReader::file_id() const { return impl_->file_id(); }

}  // namespace rowbloom
