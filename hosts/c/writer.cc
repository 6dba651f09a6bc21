// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "c/boundary.h"
#include "c/options.h"
#include "rowbloom/filter_block_writer.h"

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

absl::StatusOr<FilterOptions> ParseFilterOptions(const char* text) {
  FilterOptions options;
  std::string bloom_type, filter_spec, key_codec;
  Options given("writer", text);
  given.Take("bloom_type", &bloom_type);
  given.Take("prefix_length_bytes", &options.prefix_length_bytes);
  given.Take("filter_spec", &filter_spec);
  given.Take("chunk_size_bytes", &options.chunk_size_bytes);
  given.Take("rowcol_adds_rows", &options.rowcol_adds_rows);
  given.Take("secret", &options.secret);
  given.Take("key_codec", &key_codec);
  if (absl::Status status = given.Finish(); !status.ok()) return status;
  if (!bloom_type.empty()) {
    absl::StatusOr<BloomType> parsed = ParseBloomType(bloom_type);
    if (!parsed.ok()) return parsed.status();
    options.bloom_type = *parsed;
  }
  if (!filter_spec.empty()) {
    absl::StatusOr<FilterSpec> parsed = FilterSpec::Parse(filter_spec);
    if (!parsed.ok()) return parsed.status();
    options.filter_spec = *std::move(parsed);
  }
  if (!key_codec.empty()) {
    absl::StatusOr<KeyCodec> parsed = KeyCodec::Parse(key_codec);
    if (!parsed.ok()) return parsed.status();
    options.key_codec = *std::move(parsed);
  }
  if (absl::Status status = ValidateFilterOptions(options); !status.ok()) {
    return status;
  }
  return options;
}

}  // namespace

struct rowbloom_writer {
  rowbloom_writer(const FilterOptions& options, rowbloom_append_fn append,
                  void* context)
      : bloom_type(options.bloom_type),
        sink(append, context),
        writer(options, &sink) {}

  const BloomType bloom_type;
  CallbackSink sink;
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
    absl::StatusOr<FilterOptions> parsed = ParseFilterOptions(options);
    if (!parsed.ok()) return parsed.status();
    return Give(std::make_unique<rowbloom_writer>(*parsed, append, context),
                out);
  });
}

void rowbloom_writer_add(rowbloom_writer* writer, const void* row,
                         size_t row_size, const void* qualifier,
                         size_t qualifier_size) {
  if (writer == nullptr || !writer->status.ok()) return;
  writer->status = Guarded(
      [&] { return Add(writer, row, row_size, qualifier, qualifier_size); },
      NoMemory());
}

rowbloom_code rowbloom_writer_finish(rowbloom_writer* writer,
                                     rowbloom_block_info* info,
                                     rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (info != nullptr) *info = {};
    if (writer == nullptr) return NullArgument("writer");
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
  });
}

void rowbloom_writer_free(rowbloom_writer* writer) { delete writer; }

}  // extern "C"
