// SPDX-License-Identifier: Apache-2.0
//
// Random key codecs, and random segments that they can hold.
//
//   const KeyCodec codec = AnyCodec(&random);
//   const std::vector<std::string> segments = AnySegments(codec, 3, &random);
//   codec.Encode(Views(segments), &key);

#ifndef ROWBLOOM_TESTS_TESTING_KEY_CODECS_H_
#define ROWBLOOM_TESTS_TESTING_KEY_CODECS_H_

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/key_codec.h"
#include "testing/keys.h"

namespace rowbloom::testing {

// A key codec of 1 to 8 segments; some have names, some segments end no level.
inline KeyCodec AnyCodec(Random* random) {
  const uint64_t count = 1 + random->Below(KeyCodec::kMaxSegments);
  const uint64_t level = random->Below(count);  // At least this one is.
  std::string text;
  for (uint64_t i = 0; i < count; ++i) {
    if (i > 0) text += ",";
    if (i != level && random->Below(4) == 0) text += "-";
    if (count == 1 || random->Below(2) == 0) {
      text += "s" + std::to_string(i) + ".";
    }
    switch (random->Below(i + 1 == count ? 7 : 6)) {
      case 0:
      case 1:
        text += "ordered";
        break;
      case 2:
        text += "fixed:" + std::to_string(1 + random->Below(4));
        break;
      case 3: {
        static constexpr const char* kDelimiters[] = {"|", "0x00", "0x01",
                                                      "0xff"};
        text += std::string("delimiter:") + kDelimiters[random->Below(4)];
        break;
      }
      case 4:
        text += "length:1";
        break;
      case 5:
        text += "length:4";
        break;
      case 6:
        text += "rest";
        break;
    }
  }
  absl::StatusOr<KeyCodec> codec = KeyCodec::Parse(text);
  if (!codec.ok()) {
    std::fprintf(stderr, "%s: %s\n", text.c_str(),
                 codec.status().ToString().c_str());
    std::abort();
  }
  return *codec;
}

// Bytes that the segment can hold, made from `bytes`.
inline std::string FitSegment(const KeyCodec::Segment& segment,
                              std::string bytes) {
  const char delimiter = static_cast<char>(segment.parameter);
  if (segment.kind == KeyCodec::Kind::kFixed) {
    bytes.resize(segment.parameter, 'x');
  } else if (segment.kind == KeyCodec::Kind::kDelimiter) {
    std::replace(bytes.begin(), bytes.end(), delimiter,
                 static_cast<char>(delimiter + 7));
  }
  return bytes;
}

// All segments of a key, of up to `max_size` bytes where the key codec lets
// them.
inline std::vector<std::string> AnySegments(const KeyCodec& codec,
                                            size_t max_size, Random* random) {
  std::vector<std::string> segments;
  for (size_t i = 0; i < codec.segment_count(); ++i) {
    segments.push_back(FitSegment(codec.segment(i), random->Bytes(max_size)));
  }
  return segments;
}

// The first `count` of them.
inline std::vector<std::string_view> Views(
    const std::vector<std::string>& segments, size_t count) {
  return {segments.begin(), segments.begin() + static_cast<ptrdiff_t>(count)};
}
inline std::vector<std::string_view> Views(
    const std::vector<std::string>& segments) {
  return Views(segments, segments.size());
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_KEY_CODECS_H_
