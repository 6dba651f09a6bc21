// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "c/boundary.h"
#include "c/handles.h"
#include "c/options.h"
#include "rowbloom/filter_reader.h"

using namespace rowbloom;
using namespace rowbloom::c;

namespace rowbloom::c {

// Not of an unnamed namespace, since a handle's type has one.
class CallbackSource : public RandomAccessSource {
 public:
  CallbackSource(const rowbloom_source& source,
                 const rowbloom_read_group& group)
      : read_(source.read),
        context_(source.context),
        group_(group),
        size_bytes_(source.size_bytes),
        name_(source.name == nullptr ? "source" : source.name) {}

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    rowbloom_error error = {};
    const rowbloom_code code =
        read_(context_, offset, scratch, size_bytes, &error);
    *result = std::string_view(scratch, size_bytes);
    return StatusOfCallback(code, error, name_ + ": read");
  }
  // All sources of the group are of this class.
  void ReadMany(absl::Span<SourceRead> reads) const override {
    if (group_.read_many == nullptr) {
      RandomAccessSource::ReadMany(reads);
      return;
    }
    std::vector<rowbloom_read> many;
    many.reserve(reads.size());
    for (const SourceRead& read : reads) {
      many.push_back({static_cast<const CallbackSource*>(read.source)->context_,
                      read.offset, read.scratch, read.size_bytes,
                      ROWBLOOM_UNKNOWN});
    }
    group_.read_many(group_.context, many.data(), many.size());
    for (size_t i = 0; i < reads.size(); ++i) {
      reads[i].result = {reads[i].scratch, reads[i].size_bytes};
      reads[i].status = StatusOfCallback(
          many[i].code, {},
          static_cast<const CallbackSource*>(reads[i].source)->name_ +
              ": read_many");
    }
  }
  const void* read_group() const override { return group_.context; }
  uint64_t size_bytes() const override { return size_bytes_; }
  std::string_view name() const override { return name_; }

 private:
  const rowbloom_read_fn read_;
  void* const context_;
  const rowbloom_read_group group_;
  const uint64_t size_bytes_;
  const std::string name_;
};

}  // namespace rowbloom::c

namespace {

absl::StatusOr<FilterReaderOptions> ParseReaderOptions(const char* text) {
  FilterReaderOptions options;
  bool pinned = false, always_load = false;
  Options given("reader", text);
  given.Take("file_id", &options.file_id);
  given.Take("level", &options.level);
  given.Take("pinned", &pinned);
  given.Take("always_load", &always_load);
  given.Take("prefetch", &options.prefetch);
  given.Take("data_block_size_bytes", &options.data_block_size_bytes);
  given.Take("tail_size_bytes", &options.tail_size_bytes);
  given.Take("secret", &options.secret);
  if (absl::Status status = given.Finish(); !status.ok()) return status;
  if (pinned) options.priority = FilterCachePriority::kPinned;
  if (always_load) options.loading = FilterLoading::kAlways;
  return options;
}

int32_t AnswerOf(FilterAnswer answer) {
  static_assert(static_cast<int>(FilterAnswer::kNo) == ROWBLOOM_NO);
  static_assert(static_cast<int>(FilterAnswer::kMaybe) == ROWBLOOM_MAYBE);
  static_assert(static_cast<int>(FilterAnswer::kNotInMemory) ==
                ROWBLOOM_NOT_IN_MEMORY);
  return static_cast<int32_t>(answer);
}

}  // namespace

namespace {

std::optional<uint64_t> NumberOf(const FilterReader& reader, int32_t property) {
  switch (property) {
    case ROWBLOOM_BLOCK_CELLS:
      return reader.properties().cell_count;
    case ROWBLOOM_BLOCK_KEYS:
      return reader.properties().key_count;
    case ROWBLOOM_BLOCK_CHUNKS:
      return reader.properties().chunk_count;
    case ROWBLOOM_BLOCK_FILTER_BYTES:
      return reader.properties().filter_size_bytes;
    case ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES:
      return reader.properties().prefix_length_bytes;
    case ROWBLOOM_BLOCK_HAS_ROW_KEYS:
      return reader.properties().has_row_keys;
    case ROWBLOOM_BLOCK_FILE_ID:
      return reader.file_id();
    case ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY:
      return reader.is_within_capacity();
  }
  return std::nullopt;
}

std::optional<std::string> BytesOf(const FilterReader& reader,
                                   int32_t property) {
  const FilterBlockProperties properties = reader.properties();
  switch (property) {
    case ROWBLOOM_BLOCK_BLOOM_TYPE:
      return std::string(BloomTypeName(properties.bloom_type));
    case ROWBLOOM_BLOCK_KEY_CODEC:
      return properties.key_codec;
    case ROWBLOOM_BLOCK_FILTER_SPEC:
      return properties.filter_spec;
    case ROWBLOOM_BLOCK_WRITER:
      return properties.writer;
    case ROWBLOOM_BLOCK_FIRST_ROW:
      return properties.first_row;
    case ROWBLOOM_BLOCK_FIRST_QUALIFIER:
      return properties.first_qualifier;
    case ROWBLOOM_BLOCK_LAST_ROW:
      return properties.last_row;
    case ROWBLOOM_BLOCK_LAST_QUALIFIER:
      return properties.last_qualifier;
  }
  return std::nullopt;
}

absl::Status NoProperty(const char* kind, int32_t property) {
  return absl::InvalidArgumentError(
      absl::StrCat("property ", property, " is no ", kind));
}

}  // namespace

// The reader is destroyed first.
struct rowbloom_reader {
  CallbackSource source;
  std::shared_ptr<FilterCache> cache;
  std::shared_ptr<FilterStats> stats;
  std::unique_ptr<FilterReader> reader;
};

namespace {

absl::Status Open(const rowbloom_source* source,
                  const rowbloom_read_group& group, uint64_t offset,
                  uint64_t size, const char* options, rowbloom_cache* cache,
                  rowbloom_stats* stats, rowbloom_reader** out) {
  if (source == nullptr) return NullArgument("source");
  if (source->read == nullptr) return NullArgument("source->read");
  absl::StatusOr<FilterReaderOptions> parsed = ParseReaderOptions(options);
  if (!parsed.ok()) return parsed.status();
  std::unique_ptr<rowbloom_reader> reader(new rowbloom_reader{
      CallbackSource(*source, group), cache == nullptr ? nullptr : cache->cache,
      stats == nullptr ? nullptr : stats->stats, nullptr});
  parsed->cache = reader->cache.get();
  parsed->stats = reader->stats.get();
  absl::StatusOr<std::unique_ptr<FilterReader>> opened =
      FilterReader::Open(&reader->source, {offset, size}, *parsed);
  if (!opened.ok()) return opened.status();
  reader->reader = *std::move(opened);
  return c::Give(std::move(reader), out);
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_reader_open(const rowbloom_source* source,
                                   uint64_t offset, uint64_t size,
                                   const char* options, rowbloom_cache* cache,
                                   rowbloom_stats* stats, rowbloom_reader** out,
                                   rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    return Open(source, {}, offset, size, options, cache, stats, out);
  });
}

rowbloom_code rowbloom_reader_open_in_group(
    const rowbloom_source* source, const rowbloom_read_group* group,
    uint64_t offset, uint64_t size, const char* options, rowbloom_cache* cache,
    rowbloom_stats* stats, rowbloom_reader** out, rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (group == nullptr) return NullArgument("group");
    if (group->read_many == nullptr) return NullArgument("group->read_many");
    return Open(source, *group, offset, size, options, cache, stats, out);
  });
}

bool rowbloom_reader_may_contain(const rowbloom_reader* reader, const void* row,
                                 size_t row_size, const void* qualifier,
                                 size_t qualifier_size) {
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (reader == nullptr || !key) return true;
  return Shared([&] { return reader->reader->MayContain(*key); });
}

void rowbloom_readers_may_contain(const rowbloom_reader* const* readers,
                                  size_t count, const void* row,
                                  size_t row_size, const void* qualifier,
                                  size_t qualifier_size, bool* may_contain) {
  if (may_contain == nullptr || count > SIZE_MAX / 2) return;
  std::fill_n(may_contain, count, true);
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (readers == nullptr || !key) return;
  for (size_t i = 0; i < count; ++i) {
    if (readers[i] == nullptr) continue;
    may_contain[i] =
        Shared([&] { return readers[i]->reader->MayContain(*key); });
  }
}

void rowbloom_may_contain_many(const rowbloom_key* keys, size_t key_count,
                               const rowbloom_question* questions, size_t count,
                               bool* may_contain) {
  constexpr size_t kMaxCount = SIZE_MAX / 2 / sizeof(rowbloom_key);
  if (may_contain == nullptr || count > kMaxCount) return;
  std::fill_n(may_contain, count, true);
  if (keys == nullptr || key_count > kMaxCount || questions == nullptr) return;
  Shared([&] {
    std::vector<std::optional<FilterKey>> hashed;
    hashed.reserve(key_count);
    for (size_t i = 0; i < key_count; ++i) {
      hashed.push_back(LookupKeyOf(keys[i].row, keys[i].row_size,
                                   keys[i].qualifier, keys[i].qualifier_size));
    }
    std::vector<FilterQuestion> asked;
    std::vector<size_t> places;  // In may_contain.
    for (size_t i = 0; i < count; ++i) {
      const auto& [reader, key] = questions[i];
      if (reader == nullptr || key >= key_count || !hashed[key]) continue;
      asked.push_back({reader->reader.get(), &*hashed[key]});
      places.push_back(i);
    }
    const auto answers = std::make_unique<bool[]>(asked.size());
    FilterReader::MayContain(asked, answers.get());
    for (size_t i = 0; i < asked.size(); ++i) {
      may_contain[places[i]] = answers[i];
    }
  });
}

int32_t rowbloom_reader_ask(const rowbloom_reader* reader, const void* row,
                            size_t row_size, const void* qualifier,
                            size_t qualifier_size, rowbloom_load* load) {
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (load != nullptr) *load = {};
  if (reader == nullptr || !key || load == nullptr) return ROWBLOOM_MAYBE;
  return Shared([&] {
    FilterLoad needed;
    const FilterAnswer answer = reader->reader->Ask(*key, &needed);
    if (answer == FilterAnswer::kNotInMemory) {
      *load = {needed.chunk, needed.offset, needed.size_bytes, needed.steps};
    }
    return AnswerOf(answer);
  });
}

int32_t rowbloom_reader_offer(const rowbloom_reader* reader,
                              const rowbloom_load* load, rowbloom_code code,
                              const void* bytes, size_t size, const void* row,
                              size_t row_size, const void* qualifier,
                              size_t qualifier_size) {
  const std::optional<FilterKey> key =
      LookupKeyOf(row, row_size, qualifier, qualifier_size);
  if (reader == nullptr || !key || load == nullptr) return ROWBLOOM_MAYBE;
  return Shared([&] {
    absl::Status status = StatusOfCallback(code, {}, "read");
    if (status.ok()) status = CheckBytes(bytes, size, "bytes");
    absl::StatusOr<std::string_view> read = View(bytes, 0);
    if (status.ok()) {
      read = View(bytes, size);
    } else {
      read = status;
    }
    return AnswerOf(reader->reader->Offer(
        {load->chunk, load->offset, load->size_bytes, load->steps}, read,
        *key));
  });
}

void rowbloom_reader_tell_outcome(const rowbloom_reader* reader,
                                  bool key_was_there, uint64_t read_bytes) {
  static_assert(FilterReader::kUnknownBytes == ROWBLOOM_UNKNOWN_BYTES);
  if (reader == nullptr) return;
  Shared([&] { reader->reader->TellOutcome(key_was_there, read_bytes); });
}

uint64_t rowbloom_reader_get(const rowbloom_reader* reader, int32_t counter) {
  if (reader == nullptr || !IsCounter(counter)) return 0;
  const auto name = static_cast<FilterCounter>(counter);
  return Shared([&] { return reader->reader->stats()[name]; });
}

rowbloom_code rowbloom_reader_number(const rowbloom_reader* reader,
                                     int32_t property, uint64_t* number,
                                     rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (number == nullptr) return NullArgument("number");
    *number = 0;
    if (reader == nullptr) return NullArgument("reader");
    const std::optional<uint64_t> found = NumberOf(*reader->reader, property);
    if (!found) return NoProperty("number", property);
    *number = *found;
    return absl::OkStatus();
  });
}

rowbloom_code rowbloom_reader_bytes(const rowbloom_reader* reader,
                                    int32_t property, rowbloom_buffer* bytes,
                                    rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    Clear(bytes);
    if (bytes == nullptr) return NullArgument("bytes");
    if (reader == nullptr) return NullArgument("reader");
    const std::optional<std::string> found = BytesOf(*reader->reader, property);
    if (!found) return NoProperty("property of bytes", property);
    return Fill(*found, bytes);
  });
}

rowbloom_code rowbloom_reader_verify(const rowbloom_reader* reader,
                                     rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (reader == nullptr) return NullArgument("reader");
    return reader->reader->Verify();
  });
}

void rowbloom_reader_free(rowbloom_reader* reader) {
  Shared([&] { delete reader; });
}

}  // extern "C"
