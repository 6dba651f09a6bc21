// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "c/boundary.h"
#include "rowbloom/key_codec.h"
#include "util/absl_view.h"

using namespace rowbloom;
using namespace rowbloom::c;
using rowbloom::util::AbslView;

struct rowbloom_codec {
  KeyCodec codec;
};

namespace {

// These functions have arguments for two segments.
absl::Status CheckHasRowAndColumn(const KeyCodec& codec) {
  if (codec.segment_count() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a row and a qualifier are two segments, and codec ",
                   codec.ToString(), " has ", codec.segment_count()));
}

absl::Status CheckAreTwo(const rowbloom_buffer* first,
                         std::string_view first_name,
                         const rowbloom_buffer* second,
                         std::string_view second_name) {
  if (first == nullptr) return NullArgument(first_name);
  if (second == nullptr) return NullArgument(second_name);
  if (first != second) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(AbslView(first_name), " and ",
                                                 AbslView(second_name),
                                                 " are the same buffer"));
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_codec_new(const char* text, rowbloom_codec** out,
                                 rowbloom_error* error) {
  return Call(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    if (text == nullptr) return NullArgument("text");
    absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(text);
    if (!codec.ok()) return codec.status();
    return Give(std::make_unique<rowbloom_codec>(rowbloom_codec{*codec}), out);
  });
}

rowbloom_code rowbloom_codec_encode(const rowbloom_codec* codec,
                                    const void* row, size_t row_size,
                                    const void* qualifier,
                                    size_t qualifier_size, rowbloom_buffer* key,
                                    rowbloom_error* error) {
  return CallFilling({key}, error, [&]() -> absl::Status {
    if (key == nullptr) return NullArgument("key");
    if (codec == nullptr) return NullArgument("codec");
    absl::Status status = CheckKey(row, row_size, qualifier, qualifier_size);
    if (status.ok()) status = CheckHasRowAndColumn(codec->codec);
    std::string encoded;
    if (status.ok()) {
      status = codec->codec.Encode(View(row, row_size),
                                   View(qualifier, qualifier_size), &encoded);
    }
    return status.ok() ? Fill(encoded, key) : status;
  });
}

rowbloom_code rowbloom_codec_decode(const rowbloom_codec* codec,
                                    const void* key, size_t key_size,
                                    rowbloom_buffer* row,
                                    rowbloom_buffer* qualifier,
                                    rowbloom_error* error) {
  return CallFilling({row, qualifier}, error, [&]() -> absl::Status {
    absl::Status status = CheckAreTwo(row, "row", qualifier, "qualifier");
    if (!status.ok()) return status;
    if (codec == nullptr) return NullArgument("codec");
    status = CheckBytes(key, key_size, "key");
    if (status.ok()) status = CheckHasRowAndColumn(codec->codec);
    std::string row_bytes, qualifier_bytes;
    if (status.ok()) {
      status = codec->codec.Decode(View(key, key_size), &row_bytes,
                                   &qualifier_bytes);
    }
    if (status.ok()) status = Fill(qualifier_bytes, qualifier);
    return status.ok() ? Fill(row_bytes, row) : status;
  });
}

rowbloom_code rowbloom_codec_bounds(const rowbloom_codec* codec,
                                    const void* row, size_t row_size,
                                    rowbloom_buffer* lower,
                                    rowbloom_buffer* upper,
                                    rowbloom_error* error) {
  return CallFilling({lower, upper}, error, [&]() -> absl::Status {
    absl::Status status = CheckAreTwo(lower, "lower", upper, "upper");
    if (!status.ok()) return status;
    if (codec == nullptr) return NullArgument("codec");
    status = CheckBytes(row, row_size, "row");
    std::string from, to;
    if (status.ok()) {
      status = codec->codec.LowerBound({View(row, row_size)}, &from);
    }
    if (status.ok()) {
      status = codec->codec.UpperBound({View(row, row_size)}, &to);
    }
    if (status.ok()) status = Fill(to, upper);
    return status.ok() ? Fill(from, lower) : status;
  });
}

void rowbloom_codec_prefix_sizes(const rowbloom_codec* codec, const void* key,
                                 size_t key_size, size_t* row_prefix,
                                 size_t* column_prefix) {
  size_t row_size = 0, column_size = 0;
  const auto measure = [&] {
    if (codec == nullptr || !CheckBytes(key, key_size, "key").ok()) return;
    column_size = codec->codec.SecondPrefixSize(View(key, key_size), &row_size);
  };
  Guarded([&] { return measure(), true; }, false);
  if (row_prefix != nullptr) *row_prefix = row_size;
  if (column_prefix != nullptr) *column_prefix = column_size;
}

void rowbloom_codec_free(rowbloom_codec* codec) { delete codec; }

}  // extern "C"
