// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "c/boundary.h"
#include "c/handles.h"
#include "c/options.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_warmer.h"

using namespace rowbloom;
using namespace rowbloom::c;

namespace rowbloom::c {

// Not of an unnamed namespace, since a handle's type has one.
class CallbackSink : public ByteSink {
 public:
  CallbackSink(rowbloom_append_fn append, void* context)
      : append_(append), context_(context) {}

  absl::Status Append(std::string_view bytes) override {
    rowbloom_error error = {};
    const rowbloom_code code =
        append_(context_, bytes.data(), bytes.size(), &error);
    return StatusOfCallback(code, error, "append");
  }

 private:
  const rowbloom_append_fn append_;
  void* const context_;
};

}  // namespace rowbloom::c

namespace {

absl::Status CheckFileId(uint64_t file_id) {
  constexpr uint64_t kEnd = uint64_t{1} << 63;
  if (file_id > 0 && file_id < kEnd) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "writer options: file_id=", file_id,
      " is not 1 to 2^63 - 1: a block that is warm needs its reader's"));
}

// Takes the options of a warm block, too, if `warm` is given.
absl::StatusOr<FilterOptions> ParseFilterOptions(const char* text,
                                                 FilterWarmerOptions* warm) {
  FilterOptions options;
  bool pinned = false;
  std::optional<std::string> bloom_type, key_codec;
  std::string filter_spec = options.filter_spec.ToString();
  Options given("writer", text);
  given.Take("bloom_type", &bloom_type);
  given.Take("prefix_length_bytes", &options.prefix_length_bytes);
  given.Take("filter_spec", &filter_spec);
  given.Take("chunk_size_bytes", &options.chunk_size_bytes);
  given.Take("rowcol_adds_rows", &options.rowcol_adds_rows);
  given.Take("secret", &options.secret);
  given.Take("key_codec", &key_codec);
  if (warm != nullptr) {
    given.Take("file_id", &warm->file_id);
    given.Take("pinned", &pinned);
  }
  absl::Status status = given.Finish();
  if (status.ok() && warm != nullptr) status = CheckFileId(warm->file_id);
  if (!status.ok()) return status;
  if (pinned) warm->priority = FilterCachePriority::kPinned;
  if (bloom_type) {
    absl::StatusOr<BloomType> parsed = ParseBloomType(*bloom_type);
    if (!parsed.ok()) return parsed.status();
    options.bloom_type = *parsed;
  }
  if (!filter_spec.empty()) {
    absl::StatusOr<FilterSpec> parsed = FilterSpec::Parse(filter_spec);
    if (!parsed.ok()) return parsed.status();
    options.filter_spec = *std::move(parsed);
  }
  if (key_codec) {
    absl::StatusOr<KeyCodec> parsed = KeyCodec::Parse(*key_codec);
    if (!parsed.ok()) return parsed.status();
    options.key_codec = *std::move(parsed);
  }
  status = ValidateFilterOptions(options);
  if (!status.ok()) return status;
  if (filter_spec.empty()) {  // A budget's, for an SST without a filter.
    options.bloom_type = BloomType::kNone;
    options.prefix_length_bytes = 0;
  }
  return options;
}

}  // namespace

struct rowbloom_writer {
  rowbloom_writer(const FilterOptions& options, rowbloom_append_fn append,
                  void* context, std::shared_ptr<FilterCache> cache_or_null,
                  const FilterWarmerOptions& warm)
      : bloom_type(options.bloom_type),
        sink(append, context),
        cache(std::move(cache_or_null)),
        warmer(cache == nullptr ? nullptr : NewFilterWarmer(cache.get(), warm)),
        writer(options, &sink, warmer.get()) {}

  const BloomType bloom_type;
  CallbackSink sink;
  const std::shared_ptr<FilterCache> cache;
  const std::unique_ptr<FilterChunkObserver> warmer;
  FilterBlockWriter writer;
  absl::Status status;  // The first mistake.
  bool finished = false;
};

namespace {

absl::Status Add(rowbloom_writer* writer, const void* row, size_t row_size,
                 const void* qualifier, size_t qualifier_size) {
  if (writer->finished) {
    return absl::FailedPreconditionError(
        "rowbloom_writer_add() after rowbloom_writer_finish(): make a new "
        "writer for each block");
  }
  absl::Status status = CheckKey(row, row_size, qualifier, qualifier_size);
  if (!status.ok()) return status;
  if (qualifier == nullptr && writer->bloom_type == BloomType::kRowCol) {
    return absl::InvalidArgumentError(
        "rowbloom_writer_add() without a qualifier: a block of bloom type "
        "ROWCOL needs cells; an empty qualifier is not NULL");
  }
  writer->writer.Add(View(row, row_size), View(qualifier, qualifier_size));
  return absl::OkStatus();
}

absl::Status Finish(rowbloom_writer* writer, rowbloom_block_info* info) {
  if (!writer->status.ok()) return writer->status;
  // If memory is short, no later call may take the block for finished.
  if (!writer->finished) writer->status = NoMemory();
  writer->finished = true;
  absl::StatusOr<FilterBlockInfo> finished = writer->writer.Finish();
  writer->status = absl::OkStatus();
  if (!finished.ok()) return finished.status();
  if (info != nullptr) {
    *info = {finished->size_bytes, finished->tail_size_bytes,
             finished->key_count, finished->chunk_count};
  }
  return absl::OkStatus();
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_writer_new(const char* options,
                                  rowbloom_append_fn append, void* context,
                                  rowbloom_writer** out,
                                  rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (append == nullptr) return NullArgument("append");
    absl::StatusOr<FilterOptions> parsed = ParseFilterOptions(options, nullptr);
    if (!parsed.ok()) return parsed.status();
    return Give(std::make_unique<rowbloom_writer>(
                    *parsed, append, context, nullptr, FilterWarmerOptions{}),
                out);
  });
}

rowbloom_code rowbloom_writer_new_warm(const char* options,
                                       rowbloom_append_fn append, void* context,
                                       rowbloom_cache* cache,
                                       rowbloom_writer** out,
                                       rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (append == nullptr) return NullArgument("append");
    if (cache == nullptr) return NullArgument("cache");
    FilterWarmerOptions warm;
    absl::StatusOr<FilterOptions> parsed = ParseFilterOptions(options, &warm);
    if (!parsed.ok()) return parsed.status();
    return Give(std::make_unique<rowbloom_writer>(*parsed, append, context,
                                                  cache->cache, warm),
                out);
  });
}

void rowbloom_writer_add(rowbloom_writer* writer, const void* row,
                         size_t row_size, const void* qualifier,
                         size_t qualifier_size) {
  if (writer == nullptr || !writer->status.ok()) return;
  const auto add = [&] {
    return Add(writer, row, row_size, qualifier, qualifier_size);
  };
  writer->status =
      writer->cache == nullptr ? Guarded(add, NoMemory()) : Shared(add);
}

void rowbloom_writer_add_many(rowbloom_writer* writer,
                              const rowbloom_key* cells, size_t count) {
  if (writer == nullptr || !writer->status.ok()) return;
  const auto check = [&] { return CheckKeys(cells, count, "cells"); };
  writer->status = Guarded(check, NoMemory());
  if (!writer->status.ok()) return;
  for (size_t i = 0; i < count; ++i) {
    rowbloom_writer_add(writer, cells[i].row, cells[i].row_size,
                        cells[i].qualifier, cells[i].qualifier_size);
  }
}

rowbloom_code rowbloom_writer_finish(rowbloom_writer* writer,
                                     rowbloom_block_info* info,
                                     rowbloom_error* error) {
  if (info != nullptr) *info = {};
  if (writer == nullptr) return Tell(NullArgument("writer"), error);
  const auto finish = [&] { return Finish(writer, info); };
  return writer->cache == nullptr ? Call(error, finish)
                                  : CallShared(error, finish);
}

void rowbloom_writer_free(rowbloom_writer* writer) { delete writer; }

}  // extern "C"
