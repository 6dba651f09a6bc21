// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
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

// The caller's segments, checked.
class Segments {
 public:
  Segments(const rowbloom_bytes* segments, size_t count) {
    if (segments == nullptr && count > 0) {
      status_ = NullArgument("segments");
    } else if (count > KeyCodec::kMaxSegments) {
      status_ = absl::InvalidArgumentError(absl::StrCat(
          count, " segments; a codec has at most ", KeyCodec::kMaxSegments));
    } else {
      for (; status_.ok() && count_ < count; ++count_) {
        const auto& [data, size] = segments[count_];
        status_ = CheckBytes(data, size, "segment");
        views_[count_] = View(data, size);
      }
    }
  }
  const absl::Status& status() const { return status_; }
  absl::Span<const std::string_view> views() const {
    return {views_.data(), count_};
  }

 private:
  std::array<std::string_view, KeyCodec::kMaxSegments> views_;
  size_t count_ = 0;
  absl::Status status_;
};

using EncodeFunction = absl::Status (KeyCodec::*)(
    absl::Span<const std::string_view>, std::string*) const;

rowbloom_code EncodeBy(EncodeFunction encode, const rowbloom_codec* codec,
                       const rowbloom_bytes* segments, size_t count,
                       rowbloom_buffer* to, std::string_view to_name,
                       rowbloom_error* error) {
  return CallFilling({to}, error, [&]() -> absl::Status {
    if (to == nullptr) return NullArgument(to_name);
    if (codec == nullptr) return NullArgument("codec");
    const Segments parts(segments, count);
    if (!parts.status().ok()) return parts.status();
    std::string encoded;
    absl::Status status = (codec->codec.*encode)(parts.views(), &encoded);
    return status.ok() ? Fill(encoded, to) : status;
  });
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
  const rowbloom_bytes segment = {row, row_size};
  return rowbloom_codec_bounds_of_segments(codec, &segment, 1, lower, upper,
                                           error);
}

void rowbloom_codec_prefix_sizes(const rowbloom_codec* codec, const void* key,
                                 size_t key_size, size_t* row_prefix,
                                 size_t* column_prefix) {
  size_t row_size = 0, column_size = 0;
  if (codec != nullptr && IsBytes(key, key_size)) {
    column_size = codec->codec.SecondPrefixSize(View(key, key_size), &row_size);
  }
  if (row_prefix != nullptr) *row_prefix = row_size;
  if (column_prefix != nullptr) *column_prefix = column_size;
}

size_t rowbloom_codec_segment_count(const rowbloom_codec* codec) {
  return codec == nullptr ? 0 : codec->codec.segment_count();
}

rowbloom_code rowbloom_codec_encode_segments(const rowbloom_codec* codec,
                                             const rowbloom_bytes* segments,
                                             size_t count, rowbloom_buffer* key,
                                             rowbloom_error* error) {
  return EncodeBy(&KeyCodec::Encode, codec, segments, count, key, "key", error);
}

rowbloom_code rowbloom_codec_encode_prefix(const rowbloom_codec* codec,
                                           const rowbloom_bytes* segments,
                                           size_t count,
                                           rowbloom_buffer* prefix,
                                           rowbloom_error* error) {
  return EncodeBy(&KeyCodec::EncodePrefix, codec, segments, count, prefix,
                  "prefix", error);
}

rowbloom_code rowbloom_codec_decode_segments(const rowbloom_codec* codec,
                                             const void* key, size_t key_size,
                                             rowbloom_buffer* segments,
                                             size_t count,
                                             rowbloom_error* error) {
  const rowbloom_code code = Call(error, [&]() -> absl::Status {
    if (segments == nullptr) return NullArgument("segments");
    if (codec == nullptr) return NullArgument("codec");
    absl::Status status = CheckBytes(key, key_size, "key");
    if (!status.ok()) return status;
    if (count != codec->codec.segment_count()) {
      return absl::InvalidArgumentError(
          absl::StrCat(count, " buffers for the ", codec->codec.segment_count(),
                       " segments of codec ", codec->codec.ToString()));
    }
    std::vector<std::string> decoded;
    status = codec->codec.Decode(View(key, key_size), &decoded);
    for (size_t i = 0; status.ok() && i < count; ++i) {
      status = Fill(decoded[i], &segments[i]);
    }
    return status;
  });
  if (code != ROWBLOOM_OK && segments != nullptr &&
      count <= KeyCodec::kMaxSegments) {
    for (size_t i = 0; i < count; ++i) Clear(&segments[i]);
  }
  return code;
}

rowbloom_code rowbloom_codec_bounds_of_segments(
    const rowbloom_codec* codec, const rowbloom_bytes* segments, size_t count,
    rowbloom_buffer* lower, rowbloom_buffer* upper, rowbloom_error* error) {
  return CallFilling({lower, upper}, error, [&]() -> absl::Status {
    absl::Status status = CheckAreTwo(lower, "lower", upper, "upper");
    if (!status.ok()) return status;
    if (codec == nullptr) return NullArgument("codec");
    const Segments parts(segments, count);
    if (!parts.status().ok()) return parts.status();
    std::string from, to;
    status = codec->codec.UpperBound(parts.views(), &to);
    if (status.ok()) status = codec->codec.LowerBound(parts.views(), &from);
    if (status.ok()) status = Fill(to, upper);
    return status.ok() ? Fill(from, lower) : status;
  });
}

size_t rowbloom_codec_key_levels(const rowbloom_codec* codec, const void* key,
                                 size_t key_size, size_t* prefix_sizes,
                                 size_t count) {
  if (prefix_sizes == nullptr) count = 0;
  std::fill_n(prefix_sizes, count, size_t{0});
  if (codec == nullptr || !IsBytes(key, key_size)) return 0;
  const KeyCodec::Prefixes found = codec->codec.PrefixesOf(View(key, key_size));
  std::copy_n(found.sizes.begin(), std::min(found.count, count), prefix_sizes);
  return found.count;
}

void rowbloom_codec_free(rowbloom_codec* codec) { delete codec; }

}  // extern "C"
