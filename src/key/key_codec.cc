// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/key_codec.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "key/segment_kinds.h"
#include "util/absl_view.h"
#include "util/check.h"

namespace rowbloom {

namespace {

using key::WithKind;
using util::AbslView;
using Kind = KeyCodec::Kind;
using Segment = KeyCodec::Segment;

constexpr char kWholeKeyText[] = "whole_key";

std::string KindText(const Segment& segment) {
  return WithKind(segment.kind, [&segment](auto kind) {
    return kind.kHasParameter
               ? absl::StrCat(kind.kName, ":",
                              kind.PrintParameter(segment.parameter))
               : std::string(kind.kName);
  });
}

template <typename S>
constexpr bool kHasShortForm = !std::is_void_v<typename S::Column>;

bool HasShortFormOfKind(Kind kind) {
  return WithKind(kind, [](auto k) { return kHasShortForm<decltype(k)>; });
}

Segment SegmentOf(Kind kind, uint32_t parameter, bool ends_key_level = true) {
  Segment segment;
  segment.kind = kind;
  segment.ends_key_level = ends_key_level;
  segment.parameter = parameter;
  WithKind(kind, [&segment](auto k) {
    segment.leaves_out_byte = k.kLeavesOutByte;
    segment.takes_rest = k.kTakesRest;
  });
  return segment;
}

// Nothing if `text` is not a kind with its parameter.
std::optional<Segment> ParseKind(std::string_view text, bool ends_key_level) {
  const size_t colon = text.find(':');
  const bool has_parameter = colon != std::string_view::npos;
  std::optional<Segment> segment;
  key::AnyKind([&](auto kind) {
    if (text.substr(0, colon) != kind.kName) return false;
    uint32_t parameter = 0;
    if (has_parameter == kind.kHasParameter &&
        (!has_parameter ||
         kind.ParseParameter(text.substr(colon + 1), &parameter)) &&
        kind.IsParameter(parameter)) {
      segment = SegmentOf(kind.kKind, parameter, ends_key_level);
    }
    return true;
  });
  return segment;
}

bool AreEncodedAlike(const Segment& x, const Segment& y) {
  return x.kind == y.kind && x.parameter == y.parameter;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= KeyCodec::kMaxNameSize &&
         absl::ascii_isalpha(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '_';
         });
}

absl::Status BadCodec(std::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "key codec \"", absl::CHexEscape(AbslView(text)), "\": ", why));
}

absl::Status BadKind(std::string_view text) {
  std::string known;
  key::AnyKind([&known](auto kind) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", kind.kUsage);
    return false;
  });
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown kind of key segment \"", absl::CHexEscape(AbslView(text)),
      "\"; known: ", known, "; or, as the only word, whole_key"));
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
  const std::string why = WithKind(segment.kind, [&](auto kind) {
    return kind.Append(segment.parameter, value, key);
  });
  if (why.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "segment ", codec.SegmentName(index), " (", KindText(segment),
      ") cannot hold ", value.size(), " bytes: ", why));
}

}  // namespace

KeyCodec KeyCodec::OfShortForm(Kind kind, uint32_t parameter) {
  KeyCodec codec;
  codec.Push(SegmentOf(kind, parameter), "");
  WithKind(kind, [&codec](auto row) {
    if constexpr (kHasShortForm<decltype(row)> && !row.kTakesRest) {
      codec.Push(SegmentOf(decltype(row)::Column::kKind, 0), "");
    }
  });
  return codec;
}

KeyCodec KeyCodec::WholeKey() { return OfShortForm(Kind::kRest, 0); }

KeyCodec KeyCodec::Ordered() { return OfShortForm(Kind::kOrdered, 0); }

KeyCodec KeyCodec::FixedRow(uint32_t row_size_bytes) {
  RB_CHECK(row_size_bytes >= 1 && row_size_bytes <= kMaxRowSize,
           "KeyCodec::FixedRow(): a row has 1 to 1048576 bytes");
  return OfShortForm(Kind::kFixed, row_size_bytes);
}

KeyCodec KeyCodec::Delimiter(char delimiter) {
  return OfShortForm(Kind::kDelimiter, static_cast<unsigned char>(delimiter));
}

absl::StatusOr<KeyCodec> KeyCodec::FromShortForm(uint8_t kind,
                                                 uint32_t parameter) {
  const bool is_short_form = key::AnyKind([&](auto k) {
    return static_cast<uint8_t>(k.kKind) == kind &&
           kHasShortForm<decltype(k)> && k.IsParameter(parameter);
  });
  if (!is_short_form) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no key codec has kind ", kind, " with parameter ", parameter));
  }
  return OfShortForm(static_cast<Kind>(kind), parameter);
}

bool KeyCodec::IsOfShortForm() const {
  return HasShortFormOfKind(segments_[0].kind) &&
         *this == OfShortForm(segments_[0].kind, segments_[0].parameter);
}

bool KeyCodec::HasShortForm() const {
  return IsOfShortForm() && names_.empty();
}

void KeyCodec::Push(const Segment& segment, std::string_view name) {
  if (names_.empty() && !name.empty()) names_.assign(segment_count_, ',');
  if (!names_.empty() || !name.empty()) {
    names_.append(name);
    names_.push_back(',');
  }
  if (segment.takes_rest && segment.ends_key_level && segment_count_ > 0) {
    const Segment& last = segments_[segment_count_ - 1];
    // A prefix that leaves out a byte has it in front of the rest.
    if (last.ends_key_level && !last.leaves_out_byte) {
      key_level_before_rest_ = key_level_count_;
    }
  }
  segments_[segment_count_++] = segment;
  if (segment.ends_key_level) {
    key_level_segments_[key_level_count_++] = segment_count_;
  }

  extend_ = &ExtendPrefixes<void, void>;
  if (key_level_count_ < segment_count_) return;
  WithKind(segments_[0].kind, [this](auto row) {
    using Row = decltype(row);
    if constexpr (kHasShortForm<Row>) {
      const auto is_column = [](const Segment& s) {
        return s.kind == Row::Column::kKind;
      };
      if (std::all_of(segments_.begin() + 1, segments_.begin() + segment_count_,
                      is_column)) {
        extend_ = &ExtendPrefixes<Row, typename Row::Column>;
      }
    }
  });
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
  std::string_view kind = text;
  const bool ends_key_level = kind.empty() || kind.front() != '-';
  if (!ends_key_level) kind.remove_prefix(1);
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
  const auto segment = ParseKind(kind, ends_key_level);
  if (!segment.has_value()) return BadKind(kind);
  if (segment_count_ > 0 && segments_[segment_count_ - 1].takes_rest) {
    return absl::InvalidArgumentError("\"rest\" is not the last segment");
  }
  Push(*segment, name);
  return absl::OkStatus();
}

absl::StatusOr<KeyCodec> KeyCodec::Parse(std::string_view text) {
  if (text == kWholeKeyText) return WholeKey();
  const auto row = ParseKind(text, /*ends_key_level=*/true);
  if (row.has_value() && HasShortFormOfKind(row->kind) && !row->takes_rest) {
    return OfShortForm(row->kind, row->parameter);
  }
  KeyCodec codec;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const absl::Status status =
        codec.AddSegment(text.substr(begin, end - begin));
    if (!status.ok()) return BadCodec(text, status.message());
    begin = end + 1;
  }
  if (codec.segment_count_ == 1 && text.find('.') >= text.find(':')) {
    return BadCodec(text, "the only segment needs a name");
  }
  if (codec.key_level_count_ == 0) {
    return BadCodec(text, "no segment ends a key level");
  }
  if (const size_t size = codec.ToString().size(); size > kMaxTextSize) {
    return BadCodec(text, absl::StrCat("it takes ", size, " bytes, more than ",
                                       kMaxTextSize, "; shorten the names"));
  }
  return codec;
}

std::string KeyCodec::ToText(bool with_names) const {
  const bool named = with_names && !names_.empty();
  if (!named && IsOfShortForm()) {
    return segment_count_ == 1 ? kWholeKeyText : KindText(segments_[0]);
  }
  std::string text;
  for (size_t i = 0; i < segment_count_; ++i) {
    if (i > 0) text.push_back(',');
    if (!segments_[i].ends_key_level) text.push_back('-');
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
    if (!AreEncodedAlike(segments_[i], other.segments_[i]) ||
        segments_[i].ends_key_level != other.segments_[i].ends_key_level) {
      return false;
    }
  }
  return true;
}

bool KeyCodec::BeginsAs(const KeyCodec& other) const {
  const size_t count = other.segment_count_;
  return segment_count_ >= count &&
         std::equal(segments_.begin(), segments_.begin() + count,
                    other.segments_.begin(), AreEncodedAlike) &&
         segments_[count - 1].ends_key_level ==
             other.segments_[count - 1].ends_key_level;
}

absl::Status KeyCodec::Encode(absl::Span<const std::string_view> segments,
                              std::string* key) const {
  RB_CHECK(key != nullptr, "KeyCodec::Encode(): key is null");
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

absl::Status KeyCodec::EncodePrefix(absl::Span<const std::string_view> segments,
                                    std::string* prefix) const {
  if (segments.empty()) return absl::InvalidArgumentError("no segments");
  // An "ordered" segment keeps its last byte here. RocksDB's filters leave it
  // out, but to a filter block what follows a 00 is then not known.
  return Encode(segments, prefix);
}

absl::Status KeyCodec::UpperBound(absl::Span<const std::string_view> segments,
                                  std::string* bound) const {
  RB_CHECK(bound != nullptr, "KeyCodec::UpperBound(): bound is null");
  if (segments.empty()) return absl::InvalidArgumentError("no segments");
  std::string lower;
  if (absl::Status s = Encode(segments, &lower); !s.ok()) return s;
  WithKind(segments_[segments.size() - 1].kind,
           [&](auto kind) { kind.AppendUpperBound(lower, bound); });
  return absl::OkStatus();
}

absl::Status KeyCodec::Decode(std::string_view key,
                              std::vector<std::string>* segments,
                              std::string* suffix) const {
  RB_CHECK(segments != nullptr, "KeyCodec::Decode(): segments is null");
  segments->clear();
  if (suffix != nullptr) suffix->clear();
  size_t at = 0;
  for (size_t i = 0; i < segment_count_; ++i) {
    const Segment& segment = segments_[i];
    segments->emplace_back();
    const size_t size = WithKind(segment.kind, [&](auto kind) {
      const size_t found = kind.Size(segment.parameter, key, at);
      if (found > 0 || kind.kTakesRest) {
        kind.Decode(segment.parameter, key.substr(at, found),
                    &segments->back());
      }
      return found;
    });
    const size_t end = at + size + (segment.leaves_out_byte ? 1 : 0);
    if ((size == 0 && !segment.takes_rest) || end > key.size() ||
        (segment.leaves_out_byte && key[end - 1] != key::kTerminator)) {
      segments->pop_back();
      return NotWhole(*this, i, key, at);
    }
    at = end;
  }
  if (suffix != nullptr) *suffix = key.substr(at);
  return absl::OkStatus();
}

absl::Status KeyCodec::Decode(std::string_view key, std::string* row,
                              std::string* qualifier,
                              std::string* suffix) const {
  RB_CHECK(row != nullptr && qualifier != nullptr,
           "KeyCodec::Decode(): row or qualifier is null");
  RB_CHECK(segment_count_ == 2,
           "KeyCodec::Decode() into a row and a qualifier: the codec does "
           "not have two segments; decode into a vector");
  std::vector<std::string> segments;
  if (absl::Status s = Decode(key, &segments, suffix); !s.ok()) return s;
  *row = std::move(segments[0]);
  *qualifier = std::move(segments[1]);
  return absl::OkStatus();
}

// The first segment is of kind `First`, all others of kind `Next`, and all end
// key levels; or both are void, and segments are what they are.
template <typename First, typename Next>
ABSL_ATTRIBUTE_NOINLINE void KeyCodec::ExtendPrefixes(const KeyCodec& codec,
                                                      std::string_view key,
                                                      size_t key_levels,
                                                      Prefixes* prefixes) {
  constexpr bool kIsAny = std::is_void_v<First>;
  const Segment* const begin = codec.segments_.data();
  const auto leaves_out_byte = [&](const Segment* s) {
    if constexpr (kIsAny) {
      return s->leaves_out_byte;
    } else {
      return s == begin ? First::kLeavesOutByte : Next::kLeavesOutByte;
    }
  };
  const auto size_at = [&](const Segment* s, size_t at) {
    if constexpr (kIsAny) {
      return WithKind(s->kind, [s, key, at](auto kind) {
        return kind.Size(s->parameter, key, at);
      });
    } else if constexpr (std::is_same_v<First, Next>) {
      return Next::Size(s->parameter, key, at);
    } else {
      return s == begin ? First::Size(s->parameter, key, at)
                        : Next::Size(s->parameter, key, at);
    }
  };
  const Segment* segment = begin;
  size_t at = 0;
  size_t count = prefixes->count;
  bool has_segment = prefixes->has_segment;
  bool lacks_byte = false;
  if (count > 0) {
    segment += codec.key_level_segments_[count - 1];
    at = prefixes->sizes[count - 1];
    lacks_byte = leaves_out_byte(segment - 1);
  }
  for (; count < key_levels; ++segment) {
    if (lacks_byte) {
      // Another byte than the segment's last one is in an upper bound, which
      // holds no more segments.
      if (at == key.size() || key[at] != key::kTerminator) break;
      ++at;
    }
    const size_t size = size_at(segment, at);
    if (size == 0) break;
    at += size;
    has_segment = true;
    lacks_byte = leaves_out_byte(segment);
    if (!kIsAny || segment->ends_key_level) prefixes->sizes[count++] = at;
  }
  prefixes->count = count;
  prefixes->has_segment = kIsAny ? has_segment : count > 0;
}

size_t KeyCodec::SegmentsSize(std::string_view key, size_t key_level,
                              size_t prefix_size) const {
  if (!LastSegmentOf(key_level).leaves_out_byte) return prefix_size;
  return prefix_size < key.size() && key[prefix_size] == key::kTerminator
             ? prefix_size + 1
             : 0;
}

size_t KeyCodec::SecondPrefixSize(std::string_view key,
                                  size_t* first_size) const {
  Prefixes prefixes;
  FindPrefixes(key, 2, &prefixes);
  *first_size = prefixes.count > 0 ? prefixes.sizes[0] : 0;
  return prefixes.count == 2 ? prefixes.sizes[1] : 0;
}

bool KeyCodec::MayHaveSuccessors(size_t max_key_levels) const {
  const size_t key_levels = std::min(max_key_levels, key_level_count());
  for (size_t key_level = 2; key_level <= key_levels; ++key_level) {
    if (WithKind(LastSegmentOf(key_level).kind,
                 [](auto kind) { return kind.kMayEndSuccessor; })) {
      return true;
    }
  }
  return false;
}

bool KeyCodec::VisitSuccessors(
    std::string_view key, const Prefixes& prefixes, size_t max_key_levels,
    size_t max_tries, absl::FunctionRef<void(std::string_view)> visit) const {
  std::string successor;
  size_t tries = 0;
  const size_t key_levels =
      std::min({prefixes.count + 1, max_key_levels, key_level_count()});
  for (size_t key_level = 1; key_level < key_levels; ++key_level) {
    const auto try_end = [&](size_t at) {
      if (++tries > max_tries) return false;
      successor = key.substr(0, at + 1);
      ++successor.back();
      const Prefixes found = PrefixesOf(successor, key_level + 1);
      if (found.count == key_level + 1 &&
          found.sizes[key_level] == successor.size()) {
        visit(successor);
      }
      return true;
    };
    const bool is_whole = key_level < prefixes.count;
    const size_t begin = prefixes.sizes[key_level - 1];
    const size_t end = is_whole ? prefixes.sizes[key_level] : key.size();
    const Segment& segment = LastSegmentOf(key_level + 1);
    if (!WithKind(segment.kind, [&](auto kind) {
          return kind.TryEnds(segment.parameter, key, begin, end, is_whole,
                              try_end);
        })) {
      return false;
    }
  }
  return true;
}

}  // namespace rowbloom
