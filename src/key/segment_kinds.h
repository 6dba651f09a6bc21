// SPDX-License-Identifier: Apache-2.0
//
// The kinds of a key's segments, and the only place that tells one kind from
// another. Each kind is a struct of constants and static functions, and
// `SegmentKinds` lists these structs:
//
// | member             | what it says                                        |
// |--------------------|-----------------------------------------------------|
// | kKind              | the persisted number                                |
// | kName              | the word in a text                                  |
// | kUsage             | the word and its parameter, for messages            |
// | kHasParameter      | ":PARAMETER" follows the word                       |
// | IsParameter()      | true for the parameters that are allowed            |
// | ParseParameter()   | reads the text behind the ':'                       |
// | PrintParameter()   | is its inverse                                      |
// | kTakesRest         | the segment has all bytes that are left             |
// | kLeavesOutByte     | a prefix of a key that ends with the segment lacks  |
// |                    | the segment's last byte, which is kTerminator       |
// | Column             | the column's kind, if a codec of row and column     |
// |                    | with such a row has a short form; else void. All    |
// |                    | releases read all short forms: a new kind has none  |
// | Size()             | the bytes of the segment at `begin` that belong to  |
// |                    | a prefix of the key; 0 if the segment is not whole. |
// |                    | These bytes and the next one determine the size     |
// | Append()           | appends a segment and its end to a key, or returns  |
// |                    | why the kind cannot hold it                         |
// | Decode()           | appends what Append() got, from the Size() bytes    |
// | AppendUpperBound() | appends the exclusive upper bound of the keys that  |
// |                    | begin with `lower`, which ends with such a segment  |
// | kMayEndSuccessor   | false if TryEnds() has nothing to try               |
// | TryEnds()          | KeyCodec::VisitSuccessors(): tries all `at` in      |
// |                    | [begin, end) where such a segment could end if      |
// |                    | key[at] were greater by 1. False if a try is. The   |
// |                    | key's segment ends at `end`, if it `is_whole`       |
//
// A place that TryEnds() forgets loses rows. The tests over all kinds find it
// when tests/testing/key_codecs.h draws the new kind, too.

#ifndef ROWBLOOM_KEY_SEGMENT_KINDS_H_
#define ROWBLOOM_KEY_SEGMENT_KINDS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rowbloom/key_codec.h"
#include "util/absl_view.h"

namespace rowbloom::key {

// Returns false to stop.
using TryEnd = absl::FunctionRef<bool(size_t at)>;

// The last byte of an "ordered" segment, behind its 00.
inline constexpr char kTerminator = '\x01';

struct NoParameter {
  static constexpr bool kHasParameter = false;
  static bool IsParameter(uint32_t parameter) { return parameter == 0; }
  static bool ParseParameter(std::string_view /*text*/, uint32_t* /*to*/) {
    return false;
  }
  static std::string PrintParameter(uint32_t /*parameter*/) { return ""; }
};

struct DecimalParameter {
  static constexpr bool kHasParameter = true;
  static bool ParseParameter(std::string_view text, uint32_t* parameter) {
    return absl::SimpleAtoi(util::AbslView(text), parameter) &&
           PrintParameter(*parameter) == text;
  }
  static std::string PrintParameter(uint32_t parameter) {
    return absl::StrCat(parameter);
  }
};

// No bytes that follow such a segment can belong to it, so the upper bound is
// the next greater bytes that do not begin with it.
struct SelfDelimiting {
  static constexpr bool kTakesRest = false;
  static constexpr bool kLeavesOutByte = false;
  static void AppendUpperBound(std::string_view lower, std::string* bound) {
    while (!lower.empty() && lower.back() == '\xff') lower.remove_suffix(1);
    if (lower.empty()) return;
    bound->append(lower);
    ++bound->back();
  }
};

// No byte of a key can be increased such that the segment ends there.
struct NoSuccessor {
  static constexpr bool kMayEndSuccessor = false;
  static bool TryEnds(uint32_t /*parameter*/, std::string_view /*key*/,
                      size_t /*begin*/, size_t /*end*/, bool /*is_whole*/,
                      TryEnd /*try_end*/) {
    return true;
  }
};

// A greater segment of the same size ends where the key's does.
struct SuccessorOfOneSize {
  static constexpr bool kMayEndSuccessor = true;
  static bool TryEnds(uint32_t /*parameter*/, std::string_view key,
                      size_t /*begin*/, size_t end, bool is_whole,
                      TryEnd try_end) {
    return !is_whole || key[end - 1] == '\xff' || try_end(end - 1);
  }
};

// The prefix is a whole key. The next stored key is behind each successor, so
// no successor is asked for on its behalf.
struct RestSegment : NoParameter, NoSuccessor {
  static constexpr KeyCodec::Kind kKind = KeyCodec::Kind::kRest;
  static constexpr char kName[] = "rest";
  static constexpr char kUsage[] = "rest";
  static constexpr bool kTakesRest = true;
  static constexpr bool kLeavesOutByte = false;
  using Column = RestSegment;  // It has none: the row is the whole key.

  static size_t Size(uint32_t /*parameter*/, std::string_view key,
                     size_t begin) {
    return key.size() - begin;
  }
  static std::string Append(uint32_t /*parameter*/, std::string_view value,
                            std::string* key) {
    key->append(value);
    return "";
  }
  static void Decode(uint32_t /*parameter*/, std::string_view bytes,
                     std::string* value) {
    value->append(bytes);
  }
  // The segments are one whole key.
  static void AppendUpperBound(std::string_view lower, std::string* bound) {
    bound->append(lower);
    bound->push_back('\0');
  }
};

// esc(segment) 00 01. The bytes behind a 00 are ordered such that a segment
// that ends sorts before one that goes on, whatever byte it goes on with. A
// prefix ends with 00, which no byte precedes.
struct OrderedSegment : NoParameter, NoSuccessor {
  static constexpr KeyCodec::Kind kKind = KeyCodec::Kind::kOrdered;
  static constexpr char kName[] = "ordered";
  static constexpr char kUsage[] = "ordered";
  static constexpr bool kTakesRest = false;
  static constexpr bool kLeavesOutByte = true;
  static constexpr char kUpperBound = '\x02';  // In bounds only, not in keys.
  static constexpr char kEscaped = '\xff';
  using Column = OrderedSegment;

  ABSL_ATTRIBUTE_ALWAYS_INLINE static size_t Size(uint32_t /*parameter*/,
                                                  std::string_view key,
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
  static std::string Append(uint32_t /*parameter*/, std::string_view value,
                            std::string* key) {
    for (const char c : value) {
      key->push_back(c);
      if (c == '\0') key->push_back(kEscaped);
    }
    key->push_back('\0');
    key->push_back(kTerminator);
    return "";
  }
  static void Decode(uint32_t /*parameter*/, std::string_view bytes,
                     std::string* value) {
    bytes.remove_suffix(1);
    for (size_t i = 0; i < bytes.size(); ++i) {
      value->push_back(bytes[i]);
      if (bytes[i] == '\0') ++i;  // Size() saw the FF after it.
    }
  }
  static void AppendUpperBound(std::string_view lower, std::string* bound) {
    bound->append(lower);
    bound->back() = kUpperBound;
  }
};

struct FixedSegment : DecimalParameter, SelfDelimiting, SuccessorOfOneSize {
  static constexpr KeyCodec::Kind kKind = KeyCodec::Kind::kFixed;
  static constexpr char kName[] = "fixed";
  static constexpr char kUsage[] = "fixed:N (1 to 1048576)";
  static_assert(KeyCodec::kMaxRowSize == 1048576);
  using Column = RestSegment;

  static bool IsParameter(uint32_t size) {
    return size >= 1 && size <= KeyCodec::kMaxRowSize;
  }
  static size_t Size(uint32_t size, std::string_view key, size_t begin) {
    return key.size() - begin >= size ? size : 0;
  }
  static std::string Append(uint32_t size, std::string_view value,
                            std::string* key) {
    if (value.size() != size) return "wrong size";
    key->append(value);
    return "";
  }
  static void Decode(uint32_t /*size*/, std::string_view bytes,
                     std::string* value) {
    value->append(bytes);
  }
};

struct DelimiterSegment : SelfDelimiting {
  static constexpr KeyCodec::Kind kKind = KeyCodec::Kind::kDelimiter;
  static constexpr char kName[] = "delimiter";
  static constexpr char kUsage[] = "delimiter:C (one byte, or 0xHH)";
  static constexpr bool kHasParameter = true;
  using Column = RestSegment;

  static bool IsParameter(uint32_t delimiter) { return delimiter <= 0xff; }
  static bool ParseParameter(std::string_view text, uint32_t* delimiter) {
    if (text.size() == 1) {
      *delimiter = static_cast<unsigned char>(text[0]);
      return true;
    }
    return text.size() == 4 && text.substr(0, 2) == "0x" &&
           absl::ascii_isxdigit(static_cast<unsigned char>(text[2])) &&
           absl::ascii_isxdigit(static_cast<unsigned char>(text[3])) &&
           absl::SimpleHexAtoi(util::AbslView(text), delimiter);
  }
  static std::string PrintParameter(uint32_t delimiter) {
    return absl::StrFormat("0x%02x", delimiter);
  }
  static size_t Size(uint32_t delimiter, std::string_view key, size_t begin) {
    if (begin == key.size()) return 0;
    const char* const data = key.data() + begin;
    const void* end =
        std::memchr(data, static_cast<int>(delimiter), key.size() - begin);
    if (end == nullptr) return 0;
    return static_cast<size_t>(static_cast<const char*>(end) - data) + 1;
  }
  static std::string Append(uint32_t delimiter, std::string_view value,
                            std::string* key) {
    const size_t at = value.find(static_cast<char>(delimiter));
    if (at != std::string_view::npos) {
      return absl::StrCat("the delimiter is at ", at);
    }
    key->append(value);
    key->push_back(static_cast<char>(delimiter));
    return "";
  }
  static void Decode(uint32_t /*delimiter*/, std::string_view bytes,
                     std::string* value) {
    value->append(bytes.substr(0, bytes.size() - 1));
  }
  // A greater segment may end at any byte that precedes the delimiter.
  static constexpr bool kMayEndSuccessor = true;
  static bool TryEnds(uint32_t delimiter, std::string_view key, size_t begin,
                      size_t end, bool /*is_whole*/, TryEnd try_end) {
    if (delimiter == 0) return true;  // No byte precedes it.
    const char before = static_cast<char>(delimiter - 1);
    for (size_t at = key.find(before, begin); at < end;
         at = key.find(before, at + 1)) {
      if (!try_end(at)) return false;
    }
    return true;
  }
};

// Its size in `head` bytes, big-endian, and the segment. One of another size
// differs in its head.
struct LengthSegment : DecimalParameter, SelfDelimiting, SuccessorOfOneSize {
  static constexpr KeyCodec::Kind kKind = KeyCodec::Kind::kLength;
  static constexpr char kName[] = "length";
  static constexpr char kUsage[] = "length:1, length:4";
  using Column = void;

  static bool IsParameter(uint32_t head) { return head == 1 || head == 4; }
  static size_t Size(uint32_t head, std::string_view key, size_t begin) {
    const size_t left = key.size() - begin;
    if (left < head) return 0;
    uint64_t size = 0;
    for (uint32_t i = 0; i < head; ++i) {
      size = size << 8 | static_cast<unsigned char>(key[begin + i]);
    }
    return size <= left - head ? head + size : 0;
  }
  static std::string Append(uint32_t head, std::string_view value,
                            std::string* key) {
    if (value.size() >> 8 * head != 0) return "too long";
    for (uint32_t i = head; i-- > 0;) {
      key->push_back(static_cast<char>(value.size() >> 8 * i & 0xff));
    }
    key->append(value);
    return "";
  }
  static void Decode(uint32_t head, std::string_view bytes,
                     std::string* value) {
    value->append(bytes.substr(head));
  }
};

template <typename... Kinds>
struct KindList {};

using SegmentKinds = KindList<OrderedSegment, FixedSegment, DelimiterSegment,
                              LengthSegment, RestSegment>;

// Returns use(S()) for the struct S of the kind, which is one of the list.
template <typename Use, typename First, typename... Others>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline auto WithKind(KeyCodec::Kind kind,
                                                  const Use& use,
                                                  KindList<First, Others...>) {
  if constexpr (sizeof...(Others) == 0) {
    return use(First());
  } else {
    if (kind == First::kKind) return use(First());
    return WithKind(kind, use, KindList<Others...>());
  }
}
template <typename Use>
ABSL_ATTRIBUTE_ALWAYS_INLINE inline auto WithKind(KeyCodec::Kind kind,
                                                  const Use& use) {
  return WithKind(kind, use, SegmentKinds());
}

// True if use(S()) is true for a struct S of the list; asks no more then.
template <typename Use, typename... Kinds>
bool AnyKind(const Use& use, KindList<Kinds...>) {
  return (use(Kinds()) || ...);
}
template <typename Use>
bool AnyKind(const Use& use) {
  return AnyKind(use, SegmentKinds());
}

}  // namespace rowbloom::key

#endif  // ROWBLOOM_KEY_SEGMENT_KINDS_H_
