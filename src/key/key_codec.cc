// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/key_codec.h"

#include <cstdint>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_view.h"
#include "base/check.h"

namespace rowbloom {

namespace {

using base::AbslView;

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
size_t ComponentSize(std::string_view key, size_t begin) {
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

absl::Status ReadComponent(std::string_view key, size_t* at,
                           std::string* component) {
  const size_t begin = *at;
  const size_t size = ComponentSize(key, begin);
  const size_t end = begin + size;
  if (size == 0 || end >= key.size() || key[end] != kTerminator) {
    return absl::InvalidArgumentError(
        absl::StrCat("ordered key of ", key.size(), " bytes: the component at ",
                     begin, " has no terminator 00 01"));
  }
  if (component != nullptr) {
    component->clear();
    for (size_t i = begin; i + 1 < end; ++i) {
      component->push_back(key[i]);
      if (key[i] == '\0') ++i;  // ComponentSize() saw the FF after it.
    }
  }
  *at = end + 1;
  return absl::OkStatus();
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

absl::Status BadCodec(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(
      "key codec \"", absl::CHexEscape(AbslView(text)),
      "\" is none of ordered, fixed:N (1 to ", KeyCodec::kMaxRowSize,
      "), delimiter:C (one byte, or 0xHH)"));
}

}  // namespace

KeyCodec KeyCodec::FixedRow(uint32_t row_size_bytes) {
  RB_CHECK(row_size_bytes >= 1 && row_size_bytes <= kMaxRowSize);
  return KeyCodec(Kind::kFixedRow, row_size_bytes);
}

KeyCodec KeyCodec::Delimiter(char delimiter) {
  return KeyCodec(Kind::kDelimiter, static_cast<unsigned char>(delimiter));
}

absl::StatusOr<KeyCodec> KeyCodec::FromParts(uint8_t kind, uint32_t parameter) {
  switch (static_cast<Kind>(kind)) {
    case Kind::kOrdered:
      if (parameter == 0) return Ordered();
      break;
    case Kind::kFixedRow:
      if (parameter >= 1 && parameter <= kMaxRowSize) {
        return FixedRow(parameter);
      }
      break;
    case Kind::kDelimiter:
      if (parameter <= 0xff) return KeyCodec(Kind::kDelimiter, parameter);
      break;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no key codec has kind ", kind, " with parameter ", parameter));
}

absl::StatusOr<KeyCodec> KeyCodec::Parse(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view argument =
      colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (text == "ordered") return Ordered();
  if (kind == "fixed") {
    uint32_t size = 0;
    if (absl::SimpleAtoi(AbslView(argument), &size) && size >= 1 &&
        size <= kMaxRowSize) {
      return FixedRow(size);
    }
  }
  if (kind == "delimiter") {
    if (argument.size() == 1) return Delimiter(argument[0]);
    uint32_t byte = 0;
    if (argument.size() == 4 && argument.substr(0, 2) == "0x" &&
        absl::SimpleHexAtoi(AbslView(argument), &byte)) {
      return FromParts(static_cast<uint8_t>(Kind::kDelimiter), byte);
    }
  }
  return BadCodec(text);
}

std::string KeyCodec::ToString() const {
  switch (kind_) {
    case Kind::kOrdered:
      break;
    case Kind::kFixedRow:
      return absl::StrCat("fixed:", parameter_);
    case Kind::kDelimiter:
      return absl::StrFormat("delimiter:0x%02x", parameter_);
  }
  return "ordered";
}

absl::Status KeyCodec::Encode(std::string_view row, std::string_view qualifier,
                              std::string* key) const {
  if (absl::Status status = RowLowerBound(row, key); !status.ok()) {
    return status;
  }
  if (kind_ == Kind::kOrdered) {
    AppendComponent(qualifier, key);
  } else {
    key->append(qualifier);
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::RowLowerBound(std::string_view row,
                                     std::string* bound) const {
  switch (kind_) {
    case Kind::kOrdered:
      AppendComponent(row, bound);
      return absl::OkStatus();
    case Kind::kFixedRow:
      if (row.size() != parameter_) {
        return absl::InvalidArgumentError(absl::StrCat(
            "row of ", row.size(), " bytes for codec ", ToString()));
      }
      bound->append(row);
      return absl::OkStatus();
    case Kind::kDelimiter:
      if (const size_t at = row.find(static_cast<char>(parameter_));
          at != std::string_view::npos) {
        return absl::InvalidArgumentError(absl::StrCat(
            "row holds the delimiter of codec ", ToString(), " at ", at));
      }
      bound->append(row);
      bound->push_back(static_cast<char>(parameter_));
      return absl::OkStatus();
  }
  return absl::InternalError("unknown key codec");
}

absl::Status KeyCodec::RowUpperBound(std::string_view row,
                                     std::string* bound) const {
  std::string lower;
  if (absl::Status status = RowLowerBound(row, &lower); !status.ok()) {
    return status;
  }
  if (kind_ == Kind::kOrdered) {
    lower.back() = kUpperBound;
    bound->append(lower);
  } else {
    bound->append(PrefixSuccessor(lower));
  }
  return absl::OkStatus();
}

absl::Status KeyCodec::Decode(std::string_view key, std::string* row,
                              std::string* qualifier,
                              std::string* suffix) const {
  if (suffix != nullptr) suffix->clear();
  if (kind_ == Kind::kOrdered) {
    size_t at = 0;
    if (absl::Status s = ReadComponent(key, &at, row); !s.ok()) return s;
    if (absl::Status s = ReadComponent(key, &at, qualifier); !s.ok()) return s;
    if (suffix != nullptr) suffix->assign(key.substr(at));
    return absl::OkStatus();
  }
  const size_t row_part = RowPartSize(key);
  if (row_part == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key of ", key.size(), " bytes holds no row for codec ", ToString()));
  }
  const size_t delimiter_size = kind_ == Kind::kDelimiter ? 1 : 0;
  row->assign(key.substr(0, row_part - delimiter_size));
  qualifier->assign(key.substr(row_part));
  return absl::OkStatus();
}

size_t KeyCodec::RowPartSize(std::string_view key) const {
  switch (kind_) {
    case Kind::kOrdered:
      return ComponentSize(key, 0);
    case Kind::kFixedRow:
      return key.size() >= parameter_ ? parameter_ : 0;
    case Kind::kDelimiter:
      // npos + 1 is 0, "no whole row".
      return key.find(static_cast<char>(parameter_)) + 1;
  }
  return 0;
}

size_t KeyCodec::ColumnPartSize(std::string_view key,
                                size_t* row_part_size) const {
  const size_t row_part = RowPartSize(key);
  *row_part_size = row_part;
  if (row_part == 0 || row_part == key.size()) return 0;
  if (kind_ != Kind::kOrdered) return key.size();
  // After the row's 00 follows 01, or 02 in an upper bound, which has no
  // column.
  if (key[row_part] != kTerminator) return 0;
  const size_t qualifier_begin = row_part + 1;
  const size_t size = ComponentSize(key, qualifier_begin);
  return size == 0 ? 0 : qualifier_begin + size;
}

}  // namespace rowbloom
