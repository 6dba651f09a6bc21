// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "c/boundary.h"
#include "rowbloom/key_codec.h"

using namespace rowbloom;
using namespace rowbloom::c;

struct rowbloom_codec {
  KeyCodec codec;
};

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
  return Call(error, [&]() -> absl::Status {
    Clear(key);
    if (key == nullptr) return NullArgument("key");
    if (codec == nullptr) return NullArgument("codec");
    absl::Status status = CheckKey(row, row_size, qualifier, qualifier_size);
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
  return Call(error, [&]() -> absl::Status {
    Clear(row);
    Clear(qualifier);
    if (row == nullptr) return NullArgument("row");
    if (qualifier == nullptr) return NullArgument("qualifier");
    if (codec == nullptr) return NullArgument("codec");
    absl::Status status = CheckBytes(key, key_size, "key");
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
  return Call(error, [&]() -> absl::Status {
    Clear(lower);
    Clear(upper);
    if (lower == nullptr) return NullArgument("lower");
    if (upper == nullptr) return NullArgument("upper");
    if (codec == nullptr) return NullArgument("codec");
    absl::Status status = CheckBytes(row, row_size, "row");
    std::string from, to;
    if (status.ok()) {
      status = codec->codec.RowLowerBound(View(row, row_size), &from);
    }
    if (status.ok()) {
      status = codec->codec.RowUpperBound(View(row, row_size), &to);
    }
    if (status.ok()) status = Fill(to, upper);
    return status.ok() ? Fill(from, lower) : status;
  });
}

void rowbloom_codec_part_sizes(const rowbloom_codec* codec, const void* key,
                               size_t key_size, size_t* row_part,
                               size_t* column_part) {
  size_t row_size = 0, column_size = 0;
  const auto measure = [&] {
    if (codec == nullptr || !CheckBytes(key, key_size, "key").ok()) return;
    column_size = codec->codec.ColumnPartSize(View(key, key_size), &row_size);
  };
  Guarded([&] { return measure(), true; }, false);
  if (row_part != nullptr) *row_part = row_size;
  if (column_part != nullptr) *column_part = column_size;
}

void rowbloom_codec_free(rowbloom_codec* codec) { delete codec; }

}  // extern "C"
