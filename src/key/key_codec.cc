// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/key_codec.h"

#include <algorithm>
#include <cstring>

#include "absl/base/attributes.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "util/absl_view.h"
#include "util/check.h"

namespace rowbloom {

namespace {

using util::AbslView;

// The bytes that may follow 00 in an "ordered" key. Their order is what makes
// the encoding order-preserving: a component that ends sorts before one that
// goes on, whatever byte it goes on with.
constexpr char kTerminator = '\x01';
constexpr char kUpperBound = '\x02';  // In bounds only, never in a key.
constexpr char kEscaped = '\xff';

void AppendComponent(std::string_view component, std::string* key) {
  for (const char c : component) {
    key->push_back(c);
    if (c == '\0') key->push_back(kEscaped);
  }
  key->push_back('\0');
  key->push_back(kTerminator);
}

// Bytes from `begin` up to and including the 00 that ends the component, or 0
// if it does not end.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline size_t ComponentSize(std::string_view key,
                                                         size_t begin) {
  size_t at = begin;
  while (at < key.size()) {
    const void* zero = std::memchr(key.data() + at, 0, key.size() - at);
    if (zero == nullptr) return 0;
    at = static_cast<size_t>(static_cast<const char*>(zero) - key.data()) + 1;
    if (at == key.size() || key[at] != kEscaped) return at - begin;
    ++at;
  }
  return 0;
}

// The smallest byte string greater than all that start with `prefix`; empty
// if there is none.
std::string PrefixSuccessor(std::string_view prefix) {
  std::string successor(prefix);
  while (!successor.empty()) {
    if (successor.back() != '\xff') {
      ++successor.back();
      return successor;
    }
    successor.pop_back();
  }
  return successor;
}

using Kind = KeyCodec::Kind;
using Segment = KeyCodec::Segment;

constexpr char kWholeKeyText[] = "whole_key";

// The size in front of a segment of "length", in `bytes` bytes.
uint64_t ReadLength(std::string_view key, size_t at, uint32_t bytes) {
  uint64_t length = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    length = length << 8 | static_cast<unsigned char>(key[at + i]);
  }
  return length;
}

// Bytes of the segment at `begin` that belong to a part ending there, or 0 if
// the key does not hold it whole. Each lookup of a filter calls it.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline size_t SegmentSize(Kind kind,
                                                       uint32_t parameter,
                                                       std::string_view key,
                                                       size_t begin) {
  const size_t left = key.size() - begin;
  switch (kind) {
    case Kind::kOrdered:
      return ComponentSize(key, begin);
    case Kind::kFixed:
      return left >= parameter ? parameter : 0;
    case Kind::kDelimiter: {
      if (left == 0) return 0;
      const char* const data = key.data() + begin;
      const void* end = std::memchr(data, static_cast<int>(parameter), left);
      if (end == nullptr) return 0;
      return static_cast<size_t>(static_cast<const char*>(end) - data) + 1;
    }
    case Kind::kLength: {
      const uint32_t head = parameter;
      if (left < head) return 0;
      const uint64_t size = ReadLength(key, begin, head);
      return size <= left - head ? head + size : 0;
    }
    case Kind::kRest:
      return left;
  }
  return 0;
}

std::string KindText(const Segment& segment) {
  switch (segment.kind) {
    case Kind::kOrdered:
      break;
    case Kind::kFixed:
      return absl::StrCat("fixed:", segment.parameter);
    case Kind::kDelimiter:
      return absl::StrFormat("delimiter:0x%02x", segment.parameter);
    case Kind::kLength:
      return absl::StrCat("length:", segment.parameter);
    case Kind::kRest:
      return "rest";
  }
  return "ordered";
}

bool IsParameterOf(Kind kind, uint32_t parameter) {
  switch (kind) {
    case Kind::kOrdered:
    case Kind::kRest:
      return parameter == 0;
    case Kind::kFixed:
      return parameter >= 1 && parameter <= KeyCodec::kMaxRowSize;
    case Kind::kDelimiter:
      return parameter <= 0xff;
    case Kind::kLength:
      return parameter == 1 || parameter == 4;
  }
  return false;
}

bool HasShortFormOfKind(Kind kind) {
  switch (kind) {
    case Kind::kOrdered:
    case Kind::kFixed:
    case Kind::kDelimiter:
    case Kind::kRest:
      return true;
    case Kind::kLength:
      break;
  }
  return false;
}

// False if `text` is not a kind with its parameter.
bool ParseKind(std::string_view text, Segment* segment) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument =
      has_argument ? text.substr(colon + 1) : std::string_view();
  segment->parameter = 0;
  if (kind == "ordered" || kind == "rest") {
    segment->kind = kind == "rest" ? Kind::kRest : Kind::kOrdered;
    return !has_argument;
  }
  if (kind == "fixed" || kind == "length") {
    segment->kind = kind == "fixed" ? Kind::kFixed : Kind::kLength;
    return absl::SimpleAtoi(AbslView(argument), &segment->parameter) &&
           IsParameterOf(segment->kind, segment->parameter);
  }
  segment->kind = Kind::kDelimiter;
  if (kind != "delimiter") return false;
  if (argument.size() == 1) {
    segment->parameter = static_cast<unsigned char>(argument[0]);
    return true;
  }
  return argument.size() == 4 && argument.substr(0, 2) == "0x" &&
         absl::SimpleHexAtoi(AbslView(argument), &segment->parameter);
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= KeyCodec::kMaxNameSize &&
         absl::ascii_isalpha(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '_';
         });
}

absl::Status BadSchema(std::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "key codec \"", absl::CHexEscape(AbslView(text)), "\": ", why));
}

absl::Status BadKind(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown kind of key segment \"", absl::CHexEscape(AbslView(text)),
      "\"; known: ordered, fixed:N (1 to ", KeyCodec::kMaxRowSize,
      "), delimiter:C (one byte, or 0xHH), length:1, length:4, rest; or, as "
      "the only word, whole_key"));
}

absl::Status NotWhole(const KeyCodec& codec, size_t index, std::string_view key,
                      size_t begin) {
  return absl::InvalidArgumentError(absl::StrCat(
      "key of ", key.size(), " bytes: segment ", codec.SegmentName(index), " (",
      KindText(codec.segment(index)), ") at ", begin, " is not whole"));
}

// Appends a segment and its end.
absl::Status AppendSegment(const KeyCodec& codec, size_t index,
                           std::string_view value, std::string* key) {
  const Segment& segment = codec.segment(index);
  const auto bad = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat(
        "segment ", codec.SegmentName(index), " (", KindText(segment),
        ") cannot hold ", value.size(), " bytes: ", why));
  };
  switch (segment.kind) {
    case Kind::kOrdered:
      AppendComponent(value, key);
      return absl::OkStatus();
    case Kind::kFixed:
      if (value.size() != segment.parameter) return bad("wrong size");
      break;
    case Kind::kDelimiter:
      if (const size_t at = value.find(static_cast<char>(segment.parameter));
          at != std::string_view::npos) {
        return bad(absl::StrCat("the delimiter is at ", at));
      }
      key->append(value);
      key->push_back(static_cast<char>(segment.parameter));
      return absl::OkStatus();
    case Kind::kLength:
      if (value.size() >> 8 * segment.parameter != 0) return bad("too long");
      for (uint32_t i = segment.parameter; i-- > 0;) {
        key->push_back(static_cast<char>(value.size() >> 8 * i & 0xff));
      }
      break;
    case Kind::kRest:
      break;
  }
  key->append(value);
  return absl::OkStatus();
}

}  // namespace

KeyCodec KeyCodec::OfFirstSegment(Kind kind, uint32_t parameter) {
  KeyCodec codec;
  codec.Push({kind, true, parameter}, "");
  if (kind == Kind::kRest) return codec;
  codec.Push({kind == Kind::kOrdered ? Kind::kOrdered : Kind::kRest, true, 0},
             "");
  return codec;
}

KeyCodec KeyCodec::WholeKey() { return OfFirstSegment(Kind::kRest, 0); }

KeyCodec KeyCodec::Ordered() { return OfFirstSegment(Kind::kOrdered, 0); }

KeyCodec KeyCodec::FixedRow(uint32_t row_size_bytes) {
  RB_CHECK(row_size_bytes >= 1 && row_size_bytes <= kMaxRowSize);
  return OfFirstSegment(Kind::kFixed, row_size_bytes);
}

KeyCodec KeyCodec::Delimiter(char delimiter) {
  return OfFirstSegment(Kind::kDelimiter,
                        static_cast<unsigned char>(delimiter));
}

absl::StatusOr<KeyCodec> KeyCodec::FromFirstSegment(uint8_t kind,
                                                    uint32_t parameter) {
  const auto first = static_cast<Kind>(kind);
  if (!HasShortFormOfKind(first) || !IsParameterOf(first, parameter)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no key codec has kind ", kind, " with parameter ", parameter));
  }
  return OfFirstSegment(first, parameter);
}

bool KeyCodec::IsOfFirstSegment() const {
  return HasShortFormOfKind(kind()) &&
         *this == OfFirstSegment(kind(), parameter());
}

bool KeyCodec::HasShortForm() const {
  return IsOfFirstSegment() && names_.empty();
}

void KeyCodec::Push(const Segment& segment, std::string_view name) {
  if (names_.empty() && !name.empty()) names_.assign(segment_count_, ',');
  if (!names_.empty() || !name.empty()) {
    names_.append(name);
    names_.push_back(',');
  }
  if (segment.kind == Kind::kRest && segment.ends_level && segment_count_ > 0) {
    const Segment& last = segments_[segment_count_ - 1];
    // A part that ends with "ordered" lacks a byte in front of the rest.
    if (last.ends_level && last.kind != Kind::kOrdered) {
      level_before_rest_ = level_count_;
    }
  }
  segments_[segment_count_++] = segment;
  if (segment.ends_level) level_segments_[level_count_++] = segment_count_;
  if (level_count_ < segment_count_) {
    shape_ = Shape::kAny;
  } else if (segment_count_ == 1) {
    shape_ = segment.kind == Kind::kOrdered     ? Shape::kAllOrdered
             : segment.kind == Kind::kFixed     ? Shape::kFixedRowAndRest
             : segment.kind == Kind::kDelimiter ? Shape::kDelimitedRowAndRest
             : segment.kind == Kind::kRest      ? Shape::kWholeKey
                                                : Shape::kAny;
  } else if (shape_ == Shape::kAllOrdered ? segment.kind != Kind::kOrdered
                                          : segment.kind != Kind::kRest) {
    shape_ = Shape::kAny;
  }
}

std::string_view KeyCodec::Name(size_t index) const {
  std::string_view names = names_;
  for (; index > 0 && !names.empty(); --index) {
    names.remove_prefix(names.find(',') + 1);
  }
  return names.substr(0, names.find(','));
}

std::string KeyCodec::SegmentName(size_t index) const {
  const std::string_view name = Name(index);
  if (!name.empty()) return std::string(name);
  if (HasShortForm()) {
    return segment_count_ == 1 ? "key" : index == 0 ? "row" : "column";
  }
  return absl::StrCat(index + 1);
}

absl::Status KeyCodec::AddSegment(std::string_view text) {
  if (segment_count_ == kMaxSegments) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxSegments, " segments"));
  }
  Segment segment;
  std::string_view kind = text;
  segment.ends_level = kind.empty() || kind.front() != '-';
  if (!segment.ends_level) kind.remove_prefix(1);
  std::string_view name;
  const size_t dot = kind.find('.');
  if (dot < kind.find(':')) {
    name = kind.substr(0, dot);
    kind.remove_prefix(dot + 1);
    if (name == absl::StrCat(segment_count_ + 1)) {
      name = {};  // It is the default.
    } else if (!IsName(name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a name has a letter and then up to ", kMaxNameSize - 1,
                       " letters, digits and '_', unlike \"",
                       absl::CHexEscape(AbslView(name)), "\""));
    }
    for (size_t i = 0; !name.empty() && i < segment_count_; ++i) {
      if (Name(i) == name) {
        return absl::InvalidArgumentError(
            absl::StrCat("two segments are named ", AbslView(name)));
      }
    }
  }
  if (!ParseKind(kind, &segment)) return BadKind(kind);
  if (segment_count_ > 0 && segments_[segment_count_ - 1].kind == Kind::kRest) {
    return absl::InvalidArgumentError("\"rest\" is not the last segment");
  }
  Push(segment, name);
  return absl::OkStatus();
}

absl::StatusOr<KeyCodec> KeyCodec::Parse(std::string_view text) {
  if (text == kWholeKeyText) return WholeKey();
  Segment row;
  if (ParseKind(text, &row) && row.kind <= Kind::kDelimiter) {
    return OfFirstSegment(row.kind, row.parameter);
  }
  KeyCodec codec;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const absl::Status status =
        codec.AddSegment(text.substr(begin, end - begin));
    if (!status.ok()) return BadSchema(text, status.message());
    begin = end + 1;
  }
  if (codec.segment_count_ == 1 && text.find('.') >= text.find(':')) {
    return BadSchema(text, "the only segment needs a name");
  }
  if (codec.level_count_ == 0) {
    return BadSchema(text, "no segment ends a level");
  }
  if (const size_t size = codec.ToString().size(); size > kMaxTextSize) {
    return BadSchema(text, absl::StrCat("it takes ", size, " bytes, more than ",
                                        kMaxTextSize, "; shorten the names"));
  }
  return codec;
}

std::string KeyCodec::ToText(bool with_names) const {
  const bool named = with_names && !names_.empty();
  if (!named && IsOfFirstSegment()) {
    return segment_count_ == 1 ? kWholeKeyText : KindText(segments_[0]);
  }
  std::string text;
  for (size_t i = 0; i < segment_count_; ++i) {
    if (i > 0) text.push_back(',');
    if (!segments_[i].ends_level) text.push_back('-');
    std::string name(named ? Name(i) : std::string_view());
    if (name.empty() && segment_count_ == 1) name = "1";
    if (!name.empty()) absl::StrAppend(&text, name, ".");
    absl::StrAppend(&text, KindText(segments_[i]));
  }
  return text;
}

bool KeyCodec::operator==(const KeyCodec& other) const {
  if (segment_count_ != other.segment_count_) return false;
  for (size_t i = 0; i < segment_count_; ++i) {
    const Segment& x = segments_[i];
    const Segment& y = other.segments_[i];
    if (x.kind != y.kind || x.parameter != y.parameter ||
        x.ends_level != y.ends_level) {
      return false;
    }
  }
  return true;
}

absl::Status KeyCodec::Encode(absl::Span<const std::string_view> segments,
                              std::string* key) const {
  if (segments.size() > segment_count_) {
    return absl::InvalidArgumentError(
        absl::StrCat(segments.size(), " segments for codec ", ToString(),
                     ", which has ", segment_count_));
  }
  const size_t old_size = key->size();
  for (size_t i = 0; i < segments.size(); ++i) {
    absl::Status status = AppendSegment(*this, i, segments[i], key);
    if (!status.ok()) {
      key->resize(old_size);
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::Encode(std::string_view row, std::string_view qualifier,
                              std::string* key) const {
  return Encode({row, qualifier}, key);
}

absl::Status KeyCodec::EncodePart(absl::Span<const std::string_view> segments,
                                  std::string* part) const {
  if (segments.empty()) return absl::InvalidArgumentError("no segments");
  absl::Status status = Encode(segments, part);
  if (status.ok() && segments_[segments.size() - 1].kind == Kind::kOrdered) {
    part->pop_back();
  }
  return status;
}

absl::Status KeyCodec::UpperBound(absl::Span<const std::string_view> segments,
                                  std::string* bound) const {
  if (segments.empty()) return absl::InvalidArgumentError("no segments");
  std::string lower;
  if (absl::Status s = Encode(segments, &lower); !s.ok()) return s;
  switch (segments_[segments.size() - 1].kind) {
    case Kind::kOrdered:
      lower.back() = kUpperBound;
      bound->append(lower);
      break;
    case Kind::kRest:  // The segments are one whole key.
      bound->append(lower);
      bound->push_back('\0');
      break;
    default:
      bound->append(PrefixSuccessor(lower));
      break;
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::Decode(std::string_view key,
                              std::vector<std::string>* segments,
                              std::string* suffix) const {
  segments->clear();
  if (suffix != nullptr) suffix->clear();
  size_t at = 0;
  for (size_t i = 0; i < segment_count_; ++i) {
    const Segment& segment = segments_[i];
    const size_t size = SegmentSize(segment.kind, segment.parameter, key, at);
    if (size == 0 && segment.kind != Kind::kRest) {
      return NotWhole(*this, i, key, at);
    }
    std::string_view value = key.substr(at, size);
    at += size;
    segments->emplace_back();
    std::string& decoded = segments->back();
    switch (segment.kind) {
      case Kind::kOrdered:
        if (at == key.size() || key[at] != kTerminator) {
          return NotWhole(*this, i, key, at - size);
        }
        ++at;
        value.remove_suffix(1);
        for (size_t j = 0; j < value.size(); ++j) {
          decoded.push_back(value[j]);
          if (value[j] == '\0') ++j;  // ComponentSize() saw the FF after it.
        }
        break;
      case Kind::kDelimiter:
        decoded = value.substr(0, size - 1);
        break;
      case Kind::kLength:
        decoded = value.substr(segment.parameter);
        break;
      case Kind::kFixed:
      case Kind::kRest:
        decoded = value;
        break;
    }
  }
  if (suffix != nullptr) *suffix = key.substr(at);
  return absl::OkStatus();
}

absl::Status KeyCodec::Decode(std::string_view key, std::string* row,
                              std::string* qualifier,
                              std::string* suffix) const {
  RB_CHECK(segment_count_ == 2);
  std::vector<std::string> segments;
  if (absl::Status s = Decode(key, &segments, suffix); !s.ok()) return s;
  *row = std::move(segments[0]);
  *qualifier = std::move(segments[1]);
  return absl::OkStatus();
}

template <KeyCodec::Shape kShape>
ABSL_ATTRIBUTE_NOINLINE void KeyCodec::ExtendParts(std::string_view key,
                                                   size_t levels,
                                                   Parts* parts) const {
  const Segment* segment = segments_.data();
  // A constant, except in kAny.
  const auto kind_of = [this](const Segment* s) {
    if (kShape == Shape::kAny) return s->kind;
    if (kShape == Shape::kAllOrdered) return Kind::kOrdered;
    if (s != segments_.data()) return Kind::kRest;
    return kShape == Shape::kFixedRowAndRest ? Kind::kFixed : Kind::kDelimiter;
  };
  size_t at = 0;
  size_t count = parts->count;
  bool has_segment = parts->has_segment;
  bool ends_with_00 = false;
  if (count > 0) {
    segment += level_segments_[count - 1];
    at = parts->sizes[count - 1];
    ends_with_00 = kind_of(segment - 1) == Kind::kOrdered;
  }
  for (; count < levels; ++segment) {
    if (ends_with_00) {
      // After the part's 00 follows 01, or 02 in an upper bound, which holds
      // no more segments.
      if (at == key.size() || key[at] != kTerminator) break;
      ++at;
    }
    const Kind kind = kind_of(segment);
    const size_t size = SegmentSize(kind, segment->parameter, key, at);
    if (size == 0) break;
    at += size;
    has_segment = true;
    ends_with_00 = kind == Kind::kOrdered;
    if (kShape != Shape::kAny || segment->ends_level) {
      parts->sizes[count++] = at;
    }
  }
  parts->count = count;
  parts->has_segment = kShape == Shape::kAny ? has_segment : count > 0;
}

void KeyCodec::FindParts(std::string_view key, size_t max_levels,
                         Parts* parts) const {
  const size_t levels = std::min<size_t>(max_levels, level_count_);
  switch (shape_) {
    case Shape::kAllOrdered:
      return ExtendParts<Shape::kAllOrdered>(key, levels, parts);
    case Shape::kFixedRowAndRest:
      return ExtendParts<Shape::kFixedRowAndRest>(key, levels, parts);
    case Shape::kDelimitedRowAndRest:
      return ExtendParts<Shape::kDelimitedRowAndRest>(key, levels, parts);
    case Shape::kWholeKey:
      // "rest" is not empty.
      parts->count = key.empty() ? 0 : levels;
      parts->sizes[0] = key.size();
      parts->has_segment = parts->count > 0;
      return;
    case Shape::kAny:
      return ExtendParts<Shape::kAny>(key, levels, parts);
  }
}

size_t KeyCodec::SegmentsSize(std::string_view key, size_t level,
                              size_t part_size) const {
  if (segments_[SegmentsOfLevel(level) - 1].kind != Kind::kOrdered) {
    return part_size;
  }
  return part_size < key.size() && key[part_size] == kTerminator ? part_size + 1
                                                                 : 0;
}

size_t KeyCodec::ColumnPartSize(std::string_view key,
                                size_t* row_part_size) const {
  Parts parts;
  FindParts(key, 2, &parts);
  *row_part_size = parts.count > 0 ? parts.sizes[0] : 0;
  return parts.count == 2 ? parts.sizes[1] : 0;
}

}  // namespace rowbloom
